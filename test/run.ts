// `npm run test:unit [-- TEXT...]`: every test/**/*.test.ts, or those whose path contains one of the texts. With `--checks`, which
// is `npm test`, types and lint are checked beside them: one core alone would run most of either.
// Node starts a process for each test file, and what most of that takes is the start: half a second of processor time to
// load the service's modules. Here the files of a group share a process, and with it one running service (TestServer.shared).
// Files that change their process (patched prototypes, memory that is searched for keys) keep one to themselves.
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';

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
/** Lines of the failures of one process that are repeated at the end. */
const FAILURE_LINES_MAX = 60;
/** The processes that took longest are named at the end. */
const LONGEST_NAMED = 12;
const NAME_LENGTH = 100;
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
const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
const failed = ended.filter(({ code }) => code !== 0);
const longest = ended.sort((a, b) => b.tookS - a.tookS).slice(0, LONGEST_NAMED);
for (const { command, beganS, tookS } of longest) {
  const shown = command.length > NAME_LENGTH ? `${command.slice(0, NAME_LENGTH)}...` : command;
  process.stdout.write(`${tookS.toFixed(0)} s, begun after ${beganS.toFixed(0)} s: ${shown}\n`);
}
process.stdout.write(`${files.length} files in ${seconds} s: ${failed.length === 0 ? 'passed' : 'FAILED'}\n`);
for (const { command, output, errors } of failed) {
  process.stdout.write(`  failed: ${command}\n`);
  const lines = [
    ...(command.startsWith('npm') ? output.split('\n').slice(-FAILURE_LINES_MAX) : failuresIn(output)),
    ...errors.split('\n').filter((line) => line !== ''),
  ];
  for (const line of lines.slice(0, FAILURE_LINES_MAX)) process.stdout.write(`    ${line}\n`);
  if (lines.length > FAILURE_LINES_MAX)
    process.stdout.write(`    and ${lines.length - FAILURE_LINES_MAX} lines more\n`);
}
process.exitCode = failed.length === 0 ? 0 : 1;

async function lane(): Promise<void> {
  for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
    ended.push(await run(task));
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
  const isolation = ['--experimental-test-isolation=none', `--test-timeout=${TEST_TIMEOUT_MS}`];
  return [process.execPath, ...STRIPPED, '--test', '--test-reporter=tap', ...isolation, ...task];
}

interface Ended {
  /** How to run it again. */
  readonly command: string;
  /** When it was begun, after the beginning of all. */
  readonly beganS: number;
  readonly tookS: number;
  /** The exit code; null when a signal ended it. */
  readonly code: number | null;
  /** What it wrote to stdout: TAP. */
  readonly output: string;
  /** What it wrote to stderr. */
  readonly errors: string;
}

/** Runs a command and prints what it wrote when it has ended. */
function run([program, ...args]: readonly string[]): Promise<Ended> {
  const isTest = program === process.execPath;
  const again = isTest
    ? ['node', 'test/run.ts', ...args.filter((arg) => arg.startsWith('test/'))]
    : [program, ...args];
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const beganS = (performance.now() - startedMs) / 1_000;
  const written: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => written.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => {
    written.push(chunk);
    errors.push(chunk);
  });
  return new Promise((resolve) => {
    child.once('close', (code, signal) => {
      const output = Buffer.concat(written);
      process.stdout.write(output);
      if (signal !== null) errors.push(Buffer.from(`the process was ended by ${signal}`));
      resolve({
        command: again.join(' '),
        beganS,
        tookS: (performance.now() - startedMs) / 1_000 - beganS,
        code,
        output: output.toString('utf8'),
        errors: Buffer.concat(errors).toString('utf8'),
      });
    });
  });
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
