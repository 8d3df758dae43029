import { setImmediate as nextTurn } from 'node:timers/promises';
import { concatBytes } from '../../core/bytes.ts';
import type { Clock } from '../../core/clock.ts';
import { type Books, isRefusal, LedgerError, type LogStore, SEQUENCES_PER_LEASE } from '../ledger.ts';
import type { SegmentRecord, StoredAnswer } from '../records.ts';
import { putRates, SavedRates } from '../saved-rates.ts';
import { decodeRun, type EncodedSegment, encodeSegment, type Run } from '../segment.ts';
import { type Body, type Key, type SharedTable, type Store, tx } from '../store.ts';
import {
  BALANCES,
  COUNTS,
  DROPPED_SEGMENTS,
  KEY_CLAIMS,
  SEGMENT_TIMES,
  SEGMENTS,
  SPENT,
  UNSEALED,
  USAGE,
} from '../tables.ts';
import {
  accountOfKey,
  addCounters,
  type Charge,
  dayOfKey,
  newCounters,
  type PeriodCharge,
  sumOf,
  UsageTally,
  usageDayOf,
  usageKey,
} from '../usage-counters.ts';
import { answersIn, putAnswers } from './answers.ts';
import { LOG_LOCK, LOG_LOCKS, mayStep, putLogRecords, readLog } from './log.ts';
import { dropNumbers, numberAnswers, seriesLocks, seriesPage, withSerials } from './series.ts';

/**
 * Segments of certificates, and the counters that are sums over them. A commit writes no counter. The transaction that seals
 * runs folds them: it adds them to the counters and removes them from UNSEALED. A reader of a counter adds what is still
 * unsealed. Whoever folds holds LOG_LOCK.
 */

/** The most bytes of a run of several segments. Reading one segment of a run reads all of it, so runs are small. */
const RUN_BYTES_MAX = 16 * 1_024;
/** The segments of a run were committed within one interval of this length, since retention drops them together. */
const RUN_MS = 1_000;
/** Runs erased by one transaction: with 1,000 certificates each they take 2 ms. Commits get their turn between two of them. */
const RUNS_PER_SWEEP = 8;
/** Runs read in one turn of the loop: some megabytes. */
const RUNS_PER_READ = 128;

/** The node that stores segments. */
export interface Writer {
  readonly number: number;
  /** Grows with every start of the node. 0 when limits are not shared, so that nothing spent needs to be settled. */
  readonly epoch: number;
}

/** Returns a run of this segment alone. Throws what encodeSegment throws for a segment whose parts do not agree. */
export function encoded(segment: SegmentRecord): Run {
  return [{ segment, bytes: encodeSegment(segment) }];
}

/** Puts segments into runs. The segments of a run are all in `marked`, or none of them is. */
export function runsOf(segments: readonly EncodedSegment[], marked: ReadonlySet<number> = new Set()): Run[] {
  const runs: EncodedSegment[][] = [];
  let [next, interval, isMarked, bytes] = [0, 0, false, 0]; // of the last run
  for (const each of segments) {
    const { sequence, committedAtMs } = each.segment;
    const of = Math.floor(committedAtMs / RUN_MS);
    bytes += each.bytes.length;
    const isAlike = of === interval && marked.has(sequence) === isMarked;
    if (sequence === next && isAlike && bytes <= RUN_BYTES_MAX) runs[runs.length - 1].push(each);
    else {
      runs.push([each]);
      [interval, isMarked, bytes] = [of, marked.has(sequence), each.bytes.length];
    }
    next = sequence + 1;
  }
  return runs;
}

/** Returns the key of a run: its last sequence. The first key at or after any sequence of the run is then the run's. */
function keyOf(run: Run): number {
  return lastOf(run).sequence;
}

function lastOf(run: Run): SegmentRecord {
  return run[run.length - 1].segment;
}

function segmentsOf(runs: readonly Run[]): SegmentRecord[] {
  return runs.flatMap((run) => run.map(({ segment }) => segment));
}

/** See LogStore.putLog. */
export type LogPut = Parameters<LogStore['putLog']>;

