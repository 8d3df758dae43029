import { aims } from './aims.bench.ts';
import { batch } from './batch.bench.ts';
import { dispatch } from './dispatch.bench.ts';
import { engines } from './engines.bench.ts';
import { falseRejects } from './false-rejects.bench.ts';
import { idealEntropy } from './ideal-entropy.bench.ts';
import { keyTiming } from './key-timing.bench.ts';
import { latency } from './latency.bench.ts';
import { ledger } from './ledger.bench.ts';
import { micro } from './micro.bench.ts';
import { peers } from './peers.bench.ts';
import { small } from './small.bench.ts';
import { start } from './start.bench.ts';
import type { Suite } from './support/suite.ts';
import { targets } from './targets.bench.ts';

/** In running order: first the suites in this process, then those over loopback. */
export const SUITES: readonly Suite[] = [
  micro,
  dispatch,
  keyTiming,
  falseRejects,
  idealEntropy,
  start,
  small,
  batch,
  targets,
  aims,
  peers,
  engines,
  ledger,
  latency,
];
