import { MessageChannel, Worker } from 'node:worker_threads';
import type { Cells } from '../account/cells.ts';
import { Link } from '../workers/call.ts';
import type { FrontCommands, MainThread } from './front-stack.ts';
import type { FrontWorkerData } from './front-worker.ts';

/** A front in a thread of its own. */
export interface FrontThread {
  /** The front's own object, over the link. */
  readonly commands: FrontCommands;
  /** Rejects when the thread dies unasked. Never resolves. */
  readonly failed: Promise<never>;
  /** The thread ends when its front is drained. */
  drain(deadlineMs: number): Promise<void>;
}

/** Starts the thread and waits until it listens. */
export async function startFrontThread(
  data: Omit<FrontWorkerData, 'mainThread'>,
  cells: Cells,
  mainThread: MainThread,
): Promise<FrontThread> {
  const { port1, port2 } = new MessageChannel();
  // One port for calls in both directions: a seed arrives before the answer that says it was taken.
  const link = new Link<FrontCommands, MainThread & Cells>(port1, {
    serve: {
      ...mainThread,
      cellOf: (...args) => cells.cellOf(...args),
      ask: (...args) => cells.ask(...args),
    },
  });
  const workerData: FrontWorkerData = { ...data, mainThread: port2 };
  const worker = new Worker(new URL('./front-worker.ts', import.meta.url), {
    workerData,
    transferList: [port2, ...Object.values(data.ledger)],
  });
  let draining = false;
  const failed = new Promise<never>((_resolve, reject) => {
    worker.on('error', reject);
    worker.on('exit', (code) => {
      if (!draining) reject(new Error(`a front thread ended with code ${code}`));
    });
  });
  // a failure during the start is thrown below, a later one reaches whoever waits for it
  failed.catch(() => {});
  const listening = new Promise((resolve) => worker.once('message', resolve));
  await Promise.race([listening, failed]);
  return {
    failed,
    commands: link.remote(['lotsRevoked', 'drain']),
    async drain(deadlineMs) {
      draining = true;
      await link.calls.drain(deadlineMs);
      await link.close();
    },
  };
}
