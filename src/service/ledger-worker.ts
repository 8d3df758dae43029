import { setTimeout as sleep } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { Cosigning, type CosigningOptions } from '../certificate/cosigning.ts';
import { BATCH_LEAVES, type CertificateLog } from '../certificate/log.ts';
import { openCertificates } from '../certificate/open.ts';
import type { ReleasePolicy, UnseenLots } from '../certificate/unseen-lots.ts';
import { messageOf } from '../core/assert.ts';
import { GuardedClock } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import { createLog, type LogLevel } from '../core/log.ts';
import { type Durability, isDiskFull, type JournalPlace } from '../ledger/journal.ts';
import { type CallRule, type FailStop, LEDGER_CALLS, type Ledger, LedgerError } from '../ledger/ledger.ts';
import { openLmdbLedger } from '../ledger/lmdb/lmdb-ledger.ts';
import { TransactionGate } from '../ledger/lmdb/transaction-gate.ts';
import { awayFailure } from '../ledger/postgres/failure.ts';
import { Link, OneEachTurn } from '../workers/call.ts';
import type { ThreadData } from '../workers/thread.ts';
import { type LedgerPorts, serveFront } from './ledger-link.ts';

/** How the ledger is opened and served. */
export interface LedgerSettings {
  /** Folder of the ledger; of this node's blocks where the books lie in PostgreSQL. */
  readonly path: string;
  /** Where the books lie in PostgreSQL, and which of its nodes this is; null when they lie in the folder. */
  readonly cluster: { readonly url: string; readonly node: string } | null;
  readonly durability: Durability;
  /** See LmdbLedgerOptions. */
  readonly scrubBytesPerS: number;
  readonly logLevel: LogLevel;
  readonly logColour: boolean;
  /** Folder of the log's keys, and the log's name. */
  readonly keysPath: string;
  readonly logName: string;
  readonly witnesses: CosigningOptions['witnesses'];
  readonly witnessQuorum: number;
  /** How many fronts have their answers made durable in it. */
  readonly fronts: number;
}

/** What the ledger's thread is started with. */
export interface LedgerWorkerData extends LedgerSettings, ThreadData {
  /** Where the calls of the main thread and of each front arrive. */
  readonly callers: readonly LedgerPorts[];
  /** Of the gate that every write transaction of this thread passes. */
  readonly gate: Int32Array<SharedArrayBuffer>;
}

/** What the ledger's thread serves to the one that started it. */
export interface LedgerCommands {
  /** Opens the ledger and serves it to the fronts. Rejects with a sentence that an operator can act on. */
  open(): Promise<OpenedLedger>;
  /** Logs what is committed and closes the ledger. */
  close(): Promise<void>;
}

export interface OpenedLedger {
  /** Null when fronts write none. */
  readonly journals: readonly JournalPlace[] | null;
  /** Why nothing may be signed or delivered; null when all is well. */
  readonly held: string | null;
}

/** What the ledger's thread tells. */
export interface LedgerOwner {
  /** A commit failed: nothing more is written, and the service must stop. */
  ledgerFailed(reason: string): void;
}

/**
 * How often certificates are logged: a certificate gets its proof at most this long after its answer. A batch takes 2 to 4 ms of CPU
 * however small it is, most of them for the three flushes of its transaction and its anchor.
 */
const SEAL_INTERVAL_MS = 250;

/** Certificates without a proof are given for so long where nothing but the log's own files can be at fault. */
const UNLOGGED_MAX_MS = 10_000;

/** How long a client waits before it asks a service again whose operator must act first. */
const HELD_RETRY_AFTER_S = 300;
/** Calls of a ledger that is held back which are refused, beside those that need room on the disk. */
const HELD_CALLS: readonly string[] = ['commit', 'claimBlocks', 'nextSeedGeneration', 'putLog', 'putDraw'];