/** Stores segments within a transaction of the caller. */
export interface Storing {
  /**
   * Does what Books.commit does and then, with `put`, what LogStore.putLog does. When the put is refused, returns its error,
   * and the segments are stored all the same.
   */
  storing(runs: readonly Run[], answers: readonly StoredAnswer[], put?: LogPut): Body<Error | undefined>;
}

/** A run that waits to be sealed, and the node that stored it. */
interface WaitingRun extends Writer {
  readonly key: number;
  /** Count of its segments. */
  readonly segments: number;
}

/** Returns the books of one process, over a store that other processes may write too. */
export function booksIn(store: Store, clock: Clock, writer: Writer): Books & LogStore & Storing {
  const { expireAnswers, ...answers } = answersIn(store, clock);

  /** Throws `conflict`, before it writes, when the step of the log cannot be taken. */
  function* putLog([records, step, released]: LogPut, known?: readonly Run[]): Body<void> {
    if (step !== undefined && !(yield* mayStep(records, step))) return; // it was taken already
    const { sealed = [] } = step ?? {};
    const runs = yield* waitingOf(sealed);
    // A failover may have lost segments that were read before a standby had them.
    if (runs.reduce((left, { segments }) => left - segments, sealed.length) !== 0)
      throw new LedgerError('conflict', 'segments that were to be logged are no longer in the ledger');
    yield* fold(runs, known);
    yield* putLogRecords(records, released);
  }

  /** Erases some segments that were committed before `beforeMs`, and returns how many. The counters stay. */
  async function sweep(beforeMs: number): Promise<number> {
    const due = await store.read(function* () {
      const times = yield* tx.range(SEGMENT_TIMES, { before: [beforeMs, 0], limit: RUNS_PER_SWEEP });
      return yield* storedRuns(times.map(({ key: [, last] }) => last));
    });
    const segments = segmentsOf(due);
    if (due.length > 0) await store.write([LOG_LOCK, ...seriesLocks(segments)], () => dropRuns(due));
    return segments.length;
  }

  return {
    ...answers,

    leaseSequences: () =>
      store.write(['sequences'], function* () {
        const [newest] = yield* tx.range(SEGMENTS, { isReverse: true, limit: 1 });
        const dropped = yield* droppedSegment();
        const leasedBefore = (yield* tx.get(COUNTS, 'leasedBefore')) ?? 0;
        const free = Math.max(leasedBefore, newest?.key ?? 0, dropped);
        const start = Math.ceil(free / SEQUENCES_PER_LEASE) * SEQUENCES_PER_LEASE;
        const before = start + SEQUENCES_PER_LEASE;
        yield* tx.put(COUNTS, 'leasedBefore', before);
        return { from: start + 1, before };
      }),

    async commit(segments, kept) {
      const fresh = segments.map(encoded); // throws before anything is written
      await store.write(seriesLocks(segments), () => storeRuns(fresh, kept, writer));
    },

    *storing(runs, kept, put) {
      const fresh = yield* storeRuns(runs, kept, writer);
      try {
        if (put !== undefined) yield* putLog(put, fresh);
      } catch (error) {
        if (isRefusal(error)) return error;
        throw error;
      }
    },

    segment: (sequence) =>
      store.read(function* () {
        const [row] = yield* tx.range(SEGMENTS, { from: sequence, limit: 1 });
        const found = row && decodeRun(row.value).find(({ segment }) => segment.sequence === sequence);
        return found && (yield* withSerials([found.segment]))[0];
      }),

    async unsealed(certificates) {
      const all: SegmentRecord[] = [];
      for (let [missing, from] = [certificates, 0]; ; from++) {
        const waiting = await store.read(() => tx.range(UNSEALED, { from, limit: RUNS_PER_READ }));
        const wanted = waiting.filter(({ value }) => (missing -= value.count) + value.count > 0);
        const runs = await store.read(() => unsealedRuns(wanted.map(({ key }) => key)));
        all.push(...segmentsOf(runs));
        if (wanted.length < RUNS_PER_READ) return store.read(() => withSerials(all));
        from = wanted[wanted.length - 1].key;
        await nextTurn();
      }
    },

    segmentsFrom: (from, limit) =>
      store.read(function* () {
        const rows = yield* tx.range(SEGMENTS, { from, limit });
        const segments = segmentsOf(rows.map(({ value }) => decodeRun(value)));
        return yield* withSerials(segments.filter(({ sequence }) => sequence >= from).slice(0, limit));
      }),

    seriesPage: (purpose, part) => store.read(() => seriesPage(purpose, part)),

    balances: (period) =>
      store.read(function* () {
        const sums = new Map<number, Charge>();
        const rows = yield* tx.range(BALANCES, { from: [period, 0], before: [period + 1, 0] });
        for (const { key, value } of rows) sums.set(key[1], value);
        for (const charge of (yield* unsealedTally()).charges())
          if (charge.period === period) sums.set(charge.account, sumOf(sums.get(charge.account), charge));
        const sorted = [...sums].sort(([a], [b]) => a - b);
        return sorted.map(([accountNumber, charge]) => ({ accountNumber, period, ...charge }));
      }),

    usage: (accountNumber, sinceDay) =>
      store.read(function* () {
        const [first] = yield* tx.range(USAGE, { from: usageKey(sinceDay, 0), limit: 1 });
        const [last] = yield* tx.range(USAGE, { isReverse: true, limit: 1 });
        const sums = new UsageTally();
        const keys: number[] = [];
        for (let day = first && dayOfKey(first.key); day !== undefined && day <= dayOfKey(last.key); day++)
          keys.push(usageKey(day, accountNumber));
        for (const [i, counters] of (yield* tx.getMany(USAGE, keys)).entries())
          if (counters !== undefined) sums.counters.set(keys[i], counters);
        sums.addTally(yield* unsealedTally());
        return [...sums.counters]
          .filter(([key]) => accountOfKey(key) === accountNumber && dayOfKey(key) >= sinceDay)
          .sort(([a], [b]) => a - b)
          .map(([key, counters]) => usageDayOf(dayOfKey(key), counters));
      }),

    saveRates: (rates) => store.write([], () => putRates(writer.number, rates)),

    async loadRates(sinceMs) {
      const rates = await SavedRates.in(store);
      let from: readonly [number, number] = [sinceMs, 0];
      for (;;) {
        const recent = await store.read(function* () {
          const times = yield* tx.range(SEGMENT_TIMES, { from, limit: RUNS_PER_READ });
          const runs = yield* storedRuns(times.map(({ key: [, last] }) => last));
          return times.map(({ key, value: node }, i) => ({ key, node, run: runs[i] }));
        });
        for (const { node, run } of recent)
          for (const { segment } of run)
            if (segment.committedAtMs >= sinceMs) rates.addEntries(node, segment.entries);
        const last = recent.at(-1);
        if (last === undefined) return rates.records();
        from = [last.key[0], last.key[1] + 1];
      }
    },

    async expire(nowMs, segmentsBeforeMs) {
      const answers = await expireAnswers(nowMs);
      let segments = 0;
      for (let now = 1; now > 0; segments += now) now = await sweep(segmentsBeforeMs);
      return { answers, segments };
    },

    segmentSpan: () =>
      store.read(function* () {
        const [oldest] = yield* tx.range(SEGMENT_TIMES, { limit: 1 });
        const [newest] = yield* tx.range(SEGMENT_TIMES, { isReverse: true, limit: 1 });
        return oldest && newest && { oldestMs: oldest.key[0], newestMs: newest.key[0] };
      }),

    probe: () => store.write([], () => tx.put(COUNTS, 'probedAtMs', clock.wallMs())),

    async putLog(...put) {
      await store.write(put[2] === undefined ? [LOG_LOCK] : LOG_LOCKS, () => putLog(put));
    },

    getLog: (key) => readLog(store, key),
  };
}

