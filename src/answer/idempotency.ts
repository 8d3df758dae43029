import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { assert } from '../core/assert.ts';
import { utf8Bytes, wipe } from '../core/bytes.ts';
import { ApiError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { deriveKey } from '../crypto/digest.ts';
import { fillSystemEntropy } from '../crypto/system-entropy.ts';
import type { Books } from '../ledger/ledger.ts';
import type { StoredAnswer } from '../ledger/records.ts';
import type { Claims } from '../ledger/sharing.ts';

/** An answer to an Idempotency-Key is kept this long, then erased. */
export const IDEMPOTENCY_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** More than header fields, envelope and seal of a stored answer ever take. */
export const STORED_HEAD_BYTES_MAX = 16_384;

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** An answer is sealed in pieces: the cipher's output for a whole one was a second copy of 40 MB. */
const PIECE_BYTES = 256 * 1024;
/** 1 to 255 visible ASCII characters. */
const KEY_TEXT = /^[\x21-\x7e]{1,255}$/;

/** What a retry is answered with: the first answer, byte for byte. */
export interface FirstAnswer {
  /** Header fields that speak of the answer (type, source, mode, ids), not of the moment. */
  readonly fields: readonly (readonly [string, string])[];
  readonly body: Uint8Array<ArrayBuffer>;
}

/**
 * The first use of a key: `complete` seals its answer for the commit, `abandon` lets the key be used anew.
 */
export interface FirstUse {
  complete(answer: FirstAnswer, expiresAtMs: number): StoredAnswer;
  /** Called when the answer is durable, or when there is none and none is kept. */
  finish(isKept: boolean): void;
}

export type IdempotencyOutcome = { readonly replay: FirstAnswer } | { readonly first: FirstUse };

/**
 * The keys whose first request runs now, for all fronts of a process, and the room that kept answers take.
 */
export interface RunningKeys {
  /** Takes a key; else what the request that holds it is to this one. */
  hold(keyDigest: string, fingerprint: string): Promise<'held' | 'same' | 'other'>;
  /**
   * Sets aside room for an answer of up to `bytesMax` bytes that is kept under the key; false when the
   * answers of the account take too much. The first answer of an account always has room.
   */
  reserve(accountNumber: number, keyDigest: string, bytesMax: number, nowMs: number): Promise<boolean>;
  /** Lets go of a key. `keptBytes` is the size of the answer that is kept under it, 0 without one. */
  release(keyDigest: string, keptBytes: number): Promise<void>;
}

interface RunningKey {
  readonly fingerprint: string;
  /** Undefined before room is set aside for its answer. */
  room?: { readonly accountNumber: number; readonly hour: number; readonly bytes: number };
}

const HOUR_MS = 60 * 60 * 1000;

/**
 * Larger answers share half of the room of an account: a stream of batches leaves the other half to answers that are small and
 * may be dear.
 */
const BULK_BYTES = 64 * 1024;

/** How long a key waits whose claim could not be let go of. */
const RELEASE_RETRY_MS = 250;

/**
 * The one holder of the running keys of a process; fronts in other threads ask it. With `claims`, other nodes may be asked
 * for the same key, and a key is held once it is claimed there. The bound on kept answers counts those of this process since
 * its start, and those of all before it.
 */
export class OwnedRunningKeys implements RunningKeys {
  readonly #claims: Claims | undefined;
  readonly #running = new Map<string, RunningKey>();
  /**
   * By the hour of their request and the account: bytes of kept answers, and room set aside for those that are being made. An hour
   * goes when what is of it has expired, whoever asks then.
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

  async hold(keyDigest: string, fingerprint: string): Promise<'held' | 'same' | 'other'> {
    const running = this.#running.get(keyDigest);
    if (running !== undefined) return running.fingerprint === fingerprint ? 'same' : 'other';
    this.#running.set(keyDigest, { fingerprint });
    if (this.#claims === undefined) return 'held';
    const claims = this.#claims;
    try {
      const holder = await claims.claimKey(keyDigest, fingerprint);
      if (holder !== 'held') this.#running.delete(keyDigest);
      return holder;
    } catch (error) {
      // the claim may stand all the same, and no other node could take it
      void this.#letGo(claims, keyDigest).then(() => this.#running.delete(keyDigest));
      throw error;
    }
  }

  /** Bytes of kept answers of all accounts, and room that is set aside for those which are being made. */
  keptBytes(nowMs: number): number {
    return this.#hours(nowMs)
      .flatMap((byAccount) => [...byAccount.values()])
      .reduce((sum, bytes) => sum + bytes, 0);
  }

  async reserve(accountNumber: number, keyDigest: string, bytesMax: number, nowMs: number): Promise<boolean> {
    const running = this.#running.get(keyDigest);
    assert(running !== undefined, 'room is set aside for a key that is held');
    const bytes = this.#hours(nowMs).reduce((sum, byAccount) => sum + (byAccount.get(accountNumber) ?? 0), 0);
    const roomBytes = bytesMax > BULK_BYTES ? LIMITS.keptAnswerBytesMax / 2 : LIMITS.keptAnswerBytesMax;
    if (bytes > 0 && bytes + bytesMax > roomBytes) return false;
    running.room = { accountNumber, hour: Math.floor(nowMs / HOUR_MS), bytes: bytesMax };
    this.#add(accountNumber, running.room.hour, bytesMax);
    return true;
  }

  /** What is kept, by account; forgets what has expired. */
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
    // the commit of the answer that is kept has let go of the claim
    if (this.#claims !== undefined && keptBytes === 0) await this.#letGo(this.#claims, keyDigest);
    const room = this.#running.get(keyDigest)?.room;
    this.#running.delete(keyDigest);
    if (room !== undefined) this.#add(room.accountNumber, room.hour, keptBytes - room.bytes);
  }

  /** Until it is done, the key counts as under way: another node could not take it either. */
  async #letGo(claims: Claims, keyDigest: string): Promise<void> {
    for (;;) {
      try {
        await claims.releaseKey(keyDigest);
        return;
      } catch (error) {
        if (!(error instanceof ApiError)) return; // this node writes no more, and its claims are void
        await sleep(RELEASE_RETRY_MS, undefined, { ref: false });
      }
    }
  }
}

