import { timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { utf8Bytes } from '../core/bytes.ts';
import type { Tier } from '../core/vocabulary.ts';
import { sha256Hex } from '../crypto/digest.ts';
import { fillSystemEntropy } from '../crypto/system-entropy.ts';

/**
 * API keys: `qrn_<tier initial>_<22 key id><26 secret><6 checksum>` in base62, 60 characters. The prefix lets
 * secret scanners find a leaked key, the CRC-32 (of everything before it) catches a typo before any look-up,
 * the key id is public and names the record. The secret's 26 characters hold 26 * log2(62) = 154.8 bits, so a
 * plain SHA-256 of the whole key is a safe thing to store: there is nothing to guess, and no slow hash is
 * needed.
 */
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY_ID_LENGTH = 22;
const SECRET_LENGTH = 26;
/** 62^6 > 2^32: six characters hold any CRC-32. */
const CHECKSUM_LENGTH = 6;
const PREFIX_LENGTH = 'qrn_f_'.length;
const CHECKED_LENGTH = PREFIX_LENGTH + KEY_ID_LENGTH + SECRET_LENGTH;
const KEY_SHAPE = /^qrn_[fdpbe]_[0-9A-Za-z]{54}$/;

const TIER_INITIAL: Readonly<Record<Tier, string>> = {
  free: 'f',
  developer: 'd',
  pro: 'p',
  business: 'b',
  enterprise: 'e',
};

export interface MintedKey {
  readonly keyId: string;
  /** The whole key: shown once, never stored. */
  readonly text: string;
  /** SHA-256 (hex) of the text: what is stored. */
  readonly digest: string;
}

/**
 * A new key. The tier is that of the account now; it tells a reader what the key was for and grants nothing.
 */
export function mintKey(tier: Tier): MintedKey {
  const keyId = randomBase62(KEY_ID_LENGTH);
  const checked = `qrn_${TIER_INITIAL[tier]}_${keyId}${randomBase62(SECRET_LENGTH)}`;
  const text = checked + checksumOfKey(checked);
  return { keyId, text, digest: digestOfKey(text) };
}

/** The public part of a key whose shape and checksum are right; undefined for anything else. */
export function parseKey(text: string): { keyId: string } | undefined {
  if (!KEY_SHAPE.test(text)) return undefined;
  if (text.slice(CHECKED_LENGTH) !== checksumOfKey(text.slice(0, CHECKED_LENGTH))) return undefined;
  return { keyId: text.slice(PREFIX_LENGTH, PREFIX_LENGTH + KEY_ID_LENGTH) };
}

/** SHA-256 (lower-case hex) of the whole key. */
export function digestOfKey(text: string): string {
  return sha256Hex(utf8Bytes(text));
}

/**
 * Whether the key is the one behind the stored digest, in a time that does not depend on where they differ.
 */
export function keyMatches(text: string, storedDigest: string): boolean {
  const given = utf8Bytes(digestOfKey(text));
  const stored = utf8Bytes(storedDigest);
  return given.length === stored.length && timingSafeEqual(given, stored);
}

/** The last six characters of a key, from all before them. */
export function checksumOfKey(checked: string): string {
  let rest = crc32(checked);
  let text = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    text = BASE62[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** Uniform characters: bytes of 248 = 4 * 62 and above are drawn again. */
function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of fillSystemEntropy(new Uint8Array(length - text.length)))
      if (byte < 248) text += BASE62[byte % 62];
  }
  return text;
}
