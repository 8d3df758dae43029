// `npm run test:unit [-- TEXT...]`: every test/**/*.test.ts, or those whose path contains one of the texts. With `--checks`, which
// is `npm test`, types and lint are checked beside them: one core alone would run most of either.
// Node starts a process for each test file, and what most of that takes is the start: half a second of processor time to
// load the service's modules. Here the files of a group share a process, and with it one running service (TestServer.shared).
// Files that change their process (patched prototypes, memory that is searched for keys) keep one to themselves.
//
// A run ends, whatever a test does. A process exits after its last test, though a test that failed left a server or a timer
// behind; one that writes nothing for SILENCE_MS is ended, and what it started with it. Such a process is no verdict on a test:
// its files are run once more when nothing else runs, and the last lines name it.
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { type Ended, runProcess } from './support/test-process.ts';

/** Groups of folders of test/, the longest first; what is in none makes a group of its own. */
const GROUPS: readonly (readonly string[])[] = [
  ['service', 'workers', 'answer', 'overload', 'contract'],
  ['api'],
  ['cli'],
  ['client', 'browser'],
  ['stats', 'values', 'crypto', 'core', 'account', 'certificate', 'config', 'http'],
  ['backend', 'pool', 'docs', 'deploy'],
  ['ledger'],
  ['sources'],
];
/** Folders whose files run one to a process, but for those of LIARS. */
const ALONE: readonly string[] = ['adversary', 'secrets'];
/** Simulated collectors, which share nothing and patch nothing: they make a group. */
const LIARS = 'test/adversary/liars/';
const CHECKS: readonly (readonly string[])[] = [
  ['npm', 'run', '-s', 'types'],
  ['npm', 'run', '-s', 'lint'],
];
/** Those that take longest are begun first, each in a process of its own, so that none runs on by itself at the end. */
const FIRST: readonly string[] = [
  'test/adversary/sim/sim.test.ts',
  'test/adversary/crash/crash.test.ts',
  'test/certificate/incarnation.test.ts',
  'test/clients/python.test.ts',
  'test/secrets/secrets.test.ts',
  'test/adversary/cluster/cluster.test.ts',
];
/** Every thread that a test starts takes its sources without types too. */
const STRIPPED: readonly string[] = ['--import', './scripts/stripped.mjs'];
const TEST_TIMEOUT_MS = 180_000;
/** Every test tells of its end, so that a process is silent for no longer than a test may take; types and lint take less. */
const SILENCE_MS = 2 * TEST_TIMEOUT_MS;
/** Lines of the failures of one process that are repeated at the end. */
const FAILURE_LINES_MAX = 60;
/** The processes that took longest are named at the end. */
const LONGEST_NAMED = 12;
const NAME_LENGTH = 100;
/** What a process that hung wrote last is shown. */
const HUNG_LINES = 10;
/** One more than there are cores, for a sixth of the time of most groups is waiting. */
const LANES = Math.min(4, availableParallelism() + 1);

const texts = process.argv.slice(2).filter((each) => each !== '--checks');
const checks = process.argv.includes('--checks') ? CHECKS : [];
const files = globSync('test/**/*.test.ts', { exclude: (name) => name === 'node_modules' })
  .filter((file) => texts.length === 0 || texts.some((text) => file.includes(text)))
  .sort();
if (files.length === 0) throw new Error(`no test file has ${texts.join(' or ')} in its path`);

const startedMs = performance.now();
const waiting = tasks();
const ended: Ended[] = [];
await Promise.all(Array.from({ length: LANES }, lane));
const hung = ended.filter((each) => each.hung);
for (const each of hung) {
  process.stdout.write(`hung, and is run again: ${shownOf(each.command)}\n`);
  ended[ended.indexOf(each)] = await runAndPrint(each.command);
}
const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
const failed = ended.filter((each) => !hasPassed(each));
const longest = ended.sort((a, b) => b.tookMs - a.tookMs).slice(0, LONGEST_NAMED);
for (const { command, beganMs, tookMs } of longest) {
  const whole = shownOf(command);
  const shown = whole.length > NAME_LENGTH ? `${whole.slice(0, NAME_LENGTH)}...` : whole;
  const [tookS, beganS] = [tookMs, beganMs - startedMs].map((each) => (each / 1_000).toFixed(0));
  process.stdout.write(`${tookS} s, begun after ${beganS} s: ${shown}\n`);
}
process.stdout.write(
  `${sumOf('pass')} tests passed, ${sumOf('fail') + sumOf('cancelled')} failed, ${sumOf('skipped')} were skipped\n`,
);
process.stdout.write(`${files.length} files in ${seconds} s: ${failed.length === 0 ? 'passed' : 'FAILED'}\n`);
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
process.exitCode = failed.length === 0 ? 0 : 1;

async function lane(): Promise<void> {
  for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
    ended.push(await runAndPrint(task));
  }
}

/** A command for each process, in the order in which they are begun. */
function tasks(): (readonly string[])[] {
  const folderOf = (file: string) => file.split('/')[1];
  const first = FIRST.filter((file) => files.includes(file)).map((file) => [file]);
  const others = files.filter((file) => !FIRST.includes(file));
  const inGroup = GROUPS.map((folders) => others.filter((file) => folders.includes(folderOf(file))));
  const liars = others.filter((file) => file.startsWith(LIARS));
  const alone = others
    .filter((file) => ALONE.includes(folderOf(file)) && !file.startsWith(LIARS))
    .map((file) => [file]);
  const known = new Set([...inGroup, ...first, ...alone, liars].flat());
  const rest = files.filter((file) => !known.has(file));
  const tests = [...inGroup.slice(0, 2), ...first, ...inGroup.slice(2), liars, ...alone, rest].filter(
    (task) => task.length > 0,
  );
  return [...checks, ...tests.map(testCommand)];
}

function testCommand(task: readonly string[]): readonly string[] {
  const options = [
    '--experimental-test-isolation=none',
    `--test-timeout=${TEST_TIMEOUT_MS}`,
    '--test-force-exit',
  ];
  return [process.execPath, ...STRIPPED, '--test', '--test-reporter=tap', ...options, ...task];
}

function isTest(command: readonly string[]): boolean {
  return command.includes('--test');
}

/** How to run it by hand. */
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

/** How many tests had this outcome, by the last lines of each TAP stream. */
function sumOf(outcome: string): number {
  const line = new RegExp(`^# ${outcome} (\\d+)$`, 'm');
  return ended.reduce((sum, { output }) => sum + Number(line.exec(output)?.[1] ?? 0), 0);
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
