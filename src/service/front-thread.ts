import { MessageChannel, Worker } from 'node:worker_threads';
import { type Cells, serveCells } from '../account/cells.ts';
import { serveCalls } from '../workers/call.ts';
import type { FrontCentre, FrontEvents } from './front-stack.ts';
import type { FrontCommand, FrontWorkerData, FrontWorkerMessage } from './front-worker.ts';

/** A front in a thread of its own. */
export interface FrontThread extends FrontEvents {
  /** Rejects when the thread dies unasked. Never resolves. */
  readonly failed: Promise<never>;
  drain(deadlineMs: number): Promise<void>;
}

/** Starts the thread and waits until it listens. */
export async function startFrontThread(
  data: Omit<FrontWorkerData, 'cells' | 'centre'>,
  cells: Cells,
  centre: FrontCentre,
): Promise<FrontThread> {
  const cellCalls = new MessageChannel();
  const centreCalls = new MessageChannel();
  serveCells(cells, cellCalls.port1);
  serveCalls<FrontCentre>(centre, centreCalls.port1);
  const workerData: FrontWorkerData = { ...data, cells: cellCalls.port2, centre: centreCalls.port2 };
  const worker = new Worker(new URL('./front-worker.ts', import.meta.url), {
    workerData,
    transferList: [cellCalls.port2, centreCalls.port2, data.door.ledger, data.door.certificates],
  });
  let draining = false;
  const failed = new Promise<never>((_resolve, reject) => {
    worker.on('error', reject);
    worker.on('exit', (code) => {
      if (!draining) reject(new Error(`a front thread ended with code ${code}`));
    });
  });
  failed.catch(() => {}); // whoever waits for it hears of it; a failure during the start is thrown below
  const says = (message: FrontWorkerMessage) =>
    new Promise<void>((resolve) => {
      worker.on('message', (said: FrontWorkerMessage) => {
        if (said === message) resolve();
      });
    });
  await Promise.race([says('listening'), failed]);
  // on the port that answers the front's calls, so that a seed is there before the word that it was taken
  const tell = (command: FrontCommand) => centreCalls.port1.postMessage(command);
  return {
    failed,
    installSeed: (...args) => tell({ event: 'installSeed', args }),
    installSystemLot: (...args) => tell({ event: 'installSystemLot', args }),
    lotsCame: (...args) => tell({ event: 'lotsCame', args }),
    lotsRevoked: (...args) => tell({ event: 'lotsRevoked', args }),
    tapClosed: (...args) => tell({ event: 'tapClosed', args }),
    becomeReady: (...args) => tell({ event: 'becomeReady', args }),
    async drain(deadlineMs) {
      draining = true;
      const drained = says('drained');
      tell({ drainMs: deadlineMs });
      await drained;
      cellCalls.port1.close();
      centreCalls.port1.close();
    },
  };
}
