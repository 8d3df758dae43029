import { messageOf } from '../core/assert.ts';
import { ApiError } from '../core/errors.ts';
import type { SeededTier } from '../core/vocabulary.ts';
import type { DrawLeaf, DrawRecord, WaitingDrawLeaf } from './draw-records.ts';
import type { LedgerIntegrity } from './integrity.ts';
import type { SeriesPage } from './label-records.ts';
import type {
  AccountRecord,
  Balance,
  BlockKind,
  ClaimedBlock,
  JobRecord,
  KeyRecord,
  LotRecord,
  LotRevocation,
  RateRecord,
  SegmentRecord,
  SourceSpend,
  SpendLimits,
  StoredAnswer,
  UsageDay,
} from './records.ts';
import type { Claims, Limits } from './sharing.ts';

/**
 * Keeps everything that must not be lost. A resolved promise means that the change is durable (as `QRN_DURABILITY` says).
 * After a rejected promise the outcome is unknown; the caller may repeat the call with the same ids, and nothing changes
 * twice. The rules are in ledger/domain. They run on a folder (lmdb, the default), on a database that several nodes share
 * (postgres), and in tests in memory.
 */
export interface Ledger extends LedgerCalls {
  /** Absent when nodes share the ledger. */
  readonly identity?: LedgerIdentity | undefined;
  /**
   * Sends the whole directory to the reader, and resolves when the reader has it. From then on the ledger sends every
   * change to the reader, and a call on this object that changes the directory waits for the reader, up to a deadline.
   */
  follow(reader: DirectoryReader): Promise<void>;
  close(): Promise<void>;
}

/** Which ledger a folder holds, and how many servers have started on it: a lower number shows an earlier state. */
export interface LedgerIdentity {
  readonly ledgerId: number;
  /** The number of this server's start; for a reader, that of the next server's. */
  readonly start: number;
}

/** The calls of a ledger, made in its own thread or from another one. */
export interface LedgerCalls
  extends Directory,
    EntropyStore,
    SourceStore,
    Books,
    DrawStore,
    LogStore,
    Limits,
    Claims,
    Upkeep {}

/** A ledger that stops writing for good when a write fails. */
export interface FailStop {
  /** Resolves with the cause when the ledger has stopped writing. */
  readonly failed: Promise<Error>;
}

export interface Upkeep {
  /** Verifies all records again, and writes nothing: see AuditReport. */
  audit(): Promise<AuditReport>;
  /** Writes a consistent copy into the folder, which must be empty or missing, and audits the copy. */
  backup(directory: string): Promise<void>;
  /** Returns the state of the checks of stored records that run beside the service. */
  integrity(): Promise<LedgerIntegrity>;
}

/** A part of the service, in any thread, that works with accounts, keys and revocations of lots. */
export interface DirectoryReader {
  /**
   * Resolves when the reader uses the changes. The ledger read them at the monotonic time `readAtMs`. When nodes share the
   * directory, the ledger calls this four times a second even if nothing changed.
   */
  directoryChanged(changes: DirectoryChanges, readAtMs: number): Promise<void>;
}

/** Accounts and keys. */
export interface Directory {
  /**
   * Returns the current state of the accounts and keys that changed after the version `since`. Returns all of them when
   * `since` is undefined, newer than the newest version, or older than the list of changes reaches.
   */
  directoryChanges(since: number | undefined): Promise<DirectoryChanges>;
  accounts(): Promise<AccountRecord[]>;
  keys(): Promise<KeyRecord[]>;
  /** Creates an account under the next account number. */
  createAccount(account: Omit<AccountRecord, 'number'>): Promise<AccountRecord>;
  /** Replaces the account with the same id. */
  putAccount(account: AccountRecord): Promise<void>;
  /** Creates or replaces the key with this keyId. */
  putKey(key: KeyRecord): Promise<void>;
}

export interface DirectoryChanges {
  /** The version of the directory after these changes. It grows when an account or key changes or a lot is revoked. */
  readonly version: number;
  /** True when these are all accounts and keys. */
  readonly isWhole: boolean;
  readonly accounts: readonly AccountRecord[];
  readonly keys: readonly KeyRecord[];
  /** Ids of the lots that were revoked; empty when `isWhole`. */
  readonly revoked: readonly string[];
}

