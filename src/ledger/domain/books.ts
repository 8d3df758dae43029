import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../core/clock.ts';
import { type Books, isRefusal, LedgerError, type LogStore, SEQUENCES_PER_LEASE } from '../ledger.ts';
import type { SegmentRecord, StoredAnswer } from '../records.ts';
import { putRates, SavedRates } from '../saved-rates.ts';
import { decodeSegment, encodeSegment } from '../segment.ts';
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

/** Segments erased by one transaction, so that commits get their turn between: with 1,000 certificates each they take 2 ms. */
const SEGMENTS_PER_SWEEP = 8;
/** Segments whose bodies are read at once: some megabytes. */
const SEGMENTS_PER_READ = 256;
/** Segments that wait to be sealed and are looked through at once, for a seal that is behind: a batch has about 256. */
const UNSEALED_PER_READ = 512;
/** Bodies that are decoded before the loop has a turn: about 1,000 certificates. */
const BYTES_PER_TURN = 96 * 1_024;
/** Entries that are kept until they are sealed: a million certificates have more. */
const ENTRIES_BYTES_MAX = 64 * 2 ** 20;

/** Which node stores segments, and in which of its lives. */
export interface Writer {
  readonly number: number;
  /** 0 where no other node has a part of the limits: nothing that is spent needs to be settled. */
  readonly epoch: number;
}

export interface EncodedSegment {
  readonly segment: SegmentRecord;
  /** As encodeSegment gives them. */
  readonly bytes: Uint8Array;
}

/** Throws what encodeSegment throws for a segment whose parts do not agree. */
export function encoded(segment: SegmentRecord): EncodedSegment {
  return { segment, bytes: encodeSegment(segment) };
}

/** See LogStore.putLog. */
export type LogPut = Parameters<LogStore['putLog']>;

/** What stores segments, for a transaction of the caller. */
export interface Storing {
  /**
   * As Books.commit, and then as LogStore.putLog where there is something to put: what that seals of the segments never waits.
   * Gives the refusal of the put, which keeps no segment from being stored.
   */
  storing(
    segments: readonly EncodedSegment[],
    answers: readonly StoredAnswer[],
    put?: LogPut,
  ): Body<Error | undefined>;
}

/** A segment that a transaction adds to the counters, and who stored it. */
interface SealedSegment extends Writer {
  readonly sequence: number;
  /** Of one that the same transaction stores; undefined for one that waits in UNSEALED. */
  readonly entries: Uint8Array | undefined;
}

