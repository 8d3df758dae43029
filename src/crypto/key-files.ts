import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../core/clock.ts';
import { makeFolder, syncToDisk } from '../core/files.ts';
import { objectIn } from '../core/json.ts';
import { base64, constant, described, type MembersOf, orNull, text, textLike, time } from '../core/schema.ts';
import { fromBase64, toBase64 } from './base64.ts';
import { COSIGNATURE_TYPE, isKeyName, noteKeyId, verifierKey } from './note.ts';
import { SigningKey } from './signing.ts';
import { fillSystemEntropy } from './system-entropy.ts';

/**
 * Keys on disk. Each file is created once, never overwritten, readable by its owner alone and flushed to disk before
 * its key is used. A log's folder holds, for its n-th key, `log-n.pem` (private; only of the current key),
 * `log-n.json` (public; kept forever, so that what an old key signed stays verifiable), and `log-n.retired`
 * (the time by which the key had stopped signing).
 */

const SECRET_BYTES = 32;
const PRIVATE_MODE = 0o600;
const PUBLIC_MODE = 0o644;
const OTHERS_MASK = 0o077;
const PUT_BACK = 'restore it from a copy of the keys folder';

export class KeyFileError extends Error {
  override name = 'KeyFileError';
}

/** A public key of a log, as it is published. */
export const PUBLISHED_KEY = {
  // see noteKeyId
  key_id: described(textLike(/^[0-9a-f]{8}$/), 'The identifier of the key.'),
  algorithm: described(constant('ed25519'), 'The signature algorithm.'),
  public_key: described(base64, 'The public key, 32 bytes.'),
  verifier_key: described(
    text,
    'The public key in the verifier format of signed notes (c2sp.org/signed-note).',
  ),
  cosigner_key: described(
    text,
    'The public key in the verifier format for cosignatures with a time (c2sp.org/tlog-cosignature).',
  ),
  created_at: described(time, 'The time at which the key was created.'),
  retired_at: described(
    orNull(time),
    'The time by which the key had made its last signature. It is null for the key in use.',
  ),
};
export type PublishedKey = MembersOf<typeof PUBLISHED_KEY>;

/** The key that signs now, and every key that ever signed for this log, oldest first. */
export interface LogKeys {
  readonly name: string;
  readonly current: SigningKey;
  readonly currentKeyId: string;
  readonly published: readonly PublishedKey[];
}

/** Returns the 32 secret bytes in the file. If there is no such file yet, makes one from system entropy. */
export function openSecretFile(path: string): Uint8Array<ArrayBuffer> {
  makeFolder(dirname(path));
  const stored = readPrivate(path);
  if (stored !== undefined) {
    const secret = fromBase64(stored.trimEnd());
    if (secret?.length !== SECRET_BYTES)
      throw new KeyFileError(`${path} does not contain 32 bytes in base64: ${PUT_BACK}`);
    return secret;
  }
  const secret = fillSystemEntropy(new Uint8Array(SECRET_BYTES));
  createOnce(path, `${toBase64(secret)}\n`, PRIVATE_MODE);
  return secret;
}

/**
 * Returns the keys of the log `name` in `directory`, for the one process that signs with them. Makes the first key
 * when there is none, and records that the keys before the current one are retired. Throws KeyFileError.
 */
export function openLogKeys(directory: string, name: string, clock: Clock): LogKeys {
  if (!isKeyName(name))
    throw new KeyFileError(
      `${JSON.stringify(name)} is not a valid name of a log: it must not be empty and must not contain spaces or +`,
    );
  makeFolder(directory);
  const numbers = keyNumbers(directory);
  if (numbers.length === 0) return addKey(directory, name, clock, 1, []);
  const last = numbers[numbers.length - 1];
  for (const number of numbers) if (number !== last) retire(directory, number, clock);
  // A rotation that was killed may have left private keys of retired numbers.
  for (const number of numbers)
    if (number !== last) rmSync(join(directory, `log-${number}.pem`), { force: true });
  const published = numbers.map((number) => readPublished(directory, number, name));
  const path = join(directory, `log-${last}.pem`);
  const pem = readPrivate(path);
  // A missing key is never replaced silently: its owner decides (rotateLogKeys).
  if (pem === undefined)
    throw new KeyFileError(
      `${path}, the private key of the log, is missing: ${PUT_BACK}, or create a new key with qrn log rotate-key`,
    );
  const current = signingKeyOf(path, pem);
  if (toBase64(current.publicKey) !== published[published.length - 1].public_key) {
    throw new KeyFileError(`${path} is not the private key of log-${last}.json: ${PUT_BACK}`);
  }
  return { name, current, currentKeyId: published[published.length - 1].key_id, published };
}

function signingKeyOf(path: string, pem: string): SigningKey {
  try {
    return SigningKey.fromPem(pem);
  } catch (error) {
    throw new KeyFileError(`${path} is damaged and contains no Ed25519 key: ${PUT_BACK}`, {
      cause: error,
    });
  }
}

/** Returns the Ed25519 key in the PEM file. If there is no such file yet, makes one. */
export function openSigningKey(path: string): SigningKey {
  makeFolder(dirname(path));
  const stored = readPrivate(path);
  if (stored !== undefined) return signingKeyOf(path, stored);
  const key = SigningKey.generate();
  createOnce(path, key.toPem(), PRIVATE_MODE);
  return key;
}

