import { assert } from './assert.ts';
import { ERRORS } from './errors.ts';
import { DATA_ENDPOINTS, ENTROPY_MODES } from './vocabulary.ts';

/**
 * What is counted while requests are served, as cells of one shared array of doubles. Each front thread has a
 * part of it ("shard") and is its only writer, so that a count is one addition, 6 ns, without a lock
 * (bench/micro.bench.ts); whoever reads adds the shards up. ECMAScript allows a double that another thread
 * writes to be read torn; the 64-bit platforms that Node runs on store an aligned double whole.
 */

/** Closed sets of label values: what is not in the table cannot become a time series. */
type LabelSets = Readonly<Record<string, readonly string[]>>;

interface CellFamily {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly name: string;
  readonly help: string;
  readonly labels: LabelSets;
  /** The first cell. */
  readonly at: number;
  /** Combinations of label values, the last label turning fastest. */
  readonly rows: number;
  /** Cells of one row. */
  readonly width: number;
}

export interface CounterFamily extends CellFamily {
  readonly kind: 'counter';
}

/** Each thread writes its own value; they are added up, or the largest counts. */
export interface GaugeFamily extends CellFamily {
  readonly kind: 'gauge';
  readonly across: 'sum' | 'max';
}

/** A row holds a count per bucket, the last without an upper bound, and the sum of what was observed. */
export interface HistogramFamily extends CellFamily {
  readonly kind: 'histogram';
  /** Upper bounds, inclusive, growing. */
  readonly bounds: readonly number[];
}

export type MetricFamily = CounterFamily | GaugeFamily | HistogramFamily;

const families: MetricFamily[] = [];
let cellCount = 0;

/** Gives a family its cells. */
function placed<F extends MetricFamily>(family: Omit<F, 'at' | 'rows'>): F {
  const rows = Object.values(family.labels).reduce((product, values) => product * values.length, 1);
  const whole = { ...family, at: cellCount, rows } as F;
  cellCount += rows * whole.width;
  families.push(whole);
  return whole;
}

function counter(name: string, help: string, labels: LabelSets = {}): CounterFamily {
  return placed<CounterFamily>({ kind: 'counter', name, help, labels, width: 1 });
}

function gauge(name: string, help: string, across: GaugeFamily['across']): GaugeFamily {
  return placed<GaugeFamily>({ kind: 'gauge', name, help, across, labels: {}, width: 1 });
}

function histogram(
  name: string,
  help: string,
  bounds: readonly number[],
  labels: LabelSets = {},
): HistogramFamily {
  assert(
    bounds.every((bound, i) => i === 0 || bound > bounds[i - 1]),
    'bounds of buckets grow',
  );
  return placed<HistogramFamily>({ kind: 'histogram', name, help, bounds, labels, width: bounds.length + 2 });
}

/**
 * Every endpoint under its own name; `public` is what needs no key, `unknown` what the service does not have.
 */
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

/**
 * From half a millisecond, a reply from a warm ring, to the deadline at which the front answers by itself.
 */
const REQUEST_BOUNDS_S = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20,
] as const;
/** From a commit in memory to a disk that hangs. */
const COMMIT_BOUNDS_S = [
  0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1,
  2, 5,
] as const;

export const HTTP_REQUESTS = counter(
  'qrn_http_requests_total',
  'Requests answered, by endpoint and status.',
  {
    endpoint: ENDPOINT_LABELS,
    code: STATUS_LABELS,
  },
);
export const HTTP_ERRORS = counter('qrn_http_errors_total', 'Errors answered, by the code in their body.', {
  error: ERROR_LABELS,
});
export const HTTP_ABORTED = counter(
  'qrn_http_requests_aborted_total',
  'Requests whose client went away before the answer.',
);
export const HTTP_DURATION = histogram(
  'qrn_http_request_duration_seconds',
  'From a request head read to its reply handed to the socket, by entropy mode.',
  REQUEST_BOUNDS_S,
  { mode: MODE_LABELS },
);
export const ANSWERS = counter(
  'qrn_answers_total',
  'Certified answers that left, by endpoint and entropy mode.',
  { endpoint: DATA_ENDPOINTS, mode: ENTROPY_MODES },
);
export const ANSWER_VALUES = counter('qrn_answer_values_total', 'Random values in these answers.', {
  mode: ENTROPY_MODES,
});
export const ANSWER_BYTES = counter(
  'qrn_answer_data_bytes_total',
  'Bytes of the data members of these answers.',
  { mode: ENTROPY_MODES },
);
export const ENTROPY_CONSUMED = counter(
  'qrn_entropy_consumed_bytes_total',
  'Entropy drawn for these answers, rejected draws included.',
  { mode: ENTROPY_MODES },
);
export const CREDITS_SPENT = counter(
  'qrn_credits_spent_total',
  'Pure-mode credits (bytes) that accounts spent.',
);
export const COMMIT_DURATION = histogram(
  'qrn_ledger_commit_duration_seconds',
  'From a segment of certificates closed to its being durable.',
  COMMIT_BOUNDS_S,
);
export const COMMIT_FAILURES = counter(
  'qrn_ledger_commit_failures_total',
  'Segments that were not made durable; their answers became 503.',
);

