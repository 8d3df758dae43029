/*
 * Attacks on the real service over real sockets, on each HTTP engine, with a table at the end:
 *   node test/adversary/abuse/run.ts [--engine uws,node] [--cases TEXT] [--seed N]
 * About a quarter of an hour an engine on two cores.
 */
import assert from 'node:assert/strict';
import type { EngineName } from '../../../src/http/engine.ts';
import { noProc } from '../../support/raw-http.ts';
import { aligned, readOptions, say } from '../program.ts';
import { type AbuseCase, Arena, type Finding } from './arena.ts';
import { BOOKS, CASES } from './cases.ts';

assert.equal(noProc, false, 'the long form needs /proc of Linux');
const options = readOptions({ engine: 'uws,node', cases: '', seed: 1 });

interface Row extends Finding {
  readonly engine: string;
  readonly name: string;
  readonly bound: string;
  readonly seconds: number;
}

const CASE_LIMIT_S = 120;
const rows: Row[] = [];

for (const engine of ['uws', 'node'] as const)
  if (options.engine.split(',').includes(engine)) await attack(engine);
const failed = rows.filter(({ isMet }) => !isMet);
const heads = ['engine', 'case', 'bound', 'figure', 'seconds', 'result'];
const cells = rows.map(({ engine, name, bound, figure, seconds, isMet }) => [
  engine,
  name,
  bound,
  figure,
  `${seconds}`,
  isMet ? 'pass' : 'FAIL',
]);
aligned([heads, ...cells]).forEach(say);
say(
  failed.length === 0 ? 'all within their bounds' : `${failed.length} of ${rows.length} beyond their bounds`,
);
process.exit(failed.length === 0 ? 0 : 1);

async function attack(engine: EngineName): Promise<void> {
  const arena = new Arena(engine, options.seed);
  for (const each of CASES) if (each.name.includes(options.cases)) await run(arena, each);
  if (arena.isStarted) await run(arena, BOOKS);
  await arena.close();
}

async function run(arena: Arena, each: AbuseCase): Promise<void> {
  const { name, bound } = each;
  const startedMs = performance.now();
  const finding = await found(arena, each);
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  const row: Row = { engine: arena.engine, name, bound, ...finding, seconds };
  rows.push(row);
  say(
    `${arena.engine}: ${name}: ${finding.figure} (${bound}): ${finding.isMet ? 'pass' : 'FAIL'}, ${seconds} s`,
  );
}

async function found(arena: Arena, each: AbuseCase): Promise<Finding> {
  const limitS = each.limitS ?? CASE_LIMIT_S;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not over after ${limitS} s`)), limitS * 1000);
  });
  const running = each.run(arena);
  running.catch(() => {}); // it may fail when it is late
  try {
    return await Promise.race([running, late]);
  } catch (error) {
    await arena.close(); // the next case must not find what this one left
    const { message } = error as Error;
    return { figure: message.replaceAll(/\s+/g, ' ').slice(0, 300), isMet: false };
  } finally {
    clearTimeout(timer);
  }
}
