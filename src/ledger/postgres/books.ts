import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../core/clock.ts';
import { answersIn } from '../domain/answers.ts';
import { seriesPage, withSerials } from '../domain/series.ts';
import type { SeriesPage } from '../label-records.ts';
import { type Books, SEQUENCES_PER_LEASE, type SequenceLease, type SeriesPart } from '../ledger.ts';
import type { Balance, RateRecord, SegmentRecord, StoredAnswer, UsageDay } from '../records.ts';
import { putRates, SavedRates } from '../saved-rates.ts';
import { decodeSegment } from '../segment.ts';
import {
  accountOfKey,
  addCounters,
  countersCodec,
  dayOfKey,
  type UsageCounters,
  usageDayOf,
} from '../usage-counters.ts';
import { balancesIn } from './balances.ts';
import type { SegmentCommits } from './commit.ts';
import type { Database } from './connection.ts';
import type { NamedEpoch } from './node.ts';
import { PostgresStore } from './postgres-store.ts';
import { dropSegments } from './retention.ts';
import type { UnsealedTallies } from './unsealed.ts';

export interface PostgresBooksOptions {
  readonly database: Database;
  readonly node: NamedEpoch;
  readonly clock: Clock;
  readonly commits: Pick<SegmentCommits, 'commit'>;
  readonly unsealed: UnsealedTallies;
}

/** Segments of which bodies are read at once: some megabytes. */
const SEGMENTS_PER_READ = 256;
/** Bodies that are decoded before the loop has a turn: about 1,000 certificates. */
const BYTES_PER_TURN = 96 * 1_024;

const LEASE = {
  name: 'books_lease',
  text: `UPDATE qrn.sequence_lease SET leased_before = $1 * (1 + ceil(greatest(
      leased_before,
      (SELECT max(sequence) FROM qrn.segment),
      (SELECT dropped_segment FROM qrn.retention)
    )::numeric / $1))
    RETURNING leased_before`,
};
const SEGMENT = { name: 'books_segment', text: 'SELECT body FROM qrn.segment WHERE sequence = $1' };
const SEGMENTS_FROM = {
  name: 'books_segments_from',
  text: 'SELECT body FROM qrn.segment WHERE sequence >= $1 ORDER BY sequence LIMIT $2',
};
/** A segment has one certificate at least, which bounds the inner part. */
const UNSEALED = {
  name: 'books_unsealed',
  text: `SELECT s.body FROM (
      SELECT sequence, sum(count) OVER (ORDER BY sequence) - count AS before
      FROM (SELECT sequence, count FROM qrn.unsealed ORDER BY sequence LIMIT $1) AS first
    ) AS u JOIN qrn.segment s USING (sequence) WHERE u.before < $1 ORDER BY sequence`,
};
/** The days and the segments that they lack, of one moment. */
const USAGE = {
  name: 'books_usage',
  text: `SELECT (SELECT coalesce(array_agg(sequence), '{}') FROM qrn.unsealed) AS unsealed, d.day, d.counters
    FROM (SELECT) AS one LEFT JOIN qrn.usage_day d ON d.account = $1 AND d.day >= $2`,
};
const RECENT = {
  name: 'books_recent',
  text: `SELECT node, sequence, at_ms, body FROM qrn.segment WHERE (at_ms, sequence) > ($1, $2) ORDER BY at_ms, sequence LIMIT ${SEGMENTS_PER_READ}`,
};
const SPAN = {
  name: 'books_span',
  text: 'SELECT min(at_ms) AS "oldestMs", max(at_ms) AS "newestMs" FROM qrn.segment HAVING count(*) > 0',
};
const PROBE = { name: 'books_probe', text: 'UPDATE qrn.meta SET probed_at_ms = $1' };

/** Answers: segments of certificates, the counters that follow from them, idempotent answers, limiter states. */
export class PostgresBooks implements Books {
  readonly #database: Database;
  readonly #node: NamedEpoch;
  readonly #clock: Clock;
  readonly #commits: Pick<SegmentCommits, 'commit'>;
  readonly #unsealed: UnsealedTallies;
  readonly #store: PostgresStore;
  readonly #answers: ReturnType<typeof answersIn>;
  readonly storedAnswer: Books['storedAnswer'];
  readonly storedAnswerSizes: Books['storedAnswerSizes'];

  constructor({ database, node, clock, commits, unsealed }: PostgresBooksOptions) {
    this.#database = database;
    this.#node = node;
    this.#clock = clock;
    this.#commits = commits;
    this.#unsealed = unsealed;
    this.#store = new PostgresStore(database, node);
    this.#answers = answersIn(this.#store, clock);
    this.storedAnswer = this.#answers.storedAnswer;
    this.storedAnswerSizes = this.#answers.storedAnswerSizes;
  }