/** Lots, and the blocks of conditioned bytes made from them. A block can be claimed once. */
export interface EntropyStore {
  /** Returns how many blocks of the lot are unclaimed; 0 for a lot that was revoked or is unknown. */
  unclaimedBlocks(lotId: string): Promise<number>;
  /**
   * Takes up to `max` blocks, oldest first, for this process alone. Before the promise resolves, the claim is on disk and
   * the stored bytes are unreadable. No block is ever returned twice; when the claiming process dies, its blocks are lost.
   * Blocks of revoked lots are never returned. A pending lot holds back its own blocks and all that came after it.
   */
  claimBlocks(kind: BlockKind, max: number): Promise<ClaimedBlock[]>;
  /** Returns the unclaimed blocks and their bytes by kind, pending lots included. */
  blockLevels(): Promise<Record<BlockKind, { blocks: number; bytes: number }>>;
  /**
   * Makes the lot and its blocks durable and, with a `jobKey`, sets the job to `stored`. An accepted lot is pending until
   * `putLog` releases it, and until then none of its blocks can be claimed. Returns false, and stores nothing, when the
   * job has given another lot or has ended: a job gives one lot at most. Refuses blocks of a lot that was not accepted.
   * A repeated call with the same lot id changes nothing and returns the same answer.
   */
  addLot(
    lot: LotRecord,
    blocks: readonly { kind: BlockKind; bytes: Uint8Array }[],
    jobKey?: string,
  ): Promise<boolean>;
  lot(id: string): Promise<LotRecord | undefined>;
  /** Returns the newest lots first; with `source`, only those of that source. */
  lots(limit: number, source?: string): Promise<LotRecord[]>;
  revokeLot(revocation: LotRevocation): Promise<void>;
  revocations(): Promise<LotRevocation[]>;
  /**
   * Takes the next generation number of the tier's seeds, from 1. No number is given twice; a number whose reply is lost
   * is skipped.
   */
  nextSeedGeneration(tier: SeededTier): Promise<number>;
  /** Returns at most `limit` pending lots, oldest first. */
  pendingLots(limit: number): Promise<LotRecord[]>;
}

/** What sources need after a restart, and what they may spend. */
export interface SourceStore {
  sourceNote(source: string, key: string): Promise<string | undefined>;
  /** Returns the notes of all sources under the key. */
  sourceNotes(key: string): Promise<string[]>;
  putSourceNote(source: string, key: string, value: string): Promise<void>;
  /**
   * Adds the spend to the source's day, durably, when the limits leave room for all of it. Returns false, and adds
   * nothing, when they do not or when the spend is in another currency than the day's. Repeating a `key` adds nothing.
   */
  charge(key: string, spend: SourceSpend, limits: SpendLimits): Promise<boolean>;
  spent(source: string, day: number): Promise<SourceSpend>;
  /**
   * Stores a job in the state `intended` and charges its day, or returns false as `charge` does. Returns true for a job
   * that is stored already; throws `conflict` when the key is stored with other facts.
   */
  openJob(job: JobRecord, limits: SpendLimits): Promise<boolean>;
  /**
   * Replaces an opened job. A job in a later state is never replaced by an earlier one, and an ended job never changes. The
   * facts that it was charged for stay as they were opened. Only addLot makes a job `stored`; a job ends with a lot or
   * with a failure.
   */
  putJob(job: JobRecord): Promise<void>;
  /** Returns the jobs of the source that have not ended, in the order in which they were opened. */
  openJobs(source: string): Promise<JobRecord[]>;
}

