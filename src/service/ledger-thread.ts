import { MessageChannel } from 'node:worker_threads';
import type { CertificateService } from '../certificate/archive.ts';
import type { Clock } from '../core/clock.ts';
import { lock } from '../core/spin-lock.ts';
import { FrontJournal, type FrontJournalOptions } from '../ledger/front-journal.ts';
import { type FailStop, type Ledger, LedgerError } from '../ledger/ledger.ts';
import { LinkedSink } from '../ledger/linked-sink.ts';
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

/** The ledger as the main thread uses it, and what each front needs to reach it. */
export interface LedgerThread extends LedgerOfFront {
  /** For each front, the arguments of `openLedgerPorts` and `openFrontSink`. */
  readonly fronts: readonly { readonly ledger: LedgerPorts; readonly sink: FrontSinkData }[];
  /** Rejects when a commit failed or the thread died: the service must stop and say why. Never resolves. */
  readonly failed: Promise<never>;
  /** Logs what is committed, closes the ledger and ends the thread. */
  stop(): Promise<void>;
}

/**
 * A small young generation is enough, since most objects of the ledger's thread live for one commit: see
 * workers/dispatch.ts.
 */
const LEDGER_MEMORY = { maxYoungGenerationSizeMb: 4 };
/**
 * How long an exit waits for the transaction under way, which takes seconds on a slow disk. After that the process is
 * killed.
 */
const EXIT_PATIENCE_MS = 10_000;

/**
 * Opens the ledger in a thread of its own. Rejects with the reason when it cannot be opened. `checkFirst` runs while the
 * thread loads its modules; when it throws, the thread ends without opening anything.
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
  const gate = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const data: Omit<LedgerWorkerData, 'home'> = { ...options, callers: far, gate };
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
    try {
      lock(gate, 0, EXIT_PATIENCE_MS); // for good: a later transaction waits where the thread can be ended
    } catch {
      process.kill(process.pid, 'SIGKILL');
    }
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

/** What a front in any thread opens its sink from. */
export interface FrontSinkData {
  /** Why nothing may be acknowledged; null when all is well. */
  readonly held: string | null;
  /** The front's journal; null when the ledger's thread commits each segment itself. */
  readonly journal: Pick<FrontJournalOptions, 'place' | 'durability'> | null;
}

/** The sink of a front. */
export interface FrontSink extends FailStop {
  readonly sink: SegmentSink;
  /** Closes the sink. No commit may be under way. */
  close(): void;
}

export async function openFrontSink(
  { held, journal }: FrontSinkData,
  ledger: Ledger,
  clock: Clock,
): Promise<FrontSink> {
  if (held !== null) return { sink: heldSink(held), failed: new Promise(() => {}), close: () => {} };
  // A new lease: an earlier start may have used sequences of its own lease for answers that its journals lost, and their
  // certificate ids must not name other answers.
  const sequences = await Sequences.open(ledger, clock);
  if (journal === null) {
    const sink = new LinkedSink({ ledger, sequences, clock });
    return { sink, failed: new Promise(() => {}), close: () => {} }; // failures come from the ledger's thread
  }
  const sink = new FrontJournal({ ...journal, ledger, sequences });
  return { sink, failed: sink.failed, close: () => sink.close() };
}

/** The parts of the ledger's thread that a front uses. */
export interface LedgerOfFront {
  readonly ledger: Ledger;
  /** Look-ups for clients with a key. http/router.ts limits them for each account. */
  readonly keyedLookUps: KeyedLookUps;
  /** Look-ups for public pages. */
  readonly certificates: CertificateService;
}

/** The most look-ups of one front that may be outstanding. Further ones are refused with `overloaded`. */
const KEYED_LOOK_UPS_MAX = 512;
const KEYLESS_LOOK_UPS_MAX = 64;

/** Connects to the ledger and its look-ups, in the thread that has the ports. */
export function openLedgerPorts(ports: LedgerPorts): LedgerOfFront {
  const keyed = new Link<KeyedLookUps>(ports.keyed, { outstandingMax: KEYED_LOOK_UPS_MAX });
  const keyless = new Link<CertificateService>(ports.keyless, { outstandingMax: KEYLESS_LOOK_UPS_MAX });
  return { ledger: connectLedger(ports.ledger), keyedLookUps: keyed.calls, certificates: keyless.calls };
}
