import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import type { BlockKeys } from '../block-keys.ts';
import type { Journal } from '../journal.ts';
import {
  type AuditReport,
  type Books,
  type Directory,
  type EntropyStore,
  type Ledger,
  LedgerError,
} from '../ledger.ts';
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
} from '../records.ts';
import type { ServerLock } from '../server-lock.ts';
import { auditTables } from './audit.ts';
import type { LmdbBooks } from './books.ts';
import type { FreeSpace } from './data-file.ts';
import { LmdbDirectory } from './directory.ts';
import type { LmdbEntropyStore } from './entropy.ts';
import type { Environment } from './environment.ts';
import type { GroupWriter } from './group-writer.ts';
import type { JournaledBooks } from './journaled-books.ts';
import type { LmdbSourceStore } from './sources.ts';
import type { Tables } from './tables.ts';

/** What openLmdbLedger (lmdb.ts) has opened. */
export interface LmdbLedgerParts {
  readonly environment: Environment;
  readonly tables: Tables;
  readonly writer: GroupWriter;
  readonly books: LmdbBooks;
  readonly sources: LmdbSourceStore;
  readonly entropy: LmdbEntropyStore;
  /** Present for a server. */
  readonly blockKeys: BlockKeys | undefined;
  /** Present with durability `commit`. */
  readonly journaled: { readonly books: JournaledBooks; readonly journal: Journal } | undefined;
  readonly space: FreeSpace;
  readonly role: 'server' | 'tool';
  readonly lock: ServerLock | undefined;
  /** Opens the ledger in a folder, reads all of it and gives its problems. */
  readonly audited: (directory: string) => Promise<readonly string[]>;
  /** Takes from a copy what this ledger goes on to deliver: unclaimed blocks, and the results of open jobs. */
  readonly yielded: (directory: string) => Promise<void>;
}

/** The ledger in an LMDB folder: one process writes answers and claims, tools beside it write accounts and keys. */
export class LmdbLedger implements Ledger {
  /** Resolves with the cause when a commit failed and nothing more will be written: the service then exits. */
  readonly failed: Promise<Error>;
  readonly #parts: LmdbLedgerParts;
  readonly #directory: Directory;
  readonly #entropy: EntropyStore;
  readonly #sources: LmdbSourceStore;
  readonly #books: Books;
  readonly #logStore: LmdbBooks;
  #closed: Promise<void> | undefined;

  constructor(parts: LmdbLedgerParts) {
    const { environment, tables, writer } = parts;
    this.failed = writer.failed;
    this.#parts = parts;
    this.#directory = new LmdbDirectory(environment, tables, writer);
    this.#sources = parts.sources;
    this.#entropy = parts.entropy;
    this.#books = parts.journaled?.books ?? parts.books;
    this.#logStore = parts.books;
  }

  directoryVersion(): Promise<number> {
    return this.#directory.directoryVersion();
  }

  accounts(): Promise<AccountRecord[]> {
    return this.#directory.accounts();
  }

  keys(): Promise<KeyRecord[]> {
    return this.#directory.keys();
  }

  createAccount(account: Omit<AccountRecord, 'number'>): Promise<AccountRecord> {
    return this.#directory.createAccount(account);
  }

  putAccount(account: AccountRecord): Promise<void> {
    return this.#directory.putAccount(account);
  }

  putKey(key: KeyRecord): Promise<void> {
    return this.#directory.putKey(key);
  }

  async addLot(
    lot: LotRecord,
    blocks: readonly { kind: BlockKind; bytes: Uint8Array }[],
    jobKey?: string,
  ): Promise<boolean> {
    this.#requireServer('addLot');
    this.#parts.space.require();
    return this.#entropy.addLot(lot, blocks, jobKey);
  }

  lot(id: string): Promise<LotRecord | undefined> {
    return this.#entropy.lot(id);
  }

  lots(limit: number): Promise<LotRecord[]> {
    return this.#entropy.lots(limit);
  }

  revokeLot(revocation: LotRevocation): Promise<void> {
    return this.#entropy.revokeLot(revocation);
  }

  revocations(): Promise<LotRevocation[]> {
    return this.#entropy.revocations();
  }

  async claimBlocks(kind: BlockKind, max: number): Promise<ClaimedBlock[]> {
    this.#requireServer('claimBlocks');
    return this.#entropy.claimBlocks(kind, max);
  }

  blockLevels(): Promise<Record<BlockKind, { blocks: number; bytes: number }>> {
    return this.#entropy.blockLevels();
  }

  sourceNote(source: string, key: string): Promise<string | undefined> {
    return this.#sources.sourceNote(source, key);
  }

  putSourceNote(source: string, key: string, value: string): Promise<void> {
    return this.#sources.putSourceNote(source, key, value);
  }

