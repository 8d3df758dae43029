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
 * Everything that must not be lost, behind one seam. A resolved promise means that the change is durable (as
 * `QRN_DURABILITY` says); after a rejected one the outcome is unknown, and the same call with the same ids may be made
 * again and changes nothing twice. The rules are in ledger/domain; a folder (lmdb, the default) and a database that nodes share
 * (postgres) run them, and so do tests in memory.
 */
export interface Ledger extends LedgerCalls {
  /** Absent where nodes share the ledger. */
  readonly identity?: LedgerIdentity;
  /**
   * Resolves when the reader has the whole directory. From then on it is told of every change, and a call that makes one
   * here waits until it has it.
   */
  follow(reader: DirectoryReader): Promise<void>;
  close(): Promise<void>;
}

/** Which ledger a folder holds, and how often a server has started on it: a lower number is an earlier state. */
export interface LedgerIdentity {
  readonly ledgerId: number;
  /** Of this server; for a reader, of the next one. */
  readonly start: number;
}

/** What may be asked of a ledger, in this thread or from another. */
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

/** A ledger that can come to its end on its own. */
export interface FailStop {
  /** Resolves with the cause when nothing more will be written. */
  readonly failed: Promise<Error>;
}

export interface Upkeep {
  /** Re-verifies everything: see AuditReport. Reads only. */
  audit(): Promise<AuditReport>;
  /** Writes a consistent copy into the folder, which must not exist or be empty, and reads it back. */
  backup(directory: string): Promise<void>;
  /** How far the checks of what is stored have come that run beside the service. */
  integrity(): Promise<LedgerIntegrity>;
}

/** Who serves by accounts, keys and withdrawals of lots, in whatever thread. */
export interface DirectoryReader {
  /**
   * Resolves when the reader goes by the changes, which were read at the monotonic time `readAtMs`. Where nodes share the
   * directory it is called four times a second, also with no change.
   */
  directoryChanged(changes: DirectoryChanges, readAtMs: number): Promise<void>;
}

/** Accounts and keys. */
export interface Directory {
  /**
   * Accounts and keys as they are now, of those that were changed after the version `since`. All of them when it is
   * undefined, later than the newest, or so far back that the changes after it are not listed any more.
   */
  directoryChanges(since: number | undefined): Promise<DirectoryChanges>;
  accounts(): Promise<AccountRecord[]>;
  keys(): Promise<KeyRecord[]>;
  /** Creates an account under a new dense number. */
  createAccount(account: Omit<AccountRecord, 'number'>): Promise<AccountRecord>;
  /** Replaces an account with the same id. */
  putAccount(account: AccountRecord): Promise<void>;
  /** Creates or replaces the key with this keyId. */
  putKey(key: KeyRecord): Promise<void>;
}

export interface DirectoryChanges {
  /** The version that these changes lead to. It grows with every change to an account, a key or a lot's revocation. */
  readonly version: number;
  /** These are all accounts and keys. */
  readonly isWhole: boolean;
  readonly accounts: readonly AccountRecord[];
  readonly keys: readonly KeyRecord[];
  /** Lots that were withdrawn; with `isWhole` none is named. */
  readonly revoked: readonly string[];
}

