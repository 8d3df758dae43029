import { Bench } from 'tinybench';

/** A sample is at least this long: a thousand times what reading the clock costs. */
const SAMPLE_MIN_NS = 50_000;
/** A first call takes a thousand times as long as a compiled one, and says nothing of how many make a sample. */
const COMPILED_WITHIN_MS = 20;

export interface Task {
  /** Nanoseconds of one call: the median of the samples taken in `timeMs`. */
  measure(timeMs: number): Promise<number>;
}

/** Repeats short work within a sample, as often as its first calls suggest. */
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

/** Runs `work` long enough to be compiled, and gives how many calls make a sample. */
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
