import { bytesToHex } from '@noble/hashes/utils.js';
import { utf8Bytes } from '../core/bytes.ts';
import { sha256 } from '../crypto/sha256.ts';

/** How the checks of the verifiers refuse their input. Runs in browsers. */

/** The only way in which verifiers refuse their input. The message says in a sentence why. */
export class Refusal extends Error {
  override name = 'Refusal';
}

export function refuse(why: string): never {
  throw new Refusal(why);
}

/** A result that several checks use. A call returns the value or throws the Refusal that it met. */
export interface Found<T> {
  (): T;
  /** The value; undefined if it was refused. */
  readonly known?: T;
  /** Why the value was refused; undefined if it was not. */
  readonly refusal?: string;
}

export function found<T>(find: () => T): Found<T> {
  try {
    const known = find();
    return Object.assign(() => known, { known });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const refusal = error.message;
    return Object.assign(() => refuse(refusal), { refusal });
  }
}

/** Returns what `find` returns. Puts `what` before the message of a Refusal that it throws. */
export function about<T>(what: string, find: () => T): T {
  const { known, refusal } = found(find);
  if (refusal !== undefined) refuse(`${what}: ${refusal}`);
  return known as T;
}

/** Returns `sha256:` and 64 hex digits: the SHA-256 of the bytes, or of the UTF-8 of a text. */
export function digestText(data: Uint8Array | string): string {
  return `sha256:${bytesToHex(sha256(typeof data === 'string' ? utf8Bytes(data) : data))}`;
}
