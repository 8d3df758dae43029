import { sha256 } from '@noble/hashes/sha2.js';
import { utf8Bytes } from '../core/bytes.ts';
import { fromBase64 } from '../crypto/base64.ts';
import { leafHash, verifyInclusion } from '../crypto/merkle.ts';
import {
  type Checkpoint,
  COSIGNATURE_TYPE,
  cosignatureText,
  type InclusionProofText,
  type Note,
  noteKeyId,
  parseCheckpoint,
  parseNote,
  parseProof,
  parseVerifierKey,
  readTimestamped,
  verifierKey,
} from '../crypto/note.ts';
import { member, text, timeOf } from './members.ts';

/** The checkpoint in a proof, the keys that a verifier knows, and which of them signed. Runs in browsers. */

/** A signed note whose text is a checkpoint. Whose signatures it bears is another question. */
export interface CheckpointNote {
  readonly note: Note;
  readonly checkpoint: Checkpoint;
}

export interface LoggedAt extends CheckpointNote {
  readonly proof: InclusionProofText;
}

export function readProof(proofText: unknown): LoggedAt | string {
  if (proofText === null || proofText === undefined) {
    return 'The certificate has no proof: fetch it again, it is logged a moment after it was issued.';
  }
  const proof = typeof proofText === 'string' ? parseProof(proofText) : undefined;
  if (proof === undefined) return 'proof is not of the form c2sp.org/tlog-proof@v1.';
  const read = readCheckpoint(proof.note);
  return typeof read === 'string' ? read : { proof, ...read };
}

export function readCheckpoint(noteText: string): CheckpointNote | string {
  const note = parseNote(noteText);
  if (note === undefined) return 'The checkpoint is not a signed note.';
  const checkpoint = parseCheckpoint(note.text);
  if (checkpoint === undefined) return 'The signed note is not a checkpoint.';
  return { note, checkpoint };
}

/** Whether the text is the leaf that the proof is of. */
export function holdsLeaf({ proof, checkpoint }: LoggedAt, leaf: string): boolean {
  const hash = leafHash(sha256, utf8Bytes(leaf));
  return verifyInclusion(sha256, hash, proof.index, checkpoint.size, proof.path, checkpoint.root);
}

interface KnownKey {
  readonly name: string;
  readonly keyId: string;
  readonly publicKey: Uint8Array<ArrayBuffer>;
  /** It signs no checkpoint without the time. */
  readonly isTimed: boolean;
  /**
   * When the key began to sign, and when it had signed for the last time; NaN for what is no time, null for a
   * key in use.
   */
  readonly beganMs: number;
  readonly retiredMs: number | null;
}

/** The keys of the log and of those that it has succeeded; why not, when the document is none. */
export function knownKeys(keys: unknown): KnownKey[] | string {
  const predecessors = member(keys, 'predecessors') ?? [];
  if (!Array.isArray(predecessors)) return 'This is not a keys document.';
  const known: KnownKey[] = [];
  for (const log of [keys, ...predecessors]) {
    const ofLog = keysOfLog(log);
    if (typeof ofLog === 'string') return ofLog;
    known.push(...ofLog);
  }
  return known;
}

function keysOfLog(log: unknown): KnownKey[] | string {
  const origin = text(member(log, 'origin'));
  const listed = member(log, 'keys');
  if (origin === undefined || !Array.isArray(listed)) return 'This is not a keys document.';
  const known: KnownKey[] = [];
  for (const key of listed) {
    const publicKey = fromBase64(text(member(key, 'public_key')) ?? '');
    const keyId = text(member(key, 'key_id'));
    if (publicKey?.length !== 32 || member(key, 'algorithm') !== 'ed25519' || keyId === undefined) {
      return 'A key is not an Ed25519 public key.';
    }
    if (known.some((other) => other.keyId === keyId)) return `Key ${keyId} is listed twice.`;
    if (keyId !== noteKeyId(sha256, origin, publicKey))
      return `Key ${keyId} is not the key it is named after.`;
    if (member(key, 'verifier_key') !== verifierKey(sha256, origin, publicKey))
      return `Key ${keyId} is given in two ways.`;
    const cosignerKey = member(key, 'cosigner_key') ?? null;
    if (cosignerKey !== null && cosignerKey !== verifierKey(sha256, origin, publicKey, COSIGNATURE_TYPE))
      return `Key ${keyId} is given in two ways.`;
    const retiredAt = member(key, 'retired_at') ?? null;
    known.push({
      name: origin,
      keyId,
      publicKey,
      isTimed: cosignerKey !== null,
      beganMs: timeOf(member(key, 'created_at')),
      retiredMs: retiredAt === null ? null : timeOf(retiredAt),
    });
  }
  return known;
}

/** A known key's signature that holds; `atS` is the time of the one that says when, in seconds since 1970. */
export interface Signed {
  readonly key: KnownKey;
  readonly atS: number | undefined;
}

