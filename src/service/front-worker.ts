import { workerData } from 'node:worker_threads';
import type { Cells } from '../account/cells.ts';
import type { Config } from '../config/config.ts';
import { wipe } from '../core/bytes.ts';
import { GuardedClock } from '../core/clock.ts';
import { createLog } from '../core/log.ts';
import { Link } from '../workers/call.ts';
import { Workers } from '../workers/dispatch.ts';
import type { ThreadData } from '../workers/thread.ts';
import { type FrontCommands, type FrontOptions, type MainThread, startFrontStack } from './front-stack.ts';
import type { LedgerPorts } from './ledger-link.ts';
import { type FrontSinkData, openFrontSink, openLedgerPorts } from './ledger-thread.ts';

/** What a front thread is started with. It serves ThreadCommands at home, and calls MainThread and Cells there. */
export interface FrontWorkerData extends ThreadData {
  readonly config: Config;
  readonly ledger: LedgerPorts;
  readonly keys: FrontOptions['keys'];
  readonly sink: FrontSinkData;
  readonly metrics: FrontOptions['metrics'];
  readonly workers: number;
}

export interface ThreadCommands extends FrontCommands {
  /** Resolves when the front listens; nothing else is called before. */
  start(): Promise<void>;
}

// Entry of a front thread. Everything that all fronts share is asked of other threads.
const data = workerData as FrontWorkerData;
let served = { start } as ThreadCommands;
const link: Link<MainThread & Cells, ThreadCommands> = new Link(data.home, {
  get serve() {
    return served;
  },
  after: { installSeed: (_seed, quantumSeed) => wipe(quantumSeed) },
});

async function start(): Promise<void> {
  /** Each thread guards its own: they are started together and see the same jumps. */
  const clock = new GuardedClock();
  const log = createLog(data.config);
  const lookUps = openLedgerPorts(data.ledger);
  const { ledger } = lookUps;
  const answers = await openFrontSink(data.sink, ledger, clock);
  answers.failed.then((error) => {
    throw error; // ends this thread, which stops the service
  });
  const workers = new Workers(data.workers, log);
  const { config, keys, metrics } = data;
  const stack = await startFrontStack({
    ...{ config, log, clock, ...lookUps, workers, keys, metrics },
    cells: link.calls,
    mainThread: link.calls,
    sink: answers.sink,
  });
  served = {
    ...stack,
    start,
    async drain(deadlineMs) {
      await stack.drain(deadlineMs);
      stack.close();
      answers.close();
      await workers.close();
      await ledger.close();
    },
  };
}
