// Runs test files: `node test/run.ts [TEXT...]` every test/**/*.test.ts, or those whose path contains one of the texts.
//   --fast     leaves out what test/tiers.ts keeps for the full tier: with `--checks` this is `npm test`
//   --checks   checks types and lint beside the tests: one core alone would run most of either
//   --touched  takes the operand as a revision (origin/main when there is none), and runs the files that can load what
//              changed since it branched off, with what is not committed
//   --long     runs the files of the folders `long` instead, one after another: they are part of the night run
//   --times    prints the core-seconds of each file too: what tiers are made by
// Node starts a process for each test file, and what most of that takes is the start: half a second of processor time to
// load the service's modules. Here the files of a group share a process, and with it one running service (TestServer.shared).
// Files that change their process (patched prototypes, memory that is searched for keys) keep one to themselves.
//
// A run ends, whatever a test does. A process exits after its last test, though a test that failed left a server or a timer
// behind; one that writes nothing for SILENCE_MS is ended, and what it started with it. Such a process is no verdict on a test:
// its files are run once more when nothing else runs, and it is named at the end.
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { childCoreSeconds } from './support/process-usage.ts';
import { type Ended, runProcess } from './support/test-process.ts';
import { isInFastTier } from './tiers.ts';
import { touchedSince } from './touched.ts';

/**
 * Groups of files by the start of their paths below test/, the longest first; a file is of the first group that names it, and what is
 * in none makes a group of its own. Those that ask one shared server stand together.
 */
const GROUPS: readonly (readonly string[])[] = [
  ['client/', 'browser/'],
  ['api/', 'docs/', 'cli/client', 'cli/draws'],
  ['certificate/', 'account/', 'config/', 'http/'],
  ['stats/', 'values/', 'crypto/', 'core/'],
  ['cli/'],
  ['backend/', 'pool/', 'deploy/'],
  ['service/', 'workers/', 'answer/', 'draws/', 'overload/'],
  ['ledger/contract/'],
  ['ledger/'],
  ['sources/'],
];
/** Folders whose files run one to a process, but for those of ADVERSARIES. */
const ALONE: readonly string[] = ['adversary/', 'secrets/'];
/** Files of those folders that share nothing and patch nothing: they make a group. */
const ADVERSARIES: readonly string[] = [
  'adversary/liars/',
  'adversary/fuzz/targets',
  'adversary/clients/',
  'adversary/soak/',
];
/** The full tier also looks for what nothing uses, or tests alone. */
const CHECKS = (isFast: boolean): readonly (readonly string[])[] => [
  ['npm', 'run', '-s', 'types'],
  ['npm', 'run', '-s', isFast ? 'lint' : 'lint:full'],
];
/** The slowest files start first, each in a process of its own, so that none runs alone at the end. */
const FIRST: readonly string[] = [
  'test/adversary/sim/sim.test.ts',
  'test/adversary/crash/crash.test.ts',
  'test/certificate/incarnation.test.ts',
  'test/clients/python.test.ts',
  'test/secrets/secrets.test.ts',
];
/** Every thread that a test starts loads its sources without types too. Every property has the run's seed. */
const PRELOADED: readonly string[] = ['./scripts/stripped.mjs', './test/support/property-seed.ts'].flatMap(
  (each) => ['--import', each],
);
/** The reporter of `--times`, and its lines. */
const TIMES = './test/support/core-times.ts';
const TIMES_LINE = /^# core-seconds (\S+) (.+)$/gm;
/** Ends a test that waits for ever: far more than the slowest takes on the slowest machine. */
const TEST_TIMEOUT_MS = 300_000;
/**
 * Every test reports its end, so a process is silent for little longer than a test may take; types and lint take less. This alone
 * ends a test that never gives way to its own timeout.
 */
const SILENCE_MS = TEST_TIMEOUT_MS + 20_000;
/** Lines of the failures of one process that are repeated at the end. */
const FAILURE_LINES_MAX = 60;
/** The processes that took longest are named at the end. */
const LONGEST_NAMED = 12;
const NAME_LENGTH = 100;
/** Count of the last lines that are shown of a process that hung. */
const HUNG_LINES = 10;
/** More than there are cores, for a quarter of the time of most groups is waiting. */
const LANES = Math.min(4, availableParallelism() + 2);