export const LOG_LINES_LOST = counter(
  'qrn_log_lines_lost_total',
  'Lines of the log that could not be written.',
);

export const COMMIT_MAX = gauge(
  'qrn_ledger_commit_duration_max_seconds',
  'The slowest commit of the last second.',
  'max',
);
export const CONNECTIONS = gauge('qrn_http_connections', 'Open connections.', 'sum');
export const IDLE_CONNECTIONS = gauge(
  'qrn_http_connections_without_request',
  'Open connections that wait for a request: they are idle, or the head of their request is not complete.',
  'sum',
);
export const UNFINISHED_HEAD_BYTES_MAX = gauge(
  'qrn_http_unfinished_head_bytes_max',
  'The most bytes that unfinished heads hold now. The HTTP libraries do not tell how many, so each connection without a request counts as one with a head of 66 KiB.',
  'sum',
);
export const WAITING_REQUESTS = gauge(
  'qrn_http_waiting_requests',
  'Requests that are not answered yet.',
  'sum',
);
export const SENDING_REPLIES = gauge(
  'qrn_http_sending_replies',
  'Replies that their readers have not taken yet.',
  'sum',
);
export const HELD_BYTES = gauge('qrn_http_held_bytes', 'Bytes of reply bodies held for slow readers.', 'sum');
export const PENDING_ANSWERS = gauge(
  'qrn_ledger_pending_answers',
  'Answers that wait for their certificate to be durable.',
  'sum',
);
export const WORKERS_QUEUE = gauge('qrn_workers_queue_tasks', 'Tasks that wait for a worker thread.', 'sum');
export const PURE_RING = gauge(
  'qrn_pool_pure_ring_bytes',
  'Pure bytes claimed and at hand in the fronts: what a crash burns.',
  'sum',
);
export const LOOP_DELAY_P99 = gauge(
  'qrn_event_loop_delay_p99_seconds',
  'Delay of the slowest front thread in the last second, 99th percentile.',
  'max',
);
export const LOOP_DELAY_MAX = gauge(
  'qrn_event_loop_delay_max_seconds',
  'Largest delay of any front thread in the last second.',
  'max',
);

/** Every family, in the order in which they are told. */
export const METRIC_FAMILIES: readonly MetricFamily[] = families;

/** Bytes between two shards that keep their writers out of each other's cache lines. */
const LINE_BYTES = 128;
const SHARD_BYTES = Math.ceil((8 * cellCount) / LINE_BYTES) * LINE_BYTES;

/** Memory for the counts of `threads` threads. */
export function createMetricMemory(threads: number): SharedArrayBuffer {
  return new SharedArrayBuffer(threads * SHARD_BYTES);
}

/** One thread's counts: the only writer of its shard. */
export class MetricShard {
  readonly #cells: Float64Array;

  constructor(memory: SharedArrayBuffer, shard: number) {
    this.#cells = new Float64Array(memory, shard * SHARD_BYTES, cellCount);
  }

  /** `row` counts the combinations of label values, the last label turning fastest. */
  add(family: CounterFamily, row: number, amount = 1): void {
    this.#cells[family.at + row] += amount;
  }

  set(family: GaugeFamily, value: number): void {
    this.#cells[family.at] = value;
  }

  observe(family: HistogramFamily, row: number, value: number): void {
    const { bounds, width } = family;
    let bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]) bucket++;
    const at = family.at + row * width;
    this.#cells[at + bucket] += 1;
    this.#cells[at + width - 1] += value;
  }
}

/** What all threads have counted, at the moment of reading. */
export class MetricTotals {
  readonly #cells: Float64Array;

  constructor(memory: SharedArrayBuffer) {
    this.#cells = new Float64Array(cellCount);
    for (let offset = 0; offset < memory.byteLength; offset += SHARD_BYTES) {
      const shard = new Float64Array(memory, offset, cellCount);
      for (const { kind, at, rows, width, ...family } of families) {
        const largest = kind === 'gauge' && 'across' in family && family.across === 'max';
        for (let cell = at; cell < at + rows * width; cell++) {
          this.#cells[cell] = largest
            ? Math.max(this.#cells[cell], shard[cell])
            : this.#cells[cell] + shard[cell];
        }
      }
    }
  }

  value(family: CounterFamily | GaugeFamily, row = 0): number {
    return this.#cells[family.at + row];
  }

  /** The counts of a row's buckets, not cumulated, the last without an upper bound. */
  buckets(family: HistogramFamily, row = 0): Float64Array {
    const at = family.at + row * family.width;
    return this.#cells.slice(at, at + family.width - 1);
  }

  /** The sum of what was observed in a row. */
  sum(family: HistogramFamily, row = 0): number {
    return this.#cells[family.at + (row + 1) * family.width - 1];
  }
}

/** The label values of a row, by label. */
export function labelsOf(family: MetricFamily, row: number): Record<string, string> {
  const labels: [string, string][] = [];
  let rest = row;
  for (const [name, values] of Object.entries(family.labels).reverse()) {
    labels.unshift([name, values[rest % values.length]]);
    rest = Math.floor(rest / values.length);
  }
  return Object.fromEntries(labels);
}

/**
 * An estimate of a quantile from counts of buckets: linear within a bucket. Undefined when nothing was
 * counted.
 */
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