/** Answers: certificates, spends, counters. */
export interface Books {
  /**
   * Leases sequences for segments, durably. No process has leased or committed any of them before. Sequences that the
   * holder does not use are skipped.
   */
  leaseSequences(): Promise<SequenceLease>;
  /**
   * Makes segments and stored answers durable in one transaction. The counters of quota, credits and usage follow from the
   * entries. A segment is stored once, by its sequence. The call may move the packed entries to the ledger's thread: a
   * caller who may repeat it keeps a copy.
   */
  commit(segments: readonly SegmentRecord[], answers: readonly StoredAnswer[]): Promise<void>;
  segment(sequence: number): Promise<SegmentRecord | undefined>;
  /**
   * Returns committed segments that the transparency log has not sealed, lowest sequence first: as many as it takes to
   * reach this many certificates, or all.
   */
  unsealed(certificates: number): Promise<SegmentRecord[]>;
  /** Returns at most `limit` segments with a sequence of at least `from`, in order. */
  segmentsFrom(from: number, limit: number): Promise<SegmentRecord[]>;
  /** Returns the series of a public purpose, and answers of one series: private ones too, so that no serial is missing. */
  seriesPage(purpose: string, part: SeriesPart): Promise<SeriesPage>;
  /** Returns what each account was charged for answers issued in the calendar month `YYYYMM`. */
  balances(period: number): Promise<Balance[]>;
  /** Returns the account's use from `sinceDay` on (days since 1970, UTC), oldest first, without days of no use. */
  usage(accountNumber: number, sinceDay: number): Promise<UsageDay[]>;
  saveRates(rates: readonly RateRecord[]): Promise<void>;
  /** Returns the saved limiter states, joined with the entries committed since `sinceMs`. */
  loadRates(sinceMs: number): Promise<RateRecord[]>;
  storedAnswer(accountNumber: number, keyDigest: string): Promise<StoredAnswer | undefined>;
  /** Returns the sizes of the stored answers that expire after `nowMs`, summed by account and minute of expiry. */
  storedAnswerSizes(nowMs: number): Promise<StoredAnswerSize[]>;
  /** Erases stored answers that expired, and segments committed before `segmentsBeforeMs`. Returns how many of each. */
  expire(nowMs: number, segmentsBeforeMs: number): Promise<{ answers: number; segments: number }>;
  /** Returns when the oldest and the newest stored segment were committed (Unix ms); undefined when there is none. */
  segmentSpan(): Promise<{ oldestMs: number; newestMs: number } | undefined>;
  /** Makes one small record durable, after the checks that a commit makes. Rejects when no answer could be stored now. */
  probe(): Promise<void>;
}

/** Committed draws. */
export interface DrawStore {
  /**
   * Stores a draw in the state `opening`. Returns false, and stores nothing, when the account has `openMax` draws that have
   * not ended. Throws `conflict` when the id is taken.
   */
  openDraw(draw: DrawRecord, openMax: number): Promise<boolean>;
  /**
   * Replaces a draw and, in the same transaction, queues the leaf for the log. Returns false, and stores nothing, when the
   * stored draw has ended or is in a later state.
   */
  putDraw(draw: DrawRecord, leaf?: DrawLeaf): Promise<boolean>;
  /** Removes a draw in the state `opening`, whose answer was never made. A draw in any other state stays. */
  dropDraw(id: string): Promise<void>;
  draw(id: string): Promise<DrawRecord | undefined>;
  /** Returns at most `limit` draws that have not ended. */
  openDraws(limit: number): Promise<DrawRecord[]>;
  /** Returns at most `limit` leaves that wait to be logged, oldest first. */
  drawLeaves(limit: number): Promise<WaitingDrawLeaf[]>;
  /** Removes these leaves from the queue: they are logged. */
  drawLeavesLogged(ordinals: readonly number[]): Promise<void>;
}

/**
 * A front that commits 1,000 segments a second uses a lease up in five hours, and asks for the next lease after an hour at
 * the latest. Certificate ids have room for 2^48 sequences, which is enough for 2^24 leases.
 */
export const SEQUENCES_PER_LEASE = 2 ** 24;

/** The sequences from `from` (included) to `before` (excluded), which is a multiple of SEQUENCES_PER_LEASE. */
export interface SequenceLease {
  readonly from: number;
  readonly before: number;
}

/** Selects answers of a purpose. */
export interface SeriesPart {
  /** Undefined for the first series of the purpose. */
  readonly series: string | undefined;
  /** The first serial. */
  readonly from: number;
  readonly limit: number;
}

/** The size of an account's stored answers that expire within the same minute, in sealed bytes. */
export interface StoredAnswerSize {
  readonly accountNumber: number;
  /** When the first of them expires (Unix ms). */
  readonly expiresAtMs: number;
  readonly bytes: number;
}

/** Records of the transparency log. Their content is opaque here: `certificate` writes and reads them. */
export interface LogStore {
  /**
   * Puts all records in one transaction. With a `step`, puts them only when the stored record is still the expected one;
   * otherwise another writer took a step first, and the call throws `conflict` and puts nothing. Repeating the call with
   * the same records changes nothing. The same transaction releases lots, since the log holds their commitments from then on.
   */
  putLog(records: readonly LogRecord[], step?: LogStep, released?: ReleasedLots): Promise<void>;
  getLog(key: string): Promise<Uint8Array | undefined>;
}

export interface LogRecord {
  readonly key: string;
  readonly value: Uint8Array;
}

