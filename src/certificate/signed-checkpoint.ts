import { utf8Bytes } from '../core/bytes.ts';
import { fromBase64 } from '../crypto/base64.ts';
import { verifyEd25519 } from '../crypto/ed25519.ts';
import { leafHash, verifyInclusion } from '../crypto/merkle.ts';
import {
  type Checkpoint,
  COSIGNATURE_TYPE,
  cosignatureText,
  ED25519_TYPE,
  type InclusionProofText,
  type Note,
  noteKeyId,
  parseCheckpoint,
  parseNote,
  parseProof,
  parseVerifierKey,
  readTimestamped,
  type VerifierKey,
  verifierKey,
} from '../crypto/note.ts';
import { member, text, timeOf } from './members.ts';
import { refuse } from './verdict.ts';

/**
 * Reads proofs and checkpoints and verifies their signatures against known keys. Every function refuses what cannot be
 * read or does not hold. Runs in browsers.
 */

/** A signed note whose text is a checkpoint. Its signatures are not verified yet. */
export interface CheckpointNote {
  readonly note: Note;
  readonly checkpoint: Checkpoint;
}

export interface LoggedAt extends CheckpointNote {
  readonly proof: InclusionProofText;
}

export function readProof(proofText: unknown): LoggedAt {
  if (proofText === null || proofText === undefined)
    refuse('The certificate has no proof yet. It is logged a moment after it is issued: fetch it again.');
  const proof = typeof proofText === 'string' ? parseProof(proofText) : undefined;
  if (proof === undefined) refuse('The proof is not in the format c2sp.org/tlog-proof@v1.');
  return { proof, ...readCheckpoint(proof.note) };
}

export function readCheckpoint(noteText: string): CheckpointNote {
  const note = parseNote(noteText);
  if (note === undefined) refuse('The checkpoint is not a signed note.');
  const checkpoint = parseCheckpoint(note.text);
  if (checkpoint === undefined) refuse('The signed note is not a checkpoint.');
  return { note, checkpoint };
}

/** Returns whether the text is the leaf that the proof places in the tree. */
export function holdsLeaf({ proof, checkpoint }: LoggedAt, leaf: string): boolean {
  const hash = leafHash(utf8Bytes(leaf));
  return verifyInclusion(hash, proof.index, checkpoint.size, proof.path, checkpoint.root);
}

/** A key of the document of keys. Its name is the origin of its log. */
export interface KnownKey extends Omit<VerifierKey, 'type'> {
  /** When the key began to sign, Unix ms; NaN if the document has no valid time. */
  readonly beganMs: number;
  /** The time by which the key had signed last, Unix ms; null for a key in use, NaN if the time is not valid. */
  readonly retiredMs: number | null;
}

/** Returns the keys of the log and of the logs that it has succeeded. */
export function knownKeys(keys: unknown): KnownKey[] {
  const predecessors = member(keys, 'predecessors') ?? [];
  if (!Array.isArray(predecessors)) refuse('This is not a keys document.');
  return [keys, ...predecessors].flatMap(keysOfLog);
}

function keysOfLog(log: unknown): KnownKey[] {
  const origin = text(member(log, 'origin'));
  const listed = member(log, 'keys');
  if (origin === undefined || !Array.isArray(listed)) refuse('This is not a keys document.');
  const known: KnownKey[] = [];
  for (const key of listed) {
    const publicKey = fromBase64(text(member(key, 'public_key')) ?? '');
    const keyId = text(member(key, 'key_id'));
    if (publicKey?.length !== 32 || member(key, 'algorithm') !== 'ed25519' || keyId === undefined)
      refuse('The keys document lists a key that is not an Ed25519 public key.');
    if (known.some((other) => other.keyId === keyId)) refuse(`The keys document lists key ${keyId} twice.`);
    if (keyId !== noteKeyId(origin, publicKey))
      refuse(`The id of key ${keyId} does not follow from its public key.`);
    if (
      member(key, 'verifier_key') !== verifierKey(origin, publicKey) ||
      member(key, 'cosigner_key') !== verifierKey(origin, publicKey, COSIGNATURE_TYPE)
    )
      refuse(`The members public_key, verifier_key and cosigner_key of key ${keyId} do not agree.`);
    const retiredAt = member(key, 'retired_at') ?? null;
    known.push({
      name: origin,
      keyId,
      publicKey,
      beganMs: timeOf(member(key, 'created_at')),
      retiredMs: retiredAt === null ? null : timeOf(retiredAt),
    });
  }
  return known;
}

/** A key that has signed a checkpoint. */
export interface Signed {
  readonly key: KnownKey;
  /** When the key signed, by its own word, in seconds since 1970. */
  readonly atS: number;
}

/** Most signatures that are verified in one note, since a forged note could repeat a line many times. */
const SIGNATURES_MAX = 16;

/**
 * Returns the signatures of these keys on the note (c2sp.org/signed-note). Ignores those of other keys. Refuses the
 * note if a signature of these keys does not hold, or if there are more than SIGNATURES_MAX of them. `atS` is the time
 * of a cosignature in seconds since 1970; undefined for plain signatures.
 */
