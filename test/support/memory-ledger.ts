import { concatBytes } from '../../src/core/bytes.ts';
import { type Clock, dayOf, periodOf } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { SEAL_BYTES } from '../../src/ledger/block-keys.ts';
import { DirectoryFeed } from '../../src/ledger/directory-feed.ts';
import { answersIn, putAnswers } from '../../src/ledger/domain/answers.ts';
import type { BlockSeals } from '../../src/ledger/domain/blocks.ts';
import { directoryIn } from '../../src/ledger/domain/directory.ts';
import { drawsIn } from '../../src/ledger/domain/draws.ts';
import { mayStep, putLogRecords, readLog } from '../../src/ledger/domain/log.ts';
import { type LotStore, lotsIn, releaseLots } from '../../src/ledger/domain/lots.ts';
import { dropNumbers, numberAnswers, seriesPage, withSerials } from '../../src/ledger/domain/series.ts';
import { type JobOwner, type JobStore, ONLY_OWNER, sourcesIn } from '../../src/ledger/domain/sources.ts';
import type { LedgerIntegrity } from '../../src/ledger/integrity.ts';
import type { SeriesPage } from '../../src/ledger/label-records.ts';
import {
  type AuditReport,
  type DirectoryReader,
  type Ledger,
  LedgerError,
  type LogRecord,
  type LogStep,
  type ReleasedLots,
  SEQUENCES_PER_LEASE,
  type SequenceLease,
  type SeriesPart,
} from '../../src/ledger/ledger.ts';
import type {
  AnswerEntry,
  Balance,
  RateRecord,
  SegmentRecord,
  StoredAnswer,
  UsageCount,
  UsageDay,
} from '../../src/ledger/records.ts';
import { putRates, SavedRates } from '../../src/ledger/saved-rates.ts';
import { encodeSegment, readEntries } from '../../src/ledger/segment.ts';
import type { SegmentSink, SinkRefusal } from '../../src/ledger/segment-sink.ts';
import { SOLE_NODE } from '../../src/ledger/sole-node.ts';
import { type Body, tx } from '../../src/ledger/store.ts';
import { CLAIMS, LOTS } from '../../src/ledger/tables.ts';
import { MemoryStore } from './memory-store.ts';

interface MutableUsageDay {
  day: number;
  requests: number;
  values: number;
  bytes: number;
  credits: number;
  byEndpoint: Record<string, UsageCount>;
  byMode: Record<string, UsageCount>;
}

/** A run of a node, from its start until it starts again or is fenced. */
export interface Writer {
  readonly node: string;
  readonly epoch: number;
}

/** In place of keys: what is sealed is in memory alone. */
const OPEN_SEALS: BlockSeals = {
  oldest: () => 1,
  seal: (_kind, _ordinal, _lotId, bytes) => concatBytes(new Uint8Array(SEAL_BYTES), bytes),
  open: (_kind, _ordinal, _lotId, sealed) => sealed.slice(SEAL_BYTES) as Uint8Array<ArrayBuffer>,
  passOver() {},
  erase() {},
};

const SOLE_WRITER: Writer = { node: '', epoch: 0 };

/** What the constructor takes from the rules of ledger/domain, over a store in memory. */
const ByRules = Object as unknown as new () => Omit<Ledger, OwnMethod>;
type OwnMethod =
  | ('follow' | 'addLot' | 'leaseSequences' | 'commit' | 'segment' | 'seriesPage' | 'balances' | 'usage')
  | ('saveRates' | 'loadRates' | 'expire' | 'segmentSpan' | 'probe' | 'putLog' | 'getLog' | 'unsealed')
  | ('segmentsFrom' | 'audit' | 'journalFaults' | 'integrity' | 'backup' | 'close');

/**
 * The ledger as plain maps: the model that the contract suite holds every other ledger against. For tests only; it
 * forgets everything with the process. It derives nothing ahead of time: counters are sums over all entries that were
 * ever committed, worked out at each question. Several nodes have it as their books through MemoryNodes, which says who
 * writes.
 */