/** Lots and the blocks of conditioned bytes that came from them: each block is claimed once. */
export interface EntropyStore {
  /** Blocks of the lot that nobody has claimed; 0 for a lot that was withdrawn or is not known. */
  unclaimedBlocks(lotId: string): Promise<number>;
  /**
   * Takes up to `max` blocks, oldest first, for this process alone and forever: the claim is on disk and the
   * stored bytes are gone before the promise resolves. Blocks of revoked lots are never given, nor blocks of pending lots
   * and of those after them. A block is never returned twice, to anyone; one whose claimant dies is burned.
   */
  claimBlocks(kind: BlockKind, max: number): Promise<ClaimedBlock[]>;
  /** Bytes not yet claimed, by kind; those of pending lots among them. */
  blockLevels(): Promise<Record<BlockKind, { blocks: number; bytes: number }>>;
  /**
   * Makes the lot durable with its blocks, and with a `jobKey` the job, which becomes `stored`. A lot that was accepted is
   * pending until `putLog` releases it: before then none of its blocks can be claimed. False
   * when the job has its lot or has ended: nothing is stored then, for a job gives one lot at most. Blocks of
   * a lot that is not accepted are refused. Calling again with the same lot id changes nothing and gives the
   * same answer.
   */
  addLot(
    lot: LotRecord,
    blocks: readonly { kind: BlockKind; bytes: Uint8Array }[],
    jobKey?: string,
  ): Promise<boolean>;
  lot(id: string): Promise<LotRecord | undefined>;
  /** The newest lots first; of one source alone when `source` is given. */
  lots(limit: number, source?: string): Promise<LotRecord[]>;
  revokeLot(revocation: LotRevocation): Promise<void>;
  revocations(): Promise<LotRevocation[]>;
  /**
   * Takes the next generation number of the tier's seeds, from 1. No number is ever given twice; one whose
   * reply is lost is left out.
   */
  nextSeedGeneration(tier: SeededTier): Promise<number>;
  /** Pending lots in the order in which they came, at most `limit`. */
  pendingLots(limit: number): Promise<LotRecord[]>;
}

/** What sources must know again after a restart, and what they may spend. */
export interface SourceStore {
  sourceNote(source: string, key: string): Promise<string | undefined>;
  /** Those of all sources under the key. */
  sourceNotes(key: string): Promise<string[]>;
  putSourceNote(source: string, key: string, value: string): Promise<void>;
  /**
   * Takes the spend from the source's day when the limits leave room for all of it, durably. False takes
   * nothing; so does a spend in another currency than the day's, since the two cannot be summed. The same
   * `key` takes once.
   */
  charge(key: string, spend: SourceSpend, limits: SpendLimits): Promise<boolean>;
  spent(source: string, day: number): Promise<SourceSpend>;
  /**
   * Writes a job in state `intended` and charges its day, or refuses both as `charge` does. A job that is
   * known already is admitted; one with other facts under its key is a `conflict`.
   */
  openJob(job: JobRecord, limits: SpendLimits): Promise<boolean>;
  /**
   * Replaces a job that was opened; a later state is never replaced by an earlier one, and `ended` by
   * nothing. What it was charged for stays as it was opened. Only addLot makes a job `stored`; a job ends
   * with a lot or with a failure.
   */
  putJob(job: JobRecord): Promise<void>;
  /** Jobs of the source that have not ended, in the order in which they were opened. */
  openJobs(source: string): Promise<JobRecord[]>;
}

/** Answers: certificates, spends, counters. */
export interface Books {
  /**
   * Leases sequences for segments, durably: none of them was leased or committed before, by whatever process. Those that
   * the holder does not use, because it dies, are left out.
   */
  leaseSequences(): Promise<SequenceLease>;
  /**
   * Makes segments (and the idempotent answers among them) durable in one transaction, with quota, credit and
   * usage counters derived from their entries. Idempotent by segment sequence. The packed entries may be
   * handed over to the ledger's thread: a caller who may repeat the call keeps a copy.
   */
  commit(segments: readonly SegmentRecord[], answers: readonly StoredAnswer[]): Promise<void>;
  segment(sequence: number): Promise<SegmentRecord | undefined>;
  /**
   * Committed segments that the transparency log has not sealed, by ascending sequence: from the first one on until they
   * have this many certificates, or all.
   */
  unsealed(certificates: number): Promise<SegmentRecord[]>;
  /** Segments with a sequence of at least `from`, in order, at most `limit`. */
  segmentsFrom(from: number, limit: number): Promise<SegmentRecord[]>;
  /** The series of a public purpose, and answers of one of them: also the private ones, whose serials would else be gaps. */
  seriesPage(purpose: string, part: SeriesPart): Promise<SeriesPage>;
  /** What each account was charged in the calendar month `YYYYMM`: answers that were issued in it. */
  balances(period: number): Promise<Balance[]>;
  /** Days from `sinceDay` on (days since 1970, UTC), oldest first, days without use left out. */
  usage(accountNumber: number, sinceDay: number): Promise<UsageDay[]>;
  saveRates(rates: readonly RateRecord[]): Promise<void>;
  /** Saved limiter states, joined with the entries committed since `sinceMs`. */
  loadRates(sinceMs: number): Promise<RateRecord[]>;
  storedAnswer(accountNumber: number, keyDigest: string): Promise<StoredAnswer | undefined>;
  /** What stored answers take that expire after `nowMs`: summed by account and time, the encoding of an answer is counted. */
  storedAnswerSizes(nowMs: number): Promise<StoredAnswerSize[]>;
  /**
   * Erases stored answers that expired, and whole segments older than the retention. Returns how many of
   * each.
   */
  expire(nowMs: number, segmentsBeforeMs: number): Promise<{ answers: number; segments: number }>;
  /** When the oldest and the newest stored segment were committed (Unix ms); undefined without any. */
  segmentSpan(): Promise<{ oldestMs: number; newestMs: number } | undefined>;
  /**
   * Makes one small record durable, after the checks that a commit makes: tells whether an answer could be
   * written now.
   */
  probe(): Promise<void>;
}