// Entry of the ledger's thread, the only one that writes the ledger. It logs certificates between commits.
const data = workerData as LedgerWorkerData;
/** Each thread guards its own: they are started together and see the same jumps. */
const clock = new GuardedClock();
const log = createLog(data);
let close: () => Promise<void>;
const { calls: owner } = new Link<LedgerOwner, LedgerCommands>(data.home, {
  serve: { open, close: () => close() },
  told: ['ledgerFailed'],
});

async function open(): Promise<OpenedLedger> {
  try {
    const opened = await openLedger();
    const { ledger, journals } = opened;
    const held = await serve(opened).catch(async (error: unknown) => {
      await ledger.close();
      throw error;
    });
    ledger.failed.then((cause) => owner.ledgerFailed(cause.message));
    return { journals, held };
  } catch (error) {
    const told = data.cluster === null ? error : awayFailure(error, data.cluster.url);
    throw new LedgerError('unusable', messageOf(told));
  }
}

interface OpenLedger extends Pick<OpenedLedger, 'journals'> {
  readonly ledger: Ledger & FailStop;
  /** Whether this process is the one that seals the log now; others follow it. */
  readonly isSequencer: () => Promise<boolean>;
  /** Lets another node seal the log. */
  readonly resign: () => Promise<void>;
}

async function openLedger(): Promise<OpenLedger> {
  const { path, durability, scrubBytesPerS, cluster, keysPath, logName } = data;
  const gate = new TransactionGate(data.gate);
  const options = { path, clock, log, role: 'server', durability, scrubBytesPerS, gate } as const;
  if (cluster !== null) {
    // only here: a service without a database need not load the client of one
    const { openPostgresLedger } = await import('../ledger/postgres/postgres-ledger.ts');
    const secrets = { keysPath, logName };
    const ledger = await openPostgresLedger({ ...options, ...cluster, secrets });
    const { isSequencer, resign } = ledger;
    return { ledger, journals: null, isSequencer, resign };
  }
  const ledger = await openLmdbLedger({ ...options, fronts: data.fronts });
  const alone = { isSequencer: async () => true, resign: async () => {} };
  return { ledger, journals: ledger.journals, ...alone };
}

/** Gives the reason for which the ledger is held back; null when it is not. */
async function serve({ ledger, isSequencer, resign }: OpenLedger): Promise<string | null> {
  const { path: ledgerPath, keysPath, logName } = data;
  const witnesses = releasePolicy();
  const openLog = () =>
    openCertificates({
      ...{ ledger, ledgerPath, keysPath, logName, clock },
      ...(data.cluster === null ? {} : { sharedAnchorPath: ledgerPath }),
      ...(witnesses === undefined ? {} : { witnesses }),
    });
  const opened = await openLog().catch((error: unknown) => {
    // another node began the same log in this moment: it is there now
    if (error instanceof LedgerError && error.reason === 'conflict') return openLog();
    throw error;
  });
  const { certificates, held } = opened;
  if (held !== null) log.error({ reason: held }, 'the ledger is held back: nothing is signed or delivered');
  const served =
    opened.log === undefined
      ? heldBack(ledger, held ?? '')
      : releasing(ledger, opened.log, opened.unseen, isSequencer);
  const lookUps = { keyed: new OneEachTurn(), keyless: new OneEachTurn() };
  const { witnesses: asked, witnessQuorum: quorum } = data;
  const cosigning =
    opened.log &&
    witnesses &&
    new Cosigning({ log: opened.log, witnesses: asked, quorum, clock, report: log });
  const witnessed = { ...certificates, witnesses: async () => cosigning?.states() ?? [] };
  for (const ports of data.callers) serveFront(ports, served, witnessed, lookUps);
  const stopping = new AbortController();
  const sealing = opened.log && keepSealing(opened.log, { isSequencer, resign }, stopping.signal);
  const cosigned = cosigning?.run(stopping.signal);
  close = async () => {
    stopping.abort();
    await sealing;
    await cosigned;
    // what was not logged is logged at the next start, or by another node
    if (await isSequencer()) await opened.log?.sealAll().catch(() => {});
    await ledger.close();
    for (const ports of data.callers) for (const each of Object.values(ports)) each.close();
  };
  return held;
}

