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
/**
 * Those that take longest are begun first, so that none runs on by itself at the end. They too have a process to themselves, and
 * so have those that stop servers which `fetch` was connected to: in a process that goes on for minutes, the client of Node 22.23
 * throws later from a timer of such a connection.
 */
const FIRST: readonly string[] = [
  'test/adversary/sim/sim.test.ts',
  'test/adversary/crash/crash.test.ts',
  'test/certificate/incarnation.test.ts',
  'test/certificate/witness.test.ts',
  'test/account/charged-period.test.ts',
];
/** Every thread that a test starts takes its sources without types too. */
const STRIPPED: readonly string[] = ['--import', './scripts/stripped.mjs'];
const TEST_TIMEOUT_MS = 180_000;
/** One more than there are cores, for a sixth of the time of most groups is waiting. */
const LANES = Math.min(4, availableParallelism() + 1);

const texts = process.argv.slice(2);
const files = globSync('test/**/*.test.ts', { exclude: (name) => name === 'node_modules' })
  .filter((file) => texts.length === 0 || texts.some((text) => file.includes(text)))
  .sort();
if (files.length === 0) throw new Error(`no test file has ${texts.join(' or ')} in its path`);

const startedMs = performance.now();
const waiting = tasks();
const failed: (readonly string[])[] = [];
await Promise.all(Array.from({ length: LANES }, lane));
const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
process.stdout.write(`${files.length} files in ${seconds} s: ${failed.length === 0 ? 'passed' : 'FAILED'}\n`);
for (const task of failed) process.stdout.write(`  failed: node test/run.ts ${task.join(' ')}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;

async function lane(): Promise<void> {
  for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
    if (!(await passes(task))) failed.push(task);
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

/** Runs test files in one process and prints what it wrote when it has ended. */
function passes(task: readonly string[]): Promise<boolean> {
  const isolation = ['--experimental-test-isolation=none', `--test-timeout=${TEST_TIMEOUT_MS}`];
  const child = spawn(process.execPath, [...STRIPPED, '--test', ...isolation, ...task], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => written.push(chunk));
  return new Promise((resolve) => {
    child.once('close', (code) => {
      process.stdout.write(Buffer.concat(written));
      resolve(code === 0);
    });
  });
}
