import { setTimeout as sleep } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { Cosigning } from '../certificate/cosigning.ts';
import { BATCH_LEAVES, type CertificateLog } from '../certificate/log.ts';
import { openCertificates } from '../certificate/open.ts';
import type { UnseenLots } from '../certificate/unseen-lots.ts';
import type { Settings } from '../config/config.ts';
import { messageOf } from '../core/assert.ts';
import { GuardedClock } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import { createLog } from '../core/log.ts';
import { isDiskFull, type JournalPlace } from '../ledger/journal.ts';
import { type FailStop, guarded, type Ledger, LedgerError } from '../ledger/ledger.ts';
import { openLmdbLedger } from '../ledger/lmdb/lmdb-ledger.ts';
import { awayFailure } from '../ledger/postgres/failure.ts';
import { HELD_RETRY_AFTER_S } from '../ledger/segment-sink.ts';
import { Link, OneEachTurn } from '../workers/call.ts';
import type { ThreadData } from '../workers/thread.ts';
import { type LedgerPorts, serveFront } from './ledger-link.ts';

/** How the ledger is opened and served. */
export interface LedgerSettings
  extends Pick<
    Settings,
    'durability' | 'fronts' | 'logColour' | 'logLevel' | 'logName' | 'witnesses' | 'witnessQuorum'
  > {
  /** The folder of the ledger or, with `cluster`, of this node's blocks. */
  readonly path: string;
  /** The URL of the database with the books, and the name of this node; null when the books are in the folder. */
  readonly cluster: { readonly url: string; readonly node: string } | null;
  /** See LmdbLedgerOptions. */
  readonly scrubBytesPerS: number;
  /** The folder of the log's keys. */
  readonly keysPath: string;
}

/** The data that the ledger's thread is started with. */
export interface LedgerWorkerData extends LedgerSettings, ThreadData {
  /** The ports for the calls of the main thread and of each front. */
  readonly callers: readonly LedgerPorts[];
  /** See LmdbLedgerOptions. */
  readonly gate: Int32Array;
}

/** The calls on the ledger's thread. */
export interface LedgerCommands {
  /** Opens the ledger, and serves it to its callers. Rejects with an error that tells the operator what to do. */
  open(): Promise<OpenedLedger>;
  /** Logs what is committed, and closes the ledger. */
  close(): Promise<void>;
}

export interface OpenedLedger {
  /** The fronts' journals; null when fronts write none. */
  readonly journals: readonly JournalPlace[] | null;
  /** Why nothing may be signed or delivered; null when all is well. */
  readonly held: string | null;
}

/** The calls of the ledger's thread on the thread that started it. */
export interface LedgerOwner {
  /** A commit failed: nothing more is written, and the service must stop. */
  ledgerFailed(reason: string): void;
}

/**
 * How often certificates are logged: the usual longest time from an answer to its proof. A batch takes 2 to 4 ms of CPU
 * however small it is, most of it for the three flushes of its transaction and its anchor.
 */
const SEAL_INTERVAL_MS = 250;

/** How long logging may fail before the service stops, when only the log's own files can be the cause. */
const UNLOGGED_MAX_MS = 10_000;

// The entry of the ledger's thread, the only one that writes the ledger. It logs certificates between commits.
const data = workerData as LedgerWorkerData;
/** Each thread has its own guarded clock. All are started together, so they see the same jumps. */
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
  /** Whether this process seals the log now. Other nodes follow it. */
  readonly isSequencer: () => Promise<boolean>;
  /** Lets another node seal the log. */
  readonly resign: () => Promise<void>;
}

