import { bytesToHex } from '@noble/hashes/utils.js';
import { fromBase64, toBase64 } from './base64.ts';
import { HASH_BYTES, type Hash } from './merkle.ts';
import { sha256 } from './sha256.ts';

/**
 * Signed notes (c2sp.org/signed-note), log checkpoints (c2sp.org/tlog-checkpoint) and proofs of inclusion
 * (c2sp.org/tlog-proof), as text. Nothing here makes or checks a signature: callers check the signatures whose keys
 * they know. Parsers return undefined for text that does not have exactly the required form.
 */

/**
 * Signature types of c2sp.org/signed-note: Ed25519 over the note's text, and the timestamped one of
 * c2sp.org/tlog-cosignature.
 */
export const ED25519_TYPE = 0x01;
export const COSIGNATURE_TYPE = 0x04;
const PUBLIC_KEY_BYTES = 32;
const TIMESTAMP_BYTES = 8;
const ED25519_SIGNATURE_BYTES = 64;
const KEY_ID_BYTES = 4;
/**
 * Longest note that is parsed: room for the few lines of a checkpoint and far more than the 16 signatures a reader must
 * accept.
 */
const NOTE_LENGTH_MAX = 65_536;
const PROOF_VERSION = 'c2sp.org/tlog-proof@v1';
/** The longest path, that of a tree of 2^53 leaves. */
const PROOF_HASHES_MAX = 53;

const utf8 = new TextEncoder();

interface NoteSignature {
  /** The key's name. The name of a log's key is the log's origin. */
  readonly name: string;
  /** 8 hex digits. */
  readonly keyId: string;
  readonly signature: Uint8Array<ArrayBuffer>;
}

export interface Note {
  /** The signed text, including its last newline. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

export interface Checkpoint {
  readonly origin: string;
  readonly size: number;
  readonly root: Hash;
}

export interface InclusionProofText {
  readonly index: number;
  readonly path: readonly Hash[];
  /** The signed checkpoint, verbatim. */
  readonly note: string;
}

/** SHA-256(name || 0x0A || type || public key)[:4] as 8 hex digits, for an Ed25519 key of 32 bytes. */
export function noteKeyId(name: string, publicKey: Uint8Array, type: number = ED25519_TYPE): string {
  const prefix = utf8.encode(`${name}\n`);
  const input = new Uint8Array(prefix.length + 1 + publicKey.length);
  input.set(prefix);
  input[prefix.length] = type;
  input.set(publicKey, prefix.length + 1);
  return bytesToHex(sha256(input).subarray(0, KEY_ID_BYTES));
}

/** Returns `<name>+<key id>+<base64 of type and public key>`, the form in which note tools accept trusted keys. */
export function verifierKey(name: string, publicKey: Uint8Array, type: number = ED25519_TYPE): string {
  const typed = new Uint8Array(1 + publicKey.length);
  typed[0] = type;
  typed.set(publicKey, 1);
  return `${name}+${noteKeyId(name, publicKey, type)}+${toBase64(typed)}`;
}

export interface VerifierKey {
  readonly name: string;
  /** 8 hex digits. */
  readonly keyId: string;
  /** The signature type: ED25519_TYPE or COSIGNATURE_TYPE. */
  readonly type: number;
  readonly publicKey: Uint8Array<ArrayBuffer>;
}

/**
 * Parses a verifier key of either signature type; undefined for anything else, and when the id does not match the key.
 */
export function parseVerifierKey(text: string): VerifierKey | undefined {
  const [, name, keyId, typed] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? [];
  const bytes = fromBase64(typed ?? '');
  if (bytes?.length !== 1 + PUBLIC_KEY_BYTES || !isKeyName(name)) return undefined;
  const [type] = bytes;
  const publicKey = bytes.slice(1);
  if (type !== ED25519_TYPE && type !== COSIGNATURE_TYPE) return undefined;
  return keyId === noteKeyId(name, publicKey, type) ? { name, keyId, type, publicKey } : undefined;
}

/** Tells whether `name` may name a key: not empty, without white space, control characters and plus. */
export function isKeyName(name: string): boolean {
  return name !== '' && name.isWellFormed() && !/[+\p{White_Space}\p{Cc}]/u.test(name);
}

export function formatNote(note: Note): string {
  const lines = note.signatures.map(({ name, keyId, signature }) => {
    const bytes = new Uint8Array(KEY_ID_BYTES + signature.length);
    new DataView(bytes.buffer).setUint32(0, Number.parseInt(keyId, 16));
    bytes.set(signature, KEY_ID_BYTES);
    return `— ${name} ${toBase64(bytes)}\n`;
  });
  return `${note.text}\n${lines.join('')}`;
}

