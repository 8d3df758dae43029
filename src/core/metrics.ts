import { assert } from './assert.ts';
import { ERRORS } from './errors.ts';
import { DATA_ENDPOINTS, ENTROPY_MODES } from './vocabulary.ts';

/**
 * The counts of the service, as cells of one shared array of doubles. Each front thread is the only writer of its part
 * of the array (its shard), so that counting is one addition, 6 ns, without a lock (bench/micro.bench.ts). A reader
 * adds the shards up. ECMAScript permits torn reads of a double that another thread writes, but the 64-bit platforms of
 * Node store an aligned double in one piece.
 */

/** The label values, by label. The sets are closed, so that no input can create a time series. */
type LabelSets = Readonly<Record<string, readonly string[]>>;

type MetricKind = 'counter' | 'gauge' | 'histogram';

interface Definition<K extends MetricKind> {
  readonly kind: K;
  readonly help: string;
  readonly labels: LabelSets;
  /** For a gauge, of which each thread writes a value: whether the values are added or the largest is taken. */
  readonly across: 'sum' | 'max';
  /** For a histogram: the inclusive upper bounds of its buckets, in ascending order. */
  readonly bounds: readonly number[];
}

export interface MetricFamily<K extends MetricKind = MetricKind> extends Definition<K> {
  readonly name: string;
  /** The index of the family's first cell. */
  readonly at: number;
  /** The number of combinations of label values; the last label varies fastest. */
  readonly rows: number;
  /**
   * The cells of one row: 1, or for a histogram a count for each bucket, one for values above all bounds, and the sum.
   */
  readonly width: number;
}

let cellCount = 0;

/**
 * Gives each family its name and its cells. Changes `definitions` itself: V8 reads the properties of an object literal
 * fastest.
 */
function placed<T extends Readonly<Record<string, Definition<MetricKind>>>>(definitions: T) {
  for (const [name, definition] of Object.entries(definitions)) {
    const rows = Object.values(definition.labels).reduce((product, values) => product * values.length, 1);
    const width = definition.kind === 'histogram' ? definition.bounds.length + 2 : 1;
    Object.assign(definition, { name, at: cellCount, rows, width });
    cellCount += rows * width;
  }
  return definitions as unknown as {
    readonly [N in keyof T]: T[N] extends Definition<infer K> ? MetricFamily<K> : never;
  };
}

function counter(help: string, labels: LabelSets = {}): Definition<'counter'> {
  return { kind: 'counter', help, labels, across: 'sum', bounds: [] };
}

function gauge(help: string, across: 'sum' | 'max' = 'sum'): Definition<'gauge'> {
  return { kind: 'gauge', help, labels: {}, across, bounds: [] };
}

function histogram(help: string, bounds: readonly number[], labels: LabelSets = {}): Definition<'histogram'> {
  assert(
    bounds.every((bound, i) => i === 0 || bound > bounds[i - 1]),
    'bounds of buckets grow',
  );
  return { kind: 'histogram', help, labels, across: 'sum', bounds };
}

/** The endpoints, each under its name. `public`: all paths that need no key. `unknown`: paths that do not exist. */
export const ENDPOINT_LABELS = [
  ...DATA_ENDPOINTS,
  'stream',
  'certificate',
  'health',
  'usage',
  'public',
  'unknown',
] as const;
export type EndpointLabel = (typeof ENDPOINT_LABELS)[number];

/** The statuses that the service sends. */
export const STATUS_LABELS = [
  200, 201, 204, 301, 302, 304, 308, 400, 401, 402, 403, 404, 405, 406, 409, 413, 415, 422, 429, 431, 500,
  503,
].map(String);

/** `none`: the request was answered before its mode was known, or draws no entropy. */
export const MODE_LABELS = [...ENTROPY_MODES, 'none'] as const;

const ERROR_LABELS = Object.keys(ERRORS) as readonly (keyof typeof ERRORS)[];

/** From half a millisecond, for a reply from a filled ring, to the deadline after which the front answers 503. */
const REQUEST_BOUNDS_S = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20,
] as const;
/** From a commit in memory to one on a disk that does not respond. */
const COMMIT_BOUNDS_S = [
  0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1,
  2, 5,
] as const;

