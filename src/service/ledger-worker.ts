import { setTimeout as sleep } from 'node:timers/promises';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { CertificateArchive, type CertificateService, certificateService } from '../certificate/archive.ts';
import { CertificateIds } from '../certificate/ids.ts';
import { BATCH_LEAVES, CertificateLog, keysDocument } from '../certificate/log.ts';
import { assert } from '../core/assert.ts';
import { GuardedClock } from '../core/clock.ts';
import { createLog, type LogLevel } from '../core/log.ts';
import { openLogKeys, openSecretFile } from '../crypto/key-files.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openLmdbLedger } from '../ledger/lmdb/lmdb.ts';
import { Link, OneEachTurn } from '../workers/call.ts';
import { serveLedger } from './ledger-link.ts';

/** What the ledger's thread is started with. */
export interface LedgerWorkerData {
  readonly path: string;
  readonly durability: 'fsync' | 'commit';
  readonly logLevel: LogLevel;
  /** File of the secret behind certificate ids. */
  readonly idsKeyPath: string;
  /** Folder of the log's keys, and the log's name. */
  readonly keysPath: string;
  readonly logName: string;
  /** Where each front's calls arrive. */
  readonly fronts: readonly LedgerPorts[];
}

/** The two ports of one front: calls on the ledger, and look-ups of certificates. */
export interface LedgerPorts {
  readonly ledger: MessagePort;
  readonly certificates: MessagePort;
}

/** What the ledger's thread tells the one that started it. */
export type LedgerWorkerMessage =
  | { readonly state: 'open' }
  /** The ledger cannot be opened; the reason is a sentence that an operator can act on. */
  | { readonly state: 'refused'; readonly reason: string }
  /** A commit failed: nothing more is written, and the service must stop. */
  | { readonly state: 'failed'; readonly reason: string }
  /** The ledger was closed, as asked. */
  | { readonly state: 'closed' };

/** How often certificates are logged: a certificate gets its proof at most this long after its answer. */
const SEAL_INTERVAL_MS = 150;

// Entry of the ledger's thread, the only one that writes the ledger. It logs certificates between commits.
assert(parentPort !== null, 'this file is the entry of a worker thread');
const port = parentPort;
const data = workerData as LedgerWorkerData;
/** Each thread guards its own: they are started together and see the same jumps. */
const clock = new GuardedClock();
const log = createLog(data.logLevel);
const tell = (message: LedgerWorkerMessage) => port.postMessage(message);

try {
  const { path, durability } = data;
  const ledger = await openLmdbLedger({ path, clock, log, role: 'server', durability });
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
  const keys = openLogKeys(data.keysPath, data.logName, clock);
  const ids = new CertificateIds(openSecretFile(data.idsKeyPath));
  const settledBelow = await ledger.nextSegment();
  const certificateLog = await CertificateLog.open({
    store: ledger,
    ids,
    keys,
    settledBelow,
    clock,
  });
  const archive = new CertificateArchive({ books: ledger, entropy: ledger, ids, log: certificateLog });
  const certificates = certificateService(archive, certificateLog, keysDocument(keys));
  const lookUps = new OneEachTurn();
  for (const ports of data.fronts) {
    serveLedger(ledger, ports.ledger);
    new Link<object, CertificateService>(ports.certificates, {
      serve: certificates,
      schedule: (run) => lookUps.add(run),
    });
  }
  const stopping = new AbortController();
  const sealing = keepSealing(certificateLog, stopping.signal);
  port.once('message', async () => {
    stopping.abort();
    await sealing;
    await ledger.close();
    for (const ports of data.fronts) {
      ports.ledger.close();
      ports.certificates.close();
    }
    tell({ state: 'closed' });
    port.close();
  });
}

/**
 * Logs what was committed, until aborted. Commits wait behind each batch, which is a transaction of its own: small
 * batches are gathered for an interval, full ones follow each other with a turn of the loop between them.
 */
async function keepSealing(certificateLog: CertificateLog, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    let sealed = 0;
    try {
      sealed = await certificateLog.seal();
    } catch (error) {
      log.error(
        { reason: error instanceof Error ? error.message : String(error) },
        'transparency log: committed certificates could not be logged; trying again',
      );
    }
    // an abort ends the wait early, as intended
    if (sealed < BATCH_LEAVES) await sleep(SEAL_INTERVAL_MS, undefined, { signal }).catch(() => {});
    else await new Promise((resolve) => setImmediate(resolve));
  }
}
