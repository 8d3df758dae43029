import { once } from 'node:events';
import { MessageChannel, type MessagePort, parentPort, Worker, workerData } from 'node:worker_threads';
import type { Clock } from '../../src/core/clock.ts';
import type { Ledger } from '../../src/store/ledger.ts';
import { connectLedger, type FailStop, serveLedger } from '../../src/store/remote.ts';
import { openTestLedger } from './ledger-folder.ts';

/** A wall clock that two threads share and the test sets. */
export class SharedClock implements Clock {
  readonly shared: Float64Array<SharedArrayBuffer>;

  constructor(shared: Float64Array<SharedArrayBuffer> | number) {
    this.shared =
      typeof shared === 'number' ? new Float64Array(new SharedArrayBuffer(8)).fill(shared) : shared;
  }

  get wall(): number {
    return this.shared[0];
  }

  set wall(ms: number) {
    this.shared[0] = ms;
  }

  wallMs(): number {
    return this.shared[0];
  }

  monotonicMs(): number {
    return this.shared[0];
  }
}

interface Handed {
  readonly path: string;
  readonly port: MessagePort;
  readonly durability: 'fsync' | 'commit';
  readonly time: Float64Array<SharedArrayBuffer>;
}

export interface LedgerThread {
  readonly ledger: Ledger & FailStop;
  readonly worker: Worker;
  /** Closes the connection, then the ledger, then the thread. */
  close(): Promise<void>;
}

/** Starts this file as a worker that opens an LMDB ledger of its own and serves it. */
export async function startLedgerThread(
  path: string,
  durability: 'fsync' | 'commit',
  clock: SharedClock,
): Promise<LedgerThread> {
  const { port1, port2 } = new MessageChannel();
  const handed: Handed = { path, port: port2, durability, time: clock.shared };
  const worker = new Worker(new URL(import.meta.url), { workerData: handed, transferList: [port2] });
  await once(worker, 'message');
  const ledger = connectLedger(port1);
  const close = async () => {
    await ledger.close();
    worker.postMessage('close');
    await once(worker, 'exit');
  };
  return { ledger, worker, close };
}

if (parentPort !== null) {
  const { path, port, durability, time } = workerData as Handed;
  const owner = parentPort;
  const ledger = await openTestLedger(path, { durability, clock: new SharedClock(time) });
  serveLedger(ledger, port);
  owner.once('message', () => ledger.close());
  owner.postMessage('ready');
}