/** Committed draws. */
export interface DrawStore {
  /**
   * Stores a draw in the state `opening`; false, and nothing stored, when the account has `openMax` draws that have not
   * ended. A `conflict` when the id is taken.
   */
  openDraw(draw: DrawRecord, openMax: number): Promise<boolean>;
  /**
   * Replaces a draw, and in the same transaction has the leaf wait for the log. False, and nothing stored, when the draw
   * has ended, or stands in a later state.
   */
  putDraw(draw: DrawRecord, leaf?: DrawLeaf): Promise<boolean>;
  /** Forgets a draw whose answer was never made; one in another state than `opening` stays. */
  dropDraw(id: string): Promise<void>;
  draw(id: string): Promise<DrawRecord | undefined>;
  /** Draws that have not ended, at most `limit`. */
  openDraws(limit: number): Promise<DrawRecord[]>;
  /** Leaves that wait to be logged, in the order in which they came, at most `limit`. */
  drawLeaves(limit: number): Promise<WaitingDrawLeaf[]>;
  /** These leaves wait no more. */
  drawLeavesLogged(ordinals: readonly number[]): Promise<void>;
}

/**
 * A front with 1,000 segments a second uses them up in five hours, and asks for the next ones after one at the latest. The 2^48
 * sequences that certificate ids have room for are enough for 2^24 leases.
 */
export const SEQUENCES_PER_LEASE = 2 ** 24;

/** Sequences from `from` up to, and without, `before`, which is a multiple of SEQUENCES_PER_LEASE. */
export interface SequenceLease {
  readonly from: number;
  readonly before: number;
}

/** Which answers of a purpose are asked for. */
export interface SeriesPart {
  /** Undefined: the first series of the purpose. */
  readonly series: string | undefined;
  /** The first serial. */
  readonly from: number;
  readonly limit: number;
}

/** Sealed bytes of the answers of an account that expire within the same minute. */
export interface StoredAnswerSize {
  readonly accountNumber: number;
  /** When the first of them expires (Unix ms). */
  readonly expiresAtMs: number;
  readonly bytes: number;
}

/** Records of the transparency log, opaque here: the certificate room writes and reads them. */
export interface LogStore {
  /**
   * Puts all records in one transaction. With a `step`, only when its record is still the expected one: `conflict` means
   * that another writer took a step first, and nothing was put. Calling again with the same records changes nothing.
   * The same transaction releases lots, because what they are held to stands in the log from then on.
   */
  putLog(records: readonly LogRecord[], step?: LogStep, released?: ReleasedLots): Promise<void>;
  getLog(key: string): Promise<Uint8Array | undefined>;
}

export interface LogRecord {
  readonly key: string;
  readonly value: Uint8Array;
}

/** Lots whose blocks can be claimed from now on: the oldest pending ones. One that is not pending stays as it is. */
export interface ReleasedLots {
  readonly lotIds: readonly string[];
  /** Told with each of their blocks. */
  readonly atMs: number;
}