/** Every family by its name, in the order in which /metrics lists them. */
export const COUNTED = placed({
  qrn_http_requests_total: counter('Number of answered requests, by endpoint and status.', {
    endpoint: ENDPOINT_LABELS,
    code: STATUS_LABELS,
  }),
  qrn_http_errors_total: counter('Number of error replies, by error code.', {
    error: ERROR_LABELS,
  }),
  qrn_http_requests_aborted_total: counter('Number of requests whose client disconnected before the answer.'),
  qrn_http_request_duration_seconds: histogram(
    'Time from reading a request head to passing the reply to the socket, in seconds, by entropy mode.',
    REQUEST_BOUNDS_S,
    { mode: MODE_LABELS },
  ),
  qrn_answers_total: counter('Number of certified answers that were sent, by endpoint and entropy mode.', {
    endpoint: DATA_ENDPOINTS,
    mode: ENTROPY_MODES,
  }),
  qrn_answer_values_total: counter('Number of random values in sent answers, by entropy mode.', {
    mode: ENTROPY_MODES,
  }),
  qrn_answer_data_bytes_total: counter(
    'Size of the data members of sent answers in bytes, by entropy mode.',
    {
      mode: ENTROPY_MODES,
    },
  ),
  qrn_entropy_consumed_bytes_total: counter(
    'Entropy that was drawn for sent answers in bytes, including rejected draws, by entropy mode.',
    {
      mode: ENTROPY_MODES,
    },
  ),
  qrn_credits_spent_total: counter(
    'Number of credits that accounts spent. One credit pays for one byte of pure mode.',
  ),
  qrn_ledger_commit_duration_seconds: histogram(
    'Time from closing a segment of certificates until it is durable, in seconds.',
    COMMIT_BOUNDS_S,
  ),
  qrn_ledger_commit_failures_total: counter(
    'Number of segments that could not be made durable. Their requests were answered with 503.',
  ),
  qrn_log_lines_lost_total: counter('Number of log lines that could not be written.'),
  qrn_ledger_commit_duration_max_seconds: gauge(
    'Duration of the slowest commit in the last second, in seconds.',
    'max',
  ),
  qrn_http_connections: gauge('Number of open connections.'),
  qrn_http_connections_without_request: gauge(
    'Number of open connections without a complete request head. They are idle or still sending the head.',
  ),
  qrn_http_unfinished_head_bytes_max: gauge(
    'Upper bound on the memory of incomplete request heads, in bytes. The HTTP libraries do not report it, so that each connection without a request counts with 66 KiB.',
  ),
  qrn_http_waiting_requests: gauge('Number of requests that are not answered yet.'),
  qrn_http_sending_replies: gauge('Number of replies that their clients have not fully received yet.'),
  qrn_http_held_bytes: gauge('Size of reply bodies that wait for slow clients, in bytes.'),
  qrn_ledger_pending_answers: gauge('Number of answers that wait until their certificate is durable.'),
  qrn_workers_queue_tasks: gauge('Number of tasks that wait for a worker thread.'),
  qrn_pool_pure_ring_bytes: gauge(
    'Pure bytes that the fronts have claimed and not used yet. A crash burns them.',
  ),
  qrn_event_loop_delay_p99_seconds: gauge(
    '99th percentile of the event loop delay of the slowest front thread in the last second, in seconds.',
    'max',
  ),
  qrn_event_loop_delay_max_seconds: gauge(
    'Largest event loop delay of any front thread in the last second, in seconds.',
    'max',
  ),
});

const FAMILIES: readonly MetricFamily[] = Object.values(COUNTED);

/** Shards are aligned to this, so that no two threads write to the same cache line. */
const LINE_BYTES = 128;
const SHARD_BYTES = Math.ceil((8 * cellCount) / LINE_BYTES) * LINE_BYTES;

/** Returns memory for the counts of `threads` threads. */
export function createMetricMemory(threads: number): SharedArrayBuffer {
  return new SharedArrayBuffer(threads * SHARD_BYTES);
}

/** The counts of one thread, which is the only writer of its shard. */
export class MetricShard {
  readonly #cells: Float64Array;

  constructor(memory: SharedArrayBuffer, shard: number) {
    this.#cells = new Float64Array(memory, shard * SHARD_BYTES, cellCount);
  }

  /** `row` is the index of a combination of label values; the last label varies fastest. */
  add(family: MetricFamily<'counter'>, row: number, amount = 1): void {
    this.#cells[family.at + row] += amount;
  }

  set(family: MetricFamily<'gauge'>, value: number): void {
    this.#cells[family.at] = value;
  }

  observe(family: MetricFamily<'histogram'>, row: number, value: number): void {
    const { bounds, width } = family;
    let bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]) bucket++;
    const at = family.at + row * width;
    this.#cells[at + bucket] += 1;
    this.#cells[at + width - 1] += value;
  }
}

/** The counts of all threads together, at the moment of construction. */
export class MetricTotals {
  readonly #cells: Float64Array;

  constructor(memory: SharedArrayBuffer) {
    this.#cells = new Float64Array(cellCount);
    for (let offset = 0; offset < memory.byteLength; offset += SHARD_BYTES) {
      const shard = new Float64Array(memory, offset, cellCount);
      for (const { across, at, rows, width } of FAMILIES) {
        for (let cell = at; cell < at + rows * width; cell++) {
          this.#cells[cell] =
            across === 'max' ? Math.max(this.#cells[cell], shard[cell]) : this.#cells[cell] + shard[cell];
        }
      }
    }
  }

  /** Returns the value of a counter or gauge. */
  value(family: MetricFamily, row = 0): number {
    return this.#cells[family.at + row];
  }

  /** Returns the counts in the buckets of a histogram's row, not cumulated; the last bucket has no upper bound. */
  buckets(family: MetricFamily, row = 0): Float64Array {
    const at = family.at + row * family.width;
    return this.#cells.slice(at, at + family.width - 1);
  }

  /** Returns the sum of the values observed in a histogram's row. */
  sum(family: MetricFamily, row = 0): number {
    return this.#cells[family.at + (row + 1) * family.width - 1];
  }
}

/** Returns the label values of a row, by label. */
export function labelsOf(family: MetricFamily, row: number): Record<string, string> {
  const labels: [string, string][] = [];
  let rest = row;
  for (const [name, values] of Object.entries(family.labels).reverse()) {
    labels.unshift([name, values[rest % values.length]]);
    rest = Math.floor(rest / values.length);
  }
  return Object.fromEntries(labels);
}

/** Estimates a quantile from the counts of buckets, linearly within a bucket; undefined when nothing was counted. */
export function quantileOf(
  counts: Float64Array,
  bounds: readonly number[],
  quantile: number,
): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  let left = quantile * total;
  for (let bucket = 0; bucket < bounds.length; bucket++) {
    if (left <= counts[bucket]) {
      const from = bucket === 0 ? 0 : bounds[bucket - 1];
      return from + (bounds[bucket] - from) * (counts[bucket] === 0 ? 0 : left / counts[bucket]);
    }
    left -= counts[bucket];
  }
  return bounds[bounds.length - 1];
}
