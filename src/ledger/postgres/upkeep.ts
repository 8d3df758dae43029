import { messageOf } from '../../core/assert.ts';
import { auditAnswers } from '../domain/answers.ts';
import type { Auditor } from '../domain/auditor.ts';
import { auditDirectory } from '../domain/directory.ts';
import { auditDraws } from '../domain/draws.ts';
import { auditLog } from '../domain/log.ts';
import { auditLots } from '../domain/lots.ts';
import { SeriesAudit } from '../domain/series.ts';
import { auditSources } from '../domain/sources-audit.ts';
import type { LedgerIntegrity } from '../integrity.ts';
import { type AuditReport, type Ledger, LedgerError, type Upkeep } from '../ledger.ts';
import { decodeSegment, EntryCursor } from '../segment.ts';
import type { Key, SharedTable } from '../store.ts';
import { COUNTS, type CountName } from '../tables.ts';
import {
  accountOfKey,
  countersCodec,
  creditsOf,
  dayOfKey,
  firstWholeDay,
  flawOfUsage,
  type UsageCounters,
  UsageTally,
  usageKey,
} from '../usage-counters.ts';
import type { Database, Session, Statement } from './connection.ts';
import type { DatabaseWatch } from './database-watch.ts';
import { ONE_MOMENT, rangeOf } from './postgres-store.ts';

function long(name: string, text: string): Statement {
  return { name, text, isLong: true };
}

const SEGMENTS = {
  name: 'audit_segments',
  text: `SELECT sequence, at_ms, count, body, EXISTS (SELECT FROM qrn.unsealed u WHERE u.sequence = s.sequence) AS is_unsealed
FROM qrn.segment s WHERE sequence > $1 ORDER BY sequence LIMIT 64`,
};
const UNSEALED_ALONE = long(
  'audit_unsealed_alone',
  `SELECT sequence FROM qrn.unsealed u WHERE NOT EXISTS (SELECT FROM qrn.segment s WHERE s.sequence = u.sequence AND s.count = u.count)
ORDER BY sequence`,
);
const DAYS = long('audit_days', 'SELECT account, day, counters FROM qrn.usage_day');
const DROPPED = { name: 'audit_dropped', text: 'SELECT dropped_segment FROM qrn.retention' };
/** Records read at a time. */
const RECORDS_READ = 256;

interface SegmentRow {
  readonly sequence: number;
  readonly at_ms: number;
  readonly count: number;
  readonly body: Uint8Array;
  readonly is_unsealed: boolean;
}

interface DayRow {
  readonly account: number;
  readonly day: number;
  readonly counters: Uint8Array;
}

/** Audits the books of all nodes, and the blocks of this one. */
export class PostgresUpkeep implements Upkeep {
  readonly #database: Database;
  readonly #folder: Pick<Ledger, 'audit' | 'integrity' | 'journalFaults'> | undefined;
  readonly #watch: DatabaseWatch | undefined;

  /** `folder` has the blocks of this node; undefined on a machine that has none. A command has no watch. */
  constructor(
    database: Database,
    folder: Pick<Ledger, 'audit' | 'integrity' | 'journalFaults'> | undefined,
    watch: DatabaseWatch | undefined,
  ) {
    this.#database = database;
    this.#folder = folder;
    this.#watch = watch;
  }

