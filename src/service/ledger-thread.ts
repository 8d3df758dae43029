import { MessageChannel, Worker } from 'node:worker_threads';
import { CERTIFICATE_SERVICE_METHODS, type CertificateService } from '../certificate/certificate-service.ts';
import type { LogLevel } from '../core/log.ts';
import { type Ledger, LedgerError } from '../ledger/ledger.ts';
import { connectLedger } from '../ledger/remote.ts';
import { connectCalls } from '../workers/call.ts';
import type { LedgerDoor, LedgerWorkerData, LedgerWorkerMessage } from './ledger-worker.ts';

export interface LedgerThread {
  readonly ledger: Ledger;
  readonly certificates: CertificateService;
  /** For fronts in other threads: connect with `openDoor` there. */
  readonly doors: readonly LedgerDoor[];
  /** Rejects when a commit failed or the thread died: the service must stop and say why. Never resolves. */
  readonly failed: Promise<never>;
  /** Logs what is committed, closes the ledger and ends the thread. */
  stop(): Promise<void>;
}

export interface LedgerThreadOptions {
  readonly path: string;
  readonly durability: 'fsync' | 'commit';
  readonly logLevel: LogLevel;
  readonly idsKeyPath: string;
  readonly keysPath: string;
  readonly logName: string;
  /** Fronts in other threads. */
  readonly doors: number;
}

/** As in workers/dispatch.ts: what lives for one commit needs no more room than this. */
const LEDGER_MEMORY = { maxYoungGenerationSizeMb: 4 };

/** Opens the ledger in a thread of its own. Rejects with the reason when it cannot be opened. */
export async function startLedgerThread(options: LedgerThreadOptions): Promise<LedgerThread> {
  const { doors: doorCount, ...rest } = options;
  const channels = Array.from({ length: 1 + doorCount }, () => ({
    ledger: new MessageChannel(),
    certificates: new MessageChannel(),
  }));
  const far = channels.map((each) => ({ ledger: each.ledger.port2, certificates: each.certificates.port2 }));
  const [near, ...doors] = channels.map((each) => ({
    ledger: each.ledger.port1,
    certificates: each.certificates.port1,
  }));
  const workerData: LedgerWorkerData = { ...rest, doors: far };
  const worker = new Worker(new URL('./ledger-worker.ts', import.meta.url), {
    workerData,
    resourceLimits: LEDGER_MEMORY,
    transferList: far.flatMap((door) => [door.ledger, door.certificates]),
  });
  let stopping = false;
  const failed = new Promise<never>((_resolve, reject) => {
    worker.on('message', (message: LedgerWorkerMessage) => {
      if (message.state === 'failed') reject(new LedgerError('stopped', message.reason));
    });
    worker.on('error', reject);
    worker.on('exit', (code) => {
      if (!stopping) reject(new LedgerError('stopped', `the ledger thread ended with code ${code}`));
    });
  });
  failed.catch(() => {}); // whoever waits for it hears of it; a failure during the start is thrown below
  await Promise.race([opened(worker), failed]);
  const { ledger, certificates } = openDoor(near);
  return {
    ledger,
    certificates,
    doors,
    failed,
    async stop() {
      stopping = true;
      const closed = new Promise((resolve) => worker.once('exit', resolve));
      worker.postMessage('close');
      await closed;
      await ledger.close();
    },
  };
}

/** The ledger and its certificates from the thread that holds the door. */
export function openDoor(door: LedgerDoor): { ledger: Ledger; certificates: CertificateService } {
  const certificates = connectCalls<CertificateService>(door.certificates, CERTIFICATE_SERVICE_METHODS);
  return { ledger: connectLedger(door.ledger), certificates };
}

function opened(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.once('message', (message: LedgerWorkerMessage) => {
      if (message.state === 'open') resolve();
      else if (message.state === 'refused') reject(new LedgerError('unusable', message.reason));
    });
  });
}