  async charge(key: string, spend: SourceSpend, limits: SpendLimits): Promise<boolean> {
    this.#parts.space.require(); // nothing is bought that could not be stored
    return this.#sources.charge(key, spend, limits);
  }

  spent(source: string, day: number): Promise<SourceSpend> {
    return this.#sources.spent(source, day);
  }

  async openJob(job: JobRecord, limits: SpendLimits): Promise<boolean> {
    this.#requireServer('openJob');
    this.#parts.space.require();
    return this.#sources.openJob(job, limits);
  }

  async putJob(job: JobRecord): Promise<void> {
    this.#requireServer('putJob');
    await this.#sources.putJob(job);
  }

  openJobs(source: string): Promise<JobRecord[]> {
    return this.#sources.openJobs(source);
  }

  /** Ends the jobs of all sources that have no lot yet. */
  async abandonJobs(failure: string): Promise<void> {
    this.#requireServer('abandonJobs');
    await this.#sources.abandonJobs(failure);
  }

  nextSegment(): Promise<number> {
    return this.#books.nextSegment();
  }

  async commit(segments: readonly SegmentRecord[], answers: readonly StoredAnswer[]): Promise<void> {
    this.#requireServer('commit');
    this.#parts.space.require();
    await this.#books.commit(segments, answers);
  }

  segment(sequence: number): Promise<SegmentRecord | undefined> {
    return this.#books.segment(sequence);
  }

  balances(period: number): Promise<Balance[]> {
    return this.#books.balances(period);
  }

  latestPeriod(): Promise<number> {
    return this.#books.latestPeriod();
  }

  usage(accountNumber: number, sinceDay: number): Promise<UsageDay[]> {
    return this.#books.usage(accountNumber, sinceDay);
  }

  async saveRates(rates: readonly RateRecord[]): Promise<void> {
    this.#requireServer('saveRates');
    await this.#books.saveRates(rates);
  }

  loadRates(sinceMs: number): Promise<RateRecord[]> {
    return this.#books.loadRates(sinceMs);
  }

  storedAnswer(accountNumber: number, keyDigest: string): Promise<StoredAnswer | undefined> {
    return this.#books.storedAnswer(accountNumber, keyDigest);
  }

  async expire(nowMs: number, segmentsBeforeMs: number): Promise<{ answers: number; segments: number }> {
    this.#requireServer('expire');
    return this.#books.expire(nowMs, segmentsBeforeMs);
  }

  async putLog(records: readonly { key: string; value: Uint8Array }[]): Promise<void> {
    this.#requireServer('putLog');
    await this.#logStore.putLog(records);
  }

  getLog(key: string): Promise<Uint8Array | undefined> {
    return this.#logStore.getLog(key);
  }

  async segmentsFrom(from: number, limit: number): Promise<SegmentRecord[]> {
    await this.#flush();
    return this.#logStore.segmentsFrom(from, limit);
  }

  async audit(): Promise<AuditReport> {
    await this.#flush();
    return auditTables(this.#parts.tables, this.#parts.environment.snapshot());
  }

  /**
   * Writers go on while the copy is made: it is one moment of the ledger, without its unclaimed blocks and with its open
   * jobs ended, whose bits a restored copy would deliver a second time.
   */
  backup(directory: string): Promise<void> {
    return this.#copyTo(directory, false);
  }

  /** Like backup, without the free pages: as small as the content. To be put in the ledger's place while it is down. */
  compactTo(directory: string): Promise<void> {
    return this.#copyTo(directory, true);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { blockKeys, environment, journaled, lock, writer } = this.#parts;
    try {
      await this.#flush();
      writer.close();
    } finally {
      journaled?.journal.close();
      blockKeys?.close();
      await environment.close();
      await lock?.release();
    }
  }

  async #flush(): Promise<void> {
    await this.#parts.journaled?.books.flush();
  }

  async #copyTo(directory: string, compact: boolean): Promise<void> {
    if (existsSync(directory) && readdirSync(directory).length > 0) {
      throw new LedgerError('refused', `${directory} is not empty: a copy goes into a new folder`);
    }
    await this.#flush();
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    await this.#parts.environment.copyTo(directory, compact);
    chmodSync(join(directory, 'data.mdb'), 0o600); // LMDB makes it readable to all
    if (!compact) await this.#parts.yielded(directory);
    const problems = await this.#parts.audited(directory);
    for (const name of ['lock.mdb', 'block-keys']) rmSync(join(directory, name), { force: true });
    if (problems.length > 0) {
      throw new LedgerError('damaged', `the copy in ${directory} is not sound: ${problems.join('; ')}`);
    }
    for (const name of [join(directory, 'data.mdb'), directory]) syncToDisk(name);
  }

  #requireServer(call: string): void {
    if (this.#parts.role === 'server') return;
    throw new LedgerError('refused', `${call} is for the server of the folder, not for a tool`);
  }
}

function syncToDisk(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
