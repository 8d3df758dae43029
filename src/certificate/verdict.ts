import { bytesToHex } from '@noble/hashes/utils.js';
import { utf8Bytes } from '../core/bytes.ts';
import { sha256 } from '../crypto/sha256.ts';

/** What the parts of the verifiers share. Runs in browsers. */

/** Why a check fails, in a sentence: the one way in which a verifier refuses what it is given. */
export class Refusal extends Error {
  override name = 'Refusal';
}

export function refuse(why: string): never {
  throw new Refusal(why);
}

/** Gives what was found to each check that asks for it, or refuses it for the same reason. */
export interface Found<T> {
  (): T;
  /** Undefined where it was refused. */
  readonly known?: T;
  /** Why it was refused; undefined where it was not. */
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

/** What is refused names what it is about. */
export function about<T>(what: string, find: () => T): T {
  const { known, refusal } = found(find);
  if (refusal !== undefined) refuse(`${what}: ${refusal}`);
  return known as T;
}

/** `sha256:` and 64 hex digits; of a text, of its UTF-8. */
export function digestText(data: Uint8Array | string): string {
  return `sha256:${bytesToHex(sha256(typeof data === 'string' ? utf8Bytes(data) : data))}`;
}
