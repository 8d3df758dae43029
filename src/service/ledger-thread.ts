import { MessageChannel } from 'node:worker_threads';
import type { CertificateService } from '../certificate/archive.ts';
import type { Clock } from '../core/clock.ts';
import { FrontJournal, type FrontJournalOptions } from '../ledger/front-journal.ts';
import { type FailStop, type Ledger, LedgerError } from '../ledger/ledger.ts';
import { LinkedSink } from '../ledger/linked-sink.ts';
import { TransactionGate } from '../ledger/lmdb/transaction-gate.ts';
import { heldSink, type SegmentSink } from '../ledger/segment-sink.ts';
import { Sequences } from '../ledger/sequences.ts';
import { Link } from '../workers/call.ts';
import { startThread } from '../workers/thread.ts';
import { connectLedger, type KeyedLookUps, type LedgerPorts, PORTS } from './ledger-link.ts';
import type {
  LedgerCommands,
  LedgerOwner,
  LedgerSettings,
  LedgerWorkerData,
  OpenedLedger,
} from './ledger-worker.ts';

/** The ledger for the thread that started its own, and what fronts reach it by. */
export interface LedgerThread extends LedgerOfFront {
  /** For each front, which connects with `openLedgerPorts` and `openFrontSink`. */
  readonly fronts: readonly { readonly ledger: LedgerPorts; readonly sink: FrontSinkData }[];
  /** Rejects when a commit failed or the thread died: the service must stop and say why. Never resolves. */
  readonly failed: Promise<never>;
  /** Logs what is committed, closes the ledger and ends the thread. */
  stop(): Promise<void>;
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
  options: LedgerSettings,
  checkFirst: () => void,
): Promise<LedgerThread> {
  const { fronts, durability } = options;
  const channels = Array.from({ length: 1 + fronts }, () => PORTS.map(() => new MessageChannel()));
  const portsAt = (end: 'port1' | 'port2') =>
    channels.map((each) => Object.fromEntries(PORTS.map((name, i) => [name, each[i][end]])) as LedgerPorts);
  const far = portsAt('port2');
  const [own, ...ports] = portsAt('port1');
  const gate = new TransactionGate();
  const data: Omit<LedgerWorkerData, 'home'> = { ...options, callers: far, gate: gate.words };
  const thread = startThread<LedgerCommands, LedgerOwner>(
    new URL('./ledger-worker.ts', import.meta.url),
    {
      data,
      serve: { ledgerFailed: (reason) => thread.fail(new LedgerError('stopped', reason)) },
      name: "the ledger's thread",
      moved: far.flatMap((each) => Object.values(each)),
    },
    LEDGER_MEMORY,
  );
  const closeGate = () => {
    if (!gate.close(EXIT_PATIENCE_MS)) process.kill(process.pid, 'SIGKILL');
  };
  process.once('exit', closeGate);
  void thread.ended.then(() => process.off('exit', closeGate));
  let opened: OpenedLedger;
  try {
    checkFirst();
    opened = await Promise.race([thread.calls.open(), thread.failed]);
  } catch (error) {
    await thread.end();
    throw error;
  }
  const { journals, held } = opened;
  const calls = openLedgerPorts(own);
  return {
    ...calls,
    fronts: ports.map((ledger, i) => {
      const place = journals?.[i] ?? null;
      return { ledger, sink: { held, journal: place && { place, durability } } };
    }),
    failed: thread.failed,
    async stop() {
      await thread.end((calls) => calls.close());
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
  if (held !== null) return { sink: heldSink(held), failed: new Promise(() => {}), close: () => {} };
  // What an earlier start gave to answers that its journals lost, it had leased: their certificate ids name no others.
  const sequences = await Sequences.open(ledger, clock);
  if (journal === null) {
    const sink = new LinkedSink({ ledger, sequences, clock });
    return { sink, failed: new Promise(() => {}), close: () => {} }; // the ledger's thread fails by itself
  }
  const sink = new FrontJournal({ ...journal, ledger, sequences });
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
