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
 * Keys on disk. Files are created once, never overwritten, readable by their owner alone and on disk before
 * they are used. A log's folder holds, for its n-th key, `log-n.pem` (private; only of the current key),
 * `log-n.json` (public; kept forever, so that what an old key signed stays verifiable), and `log-n.retired`
 * (since when it does not sign any more).
 */

const SECRET_BYTES = 32;
const PRIVATE_MODE = 0o600;
const PUBLIC_MODE = 0o644;
const OTHERS_MASK = 0o077;
const PUT_BACK = 'put it back from a copy of the keys folder';

export class KeyFileError extends Error {
  override name = 'KeyFileError';
}

/** A public key of a log, as it is published. */
export const PUBLISHED_KEY = {
  // see noteKeyId
  key_id: described(textLike(/^[0-9a-f]{8}$/), 'Names the key.'),
  algorithm: described(constant('ed25519'), 'The signature algorithm.'),
  public_key: described(base64, 'The key itself.'),
  verifier_key: described(text, 'The key as signed notes name it.'),
  cosigner_key: described(text, 'The same key as cosigner: every checkpoint it signs has a time.'),
  created_at: described(time, 'From when on it signs.'),
  retired_at: described(orNull(time), 'By when it had signed for the last time; null for the key in use.'),
};
export type PublishedKey = MembersOf<typeof PUBLISHED_KEY>;

/** The key that signs now and every key that ever signed for this name, oldest first. */
export interface LogKeys {
  readonly name: string;
  readonly current: SigningKey;
  readonly currentKeyId: string;
  readonly published: readonly PublishedKey[];
}

/** The 32 secret bytes in the file; made by the system's generator when there is no such file yet. */
export function openSecretFile(path: string): Uint8Array<ArrayBuffer> {
  makeFolder(dirname(path));
  const stored = readPrivate(path);
  if (stored !== undefined) {
    const secret = fromBase64(stored.trimEnd());
    if (secret?.length !== SECRET_BYTES)
      throw new KeyFileError(`${path} does not hold 32 bytes in base64: ${PUT_BACK}`);
    return secret;
  }
  const secret = fillSystemEntropy(new Uint8Array(SECRET_BYTES));
  createOnce(path, `${toBase64(secret)}\n`, PRIVATE_MODE);
  return secret;
}

/**
 * The keys of the log `name` in `directory`, for the one process that signs with them; makes the first one
 * when there is none, and notes that those before the current one are retired. Throws KeyFileError.
 */
export function openLogKeys(directory: string, name: string, clock: Clock): LogKeys {
  if (!isKeyName(name))
    throw new KeyFileError(`${JSON.stringify(name)} is not a key name: empty, or with space or plus`);
  makeFolder(directory);
  const numbers = keyNumbers(directory);
  if (numbers.length === 0) return addKey(directory, name, clock, 1, []);
  const last = numbers[numbers.length - 1];
  for (const number of numbers) if (number !== last) retire(directory, number, clock);
  // a rotation that was killed left them
  for (const number of numbers)
    if (number !== last) rmSync(join(directory, `log-${number}.pem`), { force: true });
  const published = numbers.map((number) => readPublished(directory, number, name));
  const path = join(directory, `log-${last}.pem`);
  const pem = readPrivate(path);
  // Never a new key in its place: whoever lost one decides (rotateLogKeys).
  if (pem === undefined)
    throw new KeyFileError(
      `${path}, the private key of the log, is missing: ${PUT_BACK}, or begin with a new one by qrn log rotate-key`,
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
    throw new KeyFileError(`${path} is damaged, it holds no Ed25519 key: ${PUT_BACK}`, {
      cause: error,
    });
  }
}

/** The Ed25519 key in the file, as PEM; makes one when there is no such file yet. */
export function openSigningKey(path: string): SigningKey {
  makeFolder(dirname(path));
  const stored = readPrivate(path);
  if (stored !== undefined) return signingKeyOf(path, stored);
  const key = SigningKey.generate();
  createOnce(path, key.toPem(), PRIVATE_MODE);
  return key;
}

/**
 * The public keys of the log `name` in `directory`, oldest first; none where there is no folder. Changes
 * nothing.
 */
export function publishedKeys(directory: string, name: string): PublishedKey[] {
  if (!existsSync(directory)) return [];
  return keyNumbers(directory).map((number) => readPublished(directory, number, name));
}

/** Makes a new key the current one, keeps every public key and removes the private key before it. */
export function rotateLogKeys(directory: string, name: string, clock: Clock): LogKeys {
  const numbers = keyNumbers(directory);
  if (numbers.length === 0) throw new KeyFileError(`${directory}: holds no key to rotate`);
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
  // A crash between the two files leaves a private key that nobody has seen: it is used, not overwritten.
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

/** The numbers of the public key files, ascending: a key exists from the moment its public file does. */
function keyNumbers(directory: string): number[] {
  return readdirSync(directory)
    .map((file) => /^log-([1-9][0-9]*)\.json$/.exec(file)?.[1])
    .filter((number) => number !== undefined)
    .map(Number)
    .sort((a, b) => a - b);
}

/**
 * A service signs with an old key until it is restarted, so its last signature was made before the start that
 * finds a newer key.
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
  // The key id covers the name: the same keys under another name would verify nothing that is signed already.
  if (storedName !== name)
    throw new KeyFileError(
      `${path} belongs to the log ${storedName}, not to ${name}: the name of a log (QRN_LOG_NAME) never changes`,
    );
  const retiredAt = existsSync(retired) ? readFileSync(retired, 'utf8').trimEnd() : null;
  return publishedKey(name, publicKey, created_at, retiredAt);
}

/** Undefined for a text that is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The times in ISO 8601. */
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

/** What the file holds; undefined when there is none. A file that others may read is refused. */
function readPrivate(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    // Windows keeps access lists, not modes.
    if (process.platform !== 'win32' && (fstatSync(file).mode & OTHERS_MASK) !== 0) {
      throw new KeyFileError(`${path}: others may read it; make it 0600, or rotate it if they may have`);
    }
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/**
 * Makes a whole new file or none, on disk before it returns. Throws EEXIST when the name is taken: `link`,
 * unlike `rename`, never replaces.
 */
function createOnce(path: string, content: string, mode: number): void {
  const draft = `${path}.draft`;
  rmSync(draft, { force: true }); // of a process that died here: nothing has used it
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
