import { parentPort, workerData } from 'node:worker_threads';
import { CoverageProbe } from './coverage-probe.ts';
import { CURRENT_HEAD_BYTES, type GuidedOrder } from './guided.ts';

// One target in a thread of its own, so that one that never ends can be ended. The probe comes before what it shall see.
const probe = new CoverageProbe(/\/src\/[\w/-]+\.ts$/);
const { fuzzGuided } = await import('./guided.ts');
const { corpusOf, FUZZ_TARGETS } = await import('./targets/table.ts');

/** For at most 16 KiB: whoever found one could send it again and again. */
const SLOW_MS = 1_000;

const { target: name, seed, seconds, current } = workerData as GuidedOrder;
const words = new Int32Array(current, 0, 2);
const bytes = new Uint8Array(current, CURRENT_HEAD_BYTES);
const target = FUZZ_TARGETS.find((each) => each.name === name)!;
const endMs = performance.now() + seconds * 1_000;

const outcome = await fuzzGuided(target, {
  seed,
  probe,
  slowMs: SLOW_MS,
  seeds: corpusOf(target),
  before: (input) => {
    bytes.set(input);
    Atomics.store(words, 1, input.length);
    Atomics.add(words, 0, 1);
  },
  isDone: () => performance.now() > endMs,
});
parentPort!.postMessage(outcome);
