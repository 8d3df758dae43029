import { randomBytes } from 'node:crypto';
import { closeSync, constants, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../src/core/clock.ts';
import { silentLog } from '../src/core/log.ts';
import type { Durability } from '../src/ledger/front-journal.ts';
import type { SegmentRecord } from '../src/ledger/records.ts';
import { type Modules, modulesOf } from './support/modules.ts';
import { comparison, nameFor } from './support/revisions.ts';
import { alternate, type Contender } from './support/rounds.ts';
import { SegmentSource, timedCommits } from './support/segments.ts';
import { dataFolder } from './support/server.ts';
import type { BenchRun, Report, Row, Suite, Table } from './support/suite.ts';
import { type Measure, of, ratio, rowOf } from './support/tables.ts';

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
      const columns = [
        of('certificates/s', 'perS'),
        of('commit µs', 'us'),
        of('p99 µs', 'p99Us'),
        of(`${DISK} µs`, 'us', { name: DISK }),
        ratio('x the disk', 'us', DISK),
        ...comparison(run, 'commit', 'us'),
      ];
      const rows: Row[] = [];
      for (const size of SIZES) {
        const load = `${size.toLocaleString('en-US')} a commit`;
        run.talk(load);
        const contenders: Contender[] = [disk.contender(run, size)];
        for (const { name, modules, ledger } of ledgers) {
          contenders.push(committing(run, name, modules, ledger, size));
        }
        const rounds = await alternate(contenders, run.rounds);
        rows.push(...ledgers.map(({ name }) => rowOf(columns, rounds, name, `${load}, ${name}`)));
      }
      return { tables: [tableOf(columns, rows)] };
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
  const front = new journal.FrontJournal({ place, durability, ledger });
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
  const source = new SegmentSource(['lot'], new segment.SegmentWriter());
  const commit = () => ledger.commit(source.make(ledger.nextSequence(), size));
  return { name, measure: () => oneByOne(run, size, commit) };
}

/** One commit after the other, as a front does it. */
function oneByOne(run: BenchRun, certificates: number, commit: () => Promise<void>) {
  return timedCommits(commit, { certificates, durationMs: TIME_MS * run.seconds });
}

function tableOf(columns: readonly Measure[], rows: readonly Row[]): Table {
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
