import { assert } from '../core/assert.ts';
import type { Clock } from '../core/clock.ts';
import { ERRORS, type ErrorCode } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import {
  COUNTED,
  ENDPOINT_LABELS,
  type EndpointLabel,
  type MetricShard,
  MODE_LABELS,
  STATUS_LABELS,
} from '../core/metrics.ts';
import { DATA_ENDPOINTS, ENTROPY_MODES } from '../core/vocabulary.ts';
import type { AnswerEntry } from '../ledger/records.ts';
import type { Exchange } from './exchange.ts';

export interface RequestRecordOptions {
  readonly shard: MetricShard;
  readonly log: Log;
  readonly clock: Clock;
  /** Share of the requests that are logged, from 0 to 1. */
  readonly logSample: number;
}

/** Characters of a method in a log line. A client may send a method of 64 KiB. */
export const METHOD_LENGTH_LOGGED = 16;

const ENDPOINT_ROWS = rowsOf(ENDPOINT_LABELS);
const MODE_ROWS = rowsOf(MODE_LABELS);
const ERROR_ROWS = rowsOf(Object.keys(ERRORS) as ErrorCode[]);
/** Row of each status. It is a typed array because every reply looks up its status. */
const STATUS_ROWS = new Uint8Array(600);
STATUS_LABELS.forEach((label, row) => {
  STATUS_ROWS[Number(label)] = row;
});

assert(
  DATA_ENDPOINTS.every((endpoint, row) => ENDPOINT_ROWS[endpoint] === row),
  'the rows of data endpoints are the same with and without the others',
);

function rowsOf<const T extends string>(labels: readonly T[]): Readonly<Record<T, number>> {
  return Object.fromEntries(labels.map((label, row) => [label, row])) as Record<T, number>;
}

const UNKNOWN = ENDPOINT_ROWS.unknown;

/** Returns the row of an endpoint in the counters. */
export function endpointRow(label: EndpointLabel): number {
  return ENDPOINT_ROWS[label];
}

/**
 * Records the answered requests of one front: counts all of them, and logs a sample of them and every error (the log itself
 * drops repeated lines). A log line contains nothing that the client sent except the method and the trace id.
 */
export class RequestRecord {
  readonly #options: RequestRecordOptions;

  constructor(options: RequestRecordOptions) {
    this.#options = options;
  }

  /** Records a reply. `atMonotonicMs` is the time if the caller knows it, which saves reading the clock. */
  replied(exchange: Exchange, status: number, atMonotonicMs = this.#options.clock.monotonicMs()): void {
    const { shard } = this.#options;
    const { mode = 'none', route, error } = exchange;
    const durationMs = atMonotonicMs - exchange.startedMonotonicMs;
    const endpoint = route?.endpoint ?? UNKNOWN;
    shard.add(COUNTED.qrn_http_requests_total, endpoint * STATUS_LABELS.length + STATUS_ROWS[status]);
    shard.observe(COUNTED.qrn_http_request_duration_seconds, MODE_ROWS[mode], durationMs / 1000);
    if (error !== undefined) shard.add(COUNTED.qrn_http_errors_total, ERROR_ROWS[error]);
    if (error !== undefined || this.#isSampled(exchange)) this.#write(exchange, status, durationMs);
  }

  /** Counts a request whose client has gone before its reply. */
  aborted(): void {
    this.#options.shard.add(COUNTED.qrn_http_requests_aborted_total, 0);
  }

  /** Counts a certified answer that is being sent. */
  answered({ endpoint, mode, valueCount, deliveredBytes, consumedBytes, credits }: AnswerEntry): void {
    const { shard } = this.#options;
    const row = MODE_ROWS[mode];
    shard.add(COUNTED.qrn_answers_total, ENDPOINT_ROWS[endpoint] * ENTROPY_MODES.length + row);
    shard.add(COUNTED.qrn_answer_values_total, row, valueCount);
    shard.add(COUNTED.qrn_answer_data_bytes_total, row, deliveredBytes);
    shard.add(COUNTED.qrn_entropy_consumed_bytes_total, row, consumedBytes);
    if (credits > 0) shard.add(COUNTED.qrn_credits_spent_total, 0, credits);
  }

  /** Counts the error that ended a reply after it had begun. */
  recordBreakOff(error: ErrorCode): void {
    this.#options.shard.add(COUNTED.qrn_http_errors_total, ERROR_ROWS[error]);
  }

  /** A request is logged when the last 32 bits of its id, which are random, are below its share of them. */
  #isSampled({ requestId: id }: Exchange): boolean {
    const bits = ((id[12] << 24) | (id[13] << 16) | (id[14] << 8) | id[15]) >>> 0;
    return bits < this.#options.logSample * 2 ** 32;
  }

  #write(exchange: Exchange, status: number, durationMs: number): void {
    const { mode, error, replayOf } = exchange;
    const facts = {
      ...exchange.logNames,
      ...(replayOf === undefined ? {} : { replay_of: replayOf }),
      method: exchange.method.slice(0, METHOD_LENGTH_LOGGED),
      endpoint: ENDPOINT_LABELS[exchange.route?.endpoint ?? UNKNOWN],
      status,
      ...(error === undefined ? {} : { error }),
      ...(mode === undefined ? {} : { mode }),
      duration_ms: Math.round(durationMs * 1000) / 1000,
    };
    this.#options.log[status >= 500 ? 'warn' : 'info'](facts, 'request');
  }
}
