import { randomUUID } from 'node:crypto';
import type { Clock } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Directory, DirectoryChanges } from '../ledger/ledger.ts';
import type { AccountRecord, KeyRecord, RateRecord } from '../ledger/records.ts';
import { keyMatches, parseKey } from './api-keys.ts';
import type { Cells } from './cells.ts';
import { Meter } from './meter.ts';
import { type Allowance, allowanceOf } from './tiers.ts';

/** An account as the service sees it between two changes of its record. Its meter outlives them. */
export interface Account {
  readonly record: AccountRecord;
  readonly allowance: Allowance;
  readonly meter: Meter;
}

export interface Authenticated {
  readonly account: Account;
  readonly key: KeyRecord;
}

export interface AccountDirectoryOptions {
  readonly directory: Pick<Directory, 'directoryChanges' | 'directoryApplied'>;
  readonly cells: Cells;
  readonly clock: Clock;
  readonly log: Log;
  /** Several nodes serve these accounts: a key that any of them revokes is refused by all within a second. */
  readonly isShared?: boolean;
}

/** What the first start calls its account. */
export const DEMO_ACCOUNT_NAME = 'demo';
/** A demo key that was printed or left in a file is of no use to anybody a day after the last start. */
export const DEMO_KEY_LIFE_MS = 24 * 60 * 60_000;
/** Four looks a second: a command that revokes a key waits for the next one. */
const POLL_INTERVAL_MS = 250;
/** Look-ups of unknown keys in one second: whoever makes keys up must not keep the ledger busy. */
const LOOK_UPS_PER_SECOND = 20;
/** How long the last view of accounts and keys may serve while the ledger cannot be read. */
const VIEW_AGE_MAX_MS = 5_000;
/** The same on a node of many: four looks at the ledger, and what one of them may take. */
const SHARED_VIEW_AGE_MAX_MS = 1_000;
/** How long a request waits for the ledger before it is refused because its key cannot be checked. */
const LOOK_WAIT_MAX_MS = 2_000;
/**
 * Keys that authenticate by one Map look-up; beyond it the cache starts anew. 60 characters and a reference
 * each.
 */
const CACHED_KEYS_MAX = 10_000;

/**
 * All accounts and keys in memory, kept equal to the ledger's by asking it for what has changed. Who cannot be
 * checked is refused: when the ledger has not been readable for 5 seconds, authentication fails closed; on a node of
 * several, after 1 second. A view may also be old because this thread was busy and its timer late, so callers ask the ledger once more before
 * they refuse (`isOutdated`, `refreshInTime`).
 */
export class AccountDirectory {
  readonly #options: AccountDirectoryOptions;
  readonly #viewAgeMaxMs: number;
  /** Names this reader to the ledger, which tells commands what every reader goes by. */
  readonly #reader = randomUUID();
  /** Undefined before the first look. */
  #version: number | undefined;
  #accountsById = new Map<string, Account>();
  #keysById = new Map<string, KeyRecord>();
  /** The version that the ledger was last told of. */
  #toldVersion = Number.NaN;
  /** Monotonic time at which the view was known to be the ledger's. */
  #confirmedAtMs = 0;
  #failing = false;
  /** Looks run one after the other, so that an older view never replaces a newer one. */
  #lastLook: Promise<void> = Promise.resolve();
  /** The look that has not begun yet: all who ask meanwhile share it. */
  #nextLook: Promise<void> | undefined;
  /** The same with a time limit, which has passed when it resolves before its look has begun. */
  #nextInTime: Promise<void> | undefined;
  #closed = false;
  #lookUpsLeft = LOOK_UPS_PER_SECOND;
  #lookUpsRenewAtMs = 0;
  #timer: NodeJS.Timeout | undefined;
  /** By full key text, live keys only, in memory only; emptied whenever the view changes. */
  readonly #cache = new Map<string, Authenticated>();

  private constructor(options: AccountDirectoryOptions) {
    this.#options = options;
    this.#viewAgeMaxMs = options.isShared ? SHARED_VIEW_AGE_MAX_MS : VIEW_AGE_MAX_MS;
  }