/**
 * Lots whose blocks can be claimed from now on. They must be the oldest pending ones: a lot behind a pending lot that is not
 * named stays pending. A lot that is not pending stays as it is.
 */
export interface ReleasedLots {
  readonly lotIds: readonly string[];
  /** When they were released (Unix ms): see ClaimedBlock. */
  readonly atMs: number;
}

/** A step of the log from one state to the next. Of two writers that start from the same state, only one can take a step. */
export interface LogStep {
  /** The key of one of the records that are put. */
  readonly key: string;
  /** The value stored under the key before the step; undefined for the first step. */
  readonly expected: Uint8Array | undefined;
  /** Sequences of the segments whose leaves are among the records: `unsealed` no longer returns them. */
  readonly sealed: readonly number[];
}

/** Who may make a call, and when. */
interface CallRule {
  /** True when only the server of the folder may make the call, not a command or a reader beside it. */
  readonly server?: true;
  /** True when the call adds data: it throws `storage_unavailable` while the disk is nearly full. */
  readonly room?: true;
  /** True when the call signs or delivers something: like calls with `room`, it is refused while the ledger is held back. */
  readonly held?: true;
}

/** The calls that not everybody may make at any time. */
const CALL_RULES = {
  addLot: { server: true, room: true },
  claimBlocks: { server: true, held: true },
  nextSeedGeneration: { server: true, held: true },
  charge: { room: true }, // buy nothing that could not be stored
  openJob: { server: true, room: true },
  putJob: { server: true },
  leaseSequences: { server: true },
  commit: { server: true, held: true }, // the fronts check for room before they draw
  saveRates: { server: true },
  expire: { server: true },
  probe: { server: true, room: true },
  openDraw: { server: true, room: true },
  putDraw: { server: true, held: true },
  dropDraw: { server: true },
  drawLeavesLogged: { server: true },
  putLog: { server: true, held: true },
  askLimits: { server: true },
  claimKey: { server: true },
  releaseKey: { server: true },
} as const satisfies Readonly<Partial<Record<keyof LedgerCalls, CallRule>>>;

/** Returns the calls. Those with a rule reject with what `guard` throws. */
export function guarded<L extends LedgerCalls>(calls: L, guard: (call: string, rule: CallRule) => void): L {
  const ruled = Object.entries<CallRule>(CALL_RULES).map(([name, rule]) => {
    const made = calls[name as keyof LedgerCalls] as (...args: unknown[]) => Promise<unknown>;
    const call = async (...args: unknown[]) => {
      guard(name, rule);
      return made(...args);
    };
    return [name, call];
  });
  return { ...calls, ...Object.fromEntries(ruled) };
}

export interface AuditReport {
  readonly ok: boolean;
  /** Every violation found, in words. */
  readonly problems: readonly string[];
  readonly segments: number;
  readonly certificates: number;
  readonly creditsSpent: number;
  readonly lots: number;
  readonly blocksUnclaimed: number;
  readonly blocksClaimed: number;
}

/**
 * Why the ledger refused a call. No client causes these, so none is in the error table: the command line prints the
 * message, the service logs it.
 * - conflict: the id is taken by different content.
 * - refused: the call breaks a rule of the ledger (unknown account, blocks of a rejected lot, a write by
 *   a reader).
 * - damaged: a stored record does not carry its own checksum or shape.
 * - unusable: the folder cannot be opened (newer format, another server, not a ledger).
 * - stopped: a commit failed or another server took the folder; nothing more will be written.
 */
export type LedgerErrorReason = 'conflict' | 'refused' | 'damaged' | 'unusable' | 'stopped';

/** Whether the error says that nothing of the call was stored and that the ledger goes on. */
export function isRefusal(error: unknown): error is Error {
  if (error instanceof LedgerError) return error.reason === 'conflict' || error.reason === 'refused';
  return error instanceof ApiError;
}

/** Returns the error that rejects every call after a commit failed with `cause`. */
export function stoppedBy(cause: unknown): LedgerError {
  if (cause instanceof LedgerError && cause.reason === 'stopped') return cause;
  const isDamage = cause instanceof LedgerError && cause.reason === 'damaged';
  const why = isDamage ? cause.message : `a commit failed (${messageOf(cause)})`;
  return new LedgerError('stopped', `the ledger stopped: ${why}`, { cause });
}

export class LedgerError extends Error {
  override name = 'LedgerError';
  readonly reason: LedgerErrorReason;

  constructor(reason: LedgerErrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