async function openLedger(): Promise<OpenLedger> {
  const { path, durability, scrubBytesPerS, cluster, keysPath, logName, gate } = data;
  const options = { path, clock, log, role: 'server', durability, scrubBytesPerS, gate } as const;
  if (cluster !== null) {
    // imported only here, so that a service without a database does not load its client
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

/** Serves the ledger to all callers. Resolves with why the ledger is held back; null when it is not. */
async function serve({ ledger, isSequencer, resign }: OpenLedger): Promise<string | null> {
  const { path: ledgerPath, keysPath, logName, witnesses, witnessQuorum: quorum } = data;
  const asked = witnesses.length === 0 ? undefined : { witnesses, quorum };
  const openLog = () =>
    openCertificates({
      ...{ ledger, ledgerPath, keysPath, logName, clock },
      ...(asked === undefined ? {} : { witnesses: asked }),
    });
  const opened = await openLog().catch((error: unknown) => {
    // another node has begun the same log at this moment: open that one
    if (error instanceof LedgerError && error.reason === 'conflict') return openLog();
    throw error;
  });
  const { certificates, held } = opened;
  if (held !== null)
    log.error(
      { reason: held },
      'the service signs nothing and delivers no entropy until the operator acts; see reason',
    );
  const served =
    opened.log === undefined
      ? heldBack(ledger, held ?? '')
      : releasing(ledger, opened.log, opened.unseen, isSequencer);
  const lookUps = { keyed: new OneEachTurn(), keyless: new OneEachTurn() };
  const cosigning = opened.log && asked && new Cosigning({ log: opened.log, ...asked, clock, report: log });
  const witnessed = { ...certificates, witnesses: async () => cosigning?.states() ?? [] };
  for (const ports of data.callers) serveFront(ports, served, witnessed, lookUps);
  const stopping = new AbortController();
  const sealing = opened.log && keepSealing(opened.log, { isSequencer, resign }, stopping.signal);
  const cosigned = cosigning?.run(stopping.signal);
  close = async () => {
    stopping.abort();
    await sealing;
    await cosigned;
    // the next start, or another node, logs what is left
    if (await isSequencer()) await opened.log?.sealAll().catch(() => {});
    await ledger.close();
    for (const ports of data.callers) for (const each of Object.values(ports)) each.close();
  };
  return held;
}

/**
 * Returns the ledger, in which adding a lot also logs it at once, so that it can soon be drawn from. While there are lots
 * that the witnesses have not cosigned, no blocks can be claimed, because blocks are claimed in order.
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
      if (isStored && lot.accepted && (await isSequencer())) await certificateLog.seal().catch(() => {}); // keepSealing retries
      return isStored;
    },
  };
}

/** Returns the ledger, in which every call that would deliver or sign something throws the reason. */
function heldBack(ledger: Ledger & FailStop, message: string): Ledger & FailStop {
  return guarded(ledger, (_call, { room, held }) => {
    if (room ?? held) throw new ApiError('storage_unavailable', { message, retryAfterS: HELD_RETRY_AFTER_S });
  });
}

/**
 * Logs committed certificates while this process is the sequencer, and otherwise follows the log of the node that is, until
 * aborted. A process that cannot follow the log does not ask to be the sequencer. Commits wait for each batch, so small
 * batches are gathered for an interval, and between full ones the loop has a turn.
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
      if (isMine && !sealedLast) await certificateLog.follow(); // takes in what the last sequencer sealed meanwhile
      if (isMine) sealed = await certificateLog.seal();
      sealedLast = isMine;
      sealedAtMs = clock.monotonicMs();
    } catch (error) {
      const isLasting = clock.monotonicMs() - sealedAtMs > UNLOGGED_MAX_MS;
      if (isLasting && data.cluster === null && !isDiskFull(error)) {
        const reason = `no certificate could be logged for ${UNLOGGED_MAX_MS / 1_000} s (${messageOf(error)}): repair ${data.keysPath}, then start the service again`;
        log.error({ reason }, 'transparency log: certificates cannot be logged, so the service stops');
        owner.ledgerFailed(reason);
        return;
      }
      sealedLast = false;
      await resign(); // another node may be able to seal: it may have, for instance, a newer key of the log
      log.error(
        { reason: messageOf(error) },
        'transparency log: could not log committed certificates; trying again',
      );
    }
    // an abort ends the wait early
    if (sealed < BATCH_LEAVES) await sleep(SEAL_INTERVAL_MS, undefined, { signal }).catch(() => {});
    else await new Promise((resolve) => setImmediate(resolve));
  }
}
