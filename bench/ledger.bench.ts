/**
 * The ledger on this machine's disk: certificates made durable per second, and how long one commit takes.
 *   node bench/ledger.bench.ts            tables, JSON in bench/out/ledger.json
 *   node bench/ledger.bench.ts --seconds 5    longer runs
 *   QRN_BENCH_DIR=/mnt/disk …             another disk than the one of the temporary folder
 */
import { randomFillSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
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
import type { SegmentRecord } from '../src/ledger/records.ts';
import { SegmentWriter } from '../src/ledger/segment.ts';
import { connectLedger, serveLedger } from '../src/service/ledger-link.ts';

type Durability = 'fsync' | 'commit';

interface Row {
  readonly case: string;
  readonly [measure: string]: string | number;
}

const ACCOUNTS = 100;
const WARM_UP_MS = 200;
const now = () => systemClock.monotonicMs();

/** Segments for 100 accounts in turn; packing them is timed with the commit. */
class SegmentSource {
  readonly #writer = new SegmentWriter(1024);
  readonly #requestId = randomFillSync(new Uint8Array(16));
  readonly #counter = new DataView(this.#requestId.buffer);
  readonly #delivered = randomFillSync(new Uint8Array(32));

  make(sequence: number, count: number): SegmentRecord {
    for (let i = 0; i < count; i++) {
      this.#counter.setUint32(8, sequence);
      this.#counter.setUint32(12, i);
      this.#writer.append({
        requestId: this.#requestId,
        issuedAtMs: systemClock.wallMs(),
        accountNumber: 1 + (i % ACCOUNTS),
        endpoint: 'integers',
        mode: 'csprng',
        source: 0,
        delivered: this.#delivered,
        valueCount: 10,
        deliveredBytes: 120,
        consumedBytes: 40,
        credits: 0,
      });
    }
    return {
      sequence,
      committedAtMs: systemClock.wallMs(),
      sources: [{ mode: 'csprng', lotIds: [], generation: null }],
      context: { verifyUrlBase: 'https://verify.example', poweredBy: 'bench' },
      ...this.#writer.finish(),
    };
  }
}

interface Load {
  /** Segments in one commit, and entries in one segment. */
  readonly segments: number;
  readonly entries: number;
  /** Commits that wait at the same time. */
  readonly inFlight: number;
}