  async audit(): Promise<AuditReport> {
    const books = await this.#database.transact(async (session) => {
      await session.run(ONE_MOMENT);
      return auditBooks(session);
    });
    const blocks = await this.#folder?.audit();
    const problems = [...books.problems, ...(blocks?.problems ?? [])];
    return {
      ...books,
      ok: problems.length === 0,
      problems,
      blocksUnclaimed: blocks?.blocksUnclaimed ?? 0,
      blocksClaimed: blocks?.blocksClaimed ?? 0,
    };
  }

  async backup(): Promise<void> {
    throw new LedgerError(
      'refused',
      'PostgreSQL has the books of this service: back them up with its own tools, such as pg_basebackup or pg_dump',
    );
  }

  async journalFaults(): Promise<string[]> {
    return (await this.#folder?.journalFaults()) ?? [];
  }

  async integrity(): Promise<LedgerIntegrity> {
    const ofFolder = (await this.#folder?.integrity()) ?? { startAudit: 'none', scrub: null };
    return { ...ofFolder, database: this.#watch?.state() ?? null };
  }
}

type BooksReport = Omit<AuditReport, 'ok' | 'blocksUnclaimed' | 'blocksClaimed'>;

/** Re-verifies the books of all nodes, within a transaction that sees one moment of them. */
export function auditBooks(session: Session): Promise<BooksReport> {
  return new BooksAudit(session).run();
}

/** One audit. Counters are held to the segments that are sealed. */
class BooksAudit implements Auditor {
  readonly #session: Session;
  readonly #problems: string[] = [];
  readonly #sealed = new UsageTally();
  readonly #series = new SeriesAudit();
  #creditsSpent = 0;
  #oldestMs = Number.POSITIVE_INFINITY;
  #segments = 0;
  #certificates = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  async run(): Promise<BooksReport> {
    const lots = await auditLots(this);
    await this.#walkSegments(lots);
    await this.#compareDays();
    await this.#find(UNSEALED_ALONE, ({ sequence }) => {
      return `segment ${String(sequence)} is to be logged, and is not stored with as many certificates`;
    });
    await auditDirectory(this);
    await this.#series.check(this);
    await auditSources(lots, this);
    await auditDraws(this);
    await auditAnswers(this);
    await auditLog(this);
    return {
      problems: this.#problems,
      segments: this.#segments,
      certificates: this.#certificates,
      creditsSpent: this.#creditsSpent,
      lots: lots.size,
    };
  }

  async #walkSegments(lots: ReadonlyMap<string, boolean>): Promise<void> {
    for (let last = -1; ; ) {
      const rows = await this.#session.run<SegmentRow>(SEGMENTS, [last]);
      for (const row of rows) this.#checkSegment(row, lots);
      const end = rows.at(-1);
      if (end === undefined) return;
      last = end.sequence;
    }
  }

  #checkSegment(row: SegmentRow, lots: ReadonlyMap<string, boolean>): void {
    const { sequence } = row;
    this.#segments++;
    try {
      const segment = decodeSegment(new Uint8Array(row.body));
      if (segment.sequence !== sequence || segment.count !== row.count || segment.committedAtMs !== row.at_ms)
        this.#problems.push(`segment ${sequence} is stored beside facts that are not its own`);
      this.#certificates += segment.count;
      this.#series.addSegment(segment);
      this.#oldestMs = Math.min(this.#oldestMs, segment.committedAtMs);
      if (row.is_unsealed) this.#addCredits(segment.entries);
      else this.#sealed.addSegment(segment.entries);
      for (const id of segment.sources.flatMap(({ lotIds }) => lotIds))
        if (!lots.has(id)) this.#problems.push(`segment ${sequence} names lot ${id}, which is not stored`);
    } catch (error) {
      this.#problems.push(`segment ${sequence}: ${messageOf(error)}`);
    }
  }

  async #compareDays(): Promise<void> {
    const [{ dropped_segment }] = await this.#session.run<{ dropped_segment: number }>(DROPPED);
    const wholeFrom = firstWholeDay(dropped_segment > 0, this.#oldestMs);
    const stored = new Map<number, UsageCounters>();
    for (const { account, day, counters } of await this.#session.run<DayRow>(DAYS))
      stored.set(usageKey(day, account), countersCodec.decode(counters));
    for (const counters of stored.values()) this.#creditsSpent += creditsOf(counters);
    for (const key of new Set([...stored.keys(), ...this.#sealed.counters.keys()])) {
      const [account, day] = [accountOfKey(key), dayOfKey(key)];
      const flaw = flawOfUsage(stored.get(key), this.#sealed.counters.get(key), day >= wholeFrom);
      if (flaw !== undefined) this.#problems.push(`the usage of account ${account} on day ${day} ${flaw}`);
    }
  }

  #addCredits(entries: Uint8Array): void {
    const cursor = new EntryCursor(entries);
    while (cursor.next()) this.#creditsSpent += cursor.credits;
  }

  async walk<K extends Key, V>(table: SharedTable<K, V>, visit: (key: K, value: V) => void): Promise<void> {
    let from: Key | undefined;
    for (;;) {
      const range = { ...(from === undefined ? {} : { from }), limit: RECORDS_READ + 1 };
      const rows = await rangeOf(this.#session, table, range);
      for (const { key, value } of rows.slice(0, RECORDS_READ)) visit(key, value);
      from = rows[RECORDS_READ]?.key;
      if (from === undefined) return;
    }
  }

  problem(text: string): void {
    this.#problems.push(text);
  }

  async checkCount(name: CountName, stored: number): Promise<void> {
    const [row] = await rangeOf(this.#session, COUNTS, { from: name, limit: 1 });
    const counted = row?.key === name ? row.value : 0;
    if (counted !== stored) this.problem(`${name}: ${stored} are stored, ${counted} are counted`);
  }

  async #find(statement: Statement, tell: (row: Readonly<Record<string, unknown>>) => string): Promise<void> {
    for (const row of await this.#session.run(statement)) this.#problems.push(tell(row));
  }
}