/** A step of the log from one state to the next. Two writers that begin at the same state cannot both take one. */
export interface LogStep {
  /** One of the records that are put. */
  readonly key: string;
  /** What is stored under the key before the step; undefined for the first one. */
  readonly expected: Uint8Array | undefined;
  /** Segments whose leaves are among the records: `unsealed` gives them no more. */
  readonly sealed: readonly number[];
}

/** Who may make a call, and what must hold before it is made. */
export interface CallRule {
  /** True when only the server of the folder may call, not a command or reader beside it. */
  readonly server?: true;
  /** True when the call adds data: it is refused with `storage_unavailable` while the disk is nearly full. */
  readonly room?: true;
}

/**
 * Every call of the seam once: whoever forwards, guards or lists the calls derives it from this table. The
 * compiler refuses a call of the seam that is missing here.
 */
export const LEDGER_CALLS = {
  directoryChanges: {},
  accounts: {},
  keys: {},
  createAccount: {},
  putAccount: {},
  putKey: {},
  addLot: { server: true, room: true },
  lot: {},
  lots: {},
  unclaimedBlocks: {},
  revokeLot: {},
  revocations: {},
  claimBlocks: { server: true },
  pendingLots: {},
  nextSeedGeneration: { server: true },
  blockLevels: {},
  sourceNote: {},
  sourceNotes: {},
  putSourceNote: {},
  charge: { room: true }, // nothing is bought that could not be stored
  spent: {},
  openJob: { server: true, room: true },
  putJob: { server: true },
  openJobs: {},
  leaseSequences: { server: true },
  commit: { server: true }, // the fronts asked for room before they drew for it
  segment: {},
  unsealed: {},
  segmentsFrom: {},
  seriesPage: {},
  balances: {},
  usage: {},
  saveRates: { server: true },
  loadRates: {},
  storedAnswer: {},
  storedAnswerSizes: {},
  expire: { server: true },
  segmentSpan: {},
  probe: { server: true, room: true },
  openDraw: { server: true, room: true },
  putDraw: { server: true },
  dropDraw: { server: true },
  draw: {},
  openDraws: {},
  drawLeaves: {},
  drawLeavesLogged: { server: true },
  putLog: { server: true },
  getLog: {},
  isShared: {},
  askLimits: { server: true },
  claimKey: { server: true },
  releaseKey: { server: true },
  audit: {},
  backup: {},
  integrity: {},
} as const satisfies Readonly<Record<keyof LedgerCalls, CallRule>>;

/** The calls of a ledger, and no other function of what has them. `guard` throws when the rule forbids the call now. */
export function callsOver(
  all: LedgerCalls,
  guard: (call: string, rule: CallRule) => void = () => {},
): Readonly<LedgerCalls> {
  const calls = Object.entries<CallRule>(LEDGER_CALLS).map(([name, rule]) => {
    const made = all[name as keyof LedgerCalls] as (...args: unknown[]) => Promise<unknown>;
    const call = async (...args: unknown[]) => {
      guard(name, rule);
      return made(...args);
    };
    return [name, call];
  });
  return Object.fromEntries(calls) as LedgerCalls;
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
 * Why the ledger says no. None of these is a client's doing, so none is in the error table: the command line
 * prints the message, the service logs it.
 * - conflict: the id is taken by different content.
 * - refused: the call breaks a rule of the ledger (unknown account, blocks of a rejected lot, a write by
 *   a reader).
 * - damaged: a stored record does not carry its own checksum or shape.
 * - unusable: the folder cannot be opened (newer format, another server, not a ledger).
 * - stopped: a commit failed or another server took the folder; nothing more will be written.
 */
export type LedgerErrorReason = 'conflict' | 'refused' | 'damaged' | 'unusable' | 'stopped';

/** Nothing of the call was stored, and others may follow. */
export function isRefusal(error: unknown): error is Error {
  if (error instanceof LedgerError) return error.reason === 'conflict' || error.reason === 'refused';
  return error instanceof ApiError;
}

/** What every later call is rejected with when a commit failed for this reason. */
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