export function signaturesBy<Key extends VerifierKey>(
  { text, signatures }: Note,
  keys: readonly Key[],
): { readonly key: Key; readonly atS: number | undefined; readonly line: Note['signatures'][number] }[] {
  const own = signatures.flatMap((line) =>
    keys.flatMap((key) => (key.name === line.name && key.keyId === line.keyId ? [{ key, line }] : [])),
  );
  if (own.length > SIGNATURES_MAX)
    refuse(`The checkpoint has ${own.length} signatures of known keys, more than ${SIGNATURES_MAX}.`);
  return own.map(({ key, line }) => {
    const { keyId, signature } = line;
    const timed = key.type === COSIGNATURE_TYPE ? readTimestamped(signature) : { atS: undefined, signature };
    if (timed === undefined) refuse(`The signature of key ${keyId} on the checkpoint is malformed.`);
    const message = timed.atS === undefined ? text : cosignatureText(timed.atS, text);
    if (!verifyEd25519(key.publicKey, utf8Bytes(message), timed.signature))
      refuse(`The signature of key ${keyId} on the checkpoint is wrong.`);
    return { key, atS: timed.atS, line };
  });
}

/**
 * Returns the keys of the document that have signed the checkpoint, at least one. A key must have signed the text
 * plainly and once more as a cosigner, with the time.
 */
export function readSignatures(keys: unknown, { note, checkpoint }: CheckpointNote): Signed[] {
  const known = knownKeys(keys);
  const { origin } = checkpoint;
  const own = known.filter(({ name }) => name === origin);
  if (own.length === 0)
    refuse(
      `The checkpoint is of the log ${origin}, but the keys are of ${[...new Set(known.map(({ name }) => name))].join(', ')}.`,
    );
  const signers = own.flatMap((of) =>
    [ED25519_TYPE, COSIGNATURE_TYPE].map((type) => ({
      name: origin,
      keyId: noteKeyId(origin, of.publicKey, type),
      type,
      publicKey: of.publicKey,
      of,
    })),
  );
  const signed = signaturesBy(note, signers).map(({ key, atS }) => ({ key: key.of, atS }));
  if (signed.every(({ atS }) => atS !== undefined)) refuse('None of the known keys signed the checkpoint.');
  return own.flatMap((key) => {
    const of = signed.filter((each) => each.key === key);
    if (of.length === 0) return [];
    const [atS, ...others] = of.flatMap((each) => each.atS ?? []);
    if (atS === undefined)
      refuse(`Key ${key.keyId} signed the checkpoint, but no cosignature of it states the time.`);
    // With several times, their order in the note would decide which one counts.
    if (others.length > 0) refuse(`Key ${key.keyId} has more than one cosignature on the checkpoint.`);
    if (of.length === 1)
      refuse(`Key ${key.keyId} has a cosignature on the checkpoint, but no plain signature.`);
    return [{ key, atS }];
  });
}

/** A checkpoint that a key signed while it was in use. */
export interface SignedCheckpoint extends CheckpointNote {
  /** The earliest time that the signatures state, in seconds since 1970. */
  readonly atS: number;
}

export function readSigned(keys: unknown, read: CheckpointNote): SignedCheckpoint {
  const signed = readSignatures(keys, read);
  const atS = Math.min(...signed.map((each) => each.atS));
  if (!signed.some(({ key: { retiredMs } }) => retiredMs === null || atS * 1_000 <= retiredMs))
    refuse('The key that signed the checkpoint had already been retired.');
  return { note: read.note, checkpoint: read.checkpoint, atS };
}

/** The place of a leaf in a tree that the log has signed. */
export interface LoggedLeaf {
  readonly at: LoggedAt;
  /** When the log, by its own word, signed the tree with the leaf, in seconds since 1970. */
  readonly atS: number;
}

/** Returns where and when the log held the text as a leaf. Refuses a proof that does not hold. */
export function loggedLeaf(leaf: string, proof: unknown, keys: unknown): LoggedLeaf {
  if (proof === null || proof === undefined) refuse('It has no proof yet: fetch it again in a moment.');
  const at = readProof(proof);
  if (!holdsLeaf(at, leaf)) refuse(`It is not leaf ${at.proof.index} of the tree that its proof names.`);
  const { atS } = readSigned(keys, at);
  return { at, atS };
}

/** A valid cosignature of a witness. */
export interface Cosigned {
  /** The name of the witness. */
  readonly name: string;
  /** When the witness cosigned, by its own word, in seconds since 1970. */
  readonly atS: number;
}

/** Returns the first cosignature of each of these witnesses. `keys` are their verifier keys. */
export function readCosignatures(
  keys: readonly string[],
  { note }: Pick<CheckpointNote, 'note'>,
): Cosigned[] {
  const seen = new Map<string, Cosigned>();
  for (const each of keys) {
    const key = parseVerifierKey(each);
    if (key?.type !== COSIGNATURE_TYPE) refuse(`${each} is not the verifier key of a witness.`);
    // A key counts as one witness, even if it is listed under several names.
    const bytes = key.publicKey.join();
    for (const { atS = 0 } of signaturesBy(note, [key]))
      if (!seen.has(bytes)) seen.set(bytes, { name: key.name, atS });
  }
  return [...seen.values()];
}