/** Runs the load for a while; latencies in ms from making the segments to the resolved promise. */
async function run(
  ledger: Ledger,
  load: Load,
  durationMs: number,
): Promise<{ perSecond: number; latencies: number[] }> {
  const source = new SegmentSource();
  const latencies: number[] = [];
  let { from: sequence } = await ledger.leaseSequences();
  let certificates = 0;
  const start = now() + WARM_UP_MS;
  const end = start + durationMs;
  const loop = async () => {
    while (now() < end) {
      const begun = now();
      const segments = Array.from({ length: load.segments }, () => source.make(sequence++, load.entries));
      await ledger.commit(segments, []);
      if (begun < start) continue;
      latencies.push(now() - begun);
      certificates += load.segments * load.entries;
    }
  };
  await Promise.all(Array.from({ length: load.inFlight }, loop));
  return { perSecond: (certificates / (now() - start)) * 1000, latencies };
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

function rowOf(name: string, { perSecond, latencies }: Awaited<ReturnType<typeof run>>): Row {
  const sorted = latencies.toSorted((a, b) => a - b);
  const microseconds = (ms: number) => Math.round(ms * 1000);
  return {
    case: name,
    'certificates/s': Math.round(perSecond),
    'p50 us': microseconds(quantile(sorted, 0.5)),
    'p99 us': microseconds(quantile(sorted, 0.99)),
    commits: latencies.length,
  };
}

type Wrap = (raw: RawStore) => RawStore;

function openLedger(
  path: string,
  durability: Durability,
  growAheadBytes = 256 * 2 ** 20,
  wrap: Wrap = (raw) => raw,
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

const base = process.env['QRN_BENCH_DIR'] ?? tmpdir();

/** A ledger in a folder of its own; behind a thread when asked, as the service holds it. */
async function withLedger<T>(
  how: { durability: Durability; thread?: boolean; growAheadBytes?: number; wrap?: Wrap },
  use: (ledger: Ledger) => Promise<T>,
): Promise<T> {
  const path = mkdtempSync(join(base, 'qrn-bench-'));
  try {
    if (how.thread !== true) {
      const ledger = await openLedger(path, how.durability, how.growAheadBytes, how.wrap);
      const result = await use(ledger);
      await ledger.close();
      return result;
    }
    const { port1, port2 } = new MessageChannel();
    const worker = new Worker(new URL(import.meta.url), {
      workerData: { path, durability: how.durability, port: port2 },
      transferList: [port2],
    });
    await once(worker, 'message');
    const ledger = connectLedger(port1);
    const result = await use(ledger);
    await ledger.close();
    worker.postMessage('close');
    await once(worker, 'exit');
    return result;
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
}

async function throughput(durationMs: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const durability of ['fsync', 'commit'] as const) {
    for (const [name, load] of [
      ['1000 certificates a commit, one record each', { segments: 1000, entries: 1, inFlight: 4 }],
      ['1000 certificates a commit, packed in one', { segments: 1, entries: 1000, inFlight: 4 }],
      ['200 certificates a commit, packed in one', { segments: 1, entries: 200, inFlight: 4 }],
      ['1 certificate a commit, 256 commits in flight', { segments: 1, entries: 1, inFlight: 256 }],
    ] as const) {
      const result = await withLedger({ durability }, (ledger) => run(ledger, load, durationMs));
      rows.push(rowOf(`${durability}: ${name}`, result));
    }
  }
  return rows;
}

async function latency(durationMs: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const durability of ['fsync', 'commit'] as const) {
    for (const thread of [false, true]) {
      for (const entries of [1, 64, 500]) {
        const load = { segments: 1, entries, inFlight: 1 };
        const result = await withLedger({ durability, thread }, (ledger) => run(ledger, load, durationMs));
        rows.push(
          rowOf(`${durability}${thread ? ', behind its thread' : ''}: ${entries} certificates`, result),
        );
      }
    }
  }
  for (const growAheadBytes of [0, 256 * 2 ** 20]) {
    const load = { segments: 1, entries: 500, inFlight: 1 };
    const result = await withLedger({ durability: 'fsync', growAheadBytes }, (ledger) =>
      run(ledger, load, durationMs),
    );
    rows.push(rowOf(`fsync, file grown ahead by ${growAheadBytes / 2 ** 20} MiB: 500 certificates`, result));
  }
  return rows;
}

/** What retention and an audit take beside the commits that they share the thread with. */
async function upkeep(): Promise<Row[]> {
  const segments = 500;
  const transactions: number[] = [];
  const timed = (raw: RawStore): RawStore => ({
    ...raw,
    transact: (body) => {
      const begun = now();
      raw.transact(body);
      transactions.push(now() - begun);
    },
  });
  return withLedger({ durability: 'fsync', wrap: timed }, async (ledger) => {
    const source = new SegmentSource();
    const commits = async (from: number) => {
      transactions.length = 0;
      for (let i = 0; i < segments; i++) await ledger.commit([source.make(from + i, 1000)], []);
      return { perSecond: 0, latencies: [...transactions] };
    };
    const row = (name: string, result: { perSecond: number; latencies: number[] }): Row => {
      const { 'p50 us': p50, 'p99 us': p99, commits } = rowOf(name, result);
      return { case: name, 'p50 us': p50, 'p99 us': p99, transactions: commits };
    };
    const rows = [row('a commit of 1000 certificates', await commits(1))];
    transactions.length = 0;
    await ledger.expire(0, systemClock.wallMs() + 1);
    rows.push(row('a sweep of retention', { perSecond: 0, latencies: [...transactions] }));
    rows.push(row('a commit into the freed pages', await commits(segments + 1)));
    const begun = now();
    await ledger.audit();
    rows.push({
      case: `an audit of ${segments * 1000} certificates`,
      'p50 us': Math.round((now() - begun) * 1000),
    });
    return rows;
  });
}

function statfsMicroseconds(): number {
  const rounds = 10_000;
  const start = now();
  for (let i = 0; i < rounds; i++) statfsSync(base);
  return ((now() - start) * 1000) / rounds;
}

if (isMainThread) {
  const { values } = parseArgs({ options: { seconds: { type: 'string', default: '2' } } });
  const durationMs = Number(values.seconds) * 1000;
  const durable = await throughput(durationMs);
  console.log('Certificates made durable, 4 commits in flight where nothing else is said');
  console.table(durable);
  const oneByOne = await latency(durationMs);
  console.log('One commit at a time');
  console.table(oneByOne);
  const maintenance = await upkeep();
  console.log('Upkeep, one transaction at a time');
  console.table(maintenance);
  const statfs = statfsMicroseconds();
  console.log(`statfs before each commit: ${statfs.toFixed(1)} us`);
  mkdirSync('bench/out', { recursive: true });
  writeFileSync(
    'bench/out/ledger.json',
    `${JSON.stringify({ durable, oneByOne, maintenance, statfs }, null, 2)}\n`,
  );
} else {
  const { path, durability, port } = workerData as {
    path: string;
    durability: Durability;
    port: MessagePort;
  };
  const ledger = await openLedger(path, durability);
  serveLedger(ledger, port);
  parentPort?.once('message', () => ledger.close());
  parentPort?.postMessage('ready');
}
