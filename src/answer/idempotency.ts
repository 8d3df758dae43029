import { type Cipher, createCipheriv, createDecipheriv, createHash, type Decipher } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { utf8Bytes, wipe } from '../core/bytes.ts';
import { ApiError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { deriveKey } from '../crypto/digest.ts';
import { fillSystemEntropy } from '../crypto/system-entropy.ts';
import type { Books } from '../ledger/ledger.ts';
import type { StoredAnswer } from '../ledger/records.ts';
import type { Claims } from '../ledger/sharing.ts';

/** How long the answer to an Idempotency-Key is kept before it is erased. */
export const IDEMPOTENCY_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Upper bound on the bytes that header fields, envelope and seal add to the values of a stored answer. */
export const STORED_HEAD_BYTES_MAX = 16_384;

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const LENGTH_BYTES = 4;
const PIECE_BYTES = 256 * 1024;
/** 1 to 255 visible ASCII characters. */
export const KEY_TEXT = /^[\x21-\x7e]{1,255}$/;

/** The first answer to an Idempotency-Key, which a retry gets byte for byte. */
export interface FirstAnswer {
  /** The header fields that belong to the answer (type, source, mode, ids), not to the moment of sending. */
  readonly fields: readonly (readonly [string, string])[];
  readonly body: Uint8Array<ArrayBuffer>;
}

/** The first use of a key. */
export interface FirstUse {
  /** Seals the answer for the commit. */
  complete(answer: FirstAnswer, expiresAtMs: number): StoredAnswer;
  /** Lets go of the key: with true when the answer is durable, with false when none is kept and the key may be used anew. */
  finish(isKept: boolean): void;
}

export type IdempotencyOutcome = { readonly replay: FirstAnswer } | { readonly first: FirstUse };

/** A request under an Idempotency-Key, as the holder of the running keys knows it. */
interface HeldRequest {
  readonly accountNumber: number;
  /** SHA-256 (hex) of account and key. */
  readonly keyDigest: string;
  readonly fingerprint: string;
  /** Upper bound on the size of its sealed answer. */
  readonly bytesMax: number;
}

/** The keys whose first request runs now, and the bytes of kept answers, for all fronts of a process. */
export interface RunningKeys {
  /**
   * Takes a key for the request, and reserves room for its answer. If another request holds the key, returns `same` when that has
   * the same fingerprint, else `other`. Returns `full`, and does not take the key, when the account's kept answers would take too
   * much. An account that keeps nothing yet always gets room.
   */
  hold(request: HeldRequest, nowMs: number): Promise<'held' | 'same' | 'other' | 'full'>;
  /** Lets go of a key. `keptBytes` is the size of the answer that is kept under it, 0 if there is none. */
  release(keyDigest: string, keptBytes: number): Promise<void>;
}

const HOUR_MS = 60 * 60 * 1000;

/**
 * An answer larger than this is kept only within the first half of the account's room. The other half stays free for small answers,
 * which may have cost many credits.
 */
const BULK_BYTES = 64 * 1024;

/** Pause before the next try to release a claim. */
const RELEASE_RETRY_MS = 250;

/**
 * Holds the running keys of a process; fronts in other threads call it. With `claims`, clients may send the same key to other
 * nodes, so a key counts as held only once this node has claimed it in the shared ledger. The bound on kept answers counts
 * the answers of this process and those that were in the ledger when it started.
 */
export class OwnedRunningKeys implements RunningKeys {
  readonly #claims: Claims | undefined;
  /** The running requests by their keys, each with its hour. */
  readonly #running = new Map<string, HeldRequest & { readonly hour: number }>();
  /**
   * Bytes of kept answers, and bytes reserved for answers that are being made, by the hour of the request and the account. An hour
   * is dropped at the next call after all its answers have expired.
   */
  readonly #kept = new Map<number, Map<number, number>>();

  constructor(claims?: Claims) {
    this.#claims = claims;
  }

  /** Counts the answers that earlier runs of the service kept. */
  static async open(
    books: Pick<Books, 'storedAnswerSizes'>,
    nowMs: number,
    claims?: Claims,
  ): Promise<OwnedRunningKeys> {
    const keys = new OwnedRunningKeys(claims);
    for (const { accountNumber, expiresAtMs, bytes } of await books.storedAnswerSizes(nowMs)) {
      keys.#add(accountNumber, Math.floor((expiresAtMs - IDEMPOTENCY_LIFETIME_MS) / HOUR_MS), bytes);
    }
    return keys;
  }

  async hold(request: HeldRequest, nowMs: number): Promise<'held' | 'same' | 'other' | 'full'> {
    const { accountNumber, keyDigest, fingerprint, bytesMax } = request;
    const running = this.#running.get(keyDigest);
    if (running !== undefined) return running.fingerprint === fingerprint ? 'same' : 'other';
    const bytes = this.#hours(nowMs).reduce((sum, byAccount) => sum + (byAccount.get(accountNumber) ?? 0), 0);
    const roomBytes = bytesMax > BULK_BYTES ? LIMITS.keptAnswerBytesMax / 2 : LIMITS.keptAnswerBytesMax;
    if (bytes > 0 && bytes + bytesMax > roomBytes) return 'full';
    const hour = Math.floor(nowMs / HOUR_MS);
    this.#running.set(keyDigest, { ...request, hour });
    this.#add(accountNumber, hour, bytesMax);
    if (this.#claims === undefined) return 'held';
    try {
      const holder = await this.#claims.claimKey(keyDigest, fingerprint);
      if (holder !== 'held') this.#drop(keyDigest, 0);
      return holder;
    } catch (error) {
      void this.release(keyDigest, 0); // the claim may exist nevertheless; unreleased, it would keep the key from all nodes
      throw error;
    }
  }

  /** Returns the bytes of kept answers of all accounts, and those reserved for answers that are being made. */
  keptBytes(nowMs: number): number {
    return this.#hours(nowMs)
      .flatMap((byAccount) => [...byAccount.values()])
      .reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Returns the bytes by account for each hour, without the hours whose answers have expired. */
  #hours(nowMs: number): Map<number, number>[] {
    const lastHour = Math.floor((nowMs - IDEMPOTENCY_LIFETIME_MS) / HOUR_MS);
    for (const hour of this.#kept.keys()) if (hour < lastHour) this.#kept.delete(hour);
    return [...this.#kept.values()];
  }

  #add(accountNumber: number, hour: number, bytes: number): void {
    const byAccount = this.#kept.get(hour) ?? new Map<number, number>();
    byAccount.set(accountNumber, (byAccount.get(accountNumber) ?? 0) + bytes);
    this.#kept.set(hour, byAccount);
  }

  async release(keyDigest: string, keptBytes: number): Promise<void> {
    // the commit of a kept answer has released the claim
    if (this.#claims !== undefined && keptBytes === 0) await this.#letGo(this.#claims, keyDigest);
    this.#drop(keyDigest, keptBytes);
  }

  #drop(keyDigest: string, keptBytes: number): void {
    const { accountNumber, hour, bytesMax } = this.#running.get(keyDigest)!;
    this.#running.delete(keyDigest);
    this.#add(accountNumber, hour, keptBytes - bytesMax);
  }

  /** Releases the claim. Until that succeeds the key counts as running, because no other node can use it either. */
  async #letGo(claims: Claims, keyDigest: string): Promise<void> {
    for (;;) {
      try {
        await claims.releaseKey(keyDigest);
        return;
      } catch (error) {
        if (!(error instanceof ApiError)) return; // this node has lost the right to write, and its claims are void
        await sleep(RELEASE_RETRY_MS, undefined, { ref: false });
      }
    }
  }
}

/** A request under an Idempotency-Key, as the client sent it. */
interface KeyedRequest extends Pick<HeldRequest, 'accountNumber' | 'fingerprint'> {
  readonly keyText: string;
}

/** The seal of a kept answer cannot be opened, and trying again cannot help. */
export class SealBroken extends Error {
  override name = 'SealBroken';
}

/**
 * Implements Idempotency-Key in every mode. The stored answer is sealed with AES-256-GCM under a key derived from the
 * node's secret, the account and the client's key text, so the ledger alone cannot open it.
 */
export class Idempotency {
  readonly #books: Books;
  readonly #nodeSecret: Uint8Array;
  readonly #running: RunningKeys;

  constructor(books: Books, nodeSecret: Uint8Array, running: RunningKeys) {
    this.#books = books;
    this.#nodeSecret = nodeSecret;
    this.#running = running;
  }

  /** Returns the hash by which a request is compared with its retry. */
  static fingerprint(parts: readonly (string | Uint8Array)[]): string {
    const digest = createHash('sha256');
    for (const part of parts) digest.update(`${part.length}:`).update(part);
    return digest.digest('hex');
  }

  /**
   * Looks the key up. Returns the first answer, or the right to make it. Throws 400 `invalid_idempotency_key`, 422
   * `idempotency_mismatch`, 409 `idempotency_in_flight`, or 429 `idempotency_full` when the account's kept answers leave no
   * room for this one.
   */
  async begin(
    request: KeyedRequest & Pick<HeldRequest, 'bytesMax'>,
    nowMs: number,
  ): Promise<IdempotencyOutcome> {
    const { accountNumber, keyText, fingerprint, bytesMax } = request;
    if (!KEY_TEXT.test(keyText)) throw new ApiError('invalid_idempotency_key');
    const keyDigest = digestOf(request);
    const holder = await this.#running.hold({ accountNumber, keyDigest, fingerprint, bytesMax }, nowMs);
    if (holder === 'other') throw new ApiError('idempotency_mismatch');
    let mustRelease = holder === 'held';
    try {
      // also when another request holds the key, because that may itself be a retry that reads the kept answer
      const stored = await this.#stored(request, nowMs);
      if (stored !== undefined) {
        if (stored.fingerprint !== fingerprint) throw new ApiError('idempotency_mismatch');
        return { replay: this.#open(stored, keyText) };
      }
      if (holder === 'same') throw new ApiError('idempotency_in_flight', { retryAfterS: 1 });
      if (holder === 'full') throw new ApiError('idempotency_full', { retryAfterS: HOUR_MS / 1000 });
      mustRelease = false;
      return { first: this.#firstUse(request, keyDigest) };
    } finally {
      if (mustRelease) await this.#running.release(keyDigest, 0);
    }
  }

  /** Returns the answer that is kept under a key, or undefined. Does not hold the key, so it disturbs no other request. */
  async kept(request: KeyedRequest, nowMs: number): Promise<FirstAnswer | undefined> {
    const stored = await this.#stored(request, nowMs);
    return stored?.fingerprint === request.fingerprint ? this.#open(stored, request.keyText) : undefined;
  }

  async #stored(request: KeyedRequest, nowMs: number): Promise<StoredAnswer | undefined> {
    const stored = await this.#books.storedAnswer(request.accountNumber, digestOf(request));
    return stored !== undefined && stored.expiresAtMs > nowMs ? stored : undefined;
  }

  #firstUse({ accountNumber, keyText, fingerprint }: KeyedRequest, keyDigest: string): FirstUse {
    let keptBytes = 0;
    return {
      complete: (answer, expiresAtMs) => {
        const sealed = this.#seal(accountNumber, keyText, answer);
        keptBytes = sealed.length;
        return { accountNumber, keyDigest, fingerprint, expiresAtMs, sealed };
      },
      finish: (isKept) => void this.#running.release(keyDigest, isKept ? keptBytes : 0),
    };
  }

  #key(accountNumber: number, keyText: string): Uint8Array<ArrayBuffer> {
    return deriveKey('storedAnswer', [
      this.#nodeSecret,
      utf8Bytes(String(accountNumber)),
      utf8Bytes(keyText),
    ]);
  }

  /** Returns nonce ‖ ciphertext ‖ tag. The plaintext is the length of the fields (4 bytes), the fields as JSON, and the body. */
  #seal(accountNumber: number, keyText: string, { fields, body }: FirstAnswer): Uint8Array<ArrayBuffer> {
    const head = utf8Bytes(JSON.stringify(fields));
    const sealed = new Uint8Array(NONCE_BYTES + LENGTH_BYTES + head.length + body.length + TAG_BYTES);
    const nonce = fillSystemEntropy(sealed.subarray(0, NONCE_BYTES));
    const text = sealed.subarray(NONCE_BYTES, -TAG_BYTES);
    new DataView(sealed.buffer).setUint32(NONCE_BYTES, head.length);
    text.set(head, LENGTH_BYTES);
    text.set(body, LENGTH_BYTES + head.length);
    const key = this.#key(accountNumber, keyText);
    const cipher = createCipheriv('aes-256-gcm', key, nonce);
    wipe(key);
    runInPlace(cipher, text);
    cipher.final();
    sealed.set(cipher.getAuthTag(), NONCE_BYTES + text.length);
    return sealed;
  }

  #open({ accountNumber, sealed }: StoredAnswer, keyText: string): FirstAnswer {
    const key = this.#key(accountNumber, keyText);
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES));
    wipe(key);
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    const text = sealed.subarray(NONCE_BYTES, -TAG_BYTES);
    runInPlace(decipher, text);
    try {
      decipher.final();
    } catch (cause) {
      throw new SealBroken('a kept answer was sealed with another secret of the node, or was changed', {
        cause,
      });
    }
    const headEnd = LENGTH_BYTES + new DataView(text.buffer, text.byteOffset).getUint32(0);
    const fields = Buffer.from(text.subarray(LENGTH_BYTES, headEnd)).toString('utf8');
    return { fields: JSON.parse(fields) as FirstAnswer['fields'], body: text.subarray(headEnd) };
  }
}

function digestOf({ accountNumber, keyText }: KeyedRequest): string {
  return Idempotency.fingerprint([String(accountNumber), keyText]);
}

/** Encrypts or decrypts in place, piece by piece, because an answer may have 40 MB and a copy would take as much again. */
function runInPlace(cipher: Cipher | Decipher, text: Uint8Array): void {
  for (let at = 0; at < text.length; at += PIECE_BYTES)
    text.set(cipher.update(text.subarray(at, at + PIECE_BYTES)), at);
}
