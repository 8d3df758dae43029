/*
 * Attacks on the real service over real sockets, on each HTTP engine:
 *   node test/adversary/abuse/run.ts [--engine uws,node] [--cases TEXT] [--seed N]
 * About a quarter of an hour an engine on two cores.
 */
import assert from 'node:assert/strict';
import type { EngineName } from '../../../src/http/engine.ts';
import { noProc } from '../../support/raw-http.ts';
import { readOptions, say } from '../program.ts';
import { type AbuseCase, Arena, type Finding } from './arena.ts';
import { BOOKS, CASES } from './cases.ts';

assert.equal(noProc, false, 'the long form needs /proc of Linux');
const options = readOptions({ engine: 'uws,node', cases: '', seed: 1 });

const CASE_LIMIT_S = 120;
/** Whether each case was within its bound. */
const results: boolean[] = [];

for (const engine of ['uws', 'node'] as const)
  if (options.engine.split(',').includes(engine)) await attack(engine);
const failed = results.filter((isMet) => !isMet);
say(
  failed.length === 0
    ? 'all within their bounds'
    : `${failed.length} of ${results.length} beyond their bounds`,
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
  results.push(finding.isMet);
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
  running.catch(() => {}); // it may fail after the time limit
  try {
    return await Promise.race([running, late]);
  } catch (error) {
    await arena.close(); // the next case must not find the state that this one left
    const { message } = error as Error;
    return { figure: message.replaceAll(/\s+/g, ' ').slice(0, 300), isMet: false };
  } finally {
    clearTimeout(timer);
  }
}
