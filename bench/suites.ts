import { aims } from './aims.bench.ts';
import { batch } from './batch.bench.ts';
import { cluster } from './cluster.bench.ts';
import { clusterService } from './cluster-service.bench.ts';
import { dispatch } from './dispatch.bench.ts';
import { durability } from './durability.bench.ts';
import { expand } from './expand.bench.ts';
import { latency } from './latency.bench.ts';
import { mixed } from './mixed.bench.ts';
import { numbers } from './numbers.bench.ts';
import { overload } from './overload.bench.ts';
import { peers } from './peers.bench.ts';
import { small } from './small.bench.ts';
import { soak } from './soak.bench.ts';
import { start } from './start.bench.ts';
import { stream } from './stream.bench.ts';
import { scriptSuite } from './support/script-suite.ts';
import type { Suite } from './support/suite.ts';
import { targets } from './targets.bench.ts';

/** In the order in which they run: first what is made in process, then what goes over loopback. */
export const SUITES: readonly Suite[] = [
  numbers,
  scriptSuite({
    name: 'values',
    summary: 'ns per number with entropy at hand, kind by kind',
    byDefault: true,
  }),
  expand,
  dispatch,
  scriptSuite({ name: 'meter', summary: "ns of an account's limits, call by call", byDefault: true }),
  scriptSuite({
    name: 'key-timing',
    summary: 'whether the time of a refused key tells where its secret is wrong',
    byDefault: false,
  }),
  scriptSuite({ name: 'metrics', summary: 'ns that counting costs a request', byDefault: true }),
  scriptSuite({ name: 'stats', summary: 'SP 800-22 on 10^6 bits, test by test', byDefault: true }),
  scriptSuite({
    name: 'sp800-90b',
    summary: 'SP 800-90B on 10^6 bits, estimator by estimator',
    byDefault: false,
  }),
  scriptSuite({
    name: 'extractor',
    summary: 'ms of the Toeplitz hash of a whole lot, by output length',
    byDefault: false,
  }),
  scriptSuite({
    name: 'lot',
    summary: 'CPU of a lot of 4 Mbit from raw bits to blocks, part by part',
    byDefault: false,
  }),
  scriptSuite(
    { name: 'ledger', summary: 'certificates made durable per second, time of a commit', byDefault: true },
    ['--seconds', '0.5'],
  ),
  scriptSuite({
    name: 'ideal-entropy',
    summary: 'what SP 800-90B says of a perfect source',
    byDefault: false,
  }),
  scriptSuite({
    name: 'assessment-interference',
    summary: 'small requests while a lot is assessed beside them',
    byDefault: false,
  }),
  durability,
  cluster,
  clusterService,
  start,
  small,
  batch,
  targets,
  aims,
  stream,
  peers,
  latency,
  mixed,
  overload,
  soak,
];
