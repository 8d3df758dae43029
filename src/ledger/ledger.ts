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

/**
 * Everything that must not be lost, behind one seam. A resolved promise means durable (as `QRN_DURABILITY` says);
 * a rejected one means the outcome is unknown: the same call with the same ids may be made again and changes nothing
 * twice. Implementations: LmdbLedger (the default), the same behind its own thread, MemoryLedger (the model of the
 * contract suite).
 */
export interface Ledger extends Directory, EntropyStore, SourceStore, Books, LogStore {
  /** Re-verifies everything: see AuditReport. Reads only. */
  audit(): Promise<AuditReport>;
  /** Writes a consistent copy into the folder, which must not exist or be empty, and reads it back. */
  backup(directory: string): Promise<void>;
  close(): Promise<void>;
}

/** Accounts and keys. Other processes may write them beside a running service; `version` tells that they did. */
export interface Directory {
  /** Grows with every change to an account, a key or a lot's revocation, by whatever process. */
  directoryVersion(): Promise<number>;
  accounts(): Promise<AccountRecord[]>;
  keys(): Promise<KeyRecord[]>;
  /** Creates an account under a new dense number. */
  createAccount(account: Omit<AccountRecord, 'number'>): Promise<AccountRecord>;
  /** Replaces an account with the same id. */
  putAccount(account: AccountRecord): Promise<void>;
  /** Creates or replaces the key with this keyId. */
  putKey(key: KeyRecord): Promise<void>;
}

/** Lots and the blocks of conditioned bytes that came from them. */
export interface EntropyStore {
  /**
   * Makes the lot and its blocks durable together, and with a `jobKey` the job, which becomes `stored`. False when the job
   * has its lot or has ended: nothing is stored then, for a job gives one lot at most. Blocks of a lot that is not
   * accepted are refused. Calling again with the same lot id changes nothing and gives the same answer.
   */
  addLot(
    lot: LotRecord,
    blocks: readonly { kind: BlockKind; bytes: Uint8Array }[],
    jobKey?: string,
  ): Promise<boolean>;
  lot(id: string): Promise<LotRecord | undefined>;
  /** The newest lots first. */
  lots(limit: number): Promise<LotRecord[]>;
  revokeLot(revocation: LotRevocation): Promise<void>;
  revocations(): Promise<LotRevocation[]>;
  /**
   * Takes up to `max` blocks, oldest first, for this process alone and for ever: the claim is on disk and the stored
   * bytes are gone before the promise resolves. Blocks of revoked lots are never given. A block is never returned
   * twice, to anyone; one whose claimant dies is burned.
   */
  claimBlocks(kind: BlockKind, max: number): Promise<ClaimedBlock[]>;
  /** Bytes not yet claimed, by kind. */
  blockLevels(): Promise<Record<BlockKind, { blocks: number; bytes: number }>>;
}

/** What sources must know again after a restart, and what they may spend. */
export interface SourceStore {
  sourceNote(source: string, key: string): Promise<string | undefined>;
  putSourceNote(source: string, key: string, value: string): Promise<void>;
  /**
   * Takes the spend from the source's day when the limits leave room for all of it, durably. False takes nothing; so does a
   * spend in another currency than the day's, since the two cannot be summed. The same `key` takes once.
   */
  charge(key: string, spend: SourceSpend, limits: SpendLimits): Promise<boolean>;
  spent(source: string, day: number): Promise<SourceSpend>;
  /**
   * Writes a job in state `intended` and charges its day, or refuses both as `charge` does. A job that is known already is
   * admitted; one with other facts under its key is a `conflict`.
   */
  openJob(job: JobRecord, limits: SpendLimits): Promise<boolean>;
  /**
   * Replaces a job that was opened; a later state is never replaced by an earlier one, and `ended` by nothing. What it was
   * charged for stays as it was opened. Only addLot makes a job `stored`; a job ends with a lot or with a failure.
   */
  putJob(job: JobRecord): Promise<void>;
  /** Jobs of the source that have not ended, in the order in which they were opened. */
  openJobs(source: string): Promise<JobRecord[]>;
}

/** Answers: certificates, spends, counters. */
export interface Books {
  /** The sequence that the next segment of this process takes; never one that was acknowledged before. */
  nextSegment(): Promise<number>;
  /**
   * Makes segments (and the idempotent answers among them) durable in one transaction, with quota, credit and usage
   * counters derived from their entries. Idempotent by segment sequence. The packed entries may be handed over to the
   * ledger's thread: a caller who may repeat the call keeps a copy.
   */
  commit(segments: readonly SegmentRecord[], answers: readonly StoredAnswer[]): Promise<void>;
  segment(sequence: number): Promise<SegmentRecord | undefined>;
  /** What each account used in the calendar month `YYYYMM`. */
  balances(period: number): Promise<Balance[]>;
  /** The latest period that any record names, or 0: time as the books know it never goes back. */
  latestPeriod(): Promise<number>;
  /** Days from `sinceDay` on (days since 1970, UTC), oldest first, days without use left out. */
  usage(accountNumber: number, sinceDay: number): Promise<UsageDay[]>;
  saveRates(rates: readonly RateRecord[]): Promise<void>;
  /** Saved limiter states, joined with the entries committed since `sinceMs`. */
  loadRates(sinceMs: number): Promise<RateRecord[]>;
  storedAnswer(accountNumber: number, keyDigest: string): Promise<StoredAnswer | undefined>;
  /** Erases stored answers that expired, and whole segments older than the retention. Returns how many of each. */
  expire(nowMs: number, segmentsBeforeMs: number): Promise<{ answers: number; segments: number }>;
}

/** Records of the transparency log, opaque here: the certificate room writes and reads them. */
export interface LogStore {
  /** Puts all records in one transaction. */
  putLog(records: readonly { key: string; value: Uint8Array }[]): Promise<void>;
  getLog(key: string): Promise<Uint8Array | undefined>;
  /** Segments with a sequence of at least `from`, in order, at most `limit`. */
  segmentsFrom(from: number, limit: number): Promise<SegmentRecord[]>;
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
 * Why the ledger says no. None of these is a client's doing, so none is in the error table: the command line prints
 * the message, the service logs it.
 * - conflict: the id is taken by different content.
 * - refused: the call breaks a rule of the ledger (unknown account, blocks of a rejected lot, a write by a tool).
 * - damaged: a stored record does not carry its own checksum or shape.
 * - unusable: the folder cannot be opened (newer format, another server, not a ledger).
 * - stopped: a commit failed or another server took the folder; nothing more will be written.
 */
export type LedgerErrorReason = 'conflict' | 'refused' | 'damaged' | 'unusable' | 'stopped';

export class LedgerError extends Error {
  override name = 'LedgerError';
  readonly reason: LedgerErrorReason;

  constructor(reason: LedgerErrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
