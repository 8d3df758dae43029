import assert from 'node:assert/strict';
import { COSIGNATURE_TYPE, formatNote, type Note, parseNote, verifierKey } from '../../src/crypto/note.ts';
import { noteSignature, SigningKey } from '../../src/crypto/signing.ts';

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

/** A signature that says when: seconds since 1970. */
export function cosignature({ name, key }: Signer, text: string, atS: number): Signature {
  return noteSignature(name, key, text, atS);
}

/** The proof with the witness's cosignature on its checkpoint. */
export function cosigned(proof: string | null, by: Signer, atS: number): string {
  assert(proof !== null, 'there is a proof');
  const noteAt = proof.indexOf('\n\n') + 2;
  const note = parseNote(proof.slice(noteAt));
  assert(note !== undefined, 'its checkpoint is signed');
  const { text, signatures } = note;
  return (
    proof.slice(0, noteAt) + formatNote({ text, signatures: [...signatures, cosignature(by, text, atS)] })
  );
}
