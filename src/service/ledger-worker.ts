import { setTimeout as sleep } from 'node:timers/promises';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { CertificateArchive } from '../certificate/archive.ts';
import { certificateService } from '../certificate/certificate-service.ts';
import { CertificateIds } from '../certificate/ids.ts';
import { BATCH_LEAVES, CertificateLog, keysDocument } from '../certificate/log.ts';
import { assert } from '../core/assert.ts';
import { systemClock } from '../core/clock.ts';
import { createLog, type LogLevel } from '../core/log.ts';
import { openLogKeys, openSecretFile } from '../crypto/key-files.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openLmdbLedger } from '../ledger/lmdb/lmdb.ts';
import { serveLedger } from '../ledger/remote.ts';
import { serveCalls } from '../workers/call.ts';

/** What the ledger thread is started with. */
export interface LedgerWorkerData {
  readonly path: string;
  readonly durability: 'fsync' | 'commit';
  readonly logLevel: LogLevel;
  /** File of the secret behind certificate ids. */
  readonly idsKeyPath: string;
  /** Folder of the log's keys, and the log's name. */
  readonly keysPath: string;
  readonly logName: string;
  /** Where each front's calls come in. */
  readonly doors: readonly LedgerDoor[];
}

/** Two ports of one front: calls on the ledger, and on certificates. */
export interface LedgerDoor {
  readonly ledger: MessagePort;
  readonly certificates: MessagePort;
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

/** Certificates are logged in batches this often: a proof is there a moment after its answer. */
const SEAL_INTERVAL_MS = 150;

// Worker entry: the one thread that owns the ledger's writes, and seals its certificates between commits.
assert(parentPort !== null, 'the ledger worker runs in a thread of its own');
const port = parentPort;
const data = workerData as LedgerWorkerData;
const log = createLog(data.logLevel);
const tell = (message: LedgerWorkerMessage) => port.postMessage(message);

try {
  const { path, durability } = data;
  const ledger = await openLmdbLedger({ path, clock: systemClock, log, role: 'server', durability });
  try {
    await serve(ledger);
  } catch (error) {
    await ledger.close();
    throw error;
  }
  ledger.failed.then((cause) => tell({ state: 'failed', reason: cause.message }));
  tell({ state: 'open' });
} catch (error) {
  tell({ state: 'refused', reason: error instanceof Error ? error.message : String(error) });
}

async function serve(ledger: Ledger): Promise<void> {
  const keys = openLogKeys(data.keysPath, data.logName, systemClock);
  const ids = new CertificateIds(openSecretFile(data.idsKeyPath));
  const settledBelow = await ledger.nextSegment();
  const certificateLog = await CertificateLog.open({ store: ledger, ids, keys, settledBelow });
  const archive = new CertificateArchive({ books: ledger, entropy: ledger, ids, log: certificateLog });
  const certificates = certificateService(archive, certificateLog, keysDocument(keys));
  for (const door of data.doors) {
    serveLedger(ledger, door.ledger);
    serveCalls(certificates, door.certificates);
  }
  const stopping = new AbortController();
  const sealing = sealOnAndOn(certificateLog, stopping.signal);
  port.once('message', async () => {
    stopping.abort();
    await sealing;
    await ledger.close();
    for (const door of data.doors) {
      door.ledger.close();
      door.certificates.close();
    }
    tell({ state: 'closed' });
    port.close();
  });
}

/**
 * Logs what was committed. Each batch is a durable step of its own that commits wait behind, so small ones are
 * gathered for an interval; full ones follow each other with a turn of the loop between them, until caught up.
 */
async function sealOnAndOn(certificateLog: CertificateLog, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    let sealed = 0;
    try {
      sealed = await certificateLog.seal();
    } catch (error) {
      log.error(
        { reason: error instanceof Error ? error.message : String(error) },
        'certificates not logged',
      );
    }
    // our own abort ends the wait early
    if (sealed < BATCH_LEAVES) await sleep(SEAL_INTERVAL_MS, undefined, { signal }).catch(() => {});
    else await new Promise((resolve) => setImmediate(resolve));
  }
}
