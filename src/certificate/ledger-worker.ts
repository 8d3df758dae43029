import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { assert } from '../core/assert.ts';
import { systemClock } from '../core/clock.ts';
import { createLog, type LogLevel } from '../core/log.ts';
import { openLmdbLedger } from '../store/lmdb.ts';
import { serveLedger } from '../store/remote.ts';

/** What the ledger thread is started with. */
export interface LedgerWorkerData {
  readonly path: string;
  readonly durability: 'fsync' | 'commit';
  readonly logLevel: LogLevel;
  /** Calls on the ledger come in here. */
  readonly calls: MessagePort;
}

/** What it tells the thread that started it. */
export type LedgerWorkerMessage =
  | { readonly state: 'open' }
  /** It cannot be opened: a sentence an operator can act on. */
  | { readonly state: 'refused'; readonly reason: string }
  /** A commit failed: nothing more is written, the service must stop. */
  | { readonly state: 'failed'; readonly reason: string }
  /** Asked to close, it has. */
  | { readonly state: 'closed' };

// Worker entry: the one thread that owns the ledger's writes.
assert(parentPort !== null, 'the ledger worker runs in a thread of its own');
const port = parentPort;
const data = workerData as LedgerWorkerData;
const tell = (message: LedgerWorkerMessage) => port.postMessage(message);

try {
  const ledger = await openLmdbLedger({
    path: data.path,
    clock: systemClock,
    log: createLog(data.logLevel),
    role: 'server',
    durability: data.durability,
  });
  ledger.failed.then((cause) => tell({ state: 'failed', reason: cause.message }));
  serveLedger(ledger, data.calls);
  port.once('message', async () => {
    await ledger.close();
    data.calls.close();
    tell({ state: 'closed' });
    port.close();
  });
  tell({ state: 'open' });
} catch (error) {
  tell({ state: 'refused', reason: error instanceof Error ? error.message : String(error) });
}
