import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { groupCoreSeconds } from './process-usage.ts';

/**
 * A reporter for `node test/run.ts --times`: the core-seconds of the tests of each file, with the servers and other children that they
 * started, and those in which all of them were loaded.
 */
export default async function* coreTimes(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const coreSeconds = new Map<string, number>();
  let before = 0;
  const count = (what: string) => {
    const now = groupCoreSeconds();
    coreSeconds.set(what, (coreSeconds.get(what) ?? 0) + now - before);
    before = now;
  };
  for await (const { type, data } of events) {
    if (type === 'test:start' && before === 0) count('(loading)');
    const hasEnded = type === 'test:pass' || type === 'test:fail';
    if (hasEnded && data.file !== undefined) count(relative(process.cwd(), data.file));
  }
  const lines = [...coreSeconds].map(([what, took]) => `# core-seconds ${took.toFixed(2)} ${what}\n`);
  yield lines.join(''); // at once: the process exits behind the first piece
}