/** Which witnesses must have seen a lot before anything is drawn from it; undefined when none must. */
function releasePolicy(): ReleasePolicy | undefined {
  const { witnesses, witnessQuorum: quorum } = data;
  if (witnesses.length === 0) return undefined;
  return { witnesses: witnesses.map(({ key }) => key), quorum };
}

/**
 * The ledger in which a lot that was added is logged at once, so that the first one can soon be drawn from. Nothing is
 * claimed while lots are there that the witnesses have not seen: blocks are given in the order in which they came.
 */
function releasing(
  ledger: Ledger & FailStop,
  certificateLog: CertificateLog,
  unseen: UnseenLots | undefined,
  isSequencer: OpenLedger['isSequencer'],
): Ledger & FailStop {
  return {
    ...ledger,
    async claimBlocks(kind, max) {
      return unseen === undefined || (await unseen.settle()) ? ledger.claimBlocks(kind, max) : [];
    },
    async pendingLots(limit) {
      const pending = await ledger.pendingLots(limit);
      return [...(unseen?.lots() ?? []), ...pending].slice(0, limit);
    },
    async addLot(lot, blocks, jobKey) {
      const isStored = await ledger.addLot(lot, blocks, jobKey);
      if (isStored && lot.accepted && (await isSequencer())) await certificateLog.seal().catch(() => {}); // tried again soon
      return isStored;
    },
  };
}

/** The ledger without what would deliver or sign: each such call is refused with the reason. */
function heldBack(ledger: Ledger & FailStop, reason: string): Ledger & FailStop {
  const refuse = async () => {
    throw new ApiError('storage_unavailable', { message: reason, retryAfterS: HELD_RETRY_AFTER_S });
  };
  const rules: [string, CallRule][] = Object.entries(LEDGER_CALLS);
  const refused = rules.filter(([name, rule]) => rule.room === true || HELD_CALLS.includes(name));
  return { ...ledger, ...Object.fromEntries(refused.map(([name]) => [name, refuse])) };
}

/**
 * Logs what was committed as long as this process is the sequencer, and follows the log of another one else, until
 * aborted. Whoever cannot follow does not ask to be the sequencer. Commits wait behind each batch, which is a transaction of its own:
 * small batches are gathered for an interval, full ones follow each other with a turn of the loop between
 * them.
 */
async function keepSealing(
  certificateLog: CertificateLog,
  { isSequencer, resign }: Pick<OpenLedger, 'isSequencer' | 'resign'>,
  signal: AbortSignal,
): Promise<void> {
  let sealedLast = true;
  let sealedAtMs = clock.monotonicMs();
  while (!signal.aborted) {
    let sealed = 0;
    try {
      if (!sealedLast) await certificateLog.follow();
      const isMine = await isSequencer();
      if (isMine && !sealedLast) await certificateLog.follow(); // what the last one sealed meanwhile
      if (isMine) sealed = await certificateLog.seal();
      sealedLast = isMine;
      sealedAtMs = clock.monotonicMs();
    } catch (error) {
      const isLasting = clock.monotonicMs() - sealedAtMs > UNLOGGED_MAX_MS;
      if (isLasting && data.cluster === null && !isDiskFull(error)) {
        const reason = `for ${UNLOGGED_MAX_MS / 1_000} s no certificate could be logged (${messageOf(error)}): mend ${data.keysPath}, then start again`;
        log.error({ reason }, 'transparency log');
        owner.ledgerFailed(reason);
        return;
      }
      sealedLast = false;
      await resign(); // another node may have what this one lacks, such as a newer key of the log
      log.error(
        { reason: messageOf(error) },
        'transparency log: committed certificates could not be logged; trying again',
      );
    }
    // an abort ends the wait early, as intended
    if (sealed < BATCH_LEAVES) await sleep(SEAL_INTERVAL_MS, undefined, { signal }).catch(() => {});
    else await new Promise((resolve) => setImmediate(resolve));
  }
}