const { values: asked, positionals: operands } = parseArgs({
  options: {
    fast: { type: 'boolean', default: false },
    checks: { type: 'boolean', default: false },
    touched: { type: 'boolean', default: false },
    times: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const files = chosenFiles();
const startedMs = performance.now();
const ended: Ended[] = [];
const hung: Ended[] = [];
if (asked.long) for (const file of files) ended.push(await runAndPrint(testCommand([file])));
else await runAll();
report();

function chosenFiles(): string[] {
  const pattern = asked.long ? 'test/**/long/*.ts' : 'test/**/*.test.ts';
  const all = globSync(pattern, { exclude: (name) => name === 'node_modules' }).sort();
  const tier = asked.fast ? all.filter(isInFastTier) : all;
  if (asked.touched) return touchedSince(operands[0] ?? 'origin/main', tier);
  const found = tier.filter((file) => operands.length === 0 || operands.some((text) => file.includes(text)));
  if (found.length === 0) throw new Error(`no test file has ${operands.join(' or ')} in its path`);
  return found;
}

async function runAll(): Promise<void> {
  const waiting = tasks();
  const lane = async () => {
    for (let task = waiting.shift(); task !== undefined; task = waiting.shift())
      ended.push(await runAndPrint(task));
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  hung.push(...ended.filter((each) => each.hung));
  for (const each of hung) {
    process.stdout.write(`hung, and is run again: ${shownOf(each.command)}\n`);
    ended[ended.indexOf(each)] = await runAndPrint(each.command);
  }
}

/**
 * Core-seconds of everything that has ended, with the servers that a process leaves running until its end
 * (TestServer.shared).
 */
function coreSecondsSoFar(): number {
  const left = ended.flatMap(({ output }) => [...output.matchAll(/^# left running after (\d+) ms/gm)]);
  const leftMs = left.reduce((sum, [, ms]) => sum + Number(ms), 0);
  return (childCoreSeconds() ?? Number.NaN) + leftMs / 1_000;
}

/**
 * Prints what took longest and what failed. The last line counts the tests; a process that died or hung counts as one
 * failed test.
 */
function report(): void {
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
  const failed = ended.filter((each) => !hasPassed(each));
  const longest = ended.toSorted((a, b) => b.tookMs - a.tookMs).slice(0, LONGEST_NAMED);
  for (const { command, beganMs, tookMs } of longest) {
    const whole = shownOf(command);
    const shown = whole.length > NAME_LENGTH ? `${whole.slice(0, NAME_LENGTH)}...` : whole;
    const [tookS, beganS] = [tookMs, beganMs - startedMs].map((each) => (each / 1_000).toFixed(0));
    process.stdout.write(`${tookS} s, begun after ${beganS} s: ${shown}\n`);
  }
  for (const { command, output, errors } of failed) {
    process.stdout.write(`  failed: ${shownOf(command)}\n`);
    const lines = [
      ...(isTest(command) ? failuresIn(output) : output.split('\n').slice(-FAILURE_LINES_MAX)),
      ...errors.split('\n').filter((line) => line !== ''),
    ];
    for (const line of lines.slice(0, FAILURE_LINES_MAX)) process.stdout.write(`    ${line}\n`);
    if (lines.length > FAILURE_LINES_MAX)
      process.stdout.write(`    and ${lines.length - FAILURE_LINES_MAX} lines more\n`);
  }
  for (const { command, output } of hung) {
    process.stdout.write(`  hung at first: ${shownOf(command)}\n`);
    for (const line of output.trimEnd().split('\n').slice(-HUNG_LINES)) process.stdout.write(`    ${line}\n`);
  }
  const times = ended.flatMap(({ output }) => [...output.matchAll(TIMES_LINE)]);
  for (const [, coreSeconds, what] of times.sort(([, one], [, other]) => Number(other) - Number(one)))
    process.stdout.write(`${coreSeconds.padStart(7)} ${what}\n`);
  const coreSeconds = coreSecondsSoFar().toFixed(0);
  const verdict = failed.length === 0 ? 'passed' : 'FAILED';
  process.stdout.write(`${files.length} files in ${seconds} s, ${coreSeconds} core-seconds: ${verdict}\n`);
  const failures = failed.reduce((sum, one) => sum + Math.max(1, failuresOf(one)), 0);
  const [passed, skipped] = ['pass', 'skipped'].map((outcome) => sumOf(ended, outcome));
  process.stdout.write(`${passed} passed, ${failures} failed, ${skipped} skipped\n`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

/** A command for each process, in the order in which they are begun. */
function tasks(): (readonly string[])[] {
  const startsWithOneOf = (prefixes: readonly string[], file: string) =>
    prefixes.some((prefix) => file.startsWith(`test/${prefix}`));
  const first = FIRST.filter((file) => files.includes(file)).map((file) => [file]);
  const others = new Set(files.filter((file) => !FIRST.includes(file)));
  const taken = (isTaken: (file: string) => boolean) => {
    const found = [...others].filter(isTaken);
    for (const file of found) others.delete(file);
    return found;
  };
  const groups = GROUPS.map((prefixes) => taken((file) => startsWithOneOf(prefixes, file)));
  const adversaries = taken((file) => startsWithOneOf(ADVERSARIES, file));
  const alone = taken((file) => startsWithOneOf(ALONE, file)).map((file) => [file]);
  const tests = [
    ...groups.slice(0, 3),
    ...first,
    ...groups.slice(3),
    adversaries,
    ...alone,
    [...others],
  ].filter((task) => task.length > 0);
  return [...(asked.checks ? CHECKS(asked.fast) : []), ...tests.map(testCommand)];
}

function testCommand(task: readonly string[]): readonly string[] {
  const options = [
    '--experimental-test-isolation=none',
    `--test-timeout=${TEST_TIMEOUT_MS}`,
    '--test-force-exit',
  ];
  const reporters = asked.times ? ['tap', TIMES] : ['tap'];
  const reports = reporters.flatMap((each) => [
    `--test-reporter=${each}`,
    '--test-reporter-destination=stdout',
  ]);
  return [process.execPath, ...PRELOADED, '--test', ...reports, ...options, ...task];
}

function isTest(command: readonly string[]): boolean {
  return command.includes('--test');
}

/** Returns the command line to run it by hand. */
function shownOf(command: readonly string[]): string {
  if (!isTest(command)) return command.join(' ');
  return ['node', 'test/run.ts', ...command.filter((arg) => arg.startsWith('test/'))].join(' ');
}

/** Runs a command, and prints what it wrote when it has ended: of a passed test its line alone. */
async function runAndPrint(command: readonly string[]): Promise<Ended> {
  const one = await runProcess(command, SILENCE_MS);
  process.stdout.write(isTest(command) && hasPassed(one) ? withoutDiagnoses(one.output) : one.output);
  process.stdout.write(one.errors);
  return one;
}

/** A test process has passed when it says so: one that ended before its last test may exit with 0 too. */
function hasPassed({ command, output, hasPassed: hasExitedWell }: Ended): boolean {
  return hasExitedWell && (!isTest(command) || /^# fail 0$/m.test(output));
}

/** The lines of the results of a TAP stream. */
function withoutDiagnoses(output: string): string {
  return output.replaceAll(/^(?! *ok |# (?!Subtest)).*\n/gm, '');
}

/** Counts the tests with this outcome, by the last lines of each TAP stream. */
function sumOf(runs: readonly Ended[], outcome: string): number {
  const line = new RegExp(`^# ${outcome} (\\d+)$`, 'm');
  return runs.reduce((sum, { output }) => sum + Number(line.exec(output)?.[1] ?? 0), 0);
}

function failuresOf(run: Ended): number {
  return sumOf([run], 'fail') + sumOf([run], 'cancelled');
}

/** The lines of a TAP stream that say which tests failed and why, without suites that failed through their tests alone. */
function failuresIn(output: string): string[] {
  const found: string[] = [];
  let isInside = false;
  let indent = 0;
  const lines = output.split('\n');
  for (const [i, line] of lines.entries()) {
    const start = line.search(/\S/);
    if (/^ *not ok /.test(line)) {
      const diagnosis = lines.slice(i + 1, i + 8).join('\n');
      isInside = !diagnosis.includes("failureType: 'subtestsFailed'");
      indent = start;
    } else if (isInside && start >= 0 && start <= indent && line.trim() !== '...') isInside = false;
    const isTold = isInside || /^ *# (Error|Warning)/.test(line); // the latter: what happened outside a test
    const isEmpty = start < 0 || /^ *(---|\.\.\.|duration_ms:.*|type: .*|.*\(?node:internal.*)$/.test(line);
    if (isTold && !isEmpty) found.push(line.slice(isInside ? indent : start));
  }
  return found;
}
