import { MessageChannel, type MessagePort, type TransferListItem, Worker } from 'node:worker_threads';
import { Link, type LinkOptions } from './call.ts';

/** The data that every thread of the service starts with: the port on which it must serve its object in its first turn. */
export interface ThreadData {
  readonly home: MessagePort;
}

/**
 * Starts the thread whose entry is `file`, and serves `serve` to it. Both call each other on one port, so messages arrive in the
 * order in which they were sent. Errors call the thread `name`.
 */
export function startThread<Called extends object, Served extends object>(
  file: URL,
  {
    data,
    name,
    moved,
    ...linked
  }: Pick<LinkOptions<Called, Served>, 'serve' | 'told'> & {
    readonly data: object;
    readonly name: string;
    readonly moved: readonly TransferListItem[];
  },
  options: { readonly maxYoungGenerationSizeMb?: number } = {},
) {
  const { port1, port2 } = new MessageChannel();
  const link = new Link<Called, Served>(port1, linked);
  const worker = new Worker(file, {
    workerData: { ...data, home: port2 } satisfies ThreadData,
    transferList: [port2, ...moved],
    resourceLimits: options,
  });
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  failed.catch(() => {}); // no unhandled rejection: callers that wait for `failed` get the error
  let isEnding = false;
  worker.on('error', fail);
  const ended = new Promise<void>((resolve) => {
    worker.on('exit', (code) => {
      if (!isEnding) fail(new Error(`${name} ended with code ${code}`));
      resolve();
    });
  });
  return {
    calls: link.calls,
    /** Rejects when the thread ends without `end`, or with the error that is passed to `fail`. Never resolves. */
    failed,
    fail,
    /** Resolves when the thread has ended. */
    ended,
    /** Makes the call `finish`, which lets the thread finish its work, and stops the thread. */
    async end(finish?: (calls: typeof link.calls) => Promise<unknown>): Promise<void> {
      isEnding = true;
      await finish?.(link.calls);
      await link.close();
      await worker.terminate();
    },
  };
}
