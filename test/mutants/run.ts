// `node test/mutants/run.ts [ROOM...] [--sample N] [--seed N] [--file TEXT] [--runs N] [--limit S] [--parallel N]`: breaks the code of
// a room in one place at a time and runs the tests on it that can load the broken file, until one fails. What survives is
// printed: it needs a test, or the reason why it is no bug. test/mutants/README.md has the last results.
//
// `--runs 1` runs only the tests that import the broken file or have its name: the quickest, which notice the fewest mutants.
// `--limit S` gives each run S seconds, and takes it as known that the tests pass on the code as it is.
//
// Stryker works on this code, but its TAP runner starts a process for each test file and mutant, which for one room of 2,000
// lines takes a night. Here the tests of a step (guards.ts) share a process that ends with the first failure, and `--sample`
// takes some mutants of each room instead of all, by a seed.
import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { readOptions, say } from '../adversary/program.ts';
import { Chance } from '../support/chance.ts';
import { STRIPPED } from '../support/server.ts';
import { mutantsOf } from './changes.ts';
import { FIRST_FAILURE } from './first-failure.ts';
import { filesOf, guardsOf, ROOMS } from './guards.ts';
import { type Mutant, PLANT, VARIABLE } from './plant.ts';

/** A mutant that keeps the tests busy for this many times what they take on the code as it is, and a start, is noticed. */
const TIMEOUT_FACTOR = 4;
const TIMEOUT_MIN_MS = 20_000;
/** Fewer are a failure: the tests of the room let the code break. */
const KILLED_SHARE_MIN = 0.85;
const WHOLE_TIMEOUT_MS = 10 * 60_000;

interface Outcome {
  readonly verdict: 'passed' | 'failed' | 'timed out';
  readonly tookMs: number;
  /** The first test that failed, with its file. */
  readonly failure: string;
}

/** Runs test files in one process, on a mutant or on the code as it is. Ends every process that they leave behind. */
function tested(files: readonly string[], mutant: Mutant | undefined, timeoutMs: number): Promise<Outcome> {
  const startedMs = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'qrn-mutant-'));
  const preloaded = [...STRIPPED, '--import', PLANT];
  const options = ['--experimental-test-isolation=none', `--test-reporter=${FIRST_FAILURE}`, '--no-warnings'];
  const child = spawn(process.execPath, [...preloaded, '--test', ...options, ...files], {
    env: { ...process.env, TMPDIR: folder, ...(mutant && { [VARIABLE]: JSON.stringify(mutant) }) },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  let failure = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    failure = (failure + text).slice(0, 500);
  });
  const end = () => {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // nothing is left of the group
    }
  };
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    end();
  }, timeoutMs);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', end);
    child.once('close', (code) => {
      clearTimeout(timer);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
      const verdict = isLate ? 'timed out' : code === 0 ? 'passed' : 'failed';
      resolve({ verdict, tookMs: performance.now() - startedMs, failure: failure.trim() });
    });
  });
}

/** A step of a room's tests, and how long it takes on the code as it is, measured when it is needed first. */
interface Step {
  readonly tests: readonly string[];
  readonly tookMs: () => Promise<number>;
}

function stepOf(room: string, tests: readonly string[]): Step {
  let measured: Promise<number> | undefined;
  const measure = async () => {
    if (values.limit > 0) return (values.limit * 1_000 - TIMEOUT_MIN_MS) / TIMEOUT_FACTOR;
    const { verdict, tookMs, failure } = await tested(tests, undefined, WHOLE_TIMEOUT_MS);
    if (verdict !== 'passed')
      throw new Error(`the tests of ${room} ${verdict} on the code as it is: ${failure}`);
    say(`${room}: ${tests.length} test files take ${(tookMs / 1_000).toFixed(1)} s on the code as it is`);
    return tookMs;
  };
  return { tests, tookMs: () => (measured ??= measure()) };
}

/** The outcome of the first run that notices a mutant, or `undefined` when it survives every step. */
async function noticed(mutant: Mutant, steps: readonly Step[]): Promise<Outcome | undefined> {
  const source = relative(process.cwd(), mutant.file);
  const runs = steps.flatMap(({ tests, tookMs }) =>
    guardsOf(source, tests).map((guards) => ({ guards, tookMs })),
  );
  for (const { guards, tookMs } of runs.slice(0, values.runs)) {
    const outcome = await tested(guards, mutant, TIMEOUT_MIN_MS + TIMEOUT_FACTOR * (await tookMs()));
    if (outcome.verdict !== 'passed') return outcome;
  }
  return undefined;
}

async function runRoom(room: string): Promise<void> {
  const patterns = ROOMS[room];
  if (patterns === undefined)
    throw new Error(`there is no room ${room}; the rooms are ${Object.keys(ROOMS).join(', ')}`);
  const steps = patterns.map((some) => stepOf(room, filesOf(some)));
  const sources = globSync(`src/${room}/**/*.ts`).filter((path) => path.includes(values.file));
  const all = sources.sort().flatMap(mutantsOf);
  const chance = new Chance(values.seed);
  const count = Math.min(all.length, values.sample);
  const chosen = Array.from({ length: count }, () => all.splice(chance.below(all.length), 1)[0]);
  let [killed, late] = [0, 0];
  const lane = async () => {
    for (let mutant = chosen.shift(); mutant !== undefined; mutant = chosen.shift()) {
      const outcome = await noticed(mutant, steps);
      const place = `${relative(process.cwd(), mutant.file)}:${mutant.line}: ${mutant.what}`;
      if (outcome !== undefined) killed++;
      if (outcome?.verdict === 'timed out') late++;
      const how = outcome === undefined ? 'survived' : outcome.verdict === 'failed' ? 'killed' : 'timed out';
      say(`${how}: ${place}${outcome?.failure ? `: ${outcome.failure}` : ''}`);
    }
  };
  await Promise.all(Array.from({ length: values.parallel }, lane));
  const share = ((100 * killed) / count).toFixed(0);
  say(`${room}: ${killed} of ${count} mutants killed (${share} %), ${late} of them by the time limit`);
  if (killed < KILLED_SHARE_MIN * count) process.exitCode = 1;
}

const { operands, ...values } = readOptions({
  ...{ sample: Number.POSITIVE_INFINITY, seed: 1, file: '', runs: Number.POSITIVE_INFINITY, limit: 0 },
  parallel: availableParallelism(),
});
for (const room of operands.length === 0 ? Object.keys(ROOMS) : operands) await runRoom(room);
