import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { connectCells } from '../account/cells.ts';
import type { Config } from '../config/config.ts';
import { assert } from '../core/assert.ts';
import { systemClock } from '../core/clock.ts';
import { createLog } from '../core/log.ts';
import { connectCalls } from '../workers/call.ts';
import { Workers } from '../workers/dispatch.ts';
import {
  type FrontCentre,
  type FrontEvents,
  type FrontSurroundings,
  startFrontStack,
} from './front-stack.ts';
import { openDoor } from './ledger-thread.ts';
import type { LedgerDoor } from './ledger-worker.ts';

/** What a front thread is started with. */
export interface FrontWorkerData {
  readonly config: Config;
  readonly door: LedgerDoor;
  readonly cells: MessagePort;
  readonly centre: MessagePort;
  readonly keys: FrontSurroundings['keys'];
  readonly sequence: FrontSurroundings['sequence'];
  readonly metrics: FrontSurroundings['metrics'];
  readonly workers: number;
}

/** What it is told: an event of FrontEvents by name, or to drain and end. */
export type FrontCommand =
  | {
      [K in keyof FrontEvents]: { readonly event: K; readonly args: Parameters<FrontEvents[K]> };
    }[keyof FrontEvents]
  | { readonly drainMs: number };

export type FrontWorkerMessage = 'listening' | 'drained';

// Worker entry: one front of several. Everything that all fronts share is asked of other threads.
assert(parentPort !== null, 'a front worker runs in a thread of its own');
const port = parentPort;
const data = workerData as FrontWorkerData;
const log = createLog(data.config.logLevel);
const { ledger, certificates } = openDoor(data.door);
const workers = new Workers(data.workers, log);
const stack = await startFrontStack({
  config: data.config,
  log,
  clock: systemClock,
  ledger,
  certificates,
  cells: connectCells(data.cells),
  workers,
  centre: connectCalls<FrontCentre>(data.centre, [
    'askForSeed',
    'health',
    'metrics',
    'status',
    'claim',
    'release',
  ]),
  keys: data.keys,
  sequence: data.sequence,
  metrics: data.metrics,
});
data.centre.on('message', async (command: FrontCommand | object) => {
  if ('event' in command) {
    const tell = stack[command.event] as (...args: unknown[]) => void;
    tell(...command.args);
    if (command.event === 'installSeed') command.args[1].fill(0);
    return;
  }
  if (!('drainMs' in command)) return; // the answer to one of our calls
  await stack.drain(command.drainMs);
  stack.close();
  await workers.close();
  await ledger.close();
  for (const each of [data.cells, data.centre, data.door.certificates]) each.close();
  port.postMessage('drained' satisfies FrontWorkerMessage);
  port.close();
});
port.postMessage('listening' satisfies FrontWorkerMessage);
