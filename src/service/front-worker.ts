import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { Cells } from '../account/cells.ts';
import type { Config } from '../config/config.ts';
import { assert } from '../core/assert.ts';
import { wipe } from '../core/bytes.ts';
import { GuardedClock } from '../core/clock.ts';
import { createLog } from '../core/log.ts';
import { Link } from '../workers/call.ts';
import { Workers } from '../workers/dispatch.ts';
import { type FrontCommands, type FrontOptions, type MainThread, startFrontStack } from './front-stack.ts';
import type { LedgerPorts } from './ledger-link.ts';
import { type FrontSinkData, openFrontSink, openLedgerPorts } from './ledger-thread.ts';

/** What a front thread is started with. */
export interface FrontWorkerData {
  readonly config: Config;
  readonly ledger: LedgerPorts;
  /** Serves MainThread and Cells, and calls FrontCommands here. */
  readonly mainThread: MessagePort;
  readonly keys: FrontOptions['keys'];
  readonly sink: FrontSinkData;
  readonly metrics: FrontOptions['metrics'];
  readonly workers: number;
}

// Entry of a front thread. Everything that all fronts share is asked of other threads.
assert(parentPort !== null, 'this file is the entry of a worker thread');
const port = parentPort;
const data = workerData as FrontWorkerData;
/** Each thread guards its own: they are started together and see the same jumps. */
const clock = new GuardedClock();
const log = createLog(data.config);
const { ledger, keyedLookUps, certificates } = openLedgerPorts(data.ledger);
const answers = await openFrontSink(data.sink, ledger, clock);
answers.failed.then((error) => {
  throw error; // ends this thread, which stops the service
});
const workers = new Workers(data.workers, log);
const link: Link<MainThread & Cells, FrontCommands> = new Link(data.mainThread, {
  // nothing is told before this thread says that it listens
  get serve() {
    return commands;
  },
  after: { installSeed: (_seed, quantumSeed) => wipe(quantumSeed) },
});
const stack = await startFrontStack({
  config: data.config,
  log,
  clock,
  ledger,
  keyedLookUps,
  certificates,
  cells: link.calls,
  workers,
  mainThread: link.calls,
  keys: data.keys,
  sink: answers.sink,
  metrics: data.metrics,
});
/** The thread ends when its ports are closed. */
const commands: FrontCommands = {
  ...stack,
  async drain(deadlineMs) {
    await stack.drain(deadlineMs);
    stack.close();
    answers.close();
    await workers.close();
    await ledger.close();
    data.ledger.keyed.close();
    data.ledger.keyless.close();
    port.close();
  },
};
port.postMessage('listening');
