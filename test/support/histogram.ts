/** Buckets of each power of two: a value is known within 1/64, 1.6 %. */
const STEPS = 64;
const STEP_BITS = 6;
/** Up to 2^36 µs, 19 hours. */
const POWERS = 36 - STEP_BITS;

/**
 * Counts of durations in microseconds, log-linear as HdrHistogram's: exact below 64 µs, beyond it 64 buckets for each
 * power of two. Adding costs a few nanoseconds and no memory.
 */
export class Histogram {
  readonly counts: Float64Array<ArrayBuffer>;
  #total: number;

  constructor(counts = new Float64Array(STEPS * (POWERS + 1))) {
    this.counts = counts;
    this.#total = counts.reduce((sum, count) => sum + count, 0);
  }

  get total(): number {
    return this.#total;
  }

  /** `us` below zero counts as zero. */
  add(us: number): void {
    this.counts[bucketOf(us)]++;
    this.#total++;
  }

  /** The upper end of the bucket that holds this share of all values, in µs; NaN when there are none. */
  quantile(share: number): number {
    if (this.#total === 0) return Number.NaN;
    const rank = Math.max(1, Math.ceil(share * this.#total));
    let seen = 0;
    for (let bucket = 0; bucket < this.counts.length; bucket++) {
      seen += this.counts[bucket];
      if (seen >= rank) return upperEnd(bucket);
    }
    return upperEnd(this.counts.length - 1);
  }
}

function bucketOf(us: number): number {
  const value = Math.max(0, Math.floor(us));
  if (value < STEPS) return value;
  const power = Math.min(Math.floor(Math.log2(value)) - STEP_BITS, POWERS - 1);
  return STEPS * (power + 1) + Math.min(STEPS - 1, Math.floor(value / 2 ** power) - STEPS);
}

function upperEnd(bucket: number): number {
  if (bucket < STEPS) return bucket + 1;
  const power = Math.floor(bucket / STEPS) - 1;
  return ((bucket % STEPS) + STEPS + 1) * 2 ** power;
}