  /**
   * Reads everything once; rejects when the ledger cannot be read. Nothing is looked at again before start().
   */
  static async open(options: AccountDirectoryOptions): Promise<AccountDirectory> {
    const accounts = new AccountDirectory(options);
    try {
      // a change from now on waits for the first look
      await options.directory.directoryApplied(accounts.#reader, -1);
      await accounts.#look();
    } catch (error) {
      throw new Error('the accounts and keys cannot be read from the ledger', { cause: error });
    }
    return accounts;
  }

  /** Begins to follow the ledger's changes. The timer alone does not keep the process alive. */
  start(): void {
    if (this.#closed || this.#timer !== undefined) return;
    this.#timer = setTimeout(async () => {
      await this.refresh();
      this.#timer = undefined;
      this.start();
    }, POLL_INTERVAL_MS).unref();
  }

  /**
   * Call it when nothing is served by the directory any more: a command does not wait for it from then on.
   */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    // a ledger that is gone has no command waiting
    this.#options.directory.directoryApplied(this.#reader, Number.MAX_SAFE_INTEGER).catch(() => {});
    this.#cache.clear();
  }

  /**
   * The account and key behind the text; undefined for a key that is mistyped, unknown, expired or revoked.
   * The same object for the same key until the directory changes. Throws ApiError `storage_unavailable` when
   * the view is too old to answer. A Map finds the text by a keyed hash and compares only equals, so its time
   * tells a guesser nothing.
   */
  authenticate(keyText: string, nowMs = this.#options.clock.monotonicMs()): Authenticated | undefined {
    if (this.isOutdatedAt(nowMs)) {
      throw new ApiError('storage_unavailable', {
        message: 'API keys cannot be checked now; retry after Retry-After.',
        retryAfterS: 5,
      });
    }
    return this.authenticateByView(keyText);
  }

  /**
   * The same by what is known, however old: for what spends nothing and answers while the ledger is away, the health of
   * the service.
   */
  authenticateByView(keyText: string): Authenticated | undefined {
    const authenticated = this.#cache.get(keyText) ?? this.#lookUp(keyText);
    if (authenticated === undefined || !this.#isLive(authenticated.key)) return undefined;
    return authenticated;
  }

  /**
   * The view is too old to judge a key. `refreshInTime` and look at it again before a client is refused: the
   * ledger may be well, and only this thread was busy for longer than a view may serve.
   */
  get isOutdated(): boolean {
    return this.isOutdatedAt(this.#options.clock.monotonicMs());
  }

  /** The same at a monotonic time that the caller has just read. */
  isOutdatedAt(nowMs: number): boolean {
    return nowMs - this.#confirmedAtMs > this.#viewAgeMaxMs;
  }

  /**
   * Whether a key that was not found could have been made since the ledger was read: well formed, of an
   * unknown id, and within the bound on such look-ups. Then `refreshInTime` and authenticate again.
   */
  mayBeNew(keyText: string): boolean {
    const keyId = parseKey(keyText)?.keyId;
    if (keyId === undefined || this.#keysById.has(keyId)) return false;
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs >= this.#lookUpsRenewAtMs) {
      this.#lookUpsLeft = LOOK_UPS_PER_SECOND;
      this.#lookUpsRenewAtMs = nowMs + 1_000;
    }
    if (this.#lookUpsLeft === 0) return false;
    this.#lookUpsLeft--;
    return true;
  }

  account(id: string): Account | undefined {
    return this.#accountsById.get(id);
  }

  accounts(): Iterable<Account> {
    return this.#accountsById.values();
  }

  /**
   * The account that the first start made to show the service, while its key is good: a start without the demo ends
   * the key. The oldest account of the name is meant, since a later one may be anybody's. A key of its that lives longer
   * than a demo key tells that an operator gave the name to a customer, who must not pay for visitors of the status page.
   */
  demo(): Account | undefined {
    const named = [...this.accounts()].filter(({ record }) => record.name === DEMO_ACCOUNT_NAME);
    const [oldest] = named.sort((a, b) => a.record.number - b.record.number);
    if (oldest === undefined) return undefined;
    const keys = [...this.#keysById.values()].filter(
      (key) => key.accountId === oldest.record.id && this.#isLive(key),
    );
    const latestEndMs = this.#options.clock.wallMs() + DEMO_KEY_LIFE_MS;
    const areShortLived = keys.every(({ expiresAtMs }) => expiresAtMs !== null && expiresAtMs <= latestEndMs);
    return keys.length > 0 && areShortLived ? oldest : undefined;
  }

  /** The rate limits that a restart must know of, for Books.saveRates. */
  rates(): RateRecord[] {
    const wallMs = this.#options.clock.wallMs();
    const nowMs = this.#options.clock.monotonicMs();
    const records: RateRecord[] = [];
    for (const { record, meter } of this.accounts()) {
      const rate = meter.snapshot(record.number, wallMs, nowMs);
      if (rate !== undefined) records.push(rate);
    }
    return records;
  }

  /** Looks at the ledger now. A failure is logged once and leaves the view as it was; see authenticate(). */
  async refresh(): Promise<void> {
    try {
      await this.#look();
      if (this.#failing) this.#options.log.info({}, 'accounts and keys can be read again');
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) {
        this.#options.log.error(
          { err: error, servesMs: this.#viewAgeMaxMs },
          'accounts and keys cannot be read from the ledger',
        );
      }
      this.#failing = true;
    }
  }

  /**
   * As `refresh`, but resolves after 2 seconds at the latest, and at once while an earlier look hangs for longer.
   */
  refreshInTime(): Promise<void> {
    this.#nextInTime ??= this.#race(this.refresh());
    return this.#nextInTime;
  }

  async #race(refreshed: Promise<void>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      // One more turn: an answer that came while this thread was busy is read behind the timers of a turn.
      timer = setTimeout(() => setImmediate(resolve), LOOK_WAIT_MAX_MS);
    });
    await Promise.race([refreshed, late]);
    clearTimeout(timer);
  }

  /** A look that begins after this call, so that it sees every change that was made before. */
  #look(): Promise<void> {
    if (this.#nextLook === undefined) {
      this.#nextLook = this.#lastLook.then(() => {
        this.#nextLook = undefined;
        this.#nextInTime = undefined;
        return this.#read();
      });
      this.#lastLook = this.#nextLook.catch(() => {}); // whoever asked for the look is told of its failure
    }
    return this.#nextLook;
  }

  async #read(): Promise<void> {
    const askedAtMs = this.#options.clock.monotonicMs(); // a change after this moment may be missing from the view
    const changes = await this.#options.directory.directoryChanges(this.#version);
    const { version } = changes;
    if (version !== this.#version) await this.#apply(changes);
    this.#confirmedAtMs = askedAtMs;
    if (this.#toldVersion === version || this.#closed) return;
    await this.#options.directory.directoryApplied(this.#reader, version);
    this.#toldVersion = version;
  }

  async #apply({ version, isWhole, accounts, keys }: DirectoryChanges): Promise<void> {
    const changed: Account[] = [];
    for (const record of accounts) changed.push(await this.#accountOf(record));
    // all of it in one turn: nobody sees a part of the changes
    if (isWhole) {
      this.#accountsById = new Map();
      this.#keysById = new Map();
    }
    for (const account of changed) this.#accountsById.set(account.record.id, account);
    for (const key of keys) this.#keysById.set(key.keyId, key);
    this.#version = version;
    this.#cache.clear();
  }

  async #accountOf(record: AccountRecord): Promise<Account> {
    const allowance = allowanceOf(record);
    const known = this.#accountsById.get(record.id)?.meter;
    const { number } = record;
    const ask = (credits: number) => this.#options.cells.ask(number, credits);
    const meter = known ?? new Meter(await this.#options.cells.cellOf(number, allowance), allowance, ask);
    meter.configure(allowance); // also of a new account: another front may have made the cell before it was changed
    return { record, allowance, meter };
  }

  #lookUp(keyText: string): Authenticated | undefined {
    const keyId = parseKey(keyText)?.keyId;
    const key = keyId === undefined ? undefined : this.#keysById.get(keyId);
    const account = key === undefined ? undefined : this.#accountsById.get(key.accountId);
    if (key === undefined || account === undefined || !keyMatches(keyText, key.digest)) return undefined;
    const authenticated: Authenticated = { account, key };
    if (this.#isLive(key)) this.#remember(keyText, authenticated);
    return authenticated;
  }

  #remember(keyText: string, authenticated: Authenticated): void {
    if (this.#cache.size >= CACHED_KEYS_MAX) this.#cache.clear();
    this.#cache.set(keyText, authenticated);
  }

  /** A revocation holds from the moment it is known, whatever the wall clock says of its time. */
  #isLive(key: KeyRecord): boolean {
    if (key.revokedAtMs !== null) return false;
    return key.expiresAtMs === null || this.#options.clock.wallMs() < key.expiresAtMs;
  }
}
