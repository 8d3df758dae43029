import { createCipheriv, createDecipheriv, createHash, randomFillSync } from 'node:crypto';
import { concatBytes, utf8Bytes, wipe } from '../core/bytes.ts';
import { ApiError } from '../core/errors.ts';
import { deriveKey } from '../crypto/digest.ts';
import type { Books } from '../ledger/ledger.ts';
import type { StoredAnswer } from '../ledger/records.ts';

/** An answer to an Idempotency-Key is kept this long, then erased. */
const IDEMPOTENCY_LIFETIME_MS = 24 * 60 * 60 * 1000;

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** 1 to 255 visible ASCII characters. */
const KEY_TEXT = /^[\x21-\x7e]{1,255}$/;

/** What a retry is answered with: the first answer, byte for byte. */
export interface FirstAnswer {
  /** The form it was sent in: json, msgpack or octet-stream. */
  readonly form: string;
  /** Header fields that speak of the answer (source, mode, ids), not of the moment. */
  readonly fields: readonly (readonly [string, string])[];
  readonly body: Uint8Array<ArrayBuffer>;
}

/** The first use of a key: `complete` seals its answer for the commit, `abandon` lets the key be used anew. */
export interface FirstUse {
  complete(answer: FirstAnswer, nowMs: number): StoredAnswer;
  /** Called when the answer is durable, or when there is none. */
  finish(): void;
}

export type IdempotencyOutcome = { readonly replay: FirstAnswer } | { readonly first: FirstUse };

/** The keys whose first request runs now, for all fronts of a process. */
export interface RunningKeys {
  /** `claimed`, or what the request that holds the key is to this one. */
  claim(keyDigest: string, fingerprint: string): Promise<'claimed' | 'same' | 'other'>;
  release(keyDigest: string): Promise<void>;
}

/** The one holder of the running keys; fronts in other threads ask it. */
export class OwnedRunningKeys implements RunningKeys {
  /** Fingerprints by key digest. */
  readonly #running = new Map<string, string>();

  async claim(keyDigest: string, fingerprint: string): Promise<'claimed' | 'same' | 'other'> {
    const running = this.#running.get(keyDigest);
    if (running !== undefined) return running === fingerprint ? 'same' : 'other';
    this.#running.set(keyDigest, fingerprint);
    return 'claimed';
  }

  async release(keyDigest: string): Promise<void> {
    this.#running.delete(keyDigest);
  }
}

/**
 * Idempotency-Key in pure mode, where an answer costs credits. The stored answer is sealed with AES-256-GCM under a
 * key derived from the node's secret, the account and the key text itself: the ledger alone cannot open it.
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
   * Looks the key up. 400 `invalid_idempotency_key`, 422 `idempotency_mismatch`, 409 `idempotency_in_flight`, else
   * the first answer or the right to make it.
   */
  async begin(
    accountNumber: number,
    keyText: string,
    fingerprint: string,
    nowMs: number,
  ): Promise<IdempotencyOutcome> {
    if (!KEY_TEXT.test(keyText)) throw new ApiError('invalid_idempotency_key');
    const keyDigest = Idempotency.fingerprint([String(accountNumber), keyText]);
    const claim = await this.#running.claim(keyDigest, fingerprint);
    if (claim === 'same') throw new ApiError('idempotency_in_flight', { retryAfterS: 1 });
    if (claim === 'other') throw new ApiError('idempotency_mismatch');
    let kept = false;
    try {
      const stored = await this.#books.storedAnswer(accountNumber, keyDigest);
      if (stored !== undefined && stored.expiresAtMs > nowMs) {
        if (stored.fingerprint !== fingerprint) throw new ApiError('idempotency_mismatch');
        return { replay: this.#open(stored, keyText) };
      }
      kept = true;
      return { first: this.#firstUse(accountNumber, keyText, keyDigest, fingerprint) };
    } finally {
      if (!kept) await this.#running.release(keyDigest);
    }
  }

  #firstUse(accountNumber: number, keyText: string, keyDigest: string, fingerprint: string): FirstUse {
    return {
      complete: (answer, nowMs) => ({
        accountNumber,
        keyDigest,
        fingerprint,
        expiresAtMs: nowMs + IDEMPOTENCY_LIFETIME_MS,
        sealed: this.#seal(accountNumber, keyText, answer),
      }),
      finish: () => void this.#running.release(keyDigest),
    };
  }

  #key(accountNumber: number, keyText: string): Uint8Array<ArrayBuffer> {
    return deriveKey('storedAnswer', [
      this.#nodeSecret,
      utf8Bytes(String(accountNumber)),
      utf8Bytes(keyText),
    ]);
  }

  /** nonce ‖ ciphertext ‖ tag over: 4 bytes of head length, head as JSON, body. */
  #seal(accountNumber: number, keyText: string, answer: FirstAnswer): Uint8Array<ArrayBuffer> {
    const head = utf8Bytes(JSON.stringify({ form: answer.form, fields: answer.fields }));
    const headSize = new Uint8Array(4);
    new DataView(headSize.buffer).setUint32(0, head.length);
    const nonce = randomFillSync(new Uint8Array(NONCE_BYTES));
    const key = this.#key(accountNumber, keyText);
    const cipher = createCipheriv('aes-256-gcm', key, nonce);
    wipe(key);
    const text = [cipher.update(headSize), cipher.update(head), cipher.update(answer.body), cipher.final()];
    return concatBytes(nonce, ...text, cipher.getAuthTag());
  }

  #open(stored: StoredAnswer, keyText: string): FirstAnswer {
    const key = this.#key(stored.accountNumber, keyText);
    const decipher = createDecipheriv('aes-256-gcm', key, stored.sealed.subarray(0, NONCE_BYTES));
    wipe(key);
    decipher.setAuthTag(stored.sealed.subarray(-TAG_BYTES));
    const text = concatBytes(
      decipher.update(stored.sealed.subarray(NONCE_BYTES, -TAG_BYTES)),
      decipher.final(),
    );
    const headSize = new DataView(text.buffer).getUint32(0);
    const head = JSON.parse(Buffer.from(text.subarray(4, 4 + headSize)).toString('utf8')) as Omit<
      FirstAnswer,
      'body'
    >;
    return { ...head, body: text.slice(4 + headSize) };
  }
}