/** Stores new runs. */
export function* putRuns(runs: readonly Run[], { number: node, epoch }: Writer): Body<void> {
  for (const run of runs) {
    const { sequence: key, committedAtMs } = lastOf(run);
    const count = run.reduce((sum, { segment }) => sum + segment.count, 0);
    yield* tx.put(SEGMENTS, key, concatBytes(...run.map(({ bytes }) => bytes)));
    yield* tx.put(SEGMENT_TIMES, [committedAtMs, key], node);
    yield* tx.put(UNSEALED, key, { segments: run.length, count, node, epoch });
  }
}

/** Stores the rest of a commit of new runs: the serials of labelled answers, and kept answers, whose keys it releases. */
export function* storeFollowing(runs: readonly Run[], answers: readonly StoredAnswer[]): Body<void> {
  yield* numberAnswers(segmentsOf(runs));
  if (answers.length === 0) return;
  yield* putAnswers(answers);
  yield* tx.remove(
    KEY_CLAIMS,
    answers.map(({ keyDigest }) => keyDigest),
  );
}

/** See Books.commit. Returns the segments that were not stored before. */
export function* storeRuns(
  runs: readonly Run[],
  answers: readonly StoredAnswer[],
  writer: Writer,
): Body<readonly Run[]> {
  const fresh = yield* unstored(runs);
  yield* putRuns(fresh, writer);
  yield* storeFollowing(fresh, answers);
  return fresh;
}