/** The books of one process, over a store that others may write too. */
export function booksIn(store: Store, clock: Clock, writer: Writer): Books & LogStore & Storing {
  const unsealed = new UnsealedEntries();
  const { expireAnswers, ...answers } = answersIn(store, clock);

  function* putSealed([records, , released]: LogPut, sealed: readonly SealedSegment[]): Body<void> {
    yield* fold(sealed, unsealed);
    yield* putLogRecords(records, released);
    unsealed.forget(sealed.map(({ sequence }) => sequence));
  }

  /** Erases some segments that were committed before, and tells how many. The counters stay. */
  async function sweep(beforeMs: number): Promise<number> {
    const due = await store.read(function* () {
      const times = yield* tx.range(SEGMENT_TIMES, { before: [beforeMs, 0], limit: SEGMENTS_PER_SWEEP });
      return yield* storedSegments(times.map(({ key: [, sequence] }) => sequence));
    });
    if (due.length === 0) return 0;
    await store.write([LOG_LOCK, ...seriesLocks(due)], () => dropSegments(due, unsealed));
    unsealed.forget(due.map(({ sequence }) => sequence));
    return due.length;
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
      await store.write(seriesLocks(segments), () => storeSegments(fresh, kept, writer));
    },

    *storing(segments, kept, put) {
      const fresh = yield* unstored(segments);
      let sealed: readonly SealedSegment[] | undefined;
      let refusal: Error | undefined;
      try {
        sealed = put && (yield* sealedBy(put, fresh, writer));
      } catch (error) {
        if (!isRefusal(error)) throw error;
        refusal = error;
      }
      const now = new Set(sealed?.map(({ sequence }) => sequence));
      yield* putSegments(fresh, writer, now);
      yield* storeFollowing(fresh, kept);
      for (const { segment } of fresh) if (!now.has(segment.sequence)) unsealed.note(segment); // soon they are sealed
      if (put !== undefined && sealed !== undefined) yield* putSealed(put, sealed);
      return refusal;
    },

    segment: (sequence) =>
      store.read(function* () {
        const bytes = yield* tx.get(SEGMENTS, sequence);
        return bytes && (yield* withSerials([decodeSegment(bytes)]))[0];
      }),

    async unsealed(certificates) {
      const wanted: number[] = [];
      for (let missing = certificates, isMore = true; isMore; ) {
        const from = (wanted.at(-1) ?? 0) + 1;
        const waiting = await store.read(() => tx.range(UNSEALED, { from, limit: UNSEALED_PER_READ }));
        const last = waiting.findIndex(({ value }) => (missing -= value.count) <= 0);
        wanted.push(...waiting.slice(0, last < 0 ? waiting.length : last + 1).map(({ key }) => key));
        isMore = last < 0 && waiting.length === UNSEALED_PER_READ;
      }
      const bodies = await store.read(() => unsealedBodies(wanted));
      const segments: SegmentRecord[] = [];
      let bytes = 0;
      for (const body of bodies) {
        const segment = decodeSegment(body);
        unsealed.note(segment);
        segments.push(segment);
        bytes += body.length;
        if (bytes < BYTES_PER_TURN) continue;
        bytes = 0;
        await nextTurn();
      }
      return store.read(() => withSerials(segments));
    },

    segmentsFrom: (from, limit) =>
      store.read(function* () {
        const rows = yield* tx.range(SEGMENTS, { from, limit });
        return yield* withSerials(rows.map(({ value }) => decodeSegment(value)));
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
          const times = yield* tx.range(SEGMENT_TIMES, { from, limit: SEGMENTS_PER_READ });
          const segments = yield* storedSegments(times.map(({ key: [, sequence] }) => sequence));
          return times.map(({ key, value: node }, i) => ({ key, node, segment: segments[i] }));
        });
        for (const { node, segment } of recent) rates.addEntries(node, segment.entries);
        const last = recent.at(-1);
        if (last === undefined) return rates.records();
        from = [last.key[0], last.key[1] + 1];
      }
    },

    async expire(nowMs, segmentsBeforeMs) {
      const erased = await expireAnswers(nowMs);
      for (let segments = 0; ; ) {
        const now = await sweep(segmentsBeforeMs);
        if (now === 0) return { answers: erased, segments };
        segments += now;
      }
    },

    segmentSpan: () =>
      store.read(function* () {
        const [oldest] = yield* tx.range(SEGMENT_TIMES, { limit: 1 });
        const [newest] = yield* tx.range(SEGMENT_TIMES, { isReverse: true, limit: 1 });
        return oldest && newest && { oldestMs: oldest.key[0], newestMs: newest.key[0] };
      }),

    probe: () => store.write([], () => tx.put(COUNTS, 'probedAtMs', clock.wallMs())),

    async putLog(...put) {
      const locks = put[2] === undefined ? [LOG_LOCK] : LOG_LOCKS;
      await store.write(locks, function* () {
        const sealed = yield* sealedBy(put, [], writer);
        if (sealed !== undefined) yield* putSealed(put, sealed);
      });
    },

    getLog: (key) => readLog(store, key),
  };
}

/** What the books have of segments that are stored for the first time; `sealed` of them do not wait to be sealed. */
export function* putSegments(
  stored: readonly EncodedSegment[],
  { number: node, epoch }: Writer,
  sealed: ReadonlySet<number> = new Set(),
): Body<void> {
  const segments = stored.map(({ segment }) => segment);
  yield* tx.putAll(
    SEGMENTS,
    stored.map(({ segment, bytes }) => [segment.sequence, bytes]),
  );
  yield* tx.putAll(
    SEGMENT_TIMES,
    segments.map(({ committedAtMs, sequence }) => [[committedAtMs, sequence], node]),
  );
  yield* tx.putAll(
    UNSEALED,
    segments
      .filter(({ sequence }) => !sealed.has(sequence))
      .map(({ sequence, count }) => [sequence, { count, node, epoch }]),
  );
}

