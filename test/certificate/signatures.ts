import {
  COSIGNATURE_TYPE,
  cosignatureText,
  formatNote,
  type Note,
  noteKeyId,
  parseNote,
  timestampedSignature,
  verifierKey,
} from '../../src/crypto/note.ts';
import { SigningKey } from '../../src/crypto/signing.ts';

/** A key and its name, on notes and as witness. */
export interface Signer {
  readonly name: string;
  readonly key: SigningKey;
}

type Signature = Note['signatures'][number];

/** The witness of that number: the same in every run. */
export function witness(seed: number, name = `witness.example/w${seed}`) {
  const key = SigningKey.fromSeed(new Uint8Array(32).fill(seed));
  return { name, key, verifier: verifierKey(name, key.publicKey, COSIGNATURE_TYPE) };
}

/** A signature of the text alone. */
export function signature({ name, key }: Signer, text: string): Signature {
  const keyId = noteKeyId(name, key.publicKey);
  return { name, keyId, signature: key.sign(Buffer.from(text)) };
}

/** A signature that says when: seconds since 1970. */
export function cosignature({ name, key }: Signer, text: string, atS: number): Signature {
  const keyId = noteKeyId(name, key.publicKey, COSIGNATURE_TYPE);
  const timed = key.sign(Buffer.from(cosignatureText(atS, text)));
  return { name, keyId, signature: timestampedSignature(atS, timed) };
}

/** The proof with other signatures on its checkpoint. */
function withSignatures(proof: string | null, of: (note: Note) => readonly Signature[]): string {
  const blank = (proof ?? '').indexOf('\n\n') + 2;
  const note = parseNote((proof ?? '').slice(blank));
  if (proof === null || note === undefined) throw new Error('there is no proof with a signed checkpoint');
  return proof.slice(0, blank) + formatNote({ text: note.text, signatures: of(note) });
}

/** The proof with the witness's cosignature on its checkpoint. */
export function cosigned(proof: string | null, by: Signer, atS: number): string {
  return withSignatures(proof, ({ text, signatures }) => [...signatures, cosignature(by, text, atS)]);
}
