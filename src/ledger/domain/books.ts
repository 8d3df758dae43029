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
 * Answers: segments of certificates, and the counters that are sums over them. No commit writes a counter: the transaction that
 * seals segments adds them to the counters and takes them from UNSEALED, and whoever reads a counter adds what is still
 * unsealed. All who fold hold LOG_LOCK.
 */

/** A run takes no more: whoever reads one of its segments reads them all. */
const RUN_BYTES_MAX = 16 * 1_024;
/** Its segments were committed in one of these intervals, since retention drops them together. */
const RUN_MS = 1_000;
/** Runs erased by one transaction, so that commits get their turn between: with 1,000 certificates each they take 2 ms. */
const RUNS_PER_SWEEP = 8;
/** Runs that are read before the loop has a turn: some megabytes. */
const RUNS_PER_READ = 128;
/** Entries that are kept until they are sealed: a million certificates have more. */
const ENTRIES_BYTES_MAX = 64 * 2 ** 20;

/** Which node stores segments, and in which of its lives. */
export interface Writer {
  readonly number: number;
  /** 0 where no other node has a part of the limits: nothing that is spent needs to be settled. */
  readonly epoch: number;
}

/** A run of this segment alone. Throws what encodeSegment throws for a segment whose parts do not agree. */
export function encoded(segment: SegmentRecord): Run {
  return [{ segment, bytes: encodeSegment(segment) }];
}

