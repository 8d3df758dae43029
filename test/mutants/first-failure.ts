import { writeSync } from 'node:fs';
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { groupCoreSeconds } from '../support/process-usage.ts';

/** The environment variable with the core-seconds after which no further test is begun, and what is written then. */
export const LIMIT = 'MUTANT_CORE_SECONDS';
export const OUT_OF_TIME = 'out of time';
/** A line for each file: what its tests took, or so far when there was no more time. */
export const TOOK = /^# core-seconds (\S+) (.+)$/gm;
/** The path of this file, for `node --test-reporter`. */
export const FIRST_FAILURE = fileURLToPath(import.meta.url);

/**
 * Interval of the check of all processes' CPU time, which takes 7 ms of processor time. Done at each of the six events
 * of a test, it took more than the tests, and tests with timeouts failed.
 */
const LOOK_INTERVAL_MS = 500;

/**
 * A reporter that writes a dot for each test that passes, which tells a process that works from one that hangs, and the name of the
 * first test that fails on a line of its own; then it ends the process. It also writes what the tests of each file took, and when all have passed the core-seconds in all.
 * It has a file of its own: as a part of plant.ts, which `--import` preloads, it was given no event and the process ended with 0 (seen
 * with Node 22.23).
 */
export default async function* firstFailure(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const limit = Number(process.env[LIMIT] ?? Number.POSITIVE_INFINITY);
  let lookedMs = performance.now();
  const isOver = () => {
    const nowMs = performance.now();
    if (nowMs - lookedMs < LOOK_INTERVAL_MS) return false;
    lookedMs = nowMs;
    return groupCoreSeconds() > limit;
  };
  let [file, before] = ['', 0];
  const tellFile = () => {
    const now = groupCoreSeconds();
    if (file !== '') writeSync(1, `\n# core-seconds ${(now - before).toFixed(2)} ${file}\n`);
    before = now;
  };
  for await (const event of events) {
    if (event.type === 'test:start' && event.data.file !== undefined) {
      const next = relative(process.cwd(), event.data.file);
      if (next !== file) tellFile();
      file = next;
    }
    if (event.type === 'test:fail') writeSync(1, `\n${file} "${event.data.name}"\n`);
    else if (event.type === 'test:pass') {
      writeSync(1, '.');
      if (!isOver()) continue;
      tellFile();
      writeSync(1, `\n${OUT_OF_TIME}\n`);
    } else continue;
    process.kill(process.pid, 'SIGKILL');
  }
  tellFile();
  yield `\n${groupCoreSeconds()}\n`;
}
