/**
 * The rate limit as its definition reads, in whole numbers: all admissions are kept, and the bucket is counted in
 * 60,000ths of a request (one millisecond drains `requestsPerMinute` of them). Times are whole milliseconds.
 */
export class PlainRateLimit {
  readonly #perMinute: number;
  readonly #burst: number;
  readonly admittedAtMs: number[] = [];
  #levelUnits = 0;
  #atMs = 0;

  constructor(requestsPerMinute: number) {
    this.#perMinute = requestsPerMinute;
    this.#burst = Math.floor((requestsPerMinute * 3) / 2);
  }

  /** Whole requests possible at the time. */
  remaining(nowMs: number): number {
    const levelUnits = Math.max(0, this.#levelUnits - (nowMs - this.#atMs) * this.#perMinute);
    const inBucket = Math.floor((this.#burst * 60_000 - levelUnits) / 60_000);
    const inWindow = this.admittedAtMs.filter((at) => nowMs - at < 60_000).length;
    return Math.max(0, Math.min(inBucket, this.#burst - inWindow));
  }

  admit(nowMs: number): boolean {
    if (this.remaining(nowMs) < 1) return false;
    this.#levelUnits = Math.max(0, this.#levelUnits - (nowMs - this.#atMs) * this.#perMinute) + 60_000;
    this.#atMs = nowMs;
    this.admittedAtMs.push(nowMs);
    return true;
  }
}

/** The most admissions that any 60 seconds hold. */
export function busiestMinute(admittedAtMs: readonly number[]): number {
  let most = 0;
  let first = 0;
  for (let last = 0; last < admittedAtMs.length; last++) {
    while (admittedAtMs[last] - admittedAtMs[first] >= 60_000) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}
