import { randomBytes } from 'node:crypto';
import { closeSync, constants, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../src/core/clock.ts';
import { silentLog } from '../src/core/log.ts';
import type { Durability } from '../src/ledger/front-journal.ts';
import type { SegmentRecord } from '../src/ledger/records.ts';
import { type Modules, modulesOf } from './support/modules.ts';
import { comparisonCell, comparisonColumn, nameFor } from './support/revisions.ts';
import { alternate, type Contender, type Rounds } from './support/rounds.ts';
import { dataFolder } from './support/server.ts';
import { median } from './support/statistics.ts';
import type { BenchRun, Column, Report, Row, Suite, Table } from './support/suite.ts';

/** Certificates of one commit: a lone request, and what gathers behind 64 to 1,024 connections. */
const SIZES = [1, 16, 64, 256, 1_024];
const TIME_MS = 200;
const DISK = 'write + fdatasync';
const MODES = ['fsync', 'commit'] as const;

/** What it costs to keep the promise that an answer's certificate is durable before the answer leaves. */
export const durability: Suite = {
  name: 'durability',
  summary: 'a segment of certificates made durable, beside a bare fdatasync of as many bytes',
  byDefault: true,
  async run(run): Promise<Report> {
    const folder = dataFolder();
    const disk = new Disk(join(folder, 'journal'));
    const ledgers: { name: string; modules: Modules; ledger: Sink }[] = [];
    try {
      for (const [i, subject] of run.subjects.entries()) {
        const modules = await modulesOf(subject);
        for (const mode of MODES) {
          const name = nameFor(run, subject, mode);
          ledgers.push({
            name,
            modules,
            ledger: await openSink(modules, join(folder, `${i}-${mode}`), mode),
          });
        }
      }
      const rows: Row[] = [];
      for (const size of SIZES) {
        run.talk(`${size} certificates a commit`);
        const contenders: Contender[] = [disk.contender(run, size)];
        for (const { name, modules, ledger } of ledgers) {
          contenders.push(committing(run, name, modules, ledger, size));
        }
        const rounds = await alternate(contenders, run.rounds);
        rows.push(...ledgers.map(({ name }) => rowOf(run, rounds, size, name)));
      }
      return { tables: [tableOf(run, rows)] };
    } finally {
      for (const { ledger } of ledgers) await ledger.close();
      disk.close();
    }
  },
};

/** Where a front commits its segments: its journal, which the ledger in this thread stores in its own time. */
interface Sink {
  nextSequence(): number;
  commit(segment: SegmentRecord): Promise<void>;
  close(): Promise<void>;
}

async function openSink({ lmdb, journal }: Modules, path: string, durability: Durability): Promise<Sink> {
  const ledger = await lmdb.openLmdbLedger({
    path,
    clock: systemClock,
    log: silentLog,
    role: 'server',
    durability,
  });
  if (journal === undefined) {
    let last = 1; // the folder is new
    return {
      nextSequence: () => last++,
      commit: (segment) => ledger.commit([segment], []),
      close: () => ledger.close(),
    };
  }
  const place = ledger.journals[0];
  const front = new journal.FrontJournal({ place, durability, ledger, freeBytesMin: 0 });
  return {
    nextSequence: () => front.nextSequence(),
    commit: (segment) => front.commit(segment, []),
    async close() {
      front.close();
      await ledger.close();
    },
  };
}

/** The limit: a file of its final size, written in turn and flushed. */
class Disk {
  static readonly #SIZE = 16 * 2 ** 20;
  readonly #fd: number;
  #at = 0;

  constructor(path: string) {
    this.#fd = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    writeSync(this.#fd, new Uint8Array(Disk.#SIZE));
    fdatasyncSync(this.#fd);
  }

  contender(run: BenchRun, size: number): Contender {
    const bytes = randomBytes(80 * size); // ENTRY_BYTES of src/ledger/segment.ts
    const write = async () => {
      if (this.#at + bytes.length > Disk.#SIZE) this.#at = 0;
      writeSync(this.#fd, bytes, 0, bytes.length, this.#at);
      this.#at += bytes.length;
      fdatasyncSync(this.#fd);
    };
    return { name: DISK, measure: () => oneByOne(run, size, write) };
  }

  close(): void {
    closeSync(this.#fd);
  }
}

function committing(
  run: BenchRun,
  name: string,
  { segment }: Modules,
  ledger: Sink,
  size: number,
): Contender {
  const writer = new segment.SegmentWriter();
  const commit = async () => {
    const ids = randomBytes(48 * size);
    for (let i = 0; i < size; i++) writer.append(entryOf(ids.subarray(48 * i, 48 * (i + 1))));
    const committedAtMs = systemClock.wallMs();
    const record = {
      sequence: ledger.nextSequence(),
      committedAtMs,
      ...writer.finish(),
      sources: SOURCES,
      context: CONTEXT,
    };
    await ledger.commit(record);
  };
  return { name, measure: () => oneByOne(run, size, commit) };
}

const SOURCES = [{ mode: 'csprng' as const, lotIds: ['lot'], generation: null }];
const CONTEXT = { verifyUrlBase: 'http://127.0.0.1/verify', poweredBy: 'bench' };

function entryOf(random: Uint8Array) {
  return {
    requestId: random.subarray(0, 16),
    delivered: random.subarray(16),
    issuedAtMs: systemClock.wallMs(),
    accountNumber: 1,
    endpoint: 'integers' as const,
    mode: 'csprng' as const,
    source: 0,
    valueCount: 10,
    deliveredBytes: 150,
    consumedBytes: 12,
    credits: 0,
  };
}

/** One commit after the other, as a front does it: the median time of one, and certificates per second. */
async function oneByOne(run: BenchRun, size: number, commit: () => Promise<void>) {
  const times: number[] = [];
  const startedMs = performance.now();
  while (times.length < 5 || performance.now() - startedMs < TIME_MS * run.seconds) {
    const begunMs = performance.now();
    await commit();
    times.push((performance.now() - begunMs) * 1e3);
  }
  const seconds = (performance.now() - startedMs) / 1e3;
  times.sort((a, b) => a - b);
  return {
    us: median(times),
    p99Us: times[Math.floor(0.99 * times.length)],
    perS: (size * times.length) / seconds,
  };
}

function rowOf(run: BenchRun, rounds: Rounds, size: number, name: string): Row {
  return {
    label: `${size.toLocaleString('en-US')} a commit, ${name}`,
    cells: [
      rounds.of(name, 'perS'),
      rounds.of(name, 'us'),
      rounds.of(name, 'p99Us'),
      rounds.of(DISK, 'us'),
      rounds.ratio(name, DISK, 'us'),
      ...comparisonCell(run, rounds, name, 'us'),
    ],
  };
}

function tableOf(run: BenchRun, rows: readonly Row[]): Table {
  const columns: Column[] = [
    { title: 'certificates/s' },
    { title: 'commit µs' },
    { title: 'p99 µs' },
    { title: `${DISK} µs` },
    { title: 'x the disk', spread: true },
    ...comparisonColumn(run, 'commit'),
  ];
  return {
    title:
      'Certificates made durable in the journal of a front, one commit in flight, the ledger in the same thread',
    note:
      'fsync: written through to the disk. commit: written, and on the disk within 10 ms; its time is not a wait for the disk.\n' +
      'What a client feels of it: the rows fsync, commit and dropped of `small`.',
    columns,
    rows,
  };
}
