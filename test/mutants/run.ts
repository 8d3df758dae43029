// `npm run test:mutants -- [ROOM...] [--sample N] [--seed N] [--file TEXT]`: breaks the code of a room in one place at a time
// and runs the room's tests on it, until one fails. What survives is printed: it needs a test, or the reason why it is no bug.
//
// Stryker works on this code, but its TAP runner starts a process for each test file and mutant, which for one room of 2,000
// lines takes a night. Here the tests of a room share a process that ends with the first failure, those of the mutated file
// come first, and `--sample` takes some mutants of each room instead of all, by a seed.
import { spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parseSync, Visitor } from 'oxc-parser';
import { Chance } from '../support/chance.ts';
import type { Mutant } from './plant.ts';

/** The tests of a room: those that mirror it, and those of others that hold what it promises. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  account: ['test/account/*.test.ts'],
  answer: [
    'test/answer/*.test.ts',
    'test/overload/admission.test.ts',
    'test/overload/pending.test.ts',
    'test/workers/dispatch.test.ts',
  ],
  certificate: ['test/certificate/*.test.ts'],
  pool: ['test/pool/**/*.test.ts'],
  values: ['test/values/*.test.ts'],
};
const TIMEOUT_FACTOR = 3;
const TIMEOUT_MIN_MS = 20_000;

const SWAPS: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '&': '|',
  '|': '&',
  '<<': '>>>',
  '>>': '<<',
  '>>>': '<<',
  '+=': '-=',
  '-=': '+=',
};

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Every change that is tried of a file: operators, conditions, numbers, booleans, and calls that are left out. */
function mutantsOf(path: string): Mutant[] {
  const file = resolve(path);
  const source = readFileSync(file, 'utf8');
  const mutants: Mutant[] = [];
  const add = ({ start, end }: Span, text: string) => {
    const line = source.slice(0, start).split('\n').length;
    const what = `${source.slice(start, end).split('\n')[0].slice(0, 60)} -> ${text || 'nothing'}`;
    mutants.push({ file, line, start, end, text, what });
  };
  /** The operator stands between its operands. */
  const swap = (node: { readonly left: Span; readonly right: Span; readonly operator: string }) => {
    const to = SWAPS[node.operator];
    if (to === undefined) return;
    const start = source.indexOf(node.operator, node.left.end);
    if (start < node.right.start) add({ start, end: start + node.operator.length }, to);
  };
  const condition = (test: Span) => {
    add(test, 'true');
    add(test, 'false');
  };
  new Visitor({
    BinaryExpression: swap,
    LogicalExpression: swap,
    AssignmentExpression: swap,
    IfStatement: ({ test }) => condition(test),
    ConditionalExpression: ({ test }) => condition(test),
    UnaryExpression: (node) => {
      if (node.operator === '!') add({ start: node.start, end: node.start + 1 }, '');
    },
    ExpressionStatement: (node) => {
      if (node.expression.type === 'CallExpression' || node.expression.type === 'AwaitExpression')
        add(node, ';');
    },
    Literal: (node) => {
      if (typeof node.value === 'boolean') add(node, String(!node.value));
      if (typeof node.value === 'number') add(node, String(node.value + 1));
    },
  }).visit(parseSync(path, source).program);
  return mutants.filter(({ start }) => !isDebugText(source, start));
}

/** What assertions say, and the bounds that only they check, are for whoever reads of a bug. */
function isDebugText(source: string, at: number): boolean {
  const line = source.slice(source.lastIndexOf('\n', at) + 1, at);
  return /^\s*assert[.(]/.test(line) || /^\s*import /.test(line);
}

interface Outcome {
  readonly passed: boolean;
  readonly tookMs: number;
}

/** Runs test files in one process, on a mutant or on the code as it is. */
function tested(files: readonly string[], mutant: Mutant | undefined, timeoutMs: number): Promise<Outcome> {
  const startedMs = performance.now();
  const plant = new URL('./plant.ts', import.meta.url).href;
  const options = ['--experimental-test-isolation=none', `--test-reporter=${plant}`, '--no-warnings'];
  const child = spawn(process.execPath, ['--import', plant, '--test', ...options, ...files], {
    env: { ...process.env, ...(mutant && { QRN_MUTANT: JSON.stringify(mutant) }) },
    stdio: 'ignore',
    timeout: Math.ceil(timeoutMs),
    killSignal: 'SIGKILL',
  });
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ passed: code === 0, tookMs: performance.now() - startedMs }));
  });
}

function filesOf(pattern: string): string[] {
  const files = globSync(pattern);
  if (files.length === 0) throw new Error(`no test file matches ${pattern}`);
  return files;
}

/** The tests with the name of the file first: they find most of what is wrong with it. */
function ordered(files: readonly string[], { file }: Mutant): string[] {
  const name = basename(file, '.ts');
  const isOwn = (test: string) => basename(test).startsWith(name);
  return [...files.filter(isOwn), ...files.filter((test) => !isOwn(test))];
}

const { values, positionals } = parseArgs({
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    file: { type: 'string', default: '' },
  },
  allowPositionals: true,
});
const say = (line: string) => process.stdout.write(`${line}\n`);
for (const room of positionals.length === 0 ? Object.keys(ROOMS) : positionals) {
  const patterns = ROOMS[room];
  if (patterns === undefined)
    throw new Error(`there is no room ${room}; the rooms are ${Object.keys(ROOMS).join(', ')}`);
  const tests = patterns.flatMap(filesOf).sort();
  const whole = await tested(tests, undefined, 10 * 60_000);
  if (!whole.passed) throw new Error(`the tests of ${room} fail on the code as it is`);
  const sources = globSync(`src/${room}/**/*.ts`).filter((path) => path.includes(values.file));
  const all = sources.sort().flatMap(mutantsOf);
  const chance = new Chance(values.seed);
  const count = Math.min(all.length, Number(values.sample ?? all.length));
  const chosen = Array.from({ length: count }, () => all.splice(chance.below(all.length), 1)[0]);
  let killed = 0;
  for (const mutant of chosen) {
    const timeoutMs = TIMEOUT_MIN_MS + TIMEOUT_FACTOR * whole.tookMs;
    if (!(await tested(ordered(tests, mutant), mutant, timeoutMs)).passed) killed++;
    else say(`survived: ${mutant.file.slice(process.cwd().length + 1)}:${mutant.line}: ${mutant.what}`);
  }
  say(`${room}: ${killed} of ${count} mutants killed (${((100 * killed) / count).toFixed(0)} %)`);
}
