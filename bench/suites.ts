import { aims } from './aims.bench.ts';
import { assessmentInterference } from './assessment-interference.bench.ts';
import { batch } from './batch.bench.ts';
import { cluster } from './cluster.bench.ts';
import { clusterService } from './cluster-service.bench.ts';
import { dispatch } from './dispatch.bench.ts';
import { durability } from './durability.bench.ts';
import { engines } from './engines.bench.ts';
import { expand } from './expand.bench.ts';
import { falseRejects } from './false-rejects.bench.ts';
import { idealEntropy } from './ideal-entropy.bench.ts';
import { keyTiming } from './key-timing.bench.ts';
import { latency } from './latency.bench.ts';
import { ledger } from './ledger.bench.ts';
import { lot } from './lot.bench.ts';
import { meter } from './meter.bench.ts';
import { metrics } from './metrics.bench.ts';
import { mixed } from './mixed.bench.ts';
import { numbers } from './numbers.bench.ts';
import { overload } from './overload.bench.ts';
import { peers } from './peers.bench.ts';
import { small } from './small.bench.ts';
import { soak } from './soak.bench.ts';
import { sp80090b } from './sp800-90b.bench.ts';
import { start } from './start.bench.ts';
import { stats } from './stats.bench.ts';
import type { Suite } from './support/suite.ts';
import { targets } from './targets.bench.ts';
import { values } from './values.bench.ts';

/** In the order in which they run: first what is made in process, then what goes over loopback. */
export const SUITES: readonly Suite[] = [
  numbers,
  values,
  expand,
  dispatch,
  meter,
  keyTiming,
  metrics,
  stats,
  falseRejects,
  sp80090b,
  lot,
  ledger,
  idealEntropy,
  assessmentInterference,
  durability,
  cluster,
  clusterService,
  start,
  small,
  batch,
  targets,
  aims,
  peers,
  engines,
  latency,
  mixed,
  overload,
  soak,
];
