import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import { unpackRecord } from '../../../src/ledger/front-journal.ts';
import { type Durability, journalOf } from '../../../src/ledger/journal.ts';
import type { SegmentRecord } from '../../../src/ledger/records.ts';
import type { Chance } from '../../support/chance.ts';
import type { SimMachine } from './machine.ts';

/** Probability of each fault of a write to a journal, from 0 to 1. */
export interface DiskFaults {
  /** The write takes up to SLOW_MAX_MS. */
  slow: number;
  /** The disk refuses the write, before or after it was made. */
  fails: number;
  /** The disk reports the write as flushed although it is not. */
  lies: number;
  /** A check of the free space finds none. */
  full: number;
}

/** A sector is written completely or not at all. */
const SECTOR_BYTES = 512;
/** Mean time of a write through to the disk. */
const FLUSH_MS = 0.3;
const SLOW_MAX_MS = 4_000;
/** Count of records kept of each journal: far more than the ledger's thread may not have stored yet. */
const RECORDS_KEPT = 400;
/** Offsets in the layout of ledger/journal.ts. */
const RECORD = {
  magic: 0x6a_6e_72_71,
  position: 8,
  payloadBytes: 24,
  waitingBytes: 28,
  payload: 32,
} as const;

/** A record of a journal that was written completely. */
interface Written {
  readonly front: number;
  readonly segment: SegmentRecord;
  /** Its position in the journal. */
  readonly position: number;
  /** States that all records before this position were acknowledged. */
  readonly acknowledged: number;
  /** False once a sector of it was lost. */
  isWhole: boolean;
  /** True if nobody was promised that it survives a power cut, or the disk lied about it. */
  mayBeLost: boolean;
}

interface Write {
  readonly at: number;
  readonly bytes: Uint8Array;
  /** The bytes before the write. */
  readonly before: Uint8Array;
  readonly record: Written | undefined;
}

/** One of the files of a journal. */
interface Journal {
  readonly path: string;
  readonly front: number;
  /** Writes that are not flushed, oldest first. */
  unflushed: Write[];
  readonly records: Written[];
}

interface Open {
  readonly journal: Journal | undefined;
  readonly writesThrough: boolean;
}

/** A write on its way to the disk. */
interface Waiting {
  readonly fd: number;
  readonly bytes: Uint8Array;
  readonly at: number;
}

/** A record that a power cut destroyed. */
export interface AtRisk {
  readonly mayBeLost: boolean;
  /** True if a later record states that this one was acknowledged: then the loss is visible and must be reported. */
  readonly mustBeTold: boolean;
}

export interface SimDiskOptions {
  readonly machine: SimMachine;
  readonly random: Chance;
  /** Files opened below this folder are on the disk. Files other than journals never fail and lose nothing. */
  readonly folder: string;
  /** With `commit`, a record is acknowledged before it is on the disk. */
  readonly durability: Durability;
  /** Returns the present faults, which change over time; called at each write. */
  readonly faults: () => DiskFaults;
  /** Called when a complete record is in a journal, whether or not the front hears of it. */
  readonly written: (record: Written) => void;
  /** Called when a write failed. */
  readonly failed: () => void;
}

const real = {
  openSync: fs.openSync,
  closeSync: fs.closeSync,
  writeSync: fs.writeSync,
  write: fs.write,
  fsyncSync: fs.fsyncSync,
  fdatasync: fs.fdatasync,
};

let mounted: SimDisk | undefined;

/**
 * The disk of the fronts' journals. The files are real and hold what a process would read. Data written by a killed
 * process stay; a power cut removes some of the unflushed sectors, and tears a write in progress.
 */
export class SimDisk {
  readonly #options: SimDiskOptions;
  readonly #open = new Map<number, Open>();
  readonly #waiting = new Set<Waiting>();
  #journals = new Map<string, Journal>();
  /** Records whose write was refused or never ended: the front acknowledges no record behind one of them. */
  #unwritten: Pick<Written, 'front' | 'position'>[] = [];

  constructor(options: SimDiskOptions) {
    this.#options = options;
    mounted = this;
  }

  unmount(): void {
    this.#endProcess();
    mounted = undefined;
  }

  /** Free bytes of the file system: 0 or 1. */
  freeBytes(): number {
    return this.#options.random.chance(this.#options.faults().full) ? 0 : 1;
  }

