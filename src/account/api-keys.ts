import { timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { utf8Bytes } from '../core/bytes.ts';
import type { Tier } from '../core/vocabulary.ts';
import { sha256Hex } from '../crypto/digest.ts';
import { fillSystemEntropy } from '../crypto/system-entropy.ts';

/**
 * API keys are `qrn_<tier initial>_<22 key id><26 secret><6 checksum>` in base62, 60 characters. The prefix lets secret
 * scanners find a leaked key. The checksum, a CRC-32 of all before it, catches a typo before any look-up. The key id is
 * public and names the record. The secret has 26 * log2(62) = 154.8 bits, too many to guess, so the stored hash can be a
 * plain SHA-256 of the whole key instead of a slow one.
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
  /** The whole key, which is shown once and never stored. */
  readonly text: string;
  /** SHA-256 (hex) of the text, which is stored. */
  readonly digest: string;
}

/** Makes a new key. Its initial shows the account's tier at that time and grants nothing. */
export function mintKey(tier: Tier): MintedKey {
  const keyId = randomBase62(KEY_ID_LENGTH);
  const checked = `qrn_${TIER_INITIAL[tier]}_${keyId}${randomBase62(SECRET_LENGTH)}`;
  const text = checked + checksumOfKey(checked);
  return { keyId, text, digest: digestOfKey(text) };
}

/** Returns the public part of a key whose form and checksum are right; undefined for anything else. */
export function parseKey(text: string): { keyId: string } | undefined {
  if (!KEY_SHAPE.test(text)) return undefined;
  if (text.slice(CHECKED_LENGTH) !== checksumOfKey(text.slice(0, CHECKED_LENGTH))) return undefined;
  return { keyId: text.slice(PREFIX_LENGTH, PREFIX_LENGTH + KEY_ID_LENGTH) };
}

/** Returns the SHA-256 (lower-case hex) of the whole key. */
export function digestOfKey(text: string): string {
  return sha256Hex(utf8Bytes(text));
}

/** Whether the key has the stored digest. The time does not depend on where the digests differ. */
export function keyMatches(text: string, storedDigest: string): boolean {
  const given = utf8Bytes(digestOfKey(text));
  const stored = utf8Bytes(storedDigest);
  return given.length === stored.length && timingSafeEqual(given, stored);
}

/** Returns the last six characters of a key, computed from all before them. */
export function checksumOfKey(checked: string): string {
  let rest = crc32(checked);
  let text = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    text = BASE62[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** Returns uniform characters: bytes of 248 = 4 * 62 and above are rejected. */
function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of fillSystemEntropy(new Uint8Array(length - text.length)))
      if (byte < 248) text += BASE62[byte % 62];
  }
  return text;
}
