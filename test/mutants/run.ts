// `node test/mutants/run.ts [ROOM...] [--sample N] [--seed N] [--file TEXT] [--limit N] [--parallel N]`: breaks the code of a room
// in one place at a time and runs the tests that can load the broken file, the likeliest to fail first (guards.ts), until one fails. What
// survives is printed: it needs a test, or the reason why it is no bug. test/mutants/README.md has the last results.
//
// `--sample N` takes N mutants of each room by a seed. After `--limit` core-seconds of one mutant no further test is begun for it, and it
// counts as one that survived. A test that fails, a process that dies and one that hangs kill a mutant. They do not when the same
// tests fail on the code as it is: that is an error, and the mutant is tried on other tests. What no test loads as a module has no
// mutants: the scripts of the pages run in browsers, from bundles that are built before.
//
// Stryker works on this code, but its TAP runner starts a process for each test file and mutant, which for one room of 2,000
// lines takes a night. Here the tests of a group share a process that ends with the first failure.
import { randomInt } from 'node:crypto';
import { chmodSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { readOptions, say } from '../adversary/program.ts';
import { Chance } from '../support/chance.ts';
import { namedBy } from '../support/import-graph.ts';
import { STRIPPED } from '../support/server.ts';
import { runProcess } from '../support/test-process.ts';
import { mutantsOf } from './changes.ts';
import { FIRST_FAILURE, LIMIT, OUT_OF_TIME, TOOK } from './first-failure.ts';
import { guardsOf } from './guards.ts';
import { type Mutant, PLANT, VARIABLE } from './plant.ts';

/** Fewer are a failure: the tests of the room let the code break. */
const KILLED_SHARE_MIN = 0.85;
/** A test that takes so long on a mutant hangs: on the code as it is, all but a few take less than ten seconds. */
const TEST_TIMEOUT_MS = 90_000;
/** Every passed test is reported, so that a process that is silent for longer hangs, including its timers. */
const SILENCE_MS = 120_000;
const ROOMS = ['account', 'answer', 'certificate', 'ledger', 'http'];
/** The file of the test that failed, in what first-failure.ts says. */
const FAILED_FILE = /^(\S+\.ts) "/;

interface Outcome {
  /** The first test that failed, with its file; undefined when all passed. */
  readonly failure: string | undefined;
  readonly isLate: boolean;
  /** Infinity when the tests were not all begun. */
  readonly coreSeconds: number;
}

/** Runs test files in one process, on a mutant or on the code as it is, for so many core-seconds. */
async function tested(
  files: readonly string[],
  mutant: Mutant | undefined,
  limit = Number.POSITIVE_INFINITY,
): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'qrn-mutant-'));
  chmodSync(folder, 0o755); // PostgreSQL, which does not run as root, has its data in it
  const seeded = ['--import', './test/support/property-seed.ts'];
  const command = [
    ...[process.execPath, ...STRIPPED, ...seeded, '--import', PLANT, '--test', '--no-warnings'],
    ...['--experimental-test-isolation=none', `--test-reporter=${FIRST_FAILURE}`, '--test-force-exit'],
    ...[`--test-timeout=${TEST_TIMEOUT_MS}`, ...files],
  ];
  const planted = mutant === undefined ? {} : { [VARIABLE]: JSON.stringify(mutant), [LIMIT]: String(limit) };
  try {
    const ended = await runProcess(command, SILENCE_MS, { TMPDIR: folder, ...planted });
    for (const [, seconds, path] of ended.output.matchAll(TOOK)) learn(files, path, Number(seconds));
    // tests may have written before it, and what is left running is told behind it
    const last = ended.output.split('\n').findLast((line) => !/^(#|\.*$)/.test(line)) ?? 'the process died';
    const isOutOfTime = last === OUT_OF_TIME;
    const failure = ended.hasPassed || isOutOfTime ? undefined : last;
    const coreSeconds = isOutOfTime ? Number.POSITIVE_INFINITY : Number(last);
    return { failure, isLate: ended.hung, coreSeconds };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  }
}

/** Attributes the duration of the tests at a path to the files of their group, or of their contract. */
function learn(files: readonly string[], path: string, coreSeconds: number): void {
  for (const test of filesOf(files, path)) took.set(test, Math.max(took.get(test) ?? 0, coreSeconds));
}

function filesOf(files: readonly string[], path: string): string[] {
  return files.filter((file) => file === path || namedBy(file).includes(path));
}

const asItIs = new Map<string, Promise<Outcome>>();

/** Whether the test that failed passes on the code as it is; of a process that died or hung, whether the whole group does. */
async function isSound(files: readonly string[], { failure = '' }: Outcome): Promise<boolean> {
  const named = filesOf(files, FAILED_FILE.exec(failure)?.[1] ?? '');
  const failed = named.length === 0 ? files : named; // given no file, node runs every test there is
  const key = failed.join();
  if (!asItIs.has(key)) asItIs.set(key, tested(failed, undefined));
  return (await asItIs.get(key)!).failure === undefined;
}

/** Returns what happened to a mutant, and the first test that failed or how many files it survived. */
async function fateOf(mutant: Mutant): Promise<{ how: 'killed' | 'hung' | 'survived'; why: string }> {
  let left = values.limit;
  const source = relative(process.cwd(), mutant.file);
  const groups = guardsOf(source, tests, kills, took);
  const passed: string[] = [];
  for (const files of groups) {
    if (left <= 0) break;
    const outcome = await tested(files, mutant, left);
    if (outcome.failure === undefined) {
      left -= outcome.coreSeconds;
      if (outcome.coreSeconds < Number.POSITIVE_INFINITY) passed.push(...files);
      continue;
    }
    if (await isSound(files, outcome)) {
      for (const killer of filesOf(files, FAILED_FILE.exec(outcome.failure)?.[1] ?? ''))
        kills.set(killer, [...(kills.get(killer) ?? []), source]);
      return { how: outcome.isLate ? 'hung' : 'killed', why: outcome.failure };
    }
    broken.add(outcome.failure);
  }
  return { how: 'survived', why: `${passed.length} of the ${groups.flat().length} files that can load it` };
}

async function runRoom(room: string): Promise<void> {
  const sources = globSync(`src/${room}/**/*.ts`).filter((path) => path.includes(values.file));
  if (sources.length === 0) throw new Error(`no file of a room ${room} has "${values.file}" in its path`);
  const all = sources
    .sort()
    .filter((path) => guardsOf(path, tests).length > 0)
    .flatMap(mutantsOf);
  const chance = new Chance(`${values.seed} ${room}`);
  const count = Math.min(all.length, values.sample);
  const chosen = Array.from({ length: count }, () => all.splice(chance.below(all.length), 1)[0]);
  const startedMs = performance.now();
  let [killed, late] = [0, 0];
  const lane = async () => {
    for (let mutant = chosen.shift(); mutant !== undefined; mutant = chosen.shift()) {
      const { how, why } = await fateOf(mutant);
      if (how !== 'survived') killed++;
      if (how === 'hung') late++;
      say(`${how}: ${relative(process.cwd(), mutant.file)}:${mutant.line}: ${mutant.what}: ${why}`);
    }
  };
  await Promise.all(Array.from({ length: values.parallel }, lane));
  total.killed += killed;
  total.tried += count;
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
  say(`${room}: ${shareOf(killed, count)}, ${late} of them hung, in ${seconds} s`);
  if (killed < KILLED_SHARE_MIN * count) process.exitCode = 1;
}

function shareOf(killed: number, tried: number): string {
  return `${killed} of ${tried} mutants killed (${((100 * killed) / tried).toFixed(0)} %)`;
}

const { operands, ...values } = readOptions({
  ...{
    sample: Number.POSITIVE_INFINITY,
    seed: randomInt(2 ** 31),
    file: '',
    limit: Number.POSITIVE_INFINITY,
  },
  parallel: availableParallelism(),
});
const tests = globSync('test/**/*.test.ts', { exclude: (name) => name === 'node_modules' }).sort();
const broken = new Set<string>();
const kills = new Map<string, readonly string[]>();
const took = new Map<string, number>();
const total = { killed: 0, tried: 0 };
say(`seed ${values.seed}`);
for (const room of operands.length === 0 ? ROOMS : operands) await runRoom(room);
for (const failure of broken) say(`fails on the code as it is: ${failure}`);
if (broken.size > 0) process.exitCode = 1;
say(`all rooms: ${shareOf(total.killed, total.tried)}`);
