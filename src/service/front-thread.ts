import type { Config } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { Workers } from '../workers/dispatch.ts';
import { startThread, type ThreadData } from '../workers/thread.ts';
import {
  FRONT_TOLD,
  type FrontCommands,
  type FrontOptions,
  type Listening,
  type MainThread,
  startFrontStack,
} from './front-stack.ts';
import type { LedgerPorts } from './ledger-link.ts';
import { type FrontSinkData, openFrontSink, openLedgerPorts } from './ledger-thread.ts';

/** What a front is made from in any thread: plain data, and ports that move to the thread. */
export interface FrontData extends Pick<FrontOptions, 'keys' | 'metrics'> {
  readonly config: Config;
  readonly ledger: LedgerPorts;
  readonly sink: FrontSinkData;
  /** Count of threads that make the front's large answers and expand its keystreams. */
  readonly workers: number;
}

/** A front that listens, in this or another thread. */
export interface RunningFront extends Listening {
  readonly commands: FrontCommands;
  /** Rejects when the front cannot go on. Never resolves. */
  readonly failed: Promise<never>;
  /** Ends the front and its parts. No request may be under way. */
  end(): Promise<void>;
}

/** Starts the front in this thread. */
export async function openFront(
  data: FrontData,
  mainThread: MainThread,
  clock: Clock,
  log: Log,
): Promise<RunningFront> {
  const { config, keys, metrics } = data;
  const lookUps = openLedgerPorts(data.ledger);
  const { ledger } = lookUps;
  const { sink, failed, close } = await openFrontSink(data.sink, ledger, clock);
  const workers = new Workers(data.workers, log);
  const end = async () => {
    close();
    await workers.close();
    await ledger.close();
  };
  try {
    const stack = await startFrontStack({
      ...{ config, log, clock, ...lookUps, workers, mainThread, keys, sink, metrics },
    });
    const ending = failed.then((error) => {
      throw error;
    });
    ending.catch(() => {}); // the user of `failed` gets the error
    const { port, baseUrl } = stack;
    return {
      ...{ port, baseUrl, commands: stack, failed: ending },
      async end() {
        stack.close();
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/** The calls on a front thread. */
export interface ThreadCommands extends FrontCommands {
  /** Resolves when the front listens. No other call may be made before. */
  start(): Promise<Listening>;
  end(): Promise<void>;
}

/** The data that a front thread is started with. Over the port `home` it serves ThreadCommands and calls MainThread. */
export interface FrontWorkerData extends FrontData, ThreadData {}

const ENTRY = new URL('./front-worker.ts', import.meta.url);

/** Starts the front in a thread of its own. */
export async function startFrontThread(data: FrontData, mainThread: MainThread): Promise<RunningFront> {
  const thread = startThread<ThreadCommands, MainThread>(ENTRY, {
    ...{ data, serve: mainThread, told: FRONT_TOLD, name: 'a front thread' },
    moved: Object.values(data.ledger),
  });
  try {
    const { port, baseUrl } = await Promise.race([thread.calls.start(), thread.failed]);
    const end = () => thread.end((calls) => calls.end());
    return { port, baseUrl, commands: thread.calls, failed: thread.failed, end };
  } catch (error) {
    await thread.end();
    throw error;
  }
}