export function parseNote(note: string): Note | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a note must not contain any but the newline
  if (note.length > NOTE_LENGTH_MAX || !note.isWellFormed() || /[\0-\x09\x0b-\x1f]/.test(note))
    return undefined;
  const blank = note.lastIndexOf('\n\n');
  if (blank <= 0 || !note.endsWith('\n')) return undefined;
  const signatures: NoteSignature[] = [];
  for (const line of note.slice(blank + 2, -1).split('\n')) {
    const [dash, name, text, ...rest] = line.split(' ');
    const bytes = fromBase64(text ?? '');
    if (dash !== '—' || !isKeyName(name ?? '') || bytes === undefined || rest.length > 0) return undefined;
    if (bytes.length <= KEY_ID_BYTES) return undefined;
    signatures.push({
      name,
      keyId: bytesToHex(bytes.subarray(0, KEY_ID_BYTES)),
      signature: bytes.slice(KEY_ID_BYTES),
    });
  }
  return { text: note.slice(0, blank + 1), signatures };
}

/** Returns the text of a checkpoint, which is what the log signs. */
export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${toBase64(root)}\n`;
}

/** Returns what a cosigner signs: the time and the whole checkpoint (c2sp.org/tlog-cosignature, Ed25519). */
export function cosignatureText(atS: number, text: string): string {
  return `cosignature/v1\ntime ${atS}\n${text}`;
}

/** Returns a cosignature as a note holds it: the time as u64, big-endian, then the Ed25519 signature. */
export function timestampedSignature(atS: number, signature: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(TIMESTAMP_BYTES + signature.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(atS));
  bytes.set(signature, TIMESTAMP_BYTES);
  return bytes;
}

/** Returns the two parts of a cosignature; undefined for another length, or for a time of 0 or beyond 2^53. */
export function readTimestamped(
  bytes: Uint8Array<ArrayBuffer>,
): { readonly atS: number; readonly signature: Uint8Array<ArrayBuffer> } | undefined {
  if (bytes.length !== TIMESTAMP_BYTES + ED25519_SIGNATURE_BYTES) return undefined;
  const atS = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0));
  if (atS === 0 || !Number.isSafeInteger(atS)) return undefined;
  return { atS, signature: bytes.slice(TIMESTAMP_BYTES) };
}

/** Returns the signatures of the text alone, as a log makes them, without the timestamped cosignatures. */
export function plainSignatures({ signatures }: Note): Note['signatures'] {
  return signatures.filter(({ signature }) => signature.length === ED25519_SIGNATURE_BYTES);
}

/** Parses a checkpoint. The format allows extension lines, and this service ignores them. */
export function parseCheckpoint(text: string): Checkpoint | undefined {
  if (!text.endsWith('\n')) return undefined;
  const [origin, sizeText, rootText, ...extensions] = text.slice(0, -1).split('\n');
  const size = parseCount(sizeText ?? '');
  const root = fromBase64(rootText ?? '');
  if (origin === '' || size === undefined || root?.length !== HASH_BYTES) return undefined;
  if (extensions.includes('')) return undefined;
  return { origin, size, root };
}

export function formatProof({ index, path, note }: InclusionProofText): string {
  const hashes = path.map((hash) => `${toBase64(hash)}\n`).join('');
  return `${PROOF_VERSION}\nindex ${index}\n${hashes}\n${note}`;
}

/**
 * Parses a proof without extra data: this service writes none, and unauthenticated data does not belong in a
 * certificate.
 */
export function parseProof(text: string): InclusionProofText | undefined {
  const blank = text.indexOf('\n\n');
  if (blank < 0) return undefined;
  const [version, indexLine, ...hashLines] = text.slice(0, blank).split('\n');
  if (version !== PROOF_VERSION || !indexLine?.startsWith('index ')) return undefined;
  const index = parseCount(indexLine.slice('index '.length));
  if (index === undefined || hashLines.length > PROOF_HASHES_MAX) return undefined;
  const path = parseHashes(hashLines);
  return path && { index, path, note: text.slice(blank + 2) };
}

/** Parses a list of hashes in base64. */
export function parseHashes(texts: unknown): Hash[] | undefined {
  if (!Array.isArray(texts)) return undefined;
  const hashes: Hash[] = [];
  for (const each of texts) {
    const hash = typeof each === 'string' ? fromBase64(each) : undefined;
    if (hash?.length !== HASH_BYTES) return undefined;
    hashes.push(hash);
  }
  return hashes;
}

/** Parses an ASCII decimal without leading zeroes, up to 2^53 - 1. */
export function parseCount(text: string): number | undefined {
  const count = /^(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(count) ? count : undefined;
}