/** Segments in runs, of each of which all or none are `marked`. */
export function runsOf(segments: readonly EncodedSegment[], marked: ReadonlySet<number> = new Set()): Run[] {
  const runs: EncodedSegment[][] = [];
  let [next, interval, isMarked, bytes] = [0, 0, false, 0]; // of the run that grows
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

/** The first key from any of its sequences on, so that it is found by them all. */
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

/** What stores segments, for a transaction of the caller. */
export interface Storing {
  /**
   * As Books.commit, and then as LogStore.putLog where there is something to put. Gives the refusal of the put, which keeps no
   * segment from being stored.
   */
  storing(runs: readonly Run[], answers: readonly StoredAnswer[], put?: LogPut): Body<Error | undefined>;
}

/** A run that waits to be sealed, and who stored it. */
interface WaitingRun extends Writer {
  readonly key: number;
  readonly segments: number;
}

/** The books of one process, over a store that others may write too. */
export function booksIn(store: Store, clock: Clock, writer: Writer): Books & LogStore & Storing {
  const unsealed = new UnsealedEntries();
  const { expireAnswers, ...answers } = answersIn(store, clock);

  /** Throws `conflict`, before it writes, when the step of the log cannot be taken. */
  function* putLog([records, step, released]: LogPut): Body<void> {
    if (step !== undefined && !(yield* mayStep(records, step))) return; // it was taken already
    const { sealed = [] } = step ?? {};
    const runs = yield* waitingOf(sealed);
    // They could be read, and a failover lost them before a standby had them.
    if (runs.reduce((left, { segments }) => left - segments, sealed.length) !== 0)
      throw new LedgerError('conflict', 'segments that were to be logged are not in the books any more');
    yield* fold(runs, unsealed);
    yield* putLogRecords(records, released);
  }

  /** Erases some segments that were committed before, and tells how many. The counters stay. */
  async function sweep(beforeMs: number): Promise<number> {
    const due = await store.read(function* () {
      const times = yield* tx.range(SEGMENT_TIMES, { before: [beforeMs, 0], limit: RUNS_PER_SWEEP });
      return yield* storedRuns(times.map(({ key: [, last] }) => last));
    });
    const segments = segmentsOf(due);
    if (due.length > 0)
      await store.write([LOG_LOCK, ...seriesLocks(segments)], () => dropRuns(due, unsealed));
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
      const fresh = segments.map(encoded); // a flaw is the caller's bug: found before anything is written
      await store.write(seriesLocks(segments), () => storeRuns(fresh, kept, writer));
    },

    *storing(runs, kept, put) {
      for (const run of yield* storeRuns(runs, kept, writer)) unsealed.note(run); // soon they are sealed
      try {
        if (put !== undefined) yield* putLog(put);
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
        for (const run of runs) unsealed.note(run);
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
        for (const charge of (yield* unsealed.tallyAll()).charges())
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
        sums.addTally(yield* unsealed.tallyAll());
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
          rates.addEntries(node, entriesOf(run.filter(({ segment }) => segment.committedAtMs >= sinceMs)));
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

/** What the books have of runs that are stored for the first time. */
export function* putRuns(runs: readonly Run[], { number: node, epoch }: Writer): Body<void> {
  for (const run of runs) {
    const { sequence: key, committedAtMs } = lastOf(run);
    const count = run.reduce((sum, { segment }) => sum + segment.count, 0);
    yield* tx.put(SEGMENTS, key, concatBytes(...run.map(({ bytes }) => bytes)));
    yield* tx.put(SEGMENT_TIMES, [committedAtMs, key], node);
    yield* tx.put(UNSEALED, key, { segments: run.length, count, node, epoch });
  }
}

/** What is stored with runs that are stored for the first time. Kept answers let go of their keys. */
export function* storeFollowing(runs: readonly Run[], answers: readonly StoredAnswer[]): Body<void> {
  yield* numberAnswers(segmentsOf(runs));
  if (answers.length === 0) return;
  yield* putAnswers(answers);
  yield* tx.remove(
    KEY_CLAIMS,
    answers.map(({ keyDigest }) => keyDigest),
  );
}

/** See Books.commit. Gives what is stored for the first time. */
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

/** What the sealed segments of earlier lives of a node spent, and what those spent that are unsealed: by epoch. */
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
    const tally = yield* new UnsealedEntries().tally(rows.map(({ key }) => key));
    spent.push(...tally.charges().map((charge) => ({ epoch: of, ...charge })));
  }
  return spent;
}

/** What is not stored yet. Refuses all when a segment must not be stored. */
function* unstored(runs: readonly Run[]): Body<Run[]> {
  const dropped = yield* droppedSegment();
  const fresh: Run[] = [];
  const seen = new Set<number>();
  for (const run of runs) {
    // a run that has one of these ends before: it has more bytes than segments
    const range = { from: run[0].segment.sequence, before: keyOf(run) + RUN_BYTES_MAX, limit: run.length };
    const beside = (yield* tx.range(SEGMENTS, range)).flatMap(({ value }) => decodeRun(value));
    const known = new Map(beside.map(({ segment, bytes }) => [segment.sequence, bytes]));
    const left = run.filter(({ segment: { sequence }, bytes }) => {
      if (seen.size === seen.add(sequence).size)
        throw new LedgerError('conflict', `segment ${sequence} is twice in one commit`);
      const stored = known.get(sequence);
      if (stored !== undefined && Buffer.compare(stored, bytes) !== 0)
        throw new LedgerError('conflict', `segment ${sequence} is stored with other content`);
      // Counted and dropped already, or so late that its numbers would be counted after their retention.
      if (stored === undefined && sequence <= dropped)
        throw new LedgerError('refused', `segment ${sequence} is past its retention`);
      return stored === undefined;
    });
    fresh.push(...runsOf(left));
  }
  return fresh;
}

/** The highest sequence that retention dropped; 0 before the first. */
function* droppedSegment(): Body<number> {
  return (yield* tx.range(DROPPED_SEGMENTS, { limit: 1 }))[0]?.key ?? 0;
}

/** Another node may have sealed and dropped some of them meanwhile. */
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

/** Another node may have dropped some of them meanwhile. */
function* dropRuns(due: readonly Run[], unsealed: UnsealedEntries): Body<void> {
  const keys = due.map(keyOf);
  const stored = yield* tx.getMany(SEGMENTS, keys);
  const runs = due.filter((_, i) => stored[i] !== undefined);
  const dropped = yield* droppedSegment();
  yield* fold(yield* waitingOf(keys), unsealed);
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

/** The runs with these last segments that wait to be sealed. */
function* waitingOf(sequences: readonly number[]): Body<WaitingRun[]> {
  if (sequences.length === 0) return [];
  const wanted = new Set(sequences);
  const before = sequences.reduce((highest, each) => Math.max(highest, each)) + 1;
  const waiting = (yield* tx.range(UNSEALED, { before })).filter(({ key }) => wanted.has(key));
  return waiting.map(({ key, value: { segments, node, epoch } }) => ({ key, segments, number: node, epoch }));
}

/** Adds the runs to the counters: they wait no longer. */
function* fold(sealed: readonly WaitingRun[], unsealed: UnsealedEntries): Body<void> {
  if (sealed.length === 0) return;
  const keys = sealed.map(({ key }) => key);
  const all = new UsageTally();
  const spent: (readonly [readonly [number, number, number, number], Charge])[] = [];
  for (const life of Map.groupBy(sealed, ({ number, epoch }) => `${number} ${epoch}`).values()) {
    const [{ number, epoch }] = life;
    const tally = yield* unsealed.tally(life.map(({ key }) => key));
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
  unsealed.forget(keys);
}

/** Adds to each record what comes with its key. */
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

/** Of all its segments, in memory of their own. */
function entriesOf(run: Run): Uint8Array {
  return concatBytes(...run.map(({ segment }) => segment.entries));
}

/**
 * The entries of runs that are not sealed, by key, each read once in this process: when it is read to be sealed, or when a counter is
 * asked for. What a failover of the database took back is not asked for again.
 */
class UnsealedEntries {
  readonly #entries = new Map<number, Uint8Array>();
  #bytes = 0;

  /** Notes a run that was read anyway, in the place of what it was before a failover. */
  note(run: Run): void {
    const entries = entriesOf(run); // a copy: whoever gets a segment may hand its buffer to another thread
    this.forget([keyOf(run)]);
    this.#entries.set(keyOf(run), entries);
    this.#bytes += entries.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= ENTRIES_BYTES_MAX) return;
      this.forget([oldest]);
    }
  }

  /** These were sealed: the counters have them. */
  forget(keys: readonly number[]): void {
    for (const key of keys) {
      this.#bytes -= this.#entries.get(key)?.length ?? 0;
      this.#entries.delete(key);
    }
  }

  /** The sum over all that wait. Forgets what others have sealed or dropped. */
  *tallyAll(): Body<UsageTally> {
    const waiting = new Set((yield* tx.range(UNSEALED, {})).map(({ key }) => key));
    this.forget([...this.#entries.keys()].filter((key) => !waiting.has(key)));
    return yield* this.tally([...waiting]);
  }

  /** The sum over these runs, which all are stored. */
  *tally(keys: readonly number[]): Body<UsageTally> {
    const tally = new UsageTally();
    const missing: number[] = [];
    for (const key of keys) {
      const known = this.#entries.get(key);
      if (known === undefined) missing.push(key);
      else tally.addEntries(known);
    }
    for (let at = 0; at < missing.length; at += RUNS_PER_READ)
      for (const run of yield* storedRuns(missing.slice(at, at + RUNS_PER_READ))) {
        tally.addEntries(entriesOf(run));
        this.note(run);
      }
    return tally;
  }
}
