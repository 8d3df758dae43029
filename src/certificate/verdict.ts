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
}

export async function found<T>(find: () => T | Promise<T>): Promise<Found<T>> {
  try {
    const known = await find();
    return Object.assign(() => known, { known });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return () => refuse(error.message);
  }
}

/** Why the check refuses; undefined when it does not. */
export function refusalOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.message;
  }
}

/** What is refused names what it is about. */
export async function about<T>(what: string, find: () => T | Promise<T>): Promise<T> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    refuse(`${what}: ${error.message}`);
  }
}

/** `sha256:` and 64 hex digits; of a text, of its UTF-8. */
export function digestText(data: Uint8Array | string): string {
  return `sha256:${bytesToHex(sha256(typeof data === 'string' ? utf8Bytes(data) : data))}`;
}
