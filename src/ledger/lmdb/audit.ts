import { setImmediate as nextTurn } from 'node:timers/promises';
import { auditAnswers } from '../domain/answers.ts';
import type { Auditor } from '../domain/auditor.ts';
import { auditBlocks } from '../domain/blocks.ts';
import { auditDirectory } from '../domain/directory.ts';
import { auditDraws } from '../domain/draws.ts';
import { auditLog } from '../domain/log.ts';
import { auditLots } from '../domain/lots.ts';
import { SeriesAudit } from '../domain/series.ts';
import { auditSources } from '../domain/sources-audit.ts';
import { type AuditReport, LedgerError } from '../ledger.ts';
import type { SegmentRecord } from '../records.ts';
import { RequestIdSet } from '../request-id-set.ts';
import { decodeSegment, EntryCursor, MODE_OF_CODE } from '../segment.ts';
import type { Key } from '../store.ts';
import { RATES } from '../tables.ts';
import {
  accountOfKey,
  creditsOf,
  dayOfKey,
  firstWholeDay,
  flawOfUsage,
  type UsageCounters,
  UsageTally,
} from '../usage-counters.ts';
import { tableOf } from './lmdb-store.ts';
import type { Snapshot, Table } from './table.ts';
import { count, type MetaName, type Tables } from './tables.ts';

/** Records read between two turns of the event loop, so that commits go on beside an audit. */
const RECORDS_PER_TURN = 16;
/** Problems reported in words; beyond that one line says how many more. */
const PROBLEMS_MAX = 100;

/**
 * Reads every record of one snapshot and checks it against its checksum and against every other that it implies. Awaits
 * `rest` after each slice; what that throws ends the audit.
 */
export async function auditTables(
  tables: Tables,
  snapshot: Snapshot,
  rest: () => Promise<void> = nextTurn,
): Promise<AuditReport> {
  const audit = new Audit(tables, snapshot, rest);
  try {
    return await audit.run();
  } finally {
    snapshot.done();
  }
}

class Audit {
  readonly #tables: Tables;
  readonly #at: Snapshot;
  readonly #rest: () => Promise<void>;
  readonly #problems: string[] = [];
  #problemCount = 0;
  #certificates = 0;
  #creditsSpent = 0;

  constructor(tables: Tables, at: Snapshot, rest: () => Promise<void>) {
    this.#tables = tables;
    this.#at = at;
    this.#rest = rest;
  }