/**
 * Returns what the segments of earlier epochs of a node spent, sealed and unsealed ones, by epoch. Removes the records of
 * SPENT that it used.
 */
export function* spentBefore({ number, epoch }: Writer): Body<readonly (PeriodCharge & { epoch: number })[]> {
  const sealed = yield* tx.range(SPENT, { from: [number, 0, 0, 0], before: [number, epoch, 0, 0] });
  const waiting = (yield* tx.range(UNSEALED, {})).filter(
    ({ value }) => value.node === number && value.epoch < epoch,
  );
  yield* tx.remove(
    SPENT,
    sealed.map(({ key }) => key),
  );
  const spent = sealed.map(({ key: [, of, period, account], value }) => {
    return { epoch: of, period, account, ...value };
  });
  for (const [of, rows] of Map.groupBy(waiting, ({ value }) => value.epoch)) {
    const tally = yield* tallyOf(rows.map(({ key }) => key));
    spent.push(...tally.charges().map((charge) => ({ epoch: of, ...charge })));
  }
  return spent;
}

/** Returns the segments that are not stored yet, in runs. Throws when one of them must not be stored. */
function* unstored(runs: readonly Run[]): Body<Run[]> {
  const dropped = yield* droppedSegment();
  const fresh: Run[] = [];
  const seen = new Set<number>();
  for (const run of runs) {
    // A stored run with one of these segments ends within RUN_BYTES_MAX sequences, since each segment takes a byte or more.
    const range = { from: run[0].segment.sequence, before: keyOf(run) + RUN_BYTES_MAX, limit: run.length };
    const beside = (yield* tx.range(SEGMENTS, range)).flatMap(({ value }) => decodeRun(value));
    const known = new Map(beside.map(({ segment, bytes }) => [segment.sequence, bytes]));
    const left = run.filter(({ segment: { sequence }, bytes }) => {
      if (seen.size === seen.add(sequence).size)
        throw new LedgerError('conflict', `segment ${sequence} is in one commit twice`);
      const stored = known.get(sequence);
      if (stored !== undefined && Buffer.compare(stored, bytes) !== 0)
        throw new LedgerError('conflict', `segment ${sequence} is stored with other content`);
      // It was stored, counted and dropped before, or comes so late that its certificates are past their retention.
      if (stored === undefined && sequence <= dropped)
        throw new LedgerError('refused', `segment ${sequence} is past its retention`);
      return stored === undefined;
    });
    fresh.push(...runsOf(left));
  }
  return fresh;
}

/** Returns the highest sequence that retention dropped; 0 before the first. */
function* droppedSegment(): Body<number> {
  return (yield* tx.range(DROPPED_SEGMENTS, { limit: 1 }))[0]?.key ?? 0;
}

/** Returns these unsealed runs without those that another node has sealed and dropped meanwhile. */
function* unsealedRuns(keys: readonly number[]): Body<Run[]> {
  const stored = yield* tx.getMany(SEGMENTS, keys);
  const missing = keys.filter((_, i) => stored[i] === undefined);
  if (missing.length > 0) {
    const listed = yield* tx.getMany(UNSEALED, missing);
    yield* storedRuns(missing.filter((_, i) => listed[i] !== undefined));
  }
  return stored.flatMap((run) => (run === undefined ? [] : [decodeRun(run)]));
}

function* storedRuns(keys: readonly number[]): Body<Run[]> {
  return (yield* tx.getAll(SEGMENTS, keys)).map(decodeRun);
}