/** What is stored with segments that are stored for the first time. Kept answers let go of their keys. */
export function* storeFollowing(
  segments: readonly EncodedSegment[],
  answers: readonly StoredAnswer[],
): Body<void> {
  yield* numberAnswers(segments.map(({ segment }) => segment));
  if (answers.length === 0) return;
  yield* putAnswers(answers);
  yield* tx.remove(
    KEY_CLAIMS,
    answers.map(({ keyDigest }) => keyDigest),
  );
}

/** See Books.commit. */
export function* storeSegments(
  segments: readonly EncodedSegment[],
  answers: readonly StoredAnswer[],
  writer: Writer,
): Body<void> {
  const fresh = yield* unstored(segments);
  yield* putSegments(fresh, writer);
  yield* storeFollowing(fresh, answers);
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

/** The segments that are not stored yet. Refuses all when one must not be stored. */
function* unstored(segments: readonly EncodedSegment[]): Body<EncodedSegment[]> {
  const sequences = segments.map(({ segment }) => segment.sequence);
  const seen = new Set<number>();
  const twice = sequences.find((sequence) => seen.size === seen.add(sequence).size);
  if (twice !== undefined) throw new LedgerError('conflict', `segment ${twice} is twice in one commit`);
  const stored = yield* tx.getMany(SEGMENTS, sequences);
  const dropped = yield* droppedSegment();
  return segments.filter(({ segment: { sequence }, bytes }, i) => {
    const known = stored[i];
    if (known !== undefined && Buffer.compare(known, bytes) !== 0)
      throw new LedgerError('conflict', `segment ${sequence} is stored with other content`);
    // Counted and dropped already, or so late that its numbers would be counted after their retention.
    if (known === undefined && sequence <= dropped)
      throw new LedgerError('refused', `segment ${sequence} is past its retention`);
    return known === undefined;
  });
}

/** The highest sequence that retention dropped; 0 before the first. */
function* droppedSegment(): Body<number> {
  return (yield* tx.range(DROPPED_SEGMENTS, { limit: 1 }))[0]?.key ?? 0;
}

/** Another node may have sealed and dropped some of them meanwhile. */
function* unsealedBodies(sequences: readonly number[]): Body<Uint8Array[]> {
  const bodies = yield* tx.getMany(SEGMENTS, sequences);
  const missing = sequences.filter((_, i) => bodies[i] === undefined);
  if (missing.length > 0) {
    const listed = yield* tx.getMany(UNSEALED, missing);
    yield* tx.getAll(
      SEGMENTS,
      missing.filter((_, i) => listed[i] !== undefined),
    );
  }
  return bodies.filter((body) => body !== undefined);
}

function* storedSegments(sequences: readonly number[]): Body<SegmentRecord[]> {
  return (yield* tx.getAll(SEGMENTS, sequences)).map(decodeSegment);
}

/** Another node may have dropped some of them meanwhile. */
function* dropSegments(due: readonly SegmentRecord[], unsealed: UnsealedEntries): Body<void> {
  const sequences = due.map(({ sequence }) => sequence);
  const stored = yield* tx.getMany(SEGMENTS, sequences);
  const segments = due.filter((_, i) => stored[i] !== undefined);
  const dropped = yield* droppedSegment();
  yield* fold(yield* waitingOf(sequences), unsealed);
  yield* dropNumbers(segments);
  yield* tx.remove(
    SEGMENTS,
    segments.map(({ sequence }) => sequence),
  );
  for (const { sequence, committedAtMs } of segments)
    yield* tx.remove(SEGMENT_TIMES, [[committedAtMs, sequence]]);
  const highest = Math.max(...sequences);
  if (highest <= dropped) return;
  yield* tx.remove(DROPPED_SEGMENTS, [dropped]);
  yield* tx.put(DROPPED_SEGMENTS, highest, 0);
}

/** Those of the segments that wait to be sealed. */
function* waitingOf(sequences: readonly number[]): Body<SealedSegment[]> {
  const found = yield* tx.getMany(UNSEALED, sequences);
  return sequences.flatMap((sequence, i) => {
    const waiting = found[i];
    if (waiting === undefined) return [];
    return [{ sequence, number: waiting.node, epoch: waiting.epoch, entries: undefined }];
  });
}

/**
 * What a put of the log seals: segments that wait, and some of the fresh ones, which the same transaction stores. Undefined when the
 * step was taken already. Throws `conflict` when it cannot be taken.
 */
function* sealedBy(
  [records, step]: LogPut,
  fresh: readonly EncodedSegment[],
  writer: Writer,
): Body<SealedSegment[] | undefined> {
  if (step === undefined) return [];
  if (!(yield* mayStep(records, step))) return undefined;
  const missing = new Set(step.sealed);
  const now = fresh.filter(({ segment }) => missing.delete(segment.sequence));
  const waiting = yield* waitingOf([...missing]);
  // They could be read, and a failover lost them before a standby had them.
  if (waiting.length < missing.size)
    throw new LedgerError('conflict', 'segments that were to be logged are not in the books any more');
  return [...waiting, ...now.map(({ segment: { sequence, entries } }) => ({ ...writer, sequence, entries }))];
}

/** Adds the segments to the counters. */
function* fold(sealed: readonly SealedSegment[], unsealed: UnsealedEntries): Body<void> {
  if (sealed.length === 0) return;
  const waiting: number[] = [];
  const all = new UsageTally();
  const spent: (readonly [readonly [number, number, number, number], Charge])[] = [];
  for (const life of Map.groupBy(sealed, ({ number, epoch }) => `${number} ${epoch}`).values()) {
    const [{ number, epoch }] = life;
    const stored = life.filter(({ entries }) => entries === undefined).map(({ sequence }) => sequence);
    const tally = yield* unsealed.tally(stored);
    for (const { entries } of life) if (entries !== undefined) tally.addSegment(entries);
    waiting.push(...stored);
    all.addTally(tally);
    if (epoch === 0) continue;
    for (const charge of tally.charges()) spent.push([[number, epoch, ...monthOf(charge)], chargeIn(charge)]);
  }
  yield* addTo(USAGE, [...all.counters], (sum = newCounters(), more) => {
    addCounters(sum, more);
    return sum;
  });
  const charged = all.charges().map((charge) => [monthOf(charge), chargeIn(charge)] as const);
  yield* addTo(BALANCES, charged, sumOf);
  yield* addTo(SPENT, spent, sumOf);
  yield* tx.remove(UNSEALED, waiting);
}

function monthOf({ period, account }: PeriodCharge): readonly [number, number] {
  return [period, account];
}

function chargeIn({ requests, credits }: PeriodCharge): Charge {
  return { requests, credits };
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

/**
 * The entries of segments that are not sealed, each read once in this process: when it is read to be sealed, or when a counter is
 * asked for. What a failover of the database took back is not asked for again.
 */
class UnsealedEntries {
  readonly #entries = new Map<number, Uint8Array>();
  #bytes = 0;

  /** Notes a segment that was read anyway, in the place of what it was before a failover. */
  note({ sequence, entries }: SegmentRecord): void {
    this.forget([sequence]);
    this.#entries.set(sequence, entries.slice()); // whoever gets the segment may hand its buffer to another thread
    this.#bytes += entries.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= ENTRIES_BYTES_MAX) return;
      this.forget([oldest]);
    }
  }

  /** These were sealed: the counters have them. */
  forget(sequences: readonly number[]): void {
    for (const sequence of sequences) {
      this.#bytes -= this.#entries.get(sequence)?.length ?? 0;
      this.#entries.delete(sequence);
    }
  }

  /** The sum over all that wait. Forgets what others have sealed or dropped. */
  *tallyAll(): Body<UsageTally> {
    const waiting = new Set((yield* tx.range(UNSEALED, {})).map(({ key }) => key));
    this.forget([...this.#entries.keys()].filter((sequence) => !waiting.has(sequence)));
    return yield* this.tally([...waiting]);
  }

  /** The sum over these segments, which all are stored. */
  *tally(sequences: readonly number[]): Body<UsageTally> {
    const tally = new UsageTally();
    const missing: number[] = [];
    for (const sequence of sequences) {
      const known = this.#entries.get(sequence);
      if (known === undefined) missing.push(sequence);
      else tally.addSegment(known);
    }
    for (let at = 0; at < missing.length; at += SEGMENTS_PER_READ)
      for (const segment of yield* storedSegments(missing.slice(at, at + SEGMENTS_PER_READ))) {
        tally.addSegment(segment.entries);
        this.note(segment);
      }
    return tally;
  }
}