/** c2sp.org/signed-note: unknown signatures are ignored, one of a known key that fails rejects the note. */
export async function readSignatures(
  keys: unknown,
  logged: CheckpointNote | string,
): Promise<Signed[] | string> {
  if (typeof logged === 'string') return logged;
  const known = knownKeys(keys);
  if (typeof known === 'string') return known;
  const { note, checkpoint } = logged;
  const signed: Signed[] = [];
  const { origin } = checkpoint;
  if (!known.some(({ name }) => name === origin))
    return `The checkpoint is of the log ${origin}, the keys are of ${[...new Set(known.map(({ name }) => name))].join(', ')}.`;
  for (const { name, keyId, signature } of note.signatures) {
    for (const key of known) {
      if (key.name !== name || name !== origin) continue;
      const isTimed = keyId === noteKeyId(sha256, name, key.publicKey, COSIGNATURE_TYPE);
      if (!isTimed && keyId !== key.keyId) continue;
      const timed = isTimed ? readTimestamped(signature) : { atS: undefined, signature };
      if (timed === undefined) return `The signature of key ${keyId} on the checkpoint is malformed.`;
      const message = timed.atS === undefined ? note.text : cosignatureText(timed.atS, note.text);
      const failure = await signatureFailure(key.publicKey, keyId, message, timed.signature);
      if (failure !== undefined) return failure;
      signed.push({ key, atS: timed.atS });
    }
  }
  if (!signed.some(({ atS }) => atS === undefined)) return 'None of the known keys signed the checkpoint.';
  const timed = new Set(signed.filter(({ atS }) => atS !== undefined).map(({ key }) => key));
  const silent = signed.find(({ key }) => key.isTimed && !timed.has(key));
  if (silent !== undefined) return `Key ${silent.key.keyId} signed the checkpoint without saying when.`;
  return signed;
}

/** A checkpoint that a key signed which was in use then. */
export interface SignedCheckpoint extends CheckpointNote {
  /** The earliest time that the keys say, in seconds since 1970; undefined where none says when it signs. */
  readonly atS: number | undefined;
}

export async function readSigned(
  keys: unknown,
  read: CheckpointNote | string,
): Promise<SignedCheckpoint | string> {
  const signed = await readSignatures(keys, read);
  if (typeof signed === 'string') return signed;
  const times = signed.flatMap(({ atS }) => atS ?? []);
  const atS = times.length > 0 ? Math.min(...times) : undefined;
  const isRightful = signed.some(
    ({ key, atS: timed }) =>
      timed === undefined && (key.retiredMs === null || atS === undefined || atS * 1_000 <= key.retiredMs),
  );
  if (!isRightful) return 'The key that signed the checkpoint had been retired before.';
  const { note, checkpoint } = read as CheckpointNote;
  return { note, checkpoint, atS };
}

/** A leaf that stands in a tree which the log has signed. */
interface LoggedLeaf {
  readonly at: LoggedAt;
  /** When the log says that it held the leaf, in seconds since 1970. */
  readonly atS: number;
}

/** Where and when the log held the text as a leaf; a sentence says why that is not shown. */
export async function loggedLeaf(leaf: string, proof: unknown, keys: unknown): Promise<LoggedLeaf | string> {
  if (proof === null || proof === undefined) return 'It is not in the log yet: fetch it again in a moment.';
  const at = readProof(proof);
  if (typeof at === 'string') return at;
  if (!holdsLeaf(at, leaf)) return `It is not leaf ${at.proof.index} of the tree that its proof names.`;
  const signed = await readSigned(keys, at);
  if (typeof signed === 'string') return signed;
  return signed.atS === undefined
    ? 'The checkpoint does not say when the log signed it.'
    : { at, atS: signed.atS };
}

/** A witness's cosignature that holds. */
export interface Cosigned {
  readonly name: string;
  /** Seconds since 1970. */
  readonly atS: number;
}

/**
 * The first cosignature of each of these witnesses; why not, when a key is none or a cosignature is wrong.
 */
export async function readCosignatures(
  keys: readonly string[],
  logged: CheckpointNote | string,
): Promise<Cosigned[] | string> {
  if (typeof logged === 'string') return logged;
  const seen = new Map<string, Cosigned>();
  for (const each of keys) {
    const key = parseVerifierKey(sha256, each);
    if (key?.type !== COSIGNATURE_TYPE) return `${each} is not the verifier key of a witness.`;
    for (const { name, keyId, signature } of logged.note.signatures) {
      if (name !== key.name || keyId !== key.keyId) continue;
      const timed = readTimestamped(signature);
      if (timed === undefined) return `The cosignature of ${name} is malformed.`;
      const message = cosignatureText(timed.atS, logged.note.text);
      const failure = await signatureFailure(key.publicKey, keyId, message, timed.signature);
      if (failure !== undefined) return failure;
      // one key is one witness, under whatever names it is given
      const bytes = key.publicKey.join();
      if (!seen.has(bytes)) seen.set(bytes, { name, atS: timed.atS });
    }
  }
  return [...seen.values()];
}

async function signatureFailure(
  publicKey: Uint8Array<ArrayBuffer>,
  keyId: string,
  signedText: string,
  signature: Uint8Array<ArrayBuffer>,
): Promise<string | undefined> {
  const { subtle } = crypto;
  if (subtle === undefined) return 'Signatures cannot be checked here: this page was not loaded over https.';
  try {
    const imported = await subtle.importKey('raw', publicKey, 'Ed25519', false, ['verify']);
    const holds = await subtle.verify('Ed25519', imported, signature, utf8Bytes(signedText));
    return holds ? undefined : `The signature of key ${keyId} on the checkpoint is wrong.`;
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    return `Signatures cannot be checked here: no Ed25519 (${error.name}).`;
  }
}