  async leaseSequences(): Promise<SequenceLease> {
    const [{ leased_before }] = await this.#database.run<{ leased_before: number }>(LEASE, [
      SEQUENCES_PER_LEASE,
    ]);
    return { from: leased_before - SEQUENCES_PER_LEASE + 1, before: leased_before };
  }

  commit(segments: readonly SegmentRecord[], answers: readonly StoredAnswer[]): Promise<void> {
    return this.#commits.commit(segments, answers);
  }

  async segment(sequence: number): Promise<SegmentRecord | undefined> {
    const [segment] = await this.#decoded(await this.#database.run<Body>(SEGMENT, [sequence]));
    return segment;
  }

  async unsealed(certificates: number): Promise<SegmentRecord[]> {
    const segments: SegmentRecord[] = [];
    let bytes = 0;
    for (const { body } of await this.#database.run<Body>(UNSEALED, [certificates])) {
      const segment = decodeSegment(new Uint8Array(body));
      this.#unsealed.note(segment);
      segments.push(segment);
      bytes += body.length;
      if (bytes < BYTES_PER_TURN) continue;
      bytes = 0;
      await nextTurn();
    }
    return this.#withSerials(segments);
  }

  async segmentsFrom(from: number, limit: number): Promise<SegmentRecord[]> {
    return this.#decoded(await this.#database.run<Body>(SEGMENTS_FROM, [from, limit]));
  }

  seriesPage(purpose: string, part: SeriesPart): Promise<SeriesPage> {
    return this.#store.read(() => seriesPage(purpose, part));
  }

  balances(period: number): Promise<Balance[]> {
    return balancesIn(this.#database, this.#unsealed, period);
  }

  async usage(accountNumber: number, sinceDay: number): Promise<UsageDay[]> {
    const rows = await this.#database.run<UsageRow>(USAGE, [accountNumber, sinceDay]);
    const days = new Map<number, UsageCounters>();
    for (const { day, counters } of rows)
      if (counters !== null) days.set(day, countersCodec.decode(counters));
    const tally = await this.#unsealed.sum(this.#database, rows[0].unsealed.map(Number));
    for (const [key, more] of tally.counters) {
      const day = dayOfKey(key);
      if (accountOfKey(key) !== accountNumber || day < sinceDay) continue;
      const sum = days.get(day);
      if (sum === undefined) days.set(day, more);
      else addCounters(sum, more);
    }
    return [...days].sort(([a], [b]) => a - b).map(([day, counters]) => usageDayOf(day, counters));
  }

  saveRates(rates: readonly RateRecord[]): Promise<void> {
    return this.#store.write([], () => putRates(this.#node.number, rates));
  }

  async loadRates(sinceMs: number): Promise<RateRecord[]> {
    const rates = await SavedRates.in(this.#store);
    let after: readonly [number, number] = [sinceMs, -1];
    for (;;) {
      const rows = await this.#database.run<RecentSegment>(RECENT, after);
      for (const { node, body } of rows) rates.addEntries(node, decodeSegment(new Uint8Array(body)).entries);
      const last = rows.at(-1);
      if (last === undefined) return rates.records();
      after = [last.at_ms, last.sequence];
    }
  }

  async expire(nowMs: number, segmentsBeforeMs: number): Promise<{ answers: number; segments: number }> {
    const answers = await this.#answers.expireAnswers(nowMs);
    for (let segments = 0; ; ) {
      const now = await this.#database.transact((session) =>
        dropSegments(session, this.#unsealed, segmentsBeforeMs),
      );
      if (now === 0) return { answers, segments };
      segments += now;
    }
  }

  async segmentSpan(): Promise<{ oldestMs: number; newestMs: number } | undefined> {
    const [span] = await this.#database.run<{ oldestMs: number; newestMs: number }>(SPAN);
    return span;
  }

  async probe(): Promise<void> {
    await this.#database.run(PROBE, [this.#clock.wallMs()]);
  }

  async #withSerials(segments: SegmentRecord[]): Promise<SegmentRecord[]> {
    const isLabelled = segments.some(({ notes }) => notes !== undefined);
    return isLabelled ? this.#store.read(() => withSerials(segments)) : segments;
  }

  #decoded(rows: readonly Body[]): Promise<SegmentRecord[]> {
    return this.#withSerials(rows.map(({ body }) => decodeSegment(new Uint8Array(body))));
  }
}

interface Body {
  readonly body: Uint8Array;
}

interface UsageRow {
  readonly unsealed: readonly string[];
  readonly day: number;
  readonly counters: Uint8Array | null;
}

interface RecentSegment extends Body {
  readonly node: number;
  readonly sequence: number;
  readonly at_ms: number;
}