  async run(): Promise<AuditReport> {
    const auditor: Auditor = {
      walk: (table, visit) => this.walk(tableOf(this.#tables, table), visit),
      problem: (text) => this.problem(text),
      checkCount: async (name, stored) => this.checkCount(name, stored),
    };
    await auditDirectory(auditor);
    const lots = await auditLots(auditor);
    const blocks = await auditBlocks(auditor, lots);
    await auditSources(lots, auditor);
    await auditDraws(auditor);
    const tally = new UsageTally();
    const series = new SeriesAudit();
    const { segments, oldestMs } = await this.#checkSegments(lots, tally, series);
    await series.check(auditor);
    await this.#checkUsage(tally, oldestMs);
    await auditAnswers(auditor);
    await auditor.walk(RATES, () => {});
    await auditLog(auditor);
    await this.walk(this.#tables.meta, () => {});
    if (this.#problemCount > PROBLEMS_MAX)
      this.#problems.push(`and ${this.#problemCount - PROBLEMS_MAX} more`);
    return {
      ok: this.#problemCount === 0,
      problems: this.#problems,
      segments,
      certificates: this.#certificates,
      creditsSpent: this.#creditsSpent,
      lots: lots.size,
      ...blocks,
    };
  }

  problem(text: string): void {
    if (++this.#problemCount <= PROBLEMS_MAX) this.#problems.push(text);
  }

  checkCount(name: MetaName, stored: number): void {
    const counted = count(this.#tables.meta, name, this.#at);
    if (counted !== stored) this.problem(`${name}: ${stored} are stored, ${counted} are counted`);
  }

  async walk<K extends Key, V>(table: Table<K, V>, visit: (key: K, value: V) => void): Promise<void> {
    let read = 0;
    for (const { key, value, problems } of table.checked(this.#at)) {
      for (const problem of problems) this.problem(problem);
      if (value !== undefined) visit(key, value);
      if (++read % RECORDS_PER_TURN === 0) await this.#rest();
    }
  }

  async #checkSegments(
    lots: ReadonlyMap<string, boolean>,
    tally: UsageTally,
    series: SeriesAudit,
  ): Promise<{ segments: number; oldestMs: number }> {
    const { meta, segments, segmentTimes, unsealed } = this.#tables;
    const certificates = new Map<number, number>();
    await this.walk(unsealed, (sequence, count) => certificates.set(sequence, count));
    const times = new Map<number, number>();
    let oldestMs = Number.POSITIVE_INFINITY;
    await this.walk(segmentTimes, ([committedAtMs, sequence]) => {
      times.set(sequence, committedAtMs);
      oldestMs = Math.min(oldestMs, committedAtMs);
    });
    const requestIds = new RequestIdSet();
    const lastSegment = count(meta, 'lastSegment', this.#at);
    let read = 0;
    await this.walk(segments, (sequence, stored) => {
      const segment = this.#decoded(sequence, stored);
      if (segment === undefined) return;
      read++;
      if (segment.sequence !== sequence) this.problem(`segment ${segment.sequence} is stored as ${sequence}`);
      if (sequence > lastSegment) this.problem(`segment ${sequence} is above the last, ${lastSegment}`);
      if (times.get(sequence) !== segment.committedAtMs)
        this.problem(`segment ${sequence} is not listed by its time`);
      times.delete(sequence);
      if ((certificates.get(sequence) ?? segment.count) === segment.count) certificates.delete(sequence);
      this.#checkSources(segment, lots);
      this.#checkEntries(segment, requestIds);
      tally.addSegment(segment.entries);
      series.addSegment(segment);
    });
    for (const sequence of times.keys())
      this.problem(`segment ${sequence} is listed by time but not readable`);
    for (const sequence of certificates.keys())
      this.problem(`segment ${sequence} is to be logged, and is not stored with as many certificates`);
    return { segments: read, oldestMs };
  }

  #decoded(sequence: number, stored: Uint8Array): SegmentRecord | undefined {
    try {
      return decodeSegment(stored);
    } catch (error) {
      if (!(error instanceof LedgerError)) throw error;
      this.problem(`segment ${sequence}: ${error.message}`);
      return undefined;
    }
  }

  #checkSources({ sequence, sources }: SegmentRecord, lots: ReadonlyMap<string, boolean>): void {
    for (const { mode, lotIds } of sources) {
      if (mode === 'csprng') continue; // the system source need not have a lot in the ledger
      for (const id of lotIds) {
        const isAccepted = lots.get(id);
        if (isAccepted === undefined)
          this.problem(`segment ${sequence} drew on lot ${id}, which is not stored`);
        else if (!isAccepted) this.problem(`segment ${sequence} drew on lot ${id}, which was not accepted`);
      }
    }
  }

  #checkEntries({ sequence, entries }: SegmentRecord, requestIds: RequestIdSet): void {
    const cursor = new EntryCursor(entries);
    while (cursor.next()) {
      this.#certificates++;
      if (!requestIds.add(cursor.requestId)) this.problem(`segment ${sequence} repeats a request id`);
      if (cursor.credits > 0 && MODE_OF_CODE[cursor.modeCode] !== 'pure') {
        this.problem(`segment ${sequence} spends credits outside pure mode`);
      }
    }
  }

  async #checkUsage(expected: UsageTally, oldestMs: number): Promise<void> {
    const { meta, usage } = this.#tables;
    const wholeFrom = firstWholeDay(count(meta, 'droppedSegment', this.#at) > 0, oldestMs);
    const firstDay = count(meta, 'firstUsageDay', this.#at);
    const lastDay = count(meta, 'lastUsageDay', this.#at);
    const check = (key: number, counters?: UsageCounters) => {
      const name = `the usage of account ${accountOfKey(key)} on day ${dayOfKey(key)}`;
      const flaw = flawOfUsage(counters, expected.counters.get(key), dayOfKey(key) >= wholeFrom);
      if (flaw !== undefined) this.problem(`${name} ${flaw}`);
      if (dayOfKey(key) < firstDay || dayOfKey(key) > lastDay)
        this.problem(`${name} lies outside the usage days`);
    };
    await this.walk(usage, (key, counters) => {
      check(key, counters);
      expected.counters.delete(key);
      this.#creditsSpent += creditsOf(counters);
    });
    for (const key of expected.counters.keys()) check(key);
  }
}
