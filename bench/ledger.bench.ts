import { once } from 'node:events';
import { rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import {
  isMainThread,
  MessageChannel,
  type MessagePort,
  parentPort,
  Worker,
  workerData,
} from 'node:worker_threads';
import { systemClock } from '../src/core/clock.ts';
import { silentLog } from '../src/core/log.ts';
import type { Ledger } from '../src/ledger/ledger.ts';
import { openLmdbLedger } from '../src/ledger/lmdb/lmdb.ts';
import type { RawStore } from '../src/ledger/lmdb/store.ts';
import { connectLedger, serveLedger } from '../src/service/ledger-link.ts';
import { Rounds } from './support/rounds.ts';
import { SegmentSource, timedCommits, timesOf } from './support/segments.ts';
import { dataFolder } from './support/server.ts';
import type { BenchRun, Report, Suite, Table } from './support/suite.ts';
import { callTable, of, rowsOf } from './support/tables.ts';

type Durability = 'fsync' | 'commit';

const DURABILITIES: readonly Durability[] = ['fsync', 'commit'];
const TIME_MS = 500;
const WARM_UP_MS = 200;
const GROW_AHEAD_BYTES = 256 * 2 ** 20;
/** Of the ledger whose upkeep is measured, with 1,000 certificates in each segment. */
const UPKEEP_SEGMENTS = 500;
const now = () => systemClock.monotonicMs();

/** The ledger on this machine's disk: certificates made durable per second, and how long one commit takes. */
export const ledger: Suite = {
  name: 'ledger',
  summary: 'certificates made durable per second, time of a commit, upkeep',
  byDefault: true,
  async run(run): Promise<Report> {
    return {
      tables: [
        await measured(
          run,
          'Certificates made durable, 4 commits in flight where nothing else is said',
          throughputs,
        ),
        await measured(run, 'One commit at a time', latencies),
        await upkeep(),
        await callTable(run, { title: 'Before each commit', note: '' }, 'µs', {
          statfs: () => statfsSync(process.cwd()),
        }),
      ],
    };
  },
};

interface Load {
  /** Segments in one commit, and entries in one segment. */
  readonly segments: number;
  readonly entries: number;
  /** Commits that wait at the same time. */
  readonly inFlight: number;
}

interface How {
  readonly durability: Durability;
  /** Behind a thread, as the service holds it. */
  readonly thread?: boolean;
  readonly growAheadBytes?: number;
  readonly wrap?: (raw: RawStore) => RawStore;
}

type Case = readonly [name: string, how: How, load: Load];

const LOADS: Readonly<Record<string, Load>> = {
  '1000 certificates a commit, one record each': { segments: 1000, entries: 1, inFlight: 4 },
  '1000 certificates a commit, packed in one': { segments: 1, entries: 1000, inFlight: 4 },
  '200 certificates a commit, packed in one': { segments: 1, entries: 200, inFlight: 4 },
  '1 certificate a commit, 256 commits in flight': { segments: 1, entries: 1, inFlight: 256 },
};
const throughputs = DURABILITIES.flatMap((durability) =>
  Object.entries(LOADS).map(([name, load]): Case => [`${durability}: ${name}`, { durability }, load]),
);

const alone = (entries: number): Load => ({ segments: 1, entries, inFlight: 1 });
const latencies: readonly Case[] = [
  ...DURABILITIES.flatMap((durability) =>
    [false, true].flatMap((thread) =>
      [1, 64, 500].map((entries): Case => {
        const where = thread ? ', behind its thread' : '';
        return [`${durability}${where}: ${entries} certificates`, { durability, thread }, alone(entries)];
      }),
    ),
  ),
  ...[0, GROW_AHEAD_BYTES].map((growAheadBytes): Case => {
    const name = `fsync, file grown ahead by ${growAheadBytes / 2 ** 20} MiB: 500 certificates`;
    return [name, { durability: 'fsync', growAheadBytes }, alone(500)];
  }),
];

/** One after the other, each on a ledger of its own. */
async function measured(run: BenchRun, title: string, cases: readonly Case[]): Promise<Table> {
  const columns = [of('certificates/s', 'perS'), of('p50 µs', 'us'), of('p99 µs', 'p99Us')];
  const rounds = new Rounds();
  for (const [name, how, load] of cases)
    rounds.add(name, await withLedger(how, (opened) => committing(opened, load, TIME_MS * run.seconds)));
  return { title, note: '', columns, rows: rowsOf(columns, rounds) };
}

async function committing(opened: Ledger, { segments, entries, inFlight }: Load, durationMs: number) {
  const source = new SegmentSource();
  let { from: sequence } = await opened.leaseSequences();
  const commit = () =>
    opened.commit(
      Array.from({ length: segments }, () => source.make(sequence++, entries)),
      [],
    );
  const certificates = segments * entries;
  return timedCommits(commit, { certificates, inFlight, durationMs, warmUpMs: WARM_UP_MS });
}

/** A ledger in a folder of its own. */
async function withLedger<T>(how: How, use: (opened: Ledger) => Promise<T>): Promise<T> {
  const folder = dataFolder();
  try {
    return await (how.thread === true ? behindThread : inPlace)(join(folder, 'ledger'), how, use);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function inPlace<T>(path: string, how: How, use: (opened: Ledger) => Promise<T>): Promise<T> {
  const opened = await openLedger(path, how);
  const result = await use(opened);
  await opened.close();
  return result;
}

async function behindThread<T>(
  path: string,
  { durability }: How,
  use: (opened: Ledger) => Promise<T>,
): Promise<T> {
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(new URL(import.meta.url), {
    workerData: { path, durability, port: port2 } satisfies Order,
    transferList: [port2],
  });
  await once(worker, 'message');
  const opened = connectLedger(port1);
  const result = await use(opened);
  await opened.close();
  worker.postMessage('close');
  await once(worker, 'exit');
  return result;
}

function openLedger(
  path: string,
  { durability, growAheadBytes = GROW_AHEAD_BYTES, wrap = (raw) => raw }: How,
) {
  return openLmdbLedger({
    path,
    clock: systemClock,
    log: silentLog,
    role: 'server',
    durability,
    freeBytesMin: 0,
    growAheadBytes,
    wrap,
  });
}

/** What retention and an audit take beside the commits that they share the thread with. */
async function upkeep(): Promise<Table> {
  const columns = [of('p50 µs', 'us'), of('p99 µs', 'p99Us'), of('transactions', 'transactions')];
  const rounds = new Rounds();
  const transactions: number[] = [];
  const wrap = (raw: RawStore): RawStore => ({
    ...raw,
    transact: (body) => {
      const begunMs = now();
      raw.transact(body);
      transactions.push(now() - begunMs);
    },
  });
  await withLedger({ durability: 'fsync', wrap }, async (opened) => {
    const source = new SegmentSource();
    const timed = async (name: string, work: () => Promise<unknown>) => {
      transactions.length = 0;
      await work();
      rounds.add(name, { ...timesOf(transactions), transactions: transactions.length });
    };
    const commits = async (from: number) => {
      for (let i = 0; i < UPKEEP_SEGMENTS; i++) await opened.commit([source.make(from + i, 1000)], []);
    };
    await timed('a commit of 1000 certificates', () => commits(1));
    await timed('a sweep of retention', () => opened.expire(0, systemClock.wallMs() + 1));
    await timed('a commit into the freed pages', () => commits(UPKEEP_SEGMENTS + 1));
    const begunMs = now();
    await opened.audit();
    rounds.add(`an audit of ${UPKEEP_SEGMENTS * 1000} certificates`, { us: 1e3 * (now() - begunMs) });
  });
  return { title: 'Upkeep, one transaction at a time', note: '', columns, rows: rowsOf(columns, rounds) };
}

/** What the thread of a ledger is told, which is this file again. */
interface Order {
  readonly path: string;
  readonly durability: Durability;
  readonly port: MessagePort;
}

if (!isMainThread) {
  const { path, durability, port } = workerData as Order;
  const opened = await openLedger(path, { durability });
  serveLedger(opened, port);
  parentPort?.once('message', () => opened.close());
  parentPort?.postMessage('ready');
}
