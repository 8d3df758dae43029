import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { utf8Bytes } from '../core/bytes.ts';

/** What the parts of the verifiers share. Runs in browsers. */

/** A sentence: why a check failed, or what holds. */
export type Verdict = { readonly failure: string } | { readonly holds: string };

export function failed(failure: string): Verdict {
  return { failure };
}

export function holds(sentence: string): Verdict {
  return { holds: sentence };
}

/** `sha256:` and 64 hex digits; of a text, of its UTF-8. */
export function digestText(data: Uint8Array | string): string {
  return `sha256:${bytesToHex(sha256(typeof data === 'string' ? utf8Bytes(data) : data))}`;
}
