import { MessageChannel, Worker } from 'node:worker_threads';
import type { CertificateService } from '../certificate/archive.ts';
import type { Clock } from '../core/clock.ts';
import { FrontJournal, type FrontJournalOptions } from '../ledger/front-journal.ts';
import type { JournalPlace } from '../ledger/journal.ts';
import { type FailStop, type Ledger, LedgerError } from '../ledger/ledger.ts';
import { LinkedSink } from '../ledger/linked-sink.ts';
import { TransactionGate } from '../ledger/lmdb/transaction-gate.ts';
import type { SegmentSink } from '../ledger/segment-sink.ts';
import { Link } from '../workers/call.ts';
import { connectLedger, type KeyedLookUps, type LedgerPorts } from './ledger-link.ts';
import type {
  LedgerSettings,
  LedgerWorkerData,
  LedgerWorkerMessage,
  LedgerWorkerOrder,
} from './ledger-worker.ts';

export interface LedgerThread extends LedgerOfFront {
  /** One for each front, that of the main thread first. */
  readonly sinks: readonly FrontSinkData[];
  /** For fronts in other threads, which connect with `openLedgerPorts`. */
  readonly ports: readonly LedgerPorts[];
  /** Rejects when a commit failed or the thread died: the service must stop and say why. Never resolves. */
  readonly failed: Promise<never>;
  /** Logs what is committed, closes the ledger and ends the thread. */
  stop(): Promise<void>;
}

export interface LedgerThreadOptions extends LedgerSettings {
  /** Fronts in other threads. */
  readonly fronts: number;
}

/**
 * Young generation of the ledger's thread. What lives for one commit needs no more, see workers/dispatch.ts.
 */
const LEDGER_MEMORY = { maxYoungGenerationSizeMb: 4 };
/** How long an exit waits for the transaction under way: seconds on a slow disk. Beyond that the process is killed. */
const EXIT_PATIENCE_MS = 10_000;

/**
 * Opens the ledger in a thread of its own. Rejects with the reason when it cannot be opened. `checkFirst` runs while that
 * thread loads its modules; when it throws, the thread ends and nothing was opened.
 */
export async function startLedgerThread(
  options: LedgerThreadOptions,
  checkFirst: () => void,
): Promise<LedgerThread> {
  const { fronts, ...rest } = options;
  const channels = Array.from({ length: 1 + fronts }, () => ({
    ledger: new MessageChannel(),
    keyed: new MessageChannel(),
    keyless: new MessageChannel(),
  }));
  const far = channels.map(({ ledger, keyed, keyless }) => {
    return { ledger: ledger.port2, keyed: keyed.port2, keyless: keyless.port2 };
  });
  const [own, ...ports] = channels.map(({ ledger, keyed, keyless }) => {
    return { ledger: ledger.port1, keyed: keyed.port1, keyless: keyless.port1 };
  });
  const gate = new TransactionGate();
  const workerData: LedgerWorkerData = { ...rest, fronts: far, gate: gate.words };
  const worker = new Worker(new URL('./ledger-worker.ts', import.meta.url), {
    workerData,
    resourceLimits: LEDGER_MEMORY,
    transferList: far.flatMap((each) => Object.values(each)),
  });
  let stopping = false;
  const closeGate = () => {
    if (!gate.close(EXIT_PATIENCE_MS)) process.kill(process.pid, 'SIGKILL');
  };
  process.once('exit', closeGate);
  worker.once('exit', () => process.off('exit', closeGate));
  const failed = new Promise<never>((_resolve, reject) => {
    worker.on('message', (message: LedgerWorkerMessage) => {
      if (message.state === 'failed') reject(new LedgerError('stopped', message.reason));
    });
    worker.on('error', reject);
    worker.on('exit', (code) => {
      if (!stopping) reject(new LedgerError('stopped', `the ledger thread ended with code ${code}`));
    });
  });
  // a failure during the start is thrown below, a later one reaches whoever waits for it
  failed.catch(() => {});
  const order = (what: LedgerWorkerOrder) => worker.postMessage(what);
  try {
    checkFirst();
  } catch (error) {
    stopping = true;
    await worker.terminate();
    throw error;
  }
  order('open');
  const { journals, held } = await Promise.race([opened(worker), failed]);
  const { durability } = options;
  const sinkOf = (place: JournalPlace | null) => ({ held, journal: place && { place, durability } });
  const calls = openLedgerPorts(own);
  return {
    ...calls,
    sinks: journals?.map(sinkOf) ?? far.map(() => sinkOf(null)),
    ports,
    failed,
    async stop() {
      stopping = true;
      const closed = new Promise((resolve) => worker.once('exit', resolve));
      order('close');
      await closed;
      await calls.ledger.close();
    },
  };
}

/** What a front needs to have its answers made durable, in whatever thread. */
export interface FrontSinkData {
  /** Why nothing may be acknowledged; null when all is well. */
  readonly held: string | null;
  /** Null when the ledger's thread commits each segment itself. */
  readonly journal: Pick<FrontJournalOptions, 'place' | 'durability'> | null;
}

/** Where a front has its answers made durable. */
export interface FrontSink extends FailStop {
  readonly sink: SegmentSink;
  /** Nothing may be under way. */
  close(): void;
}

export async function openFrontSink(
  { held, journal }: FrontSinkData,
  ledger: Ledger,
  clock: Clock,
): Promise<FrontSink> {
  if (journal === null) {
    const sink = await LinkedSink.open({ ledger, clock, held });
    return { sink, failed: new Promise(() => {}), close: () => {} }; // the ledger's thread fails by itself
  }
  const sink = new FrontJournal({ ...journal, held, ledger });
  return { sink, failed: sink.failed, close: () => sink.close() };
}

/** What a front asks of the ledger's thread. */
export interface LedgerOfFront {
  readonly ledger: Ledger;
  /** For clients with a key; http/router.ts bounds those of each account. */
  readonly keyedLookUps: KeyedLookUps;
  /** For pages that anybody may ask for. */
  readonly certificates: CertificateService;
}

/** Look-ups that one front may have outstanding; one more is refused with `overloaded`. */
const KEYED_LOOK_UPS_MAX = 512;
const KEYLESS_LOOK_UPS_MAX = 64;

/** The ledger and its look-ups, in the thread that was given the ports. */
export function openLedgerPorts(ports: LedgerPorts): LedgerOfFront {
  const keyed = new Link<KeyedLookUps>(ports.keyed, { outstandingMax: KEYED_LOOK_UPS_MAX });
  const keyless = new Link<CertificateService>(ports.keyless, { outstandingMax: KEYLESS_LOOK_UPS_MAX });
  return { ledger: connectLedger(ports.ledger), keyedLookUps: keyed.calls, certificates: keyless.calls };
}

type Opened = Extract<LedgerWorkerMessage, { state: 'open' }>;

function opened(worker: Worker): Promise<Opened> {
  return new Promise((resolve, reject) => {
    worker.once('message', (message: LedgerWorkerMessage) => {
      if (message.state === 'open') resolve(message);
      else if (message.state === 'refused') reject(new LedgerError('unusable', message.reason));
    });
  });
}