/** Erases these runs; another node may have erased some of them meanwhile. */
function* dropRuns(due: readonly Run[]): Body<void> {
  const keys = due.map(keyOf);
  const stored = yield* tx.getMany(SEGMENTS, keys);
  const runs = due.filter((_, i) => stored[i] !== undefined);
  const dropped = yield* droppedSegment();
  yield* fold(yield* waitingOf(keys), due);
  yield* dropNumbers(segmentsOf(runs));
  yield* tx.remove(SEGMENTS, runs.map(keyOf));
  yield* tx.remove(
    SEGMENT_TIMES,
    runs.map((run) => [lastOf(run).committedAtMs, keyOf(run)]),
  );
  const highest = Math.max(...keys);
  if (highest <= dropped) return;
  yield* tx.remove(DROPPED_SEGMENTS, [dropped]);
  yield* tx.put(DROPPED_SEGMENTS, highest, 0);
}

/** Returns the unsealed runs whose last segments are among these. */
function* waitingOf(sequences: readonly number[]): Body<WaitingRun[]> {
  if (sequences.length === 0) return [];
  const wanted = new Set(sequences);
  const before = sequences.reduce((highest, each) => Math.max(highest, each)) + 1;
  const waiting = (yield* tx.range(UNSEALED, { before })).filter(({ key }) => wanted.has(key));
  return waiting.map(({ key, value: { segments, node, epoch } }) => ({ key, segments, number: node, epoch }));
}

/** Adds the runs to the counters, and removes them from UNSEALED. The caller has read the `known` ones. */
function* fold(sealed: readonly WaitingRun[], known: readonly Run[] = []): Body<void> {
  if (sealed.length === 0) return;
  const keys = sealed.map(({ key }) => key);
  const runs = new Map(known.map((run) => [keyOf(run), run]));
  const unread = keys.filter((key) => !runs.has(key));
  yield* visitRuns(unread, (run) => runs.set(keyOf(run), run));
  const all = new UsageTally();
  const spent: (readonly [readonly [number, number, number, number], Charge])[] = [];
  for (const life of Map.groupBy(sealed, ({ number, epoch }) => `${number} ${epoch}`).values()) {
    const [{ number, epoch }] = life;
    const tally = new UsageTally();
    for (const { key } of life) addRun(tally, runs.get(key)!);
    all.addTally(tally);
    if (epoch === 0) continue;
    for (const { period, account, ...charge } of tally.charges())
      spent.push([[number, epoch, period, account], charge]);
  }
  yield* addTo(USAGE, [...all.counters], (sum = newCounters(), more) => {
    addCounters(sum, more);
    return sum;
  });
  const charged = all.charges().map(({ period, account, ...charge }) => [[period, account], charge] as const);
  yield* addTo(BALANCES, charged, sumOf);
  yield* addTo(SPENT, spent, sumOf);
  yield* tx.remove(UNSEALED, keys);
}

/** Adds to each record the value that is given for its key. */
function* addTo<K extends Key, V>(
  table: SharedTable<K, V>,
  more: readonly (readonly [K, V])[],
  sum: (stored: V | undefined, more: V) => V,
): Body<void> {
  const stored = yield* tx.getMany(
    table,
    more.map(([key]) => key),
  );
  yield* tx.putAll(
    table,
    more.map(([key, value], i) => [key, sum(stored[i], value)]),
  );
}

/** Returns the sum over all unsealed runs. */
function* unsealedTally(): Body<UsageTally> {
  return yield* tallyOf((yield* tx.range(UNSEALED, {})).map(({ key }) => key));
}

/** Returns the sum over these runs, which must be stored. */
function* tallyOf(keys: readonly number[]): Body<UsageTally> {
  const tally = new UsageTally();
  yield* visitRuns(keys, (run) => addRun(tally, run));
  return tally;
}

function addRun(tally: UsageTally, run: Run): void {
  for (const { segment } of run) tally.addEntries(segment.entries);
}

/** Reads runs, which must be stored, some at a time. */
function* visitRuns(keys: readonly number[], visit: (run: Run) => void): Body<void> {
  for (let at = 0; at < keys.length; at += RUNS_PER_READ)
    for (const run of yield* storedRuns(keys.slice(at, at + RUNS_PER_READ))) visit(run);
}