/**
 * Returns the public keys of the log `name` in `directory`, oldest first; none if there is no folder. Changes nothing.
 */
export function publishedKeys(directory: string, name: string): PublishedKey[] {
  if (!existsSync(directory)) return [];
  return keyNumbers(directory).map((number) => readPublished(directory, number, name));
}

/** Makes a new key the current one, keeps every public key and removes the previous private key. */
export function rotateLogKeys(directory: string, name: string, clock: Clock): LogKeys {
  const numbers = keyNumbers(directory);
  if (numbers.length === 0) throw new KeyFileError(`${directory} contains no key to rotate`);
  const published = numbers.map((number) => readPublished(directory, number, name));
  const last = numbers[numbers.length - 1];
  const rotated = addKey(directory, name, clock, last + 1, published);
  rmSync(join(directory, `log-${last}.pem`), { force: true });
  return rotated;
}

function addKey(
  directory: string,
  name: string,
  clock: Clock,
  number: number,
  earlier: readonly PublishedKey[],
): LogKeys {
  // A crash between the two files leaves a private key whose public key nobody has seen: it is used, not overwritten.
  const path = join(directory, `log-${number}.pem`);
  const left = readPrivate(path);
  const current = left === undefined ? SigningKey.generate() : signingKeyOf(path, left);
  if (left === undefined) createOnce(path, current.toPem(), PRIVATE_MODE);
  const key = publishedKey(name, current.publicKey, new Date(clock.wallMs()).toISOString());
  const { retired_at: _, ...stored } = key;
  const text = `${JSON.stringify({ name, ...stored }, null, 2)}\n`;
  createOnce(join(directory, `log-${number}.json`), text, PUBLIC_MODE);
  return { name, current, currentKeyId: key.key_id, published: [...earlier, key] };
}

/** Returns the numbers of the public key files, ascending. A key exists once its public file does. */
function keyNumbers(directory: string): number[] {
  return readdirSync(directory)
    .map((file) => /^log-([1-9][0-9]*)\.json$/.exec(file)?.[1])
    .filter((number) => number !== undefined)
    .map(Number)
    .sort((a, b) => a - b);
}

/**
 * Records the retirement of a key, if that is not recorded yet. A service signs with an old key until it is restarted, so
 * the first start that finds a newer key knows that the old one has made its last signature.
 */
function retire(directory: string, number: number, clock: Clock): void {
  const path = join(directory, `log-${number}.retired`);
  if (!existsSync(path)) createOnce(path, `${new Date(clock.wallMs()).toISOString()}\n`, PUBLIC_MODE);
}

function readPublished(directory: string, number: number, name: string): PublishedKey {
  const path = join(directory, `log-${number}.json`);
  const retired = join(directory, `log-${number}.retired`);
  const { name: storedName, public_key, created_at } = objectIn(parsed(readFileSync(path, 'utf8')));
  const publicKey = typeof public_key === 'string' ? fromBase64(public_key) : undefined;
  if (publicKey?.length !== 32 || typeof created_at !== 'string')
    throw new KeyFileError(`${path} is not a public key: ${PUT_BACK}`);
  // The key id covers the name: under another name the same keys would verify no signature made so far.
  if (storedName !== name)
    throw new KeyFileError(
      `${path} belongs to the log ${storedName}, not to ${name}: the name of a log (QRN_LOG_NAME) never changes`,
    );
  const retiredAt = existsSync(retired) ? readFileSync(retired, 'utf8').trimEnd() : null;
  return publishedKey(name, publicKey, created_at, retiredAt);
}

/** Returns undefined for text that is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns what is published of a key. The times are in ISO 8601. */
export function publishedKey(
  name: string,
  publicKey: Uint8Array,
  createdAt: string,
  retiredAt: string | null = null,
): PublishedKey {
  return {
    key_id: noteKeyId(name, publicKey),
    algorithm: 'ed25519',
    public_key: toBase64(publicKey),
    verifier_key: verifierKey(name, publicKey),
    cosigner_key: verifierKey(name, publicKey, COSIGNATURE_TYPE),
    created_at: createdAt,
    retired_at: retiredAt,
  };
}

/** Returns the content of the file; undefined when there is none. Throws if others may read the file. */
function readPrivate(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    // Windows has access lists instead of modes.
    if (process.platform !== 'win32' && (fstatSync(file).mode & OTHERS_MASK) !== 0) {
      throw new KeyFileError(
        `${path} can be read by other users: set its mode to 0600, and rotate the key if someone may have read it`,
      );
    }
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/**
 * Creates a file completely or not at all, and flushes it to disk before it returns. Throws EEXIST when the name is
 * taken: `link`, unlike `rename`, never replaces.
 */
function createOnce(path: string, content: string, mode: number): void {
  const draft = `${path}.draft`;
  rmSync(draft, { force: true }); // left by a process that died here; nothing has used it
  const file = openSync(draft, 'wx', mode);
  try {
    writeSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  linkSync(draft, path);
  rmSync(draft);
  syncToDisk(dirname(path));
}
