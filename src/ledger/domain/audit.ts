import { type AuditReport, LedgerError } from '../ledger.ts';
import type { SegmentRecord } from '../records.ts';
import { RequestIdSet } from '../request-id-set.ts';
import { decodeRun, EntryCursor, MODE_OF_CODE, type Run } from '../segment.ts';
import {
  BALANCES,
  BLOCK_TABLES,
  BOOK_TABLES,
  DROPPED_SEGMENTS,
  SEGMENT_TIMES,
  SEGMENTS,
  UNSEALED,
  USAGE,
} from '../tables.ts';
import {
  accountOfKey,
  creditsOf,
  dayOfKey,
  firstWholeDay,
  flawOfUsage,
  type UsageCounters,
  UsageTally,
} from '../usage-counters.ts';
import { auditAnswers } from './answers.ts';
import { Auditor, type Walk } from './auditor.ts';
import { auditBlocks } from './blocks.ts';
import { auditDirectory } from './directory.ts';
import { auditDraws } from './draws.ts';
import { auditLog } from './log.ts';
import { auditLots } from './lots.ts';
import { SeriesAudit } from './series.ts';
import { auditSources } from './sources.ts';

/**
 * Reads every record of the books, and checks it against the records that it implies. With `withBlocks`, does so for the
 * blocks in the same store too.
 */
export async function auditStore(walk: Walk, withBlocks: boolean): Promise<AuditReport> {
  const auditor = new Auditor(walk);
  await auditDirectory(auditor);
  const lots = await auditLots(auditor);
  const blocks = withBlocks ? await auditBlocks(auditor, lots) : { blocksUnclaimed: 0, blocksClaimed: 0 };
  await auditSources(lots, auditor);
  await auditDraws(auditor);
  const segments = new SegmentAudit(auditor, lots);
  const sums = await segments.run();
  await auditAnswers(auditor);
  await auditLog(auditor);
  await auditor.walkRest(withBlocks ? [...BOOK_TABLES, ...BLOCK_TABLES] : BOOK_TABLES);
  const { problems } = auditor;
  return { ok: problems.length === 0, problems, lots: lots.size, ...sums, ...blocks };
}

/** Checks segments, their lists by time and of unsealed runs, and the counters, which are sums over sealed segments. */
class SegmentAudit {
  readonly #auditor: Auditor;
  readonly #lots: ReadonlyMap<string, boolean>;
  readonly #series = new SeriesAudit();
  readonly #requestIds = new RequestIdSet();
  readonly #sealed = new UsageTally();
  #certificates = 0;
  #creditsSpent = 0;
  #oldestMs = Number.POSITIVE_INFINITY;

  constructor(auditor: Auditor, lots: ReadonlyMap<string, boolean>) {
    this.#auditor = auditor;
    this.#lots = lots;
  }

  async run(): Promise<Pick<AuditReport, 'segments' | 'certificates' | 'creditsSpent'>> {
    const segments = await this.#checkSegments();
    await this.#series.check(this.#auditor);
    await this.#checkUsage();
    return { segments, certificates: this.#certificates, creditsSpent: this.#creditsSpent };
  }

  async #checkSegments(): Promise<number> {
    const auditor = this.#auditor;
    const unsealed = new Map<number, { readonly segments: number; readonly count: number }>();
    await auditor.walk(UNSEALED, (key, waiting) => unsealed.set(key, waiting));
    const times = new Map<number, number>();
    await auditor.walk(SEGMENT_TIMES, ([committedAtMs, key]) => {
      times.set(key, committedAtMs);
      this.#oldestMs = Math.min(this.#oldestMs, committedAtMs);
    });
    let read = 0;
    await auditor.walk(SEGMENTS, (key, stored) => {
      const run = this.#decoded(key, stored);
      if (run.length === 0) return;
      read += run.length;
      for (const [i, { segment }] of run.toReversed().entries())
        if (segment.sequence !== key - i)
          auditor.problem(`segment ${segment.sequence} is stored as ${key - i}`);
      if (times.get(key) !== run.at(-1)?.segment.committedAtMs)
        auditor.problem(`segment ${key} is not listed by its time`);
      times.delete(key);
      const waiting = unsealed.get(key);
      let certificates = 0;
      for (const { segment } of run) {
        certificates += segment.count;
        if (waiting === undefined) this.#sealed.addEntries(segment.entries);
        this.#checkSources(segment);
        this.#checkEntries(segment, waiting === undefined);
        this.#series.addSegment(segment);
      }
      if (waiting?.segments === run.length && waiting.count === certificates) unsealed.delete(key);
    });
    for (const key of times.keys()) auditor.problem(`segment ${key} is listed by time but not readable`);
    for (const key of unsealed.keys())
      auditor.problem(`segment ${key} is to be logged, and is not stored with as many certificates`);
    return read;
  }

  /** Returns an empty run for a record that cannot be read, and reports it. */
  #decoded(key: number, stored: Uint8Array): Run {
    try {
      return decodeRun(stored);
    } catch (error) {
      if (!(error instanceof LedgerError)) throw error;
      this.#auditor.problem(`segment ${key}: ${error.message}`);
      return [];
    }
  }

  #checkSources({ sequence, sources }: SegmentRecord): void {
    for (const { mode, lotIds } of sources) {
      if (mode === 'csprng') continue; // the ledger need not have a lot of the system source
      for (const id of lotIds) {
        const isAccepted = this.#lots.get(id);
        if (isAccepted === undefined)
          this.#auditor.problem(`segment ${sequence} drew on lot ${id}, which is not stored`);
        else if (!isAccepted)
          this.#auditor.problem(`segment ${sequence} drew on lot ${id}, which was not accepted`);
      }
    }
  }

  /** Checks the entries, and adds up the credits of unsealed segments: those of sealed segments are in the counters. */
  #checkEntries({ sequence, entries }: SegmentRecord, isSealed: boolean): void {
    const cursor = new EntryCursor(entries);
    while (cursor.next()) {
      this.#certificates++;
      if (!isSealed) this.#creditsSpent += cursor.credits;
      if (!this.#requestIds.add(cursor.requestId))
        this.#auditor.problem(`segment ${sequence} repeats a request id`);
      if (cursor.credits > 0 && MODE_OF_CODE[cursor.modeCode] !== 'pure')
        this.#auditor.problem(`segment ${sequence} spends credits outside pure mode`);
    }
  }

  async #checkUsage(): Promise<void> {
    const auditor = this.#auditor;
    const expected = this.#sealed.counters;
    let hasDropped = false;
    await auditor.walk(DROPPED_SEGMENTS, () => {
      hasDropped = true;
    });
    const wholeFrom = firstWholeDay(hasDropped, this.#oldestMs);
    const check = (key: number, counters?: UsageCounters) => {
      const flaw = flawOfUsage(counters, expected.get(key), dayOfKey(key) >= wholeFrom);
      if (flaw !== undefined)
        auditor.problem(`the usage of account ${accountOfKey(key)} on day ${dayOfKey(key)} ${flaw}`);
    };
    const stored = new UsageTally();
    await auditor.walk(USAGE, (key, counters) => {
      check(key, counters);
      expected.delete(key);
      stored.counters.set(key, counters);
      this.#creditsSpent += creditsOf(counters);
    });
    for (const key of expected.keys()) check(key);
    await this.#checkBalances(stored);
  }

  async #checkBalances(days: UsageTally): Promise<void> {
    const sums = days.charges().map(({ account, period, requests, credits }) => {
      return [String([period, account]), { requests, credits }] as const;
    });
    await this.#auditor.implied(BALANCES, new Map(sums));
  }
}