export class MemoryLedger extends ByRules implements Ledger {
  readonly #clock: Clock;
  readonly #keepsPending: boolean;
  readonly #store = new MemoryStore();
  readonly #lots: LotStore;
  readonly #feed: DirectoryFeed;
  readonly #segments = new Map<number, SegmentRecord>();
  readonly #writers = new Map<number, Writer>();
  readonly #sealed = new Set<number>();
  /** Entries of all segments, also of those that retention dropped. */
  readonly #entries: (AnswerEntry & { writer: Writer })[] = [];
  #lastSegment = 0;
  #leasedBefore = 0;
  #droppedSegment = 0;
  readonly #answers: ReturnType<typeof answersIn>;
  /** In the order of their numbers. */
  readonly #nodes: string[] = [];

  /** Without `keepsPending`, lots are released at once: where no log releases them. */
  constructor(clock: Clock, { keepsPending = false } = {}) {
    super();
    this.#clock = clock;
    this.#keepsPending = keepsPending;
    const directory = directoryIn(this.#store);
    this.#feed = new DirectoryFeed(directory.directoryChanges, clock);
    this.#answers = answersIn(this.#store, clock);
    this.#lots = this.lotsOf(ONLY_OWNER.node, this.#store);
    const { createAccount, putAccount, putKey } = directory;
    Object.assign(
      this,
      SOLE_NODE,
      this.#answers,
      sourcesIn(this.#store, ONLY_OWNER),
      drawsIn(this.#store),
      directory,
      {
        ...this.#lots,
        addLot: this.addLot.bind(this),
        createAccount: this.#pushed(createAccount),
        putAccount: this.#pushed(putAccount),
        putKey: this.#pushed(putKey),
      },
    );
  }

  follow(reader: DirectoryReader): Promise<void> {
    return this.#feed.follow(reader);
  }

  #pushed<A extends unknown[], R>(change: (...args: A) => Promise<R>): (...args: A) => Promise<R> {
    return async (...args) => {
      const result = await change(...args);
      await this.#feed.push();
      return result;
    };
  }

  async addLot(...[lot, blocks, jobKey]: Parameters<Ledger['addLot']>): Promise<boolean> {
    const isStored = await this.#lots.addLot(lot, blocks, jobKey);
    if (!this.#keepsPending) this.#store.within(releaseLots({ lotIds: [lot.id], atMs: 0 }));
    return isStored;
  }

  /** The lots of these books as a node has them whose blocks lie in `folder`. */
  lotsOf(node: number, folder: MemoryStore): LotStore {
    const blocks = { store: folder, seals: OPEN_SEALS, epoch: 0, clock: this.#clock, log: silentLog };
    const lots = lotsIn({ books: this.#store, folder: blocks, node });
    return { ...lots, revokeLot: this.#pushed(lots.revokeLot) };
  }

  /** The sources of these books as one of several nodes has them. */
  sourcesOf(owner: JobOwner): JobStore {
    return sourcesIn(this.#store, owner);
  }

  async leaseSequences(): Promise<SequenceLease> {
    const free = Math.max(this.#leasedBefore, this.#lastSegment);
    const start = Math.ceil(free / SEQUENCES_PER_LEASE) * SEQUENCES_PER_LEASE;
    this.#leasedBefore = start + SEQUENCES_PER_LEASE;
    return { from: start + 1, before: this.#leasedBefore };
  }

  async commit(
    segments: readonly SegmentRecord[],
    answers: readonly StoredAnswer[],
    writer = SOLE_WRITER,
  ): Promise<void> {
    const fresh: SegmentRecord[] = [];
    for (const segment of segments) {
      const stored = this.#segments.get(segment.sequence);
      if (stored === undefined && segment.sequence <= this.#droppedSegment) {
        throw new LedgerError('refused', `segment ${segment.sequence} is past its retention`);
      }
      const twice = fresh.some(({ sequence }) => sequence === segment.sequence);
      if (
        twice ||
        (stored !== undefined && Buffer.compare(encodeSegment(stored), encodeSegment(segment)) !== 0)
      ) {
        throw new LedgerError('conflict', `segment ${segment.sequence} is stored with other content`);
      }
      if (stored === undefined) fresh.push(structuredClone(segment));
    }
    this.#store.within(numberAnswers(fresh));
    for (const segment of fresh) {
      this.#segments.set(segment.sequence, segment);
      this.#writers.set(segment.sequence, writer);
      this.#lastSegment = Math.max(this.#lastSegment, segment.sequence);
      for (const entry of readEntries(segment.entries)) this.#entries.push({ ...entry, writer });
    }
    this.#store.within(putAnswers(answers));
  }

  async segment(sequence: number): Promise<SegmentRecord | undefined> {
    const segment = this.#segments.get(sequence);
    return segment && structuredClone(this.#withSerials([segment])[0]);
  }

  seriesPage(purpose: string, part: SeriesPart): Promise<SeriesPage> {
    return this.#store.read(() => seriesPage(purpose, part));
  }

  #withSerials(segments: readonly SegmentRecord[]): SegmentRecord[] {
    return this.#store.within(withSerials(segments));
  }

  async balances(period: number): Promise<Balance[]> {
    const balances = new Map<number, { requests: number; credits: number }>();
    for (const { accountNumber, credits, issuedAtMs } of this.#entries) {
      if (periodOf(issuedAtMs) !== period) continue;
      const sum = balances.get(accountNumber) ?? { requests: 0, credits: 0 };
      balances.set(accountNumber, { requests: sum.requests + 1, credits: sum.credits + credits });
    }
    return [...balances]
      .sort(([a], [b]) => a - b)
      .map(([accountNumber, sum]) => ({ accountNumber, period, ...sum }));
  }

  /** What was charged to an account's month: by everybody, or by one run of a node. */
  charged(accountNumber: number, period: number, by?: Writer): { requests: number; credits: number } {
    const charged = { requests: 0, credits: 0 };
    for (const entry of this.#entries) {
      if (entry.accountNumber !== accountNumber || periodOf(entry.issuedAtMs) !== period) continue;
      if (by !== undefined && entry.writer !== by) continue;
      charged.requests += 1;
      charged.credits += entry.credits;
    }
    return charged;
  }

  async usage(accountNumber: number, sinceDay: number): Promise<UsageDay[]> {
    const days = new Map<number, MutableUsageDay>();
    for (const entry of this.#entries) {
      const day = dayOf(entry.issuedAtMs);
      if (entry.accountNumber !== accountNumber || day < sinceDay) continue;
      const sum = days.get(day) ?? {
        day,
        requests: 0,
        values: 0,
        bytes: 0,
        credits: 0,
        byEndpoint: {},
        byMode: {},
      };
      Object.assign(sum, plus(sum, entry), { credits: sum.credits + entry.credits });
      sum.byEndpoint[entry.endpoint] = plus(sum.byEndpoint[entry.endpoint], entry);
      sum.byMode[entry.mode] = plus(sum.byMode[entry.mode], entry);
      days.set(day, sum);
    }
    return [...days.values()].sort((a, b) => a.day - b.day);
  }

  saveRates(rates: readonly RateRecord[], { node } = SOLE_WRITER): Promise<void> {
    return this.#store.write([], () => putRates(this.#numberOf(node), rates));
  }

  /** What a node saved lacks what that node committed later. */
  async loadRates(sinceMs: number): Promise<RateRecord[]> {
    const rates = await SavedRates.in(this.#store);
    for (const { sequence, committedAtMs, entries } of this.#segments.values()) {
      if (committedAtMs < sinceMs) continue;
      rates.addEntries(this.#numberOf(this.#writers.get(sequence)!.node), entries);
    }
    return rates.records();
  }

  #numberOf(node: string): number {
    if (!this.#nodes.includes(node)) this.#nodes.push(node);
    return this.#nodes.indexOf(node);
  }

  async expire(nowMs: number, segmentsBeforeMs: number): Promise<{ answers: number; segments: number }> {
    const answers = await this.#answers.expireAnswers(nowMs);
    const segments = [...this.#segments].filter(([, { committedAtMs }]) => committedAtMs < segmentsBeforeMs);
    this.#store.within(dropNumbers(segments.map(([, segment]) => segment)));
    for (const [sequence] of segments) {
      this.#segments.delete(sequence);
      this.#droppedSegment = Math.max(this.#droppedSegment, sequence);
    }
    return { answers, segments: segments.length };
  }

  async segmentSpan(): Promise<{ oldestMs: number; newestMs: number } | undefined> {
    const times = [...this.#segments.values()].map(({ committedAtMs }) => committedAtMs);
    if (times.length === 0) return undefined;
    return { oldestMs: Math.min(...times), newestMs: Math.max(...times) };
  }

  async probe(): Promise<void> {}

  async putLog(records: readonly LogRecord[], step?: LogStep, released?: ReleasedLots): Promise<void> {
    await this.#store.write([], () => putLog(this.#sealed, records, step, released));
  }

  getLog(key: string): Promise<Uint8Array | undefined> {
    return readLog(this.#store, key);
  }

  async unsealed(certificates: number): Promise<SegmentRecord[]> {
    const all = [...this.#segments.values()].sort((a, b) => a.sequence - b.sequence);
    const segments: SegmentRecord[] = [];
    let missing = certificates;
    for (const segment of all.filter(({ sequence }) => !this.#sealed.has(sequence))) {
      if (missing <= 0) break;
      segments.push(segment);
      missing -= segment.count;
    }
    return structuredClone(this.#withSerials(segments));
  }

  async segmentsFrom(from: number, limit: number): Promise<SegmentRecord[]> {
    const segments = [...this.#segments.values()].filter(({ sequence }) => sequence >= from);
    const sorted = segments.sort((a, b) => a.sequence - b.sequence).slice(0, limit);
    return structuredClone(this.#withSerials(sorted));
  }

  async audit(folder = this.#store): Promise<AuditReport> {
    const lots = await this.#store.read(() => tx.range(LOTS, {}));
    const claims = await folder.read(() => tx.range(CLAIMS, {}));
    const { pure, seed } = await this.lotsOf(ONLY_OWNER.node, folder).blockLevels();
    return {
      ok: true,
      problems: [],
      segments: this.#segments.size,
      certificates: [...this.#segments.values()].reduce((sum, { count }) => sum + count, 0),
      creditsSpent: this.#entries.reduce((sum, { credits }) => sum + credits, 0),
      lots: lots.length,
      blocksUnclaimed: pure.blocks + seed.blocks,
      blocksClaimed: claims.length,
    };
  }

  async journalFaults(): Promise<string[]> {
    return [];
  }

  async integrity(): Promise<LedgerIntegrity> {
    return { startAudit: 'none', scrub: null, database: null };
  }

  async backup(): Promise<void> {
    throw new LedgerError('refused', 'the model in memory has nothing to back up');
  }

  async close(): Promise<void> {}
}

function* putLog(
  sealed: Set<number>,
  ...[records, step, released]: Parameters<Ledger['putLog']>
): Body<void> {
  if (step !== undefined && !(yield* mayStep(records, step))) return;
  for (const sequence of step?.sealed ?? []) sealed.add(sequence);
  yield* putLogRecords(records, released);
}

function plus(count: UsageCount | undefined, entry: AnswerEntry): UsageCount {
  return {
    requests: (count?.requests ?? 0) + 1,
    values: (count?.values ?? 0) + entry.valueCount,
    bytes: (count?.bytes ?? 0) + entry.deliveredBytes,
  };
}

/** Where a front without a journal has its segments made durable: in the ledger itself. Fronts share the sequence. */
export function sinkInto(
  ledger: Pick<Ledger, 'commit'>,
  nextSequence: () => number,
): SegmentSink & { refusal: SinkRefusal | null } {
  return {
    nextSequence,
    isBehind: false,
    refusal: null,
    commit: (segment, answers) => ledger.commit([segment], answers),
  };
}

/** Sequences from `first` on. */
export function sequencesFrom(first: number): () => number {
  let next = first;
  return () => next++;
}
