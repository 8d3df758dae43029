import { once } from 'node:events';
import { MessageChannel, type MessagePort, parentPort, Worker } from 'node:worker_threads';
import type { Clock } from '../../src/core/clock.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { connectLedger, serveLedger } from '../../src/service/ledger-link.ts';
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

  jumpMs(): number {
    return 0;
  }
}

/** The data that the thread needs to open one ledger. */
interface Order {
  readonly path: string;
  readonly durability: 'fsync' | 'commit';
  readonly time: Float64Array<SharedArrayBuffer>;
  /** The port on which the ledger is served. */
  readonly port: MessagePort;
  /** The control port: the thread sends `ready`, receives the order to close, and sends `closed`. */
  readonly control: MessagePort;
}

export interface RemoteTestLedger {
  readonly ledger: Ledger;
  /** Closes the connection, then the ledger. */
  close(): Promise<void>;
}

/** A thread that owns LMDB ledgers and serves them. One thread for many, since starting one takes 0.1 s. */
export class LedgerThread {
  readonly worker = new Worker(new URL(import.meta.url));

  async open(path: string, durability: 'fsync' | 'commit', clock: SharedClock): Promise<RemoteTestLedger> {
    const served = new MessageChannel();
    const controlled = new MessageChannel();
    const order: Order = {
      path,
      durability,
      time: clock.shared,
      port: served.port2,
      control: controlled.port2,
    };
    this.worker.postMessage(order, [served.port2, controlled.port2]);
    await once(controlled.port1, 'message');
    const ledger = connectLedger(served.port1);
    const close = async () => {
      await ledger.close();
      controlled.port1.postMessage('close');
      await once(controlled.port1, 'message');
      controlled.port1.close();
    };
    return { ledger, close };
  }

  async stop(): Promise<void> {
    await this.worker.terminate();
  }
}

parentPort?.on('message', async ({ path, durability, time, port, control }: Order) => {
  const ledger = await openTestLedger(path, { durability, clock: new SharedClock(time) });
  serveLedger(ledger, port);
  control.once('message', async () => {
    await ledger.close();
    control.postMessage('closed');
  });
  control.postMessage('ready');
});
