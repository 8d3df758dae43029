import { globSync, readFileSync } from 'node:fs';
import { namedBy } from './support/import-graph.ts';

/** The promises of a room to the rooms above it, and the suites that test them without knowing what is inside. */
type Promises = readonly (readonly [promise: string, ...suites: string[]])[];

/** The promises of each room of ARCHITECTURE.md: whoever rewrites a room keeps these suites green and may delete all others. */
export const ROOMS: Readonly<Record<string, Promises>> = {
  core: [
    ['time goes on whatever the system clock does', 'test/core/clock.test.ts'],
    [
      'a template is copied and patched, and nothing of the last reply is left',
      'test/answer/template.test.ts',
    ],
  ],
  crypto: [
    ['known answers of SHA-256, ChaCha20, Ed25519 and RFC 9162', 'test/crypto/digest.test.ts'],
    ['a keystream has the bytes of ChaCha20', 'test/crypto/chacha20.test.ts'],
    ['a used key is not in the expander any more', 'test/crypto/expander.test.ts'],
    ['proofs of the tree hold, and no other does', 'test/crypto/merkle.test.ts'],
    ['notes are signed and read as C2SP says', 'test/crypto/note.test.ts'],
  ],
  stats: [
    ['verdicts of SP 800-22', 'test/stats/sp800-22/verdict.test.ts'],
    ['estimates of SP 800-90B', 'test/stats/sp800-90b/assess.test.ts'],
  ],
  values: [
    ['samplers are exactly uniform over their bits', 'test/values/sample.test.ts'],
    ['a draw reads each bit once', 'test/values/entropy-reader.test.ts'],
  ],
  backend: [
    [
      'a stream gives what was sent, its hash, and faults of one kind each',
      'test/backend/device-contract.test.ts',
    ],
    ['a job is paid for once', 'test/backend/ibm.test.ts', 'test/pool/intake/job-crash.test.ts'],
    ['bits that were read before are refused', 'test/backend/seen.test.ts'],
  ],
  beacon: [['only signed rounds of the named chain are taken', 'test/beacon/drand.test.ts']],
  ledger: [
    [
      'one set of rules over every store: books, lots, sources, draws, nodes',
      'test/ledger/contract/ledger.test.ts',
      'test/ledger/contract/journaled.test.ts',
      'test/ledger/contract/postgres.test.ts',
    ],
    ['nothing acknowledged is lost when a process is killed', 'test/ledger/crash.test.ts'],
    [
      'nor when the power is cut, a sector is torn or a disk lies, where that can be known',
      'test/adversary/sim/sim.test.ts',
    ],
    ['a journal is read as it was written', 'test/ledger/journal.test.ts'],
  ],
  'pool/intake': [
    ['noise that fails its health tests gives no lot', 'test/pool/intake/health.test.ts'],
    ['sources that lie are found out', 'test/adversary/liars/detection.test.ts'],
    ['a budget holds', 'test/pool/intake/budget.test.ts'],
  ],
  'pool/supply': [
    ['a seed serves one interval', 'test/pool/supply/seeds.test.ts'],
    ['pure bytes are delivered once', 'test/pool/supply/reservoir.test.ts', 'test/adversary/sim/sim.test.ts'],
  ],
  account: [
    ['rate, quota and credits bound an account', 'test/account/meter.test.ts', 'test/account/rate.test.ts'],
    ['several nodes are one account', 'test/account/shared-limits.test.ts'],
    ['a revoked key is refused', 'test/account/directory.test.ts'],
  ],
  certificate: [
    ['what a certificate says can be verified, and nothing else', 'test/certificate/verify.test.ts'],
    ['a committed draw can be computed again', 'test/certificate/verify-draw.test.ts'],
    ['a monitor finds a log that contradicts itself', 'test/certificate/follow.test.ts'],
  ],
  fair: [
    ['owners share the loop by the cost of their work', 'test/fair/fair.test.ts'],
    ['what is held is bounded', 'test/fair/budget.test.ts'],
  ],
  answer: [
    ['a mode is never replaced by another, and a refusal changes nothing', 'test/adversary/sim/sim.test.ts'],
    ['one answer under one Idempotency-Key', 'test/answer/kept-answers.test.ts', 'test/api/requests.test.ts'],
    ['a client that leaves pays for what was drawn alone', 'test/overload/gone.test.ts'],
  ],
  draws: [
    [
      'a committed draw ends once, as its statement says, whatever is killed or missing',
      'test/draws/keeper.test.ts',
    ],
  ],
  workers: [
    ['calls between threads are answered, in order, or fail', 'test/workers/call.test.ts'],
    ['a worker makes what the front would', 'test/workers/dispatch.test.ts'],
  ],
  http: [
    ['every parameter as the specification has it', 'test/api/request-table.test.ts'],
    ['hostile requests are refused by both engines alike', 'test/adversary/abuse/http.test.ts'],
    ['arbitrary requests keep the rules of all replies', 'test/adversary/fuzz/grammar.test.ts'],
  ],
  observe: [['what is read is what happened', 'test/observe/metrics.test.ts', 'test/observe/watch.test.ts']],
  config: [['settings are read, and wrong ones refused by name', 'test/config/config.test.ts']],
  service: [
    ['a start serves, a stop loses nothing', 'test/service/restart.test.ts', 'test/service/exit.test.ts'],
    ['many nodes, one set of books', 'test/service/cluster.test.ts'],
  ],
  cli: [
    ['each command says what it did, and fails with what to do', 'test/cli/command.test.ts'],
    ['accounts and keys', 'test/cli/administration.test.ts'],
  ],
};

/** Seams of DESIGN that no other room imports: the store of the ledger, and the engine of the front. */
const SEAMS: readonly string[] = ['src/ledger/store.ts', 'src/http/engine.ts'];
/** Its modules are the commands of `qrn`. */
const COMMANDS = 'src/cli/commands.ts';
const OUTSIDE = ['scripts/*.{ts,mjs}', 'clients/typescript/{src,program}/**/*.ts'];

export function roomOf(source: string): string {
  const [, room, inner] = source.split('/');
  return room === 'pool' ? `pool/${inner}` : room.replace(/\.ts$/, '');
}

export interface Reach {
  readonly lines: number;
  /** Count of test files that import a module which no other room of src imports. */
  readonly below: number;
}

/** Lines of the tests by their folder. A module that other rooms, or programs outside, import is its room's seam. */
export function reachOfTests(): ReadonlyMap<string, Reach> {
  const sources = globSync('src/**/*.ts');
  const seams = new Set([
    ...SEAMS,
    ...namedBy(COMMANDS),
    ...OUTSIDE.flatMap((each) => globSync(each)).flatMap(namedBy),
  ]);
  for (const source of sources)
    for (const named of namedBy(source)) if (roomOf(named) !== roomOf(source)) seams.add(named);
  const inner = new Set(sources.filter((source) => !seams.has(source)));
  const reach = new Map<string, Reach>();
  for (const test of globSync('test/**/*.ts', { exclude: (name) => name === 'node_modules' })) {
    const folder = test.split('/')[1];
    const count = readFileSync(test, 'utf8').split('\n').length - 1;
    const isBelow = namedBy(test).some((named) => inner.has(named));
    const { lines, below } = reach.get(folder) ?? { lines: 0, below: 0 };
    reach.set(folder, { lines: lines + count, below: below + (isBelow ? count : 0) });
  }
  return reach;
}