  opened(fd: number, path: string, writesThrough: boolean): void {
    if (!path.startsWith(this.#options.folder)) return;
    this.#open.set(fd, { journal: this.#journalAt(path), writesThrough });
  }

  closed(fd: number): void {
    this.#open.delete(fd);
    for (const each of this.#waiting) if (each.fd === fd) this.#waiting.delete(each);
  }

  isJournal(fd: number): boolean {
    return this.#open.get(fd)?.journal !== undefined;
  }

  /** Writes, or throws the disk's error. */
  writeNow(fd: number, bytes: Uint8Array, at: number): void {
    const { random, faults } = this.#options;
    const fails = recordIn(bytes) && random.chance(faults().fails);
    if (fails && random.chance(0.5)) throw this.#failure();
    this.#put(fd, bytes.slice(), at, !random.chance(faults().lies));
    if (fails) throw this.#failure();
  }

  /** Writes through, off the loop. Calls `done` in the machine's time, unless its process has died. */
  write(fd: number, bytes: Uint8Array, at: number, done: (error: Error | null, count: number) => void): void {
    const { machine, random, faults } = this.#options;
    const { slow, fails, lies } = faults();
    const waiting = { fd, bytes: bytes.slice(), at };
    this.#waiting.add(waiting);
    machine.after(random.chance(slow) ? random.uniform() * SLOW_MAX_MS : random.gap(FLUSH_MS), () => {
      if (!this.#waiting.delete(waiting)) return;
      const isRefused = random.chance(fails);
      if (isRefused && random.chance(0.5)) {
        this.#noteUnwritten(waiting);
        done(this.#failure(), 0);
        return;
      }
      this.#put(fd, waiting.bytes, at, !random.chance(lies));
      done(isRefused ? this.#failure() : null, bytes.length);
    });
  }

  flush(fd: number): void {
    const { journal } = this.#open.get(fd)!;
    if (journal === undefined) return;
    for (const { record } of journal.unflushed) if (record !== undefined) record.mayBeLost = false;
    journal.unflushed = [];
  }

  /** Flushes off the loop. */
  flushSoon(fd: number, done: (error: Error | null) => void): void {
    const { machine, random, faults } = this.#options;
    machine.after(random.gap(FLUSH_MS), () => {
      if (!this.#open.has(fd)) return;
      if (!random.chance(faults().lies)) this.flush(fd);
      done(null);
    });
  }

  /**
   * Ends the process: what it wrote stays, and part of a write in progress may be there. Returns the records that it cannot
   * have acknowledged, by sequence.
   */
  kill(): Map<number, AtRisk> {
    for (const waiting of this.#waiting) {
      const { fd, bytes, at } = waiting;
      this.#noteUnwritten(waiting);
      const sectors = this.#options.random.between(0, Math.ceil(bytes.length / SECTOR_BYTES));
      this.#put(fd, bytes.subarray(0, sectors * SECTOR_BYTES), at, true);
    }
    const unacknowledged = this.#records().filter((each) => this.#isUnacknowledged(each));
    this.#endProcess();
    return new Map(
      unacknowledged.map(({ segment }) => [segment.sequence, { mayBeLost: true, mustBeTold: false }]),
    );
  }

  /** Cuts the power. Returns the records that may be lost or are damaged now, by sequence. */
  cutPower(): Map<number, AtRisk> {
    for (const waiting of this.#waiting) {
      this.#noteUnwritten(waiting);
      this.#put(waiting.fd, waiting.bytes, waiting.at, false);
    }
    const lostShare = this.#options.random.pick([0.5, 1]);
    for (const journal of this.#journals.values()) this.#lose(journal, lostShare);
    const records = this.#records();
    const lost = new Map<number, AtRisk>();
    for (const record of records) {
      const { segment, front, position, isWhole } = record;
      const mayBeLost = record.mayBeLost || this.#isUnacknowledged(record);
      if (isWhole && !mayBeLost) continue;
      const tells = (other: Written) => other.front === front && other.acknowledged > position;
      const isSeen = records.some((other) => other.isWhole && tells(other));
      const mustBeTold = !isWhole && isSeen && this.#options.durability === 'fsync';
      lost.set(segment.sequence, { mustBeTold, mayBeLost });
    }
    this.#endProcess();
    return lost;
  }

  #records(): Written[] {
    return [...this.#journals.values()].flatMap((journal) => journal.records);
  }

  #noteUnwritten({ fd, bytes }: Waiting): void {
    const record = recordIn(bytes, this.#open.get(fd)?.journal?.front);
    if (record !== undefined) this.#unwritten.push(record);
  }

  /** Two records may be under way at a time, and the second may be written first. */
  #isUnacknowledged({ front, position }: Written): boolean {
    return this.#unwritten.some((each) => each.front === front && each.position <= position);
  }

  /** Restores a share of the unflushed sectors to their earlier content. */
  #lose({ path, unflushed }: Journal, lostShare: number): void {
    if (unflushed.length === 0) return;
    const { random } = this.#options;
    const fd = real.openSync(path, 'r+');
    for (const { at, before, bytes, record } of unflushed.toReversed()) {
      for (let from = at; from < at + before.length; ) {
        const to = Math.min((Math.floor(from / SECTOR_BYTES) + 1) * SECTOR_BYTES, at + before.length);
        const [old, now] = [before, bytes].map((each) => each.subarray(from - at, to - at));
        if (random.chance(lostShare)) {
          real.writeSync(fd, old, 0, old.length, from);
          if (record !== undefined && Buffer.compare(old, now) !== 0) record.isWhole = false;
        }
        from = to;
      }
    }
    real.closeSync(fd);
  }

  #endProcess(): void {
    this.#waiting.clear();
    for (const fd of this.#open.keys()) real.closeSync(fd);
    this.#open.clear();
    this.#journals = new Map();
    this.#unwritten = [];
  }

  /** `isKept` tells whether a write through is on the disk then. */
  #put(fd: number, bytes: Uint8Array, at: number, isKept: boolean): void {
    const { journal, writesThrough } = this.#open.get(fd)!;
    if (journal === undefined) return;
    const before = new Uint8Array(bytes.length);
    fs.readSync(fd, before, 0, before.length, at);
    for (let done = 0; done < bytes.length; )
      done += real.writeSync(fd, bytes, done, bytes.length - done, at + done);
    const record = recordIn(bytes, journal.front);
    if (!isKept || !writesThrough) journal.unflushed.push({ at, bytes, before, record });
    if (journal.unflushed.length > RECORDS_KEPT) journal.unflushed.shift(); // the system flushes by itself after some time
    if (record === undefined) return;
    record.mayBeLost = !isKept || this.#options.durability === 'commit';
    journal.records.push(record);
    if (journal.records.length > 2 * RECORDS_KEPT) journal.records.splice(0, RECORDS_KEPT);
    this.#options.written(record);
  }

  #journalAt(path: string): Journal | undefined {
    const name = journalOf(basename(path));
    if (name === undefined) return undefined;
    const front = Number(name.split('-').at(-1));
    const known = this.#journals.get(path) ?? { path, front, unflushed: [], records: [] };
    this.#journals.set(path, known);
    return known;
  }

  #failure(): Error {
    this.#options.failed();
    return Object.assign(new Error('injected: the disk refuses a write'), { code: 'EIO' });
  }
}

/** Returns the record in these bytes; undefined if they hold none or part of one. */
function recordIn(bytes: Uint8Array, front = 0): Written | undefined {
  if (bytes.length < RECORD.payload) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const payloadBytes = view.getUint32(RECORD.payloadBytes, true);
  if (view.getUint32(0, true) !== RECORD.magic || RECORD.payload + payloadBytes > bytes.length)
    return undefined;
  const position = view.getFloat64(RECORD.position, true);
  const payload = new Uint8Array(bytes.subarray(RECORD.payload, RECORD.payload + payloadBytes));
  return {
    front,
    segment: unpackRecord(payload).segment.segment,
    position,
    acknowledged: position - view.getUint32(RECORD.waitingBytes, true),
    isWhole: true,
    mayBeLost: false,
  };
}

type Done = (error: Error | null, count: number) => void;

Object.assign(fs, {
  openSync: (path: string, flags: string | number, mode?: number) => {
    const isThrough = typeof flags === 'number' && (flags & fs.constants.O_DSYNC) !== 0;
    const own = mounted !== undefined && isThrough ? (flags as number) & ~fs.constants.O_DSYNC : flags;
    const fd = real.openSync(path, own, mode);
    // a file that is being made is flushed before anything relies on it
    if (flags !== 'w') mounted?.opened(fd, String(path), isThrough);
    return fd;
  },
  closeSync: (fd: number) => {
    mounted?.closed(fd);
    real.closeSync(fd);
  },
  writeSync: (fd: number, bytes: Uint8Array, offset: number, length: number, at: number) => {
    if (mounted?.isJournal(fd) !== true) return real.writeSync(fd, bytes, offset, length, at);
    mounted.writeNow(fd, bytes.subarray(offset, offset + length), at);
    return length;
  },
  write: (fd: number, bytes: Uint8Array, offset: number, length: number, at: number, done: Done) => {
    if (mounted?.isJournal(fd) === true) mounted.write(fd, bytes.subarray(offset, offset + length), at, done);
    else real.write(fd, bytes, offset, length, at, done);
  },
  fsyncSync: (fd: number) => {
    if (mounted?.isJournal(fd) === true) mounted.flush(fd);
    else real.fsyncSync(fd);
  },
  fdatasync: (fd: number, done: (error: Error | null) => void) => {
    if (mounted?.isJournal(fd) === true) mounted.flushSoon(fd, done);
    else real.fdatasync(fd, done);
  },
});

syncBuiltinESMExports();
