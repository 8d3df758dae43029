import { Bench } from 'tinybench';

/** Least duration of a sample: a thousand times the cost of reading the clock. */
const SAMPLE_MIN_NS = 50_000;
/**
 * Time for `work` to be compiled: a first call takes a thousand times as long, and tells nothing about the size of a
 * sample.
 */
const COMPILED_WITHIN_MS = 20;

export interface Task {
  /** Returns the nanoseconds of one call: the median of the samples taken in `timeMs`. */
  measure(timeMs: number): Promise<number>;
}

/** Repeats short work within a sample as often as its first calls suggest. */
export function task(work: () => unknown): Task {
  let repeats = 0;
  return {
    async measure(timeMs) {
      if (repeats === 0) repeats = calibrate(work);
      const repeated = () => {
        for (let i = 0; i < repeats; i++) work();
      };
      const bench = new Bench({ time: timeMs, iterations: 3, warmup: false, throws: true });
      bench.add('work', repeated, { async: false });
      await bench.run();
      const [{ result }] = bench.tasks;
      if (result.state !== 'completed') throw new Error(`a task of the bench: ${result.state}`);
      return (result.latency.p50 * 1e6) / repeats;
    },
  };
}

/** Runs `work` long enough to be compiled; returns how many calls make a sample. */
function calibrate(work: () => unknown): number {
  const compiledMs = performance.now() + COMPILED_WITHIN_MS;
  do work();
  while (performance.now() < compiledMs);
  let repeats = 1;
  for (;;) {
    const startedNs = process.hrtime.bigint();
    for (let i = 0; i < repeats; i++) work();
    const tookNs = Number(process.hrtime.bigint() - startedNs);
    if (tookNs >= SAMPLE_MIN_NS) return Math.max(1, Math.ceil((repeats * SAMPLE_MIN_NS) / tookNs));
    repeats *= 2;
  }
}
