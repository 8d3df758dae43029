import { workerData } from 'node:worker_threads';
import { wipe } from '../core/bytes.ts';
import { GuardedClock } from '../core/clock.ts';
import { createLog } from '../core/log.ts';
import { Link } from '../workers/call.ts';
import type { Listening, MainThread } from './front-stack.ts';
import { type FrontWorkerData, openFront, type ThreadCommands } from './front-thread.ts';

// The entry of a front thread, which asks other threads for everything that all fronts share.
const data = workerData as FrontWorkerData;
const served = { start } as ThreadCommands;
const link: Link<MainThread, ThreadCommands> = new Link(data.home, {
  serve: served,
  after: { installSeed: (_seed, quantumSeed) => wipe(quantumSeed) },
  movesOf: (result) => (result instanceof Uint8Array ? [result.buffer as ArrayBuffer] : []), // leaves no sample here
});

async function start(): Promise<Listening> {
  /** Each thread has its own guarded clock. All are started together, so they see the same jumps. */
  const clock = new GuardedClock();
  const log = createLog(data.config);
  const { port, baseUrl, commands, failed, end } = await openFront(data, link.calls, clock, log);
  failed.catch((error: unknown) => {
    setImmediate(() => {
      throw error; // ends this thread, which stops the service
    });
  });
  Object.assign(served, commands, { end });
  return { port, baseUrl };
}
