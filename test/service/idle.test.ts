import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { TestServer } from '../support/server.ts';

/** Loaded by each thread of the service: says which thread of the system it is, and what it runs. */
const SAY_THREAD = `data:text/javascript,${encodeURIComponent(
  "import { readlinkSync, writeSync } from 'node:fs';" +
    "writeSync(2, 'thread ' + readlinkSync('/proc/thread-self') + ' runs ' + process.argv[1] + '\\n');",
)}`;
/** The thread that a Piscina pool starts for its tasks. */
const POOL_THREAD = /^thread (\d+\/task\/\d+) runs \S*piscina\S*$/m;
const REST_MS = 2_000;

/** Nanoseconds of CPU. */
function cpuOf(task: string): number {
  return Number(readFileSync(`/proc/${task}/schedstat`, 'utf8').split(' ')[0]);
}

suite('an idle service', {
  skip: process.platform === 'linux' ? false : 'CPU of a thread is read from /proc',
}, () => {
  test('has workers that use no CPU at all', async (t) => {
    const server = TestServer.spawnFor(t, { NODE_OPTIONS: `--import=${SAY_THREAD}`, QRN_WORKERS: '1' });
    await server.ready();
    const body = { type: 'uuid', count: 100_000 };
    assert.equal((await server.batch(body)).status, 200);
    const worker = POOL_THREAD.exec(server.output())?.[1];
    assert.ok(worker !== undefined, server.output());
    assert.ok(cpuOf(worker) > 1e6, 'it made the batch');
    // a ring that the batch has emptied may still be filled: then it comes to rest
    let [seen, sinceMs] = [cpuOf(worker), performance.now()];
    await server.until('the worker uses no CPU for two seconds', () => {
      const now = cpuOf(worker);
      if (now !== seen) [seen, sinceMs] = [now, performance.now()];
      return performance.now() - sinceMs > REST_MS;
    });
  });
});
