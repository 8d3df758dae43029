import { MessageChannel, Worker } from 'node:worker_threads';
import type { LogLevel } from '../core/log.ts';
import type { Ledger } from '../store/ledger.ts';
import { LedgerError } from '../store/ledger-error.ts';
import { connectLedger } from '../store/remote.ts';
import { type CertificateService, connectCertificates } from './certificate-service.ts';
import type { LedgerWorkerData, LedgerWorkerMessage } from './ledger-worker.ts';

export interface LedgerThread {
  readonly ledger: Ledger;
  readonly certificates: CertificateService;
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
}

/** Opens the ledger in a thread of its own. Rejects with the reason when it cannot be opened. */
export async function startLedgerThread(options: LedgerThreadOptions): Promise<LedgerThread> {
  const calls = new MessageChannel();
  const lookUps = new MessageChannel();
  const ports = { ledgerCalls: calls.port2, certificateCalls: lookUps.port2 };
  const workerData: LedgerWorkerData = { ...options, ...ports };
  const worker = new Worker(new URL('./ledger-worker.ts', import.meta.url), {
    workerData,
    transferList: Object.values(ports),
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
  const ledger = connectLedger(calls.port1);
  return {
    ledger,
    certificates: connectCertificates(lookUps.port1),
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

function opened(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.once('message', (message: LedgerWorkerMessage) => {
      if (message.state === 'open') resolve();
      else if (message.state === 'refused') reject(new LedgerError('unusable', message.reason));
    });
  });
}
