import type { Config } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import { Workers } from '../workers/dispatch.ts';
import { startThread, type ThreadData } from '../workers/thread.ts';
import {
  FRONT_TOLD,
  type FrontCommands,
  type FrontOptions,
  type MainThread,
  startFrontStack,
} from './front-stack.ts';
import type { LedgerPorts } from './ledger-link.ts';
import { type FrontSinkData, openFrontSink, openLedgerPorts } from './ledger-thread.ts';

/** What a front is made from in whatever thread: plain data, and ports that move there. */
export interface FrontData extends Pick<FrontOptions, 'keys' | 'metrics'> {
  readonly config: Config;
  readonly ledger: LedgerPorts;
  readonly sink: FrontSinkData;
  /** Threads that make its large answers and expand its keystreams. */
  readonly workers: number;
}

/** Where a front is reached, once it listens. */
interface Listening {
  readonly port: number;
  /** Ends in /v1. */
  readonly baseUrl: string;
}

/** A front that listens, wherever it runs. */
export interface RunningFront extends Listening {
  readonly commands: FrontCommands;
  /** Rejects when it cannot go on. Never resolves. */
  readonly failed: Promise<never>;
  /** Ends it and what belongs to it alone; nothing of it may be under way. */
  end(): Promise<void>;
}

/** Makes the front in this thread. */
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
    ending.catch(() => {}); // it reaches whoever waits for it
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

/** What a front serves to the thread that started it. */
export interface ThreadCommands extends FrontCommands {
  /** Resolves when the front listens; nothing else is called before. */
  start(): Promise<Listening>;
  end(): Promise<void>;
}

/** What a front thread is started with. It serves ThreadCommands at home, and calls MainThread there. */
export interface FrontWorkerData extends FrontData, ThreadData {}

const ENTRY = new URL('./front-worker.ts', import.meta.url);

/** Makes the front in a thread of its own. */
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