/** A request under an Idempotency-Key. */
interface KeyedRequest {
  readonly accountNumber: number;
  readonly keyText: string;
  readonly fingerprint: string;
  /** Size of its sealed answer, at most. */
  readonly bytesMax: number;
}

/** A kept answer cannot be opened, now or later. */
export class SealBroken extends Error {
  override name = 'SealBroken';
}

/**
 * Idempotency-Key, in every mode. The stored answer is sealed with AES-256-GCM under a key derived from the
 * node's secret, the account and the key text itself: the ledger alone cannot open it.
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

  /** The fingerprint of a request: what must be equal for a retry to be the same request. */
  static fingerprint(parts: readonly (string | Uint8Array)[]): string {
    const digest = createHash('sha256');
    for (const part of parts) digest.update(`${part.length}:`).update(part);
    return digest.digest('hex');
  }

  /**
   * Looks the key up. 400 `invalid_idempotency_key`, 422 `idempotency_mismatch`, 409 `idempotency_in_flight`,
   * 429
   * `idempotency_full` when the account's kept answers leave no room for this one, else the first answer or the right to
   * make it.
   */
  async begin(request: KeyedRequest, nowMs: number): Promise<IdempotencyOutcome> {
    const { accountNumber, keyText, fingerprint, bytesMax } = request;
    if (!KEY_TEXT.test(keyText)) throw new ApiError('invalid_idempotency_key');
    const keyDigest = Idempotency.fingerprint([String(accountNumber), keyText]);
    const holder = await this.#running.hold(keyDigest, fingerprint);
    if (holder === 'same') {
      // a retry holds the key as well while it looks up what is kept: another one looks without holding it
      const replay = await this.kept(request, nowMs);
      if (replay !== undefined) return { replay };
      throw new ApiError('idempotency_in_flight', { retryAfterS: 1 });
    }
    if (holder === 'other') throw new ApiError('idempotency_mismatch');
    let kept = false;
    try {
      const stored = await this.#books.storedAnswer(accountNumber, keyDigest);
      if (stored !== undefined && stored.expiresAtMs > nowMs) {
        if (stored.fingerprint !== fingerprint) throw new ApiError('idempotency_mismatch');
        return { replay: this.#open(stored, keyText) };
      }
      if (!(await this.#running.reserve(accountNumber, keyDigest, bytesMax, nowMs))) {
        throw new ApiError('idempotency_full', { retryAfterS: HOUR_MS / 1000 });
      }
      kept = true;
      return { first: this.#firstUse(accountNumber, keyText, keyDigest, fingerprint) };
    } finally {
      if (!kept) await this.#running.release(keyDigest, 0);
    }
  }

  /** The answer that is kept under a key, or undefined. Looking holds nothing, so it stands in the way of no request. */
  async kept(request: Omit<KeyedRequest, 'bytesMax'>, nowMs: number): Promise<FirstAnswer | undefined> {
    const { accountNumber, keyText, fingerprint } = request;
    const keyDigest = Idempotency.fingerprint([String(accountNumber), keyText]);
    const stored = await this.#books.storedAnswer(accountNumber, keyDigest);
    const isKept = stored !== undefined && stored.expiresAtMs > nowMs && stored.fingerprint === fingerprint;
    return isKept ? this.#open(stored, keyText) : undefined;
  }

  #firstUse(accountNumber: number, keyText: string, keyDigest: string, fingerprint: string): FirstUse {
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

  /** nonce ‖ ciphertext ‖ tag over: 4 bytes of length, the fields as JSON, body. */
  #seal(accountNumber: number, keyText: string, answer: FirstAnswer): Uint8Array<ArrayBuffer> {
    const head = utf8Bytes(JSON.stringify(answer.fields));
    const headSize = new Uint8Array(4);
    new DataView(headSize.buffer).setUint32(0, head.length);
    const nonce = fillSystemEntropy(new Uint8Array(NONCE_BYTES));
    const key = this.#key(accountNumber, keyText);
    const cipher = createCipheriv('aes-256-gcm', key, nonce);
    wipe(key);
    const { body } = answer;
    const sealed = new Uint8Array(NONCE_BYTES + headSize.length + head.length + body.length + TAG_BYTES);
    sealed.set(nonce);
    let at = NONCE_BYTES;
    const add = (piece: Uint8Array) => {
      sealed.set(cipher.update(piece), at);
      at += piece.length;
    };
    add(headSize);
    add(head);
    for (let rest = body; rest.length > 0; rest = rest.subarray(PIECE_BYTES))
      add(rest.subarray(0, PIECE_BYTES));
    cipher.final();
    sealed.set(cipher.getAuthTag(), at);
    return sealed;
  }

  /** Opens it in the memory that it came in: for an answer of 40 MB another copy would be as much again. */
  #open(stored: StoredAnswer, keyText: string): FirstAnswer {
    const key = this.#key(stored.accountNumber, keyText);
    const decipher = createDecipheriv('aes-256-gcm', key, stored.sealed.subarray(0, NONCE_BYTES));
    wipe(key);
    decipher.setAuthTag(stored.sealed.subarray(-TAG_BYTES));
    const text = stored.sealed.subarray(NONCE_BYTES, -TAG_BYTES);
    for (let rest = text; rest.length > 0; rest = rest.subarray(PIECE_BYTES))
      rest.set(decipher.update(rest.subarray(0, PIECE_BYTES)));
    try {
      decipher.final();
    } catch (cause) {
      throw new SealBroken('a kept answer was sealed with another secret of the node, or was changed', {
        cause,
      });
    }
    const headEnd = 4 + new DataView(text.buffer, text.byteOffset).getUint32(0);
    const fields = JSON.parse(
      Buffer.from(text.subarray(4, headEnd)).toString('utf8'),
    ) as FirstAnswer['fields'];
    return { fields, body: text.subarray(headEnd) };
  }
}
