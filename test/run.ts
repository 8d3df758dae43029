// `npm run test:unit [-- TEXT...]`: every test/**/*.test.ts, or those whose path contains one of the texts.
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
  ['clients'],
  ['ledger'],
  ['sources'],
];
/** Folders whose files run one to a process. */
const ALONE: readonly string[] = ['adversary', 'secrets'];
/** Those that take longest are begun first, so that none runs on by itself at the end. They too have a process to themselves. */
const FIRST: readonly string[] = [
  'test/adversary/sim/sim.test.ts',
  'test/adversary/crash/crash.test.ts',
  'test/certificate/incarnation.test.ts',
];
/** Every thread that a test starts takes its sources without types too. */
const STRIPPED: readonly string[] = ['--import', './scripts/stripped.mjs'];
const TEST_TIMEOUT_MS = 180_000;
/** Lines of the failures of one process that are repeated at the end. */
const FAILURE_LINES_MAX = 60;
/** One more than there are cores, for a sixth of the time of most groups is waiting. */
const LANES = Math.min(4, availableParallelism() + 1);

const texts = process.argv.slice(2);
const files = globSync('test/**/*.test.ts', { exclude: (name) => name === 'node_modules' })
  .filter((file) => texts.length === 0 || texts.some((text) => file.includes(text)))
  .sort();
if (files.length === 0) throw new Error(`no test file has ${texts.join(' or ')} in its path`);

const startedMs = performance.now();
const waiting = tasks();
const failed: Ended[] = [];
await Promise.all(Array.from({ length: LANES }, lane));
const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
process.stdout.write(`${files.length} files in ${seconds} s: ${failed.length === 0 ? 'passed' : 'FAILED'}\n`);
for (const { task, output, errors } of failed) {
  process.stdout.write(`  failed: node test/run.ts ${task.join(' ')}\n`);
  const lines = [...failuresIn(output), ...errors.split('\n').filter((line) => line !== '')];
  for (const line of lines.slice(0, FAILURE_LINES_MAX)) process.stdout.write(`    ${line}\n`);
  if (lines.length > FAILURE_LINES_MAX)
    process.stdout.write(`    and ${lines.length - FAILURE_LINES_MAX} lines more\n`);
}
process.exitCode = failed.length === 0 ? 0 : 1;

async function lane(): Promise<void> {
  for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
    const ended = await run(task);
    if (ended.code !== 0) failed.push(ended);
  }
}

function tasks(): string[][] {
  const folderOf = (file: string) => file.split('/')[1];
  const inGroup = GROUPS.map((folders) =>
    files.filter((file) => folders.includes(folderOf(file)) && !FIRST.includes(file)),
  );
  const first = FIRST.filter((file) => files.includes(file)).map((file) => [file]);
  const alone = files
    .filter((file) => ALONE.includes(folderOf(file)) && !FIRST.includes(file))
    .map((file) => [file]);
  const known = new Set([...inGroup, ...first, ...alone].flat());
  const rest = files.filter((file) => !known.has(file));
  return [...inGroup.slice(0, 2), ...first, ...inGroup.slice(2), ...alone, rest].filter(
    (task) => task.length > 0,
  );
}

interface Ended {
  readonly task: readonly string[];
  /** The exit code; null when a signal ended it. */
  readonly code: number | null;
  /** What it wrote to stdout: TAP. */
  readonly output: string;
  /** What it wrote to stderr. */
  readonly errors: string;
}

/** Runs test files in one process and prints what it wrote when it has ended. */
function run(task: readonly string[]): Promise<Ended> {
  const isolation = ['--experimental-test-isolation=none', `--test-timeout=${TEST_TIMEOUT_MS}`];
  const args = [...STRIPPED, '--test', '--test-reporter=tap', ...isolation, ...task];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
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
        task,
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
