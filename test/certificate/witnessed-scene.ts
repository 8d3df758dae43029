import assert from 'node:assert/strict';
import type { CertificateDocument } from '../../src/certificate/document.ts';
import type { VerificationInput } from '../../src/certificate/verify.ts';
import { sha256 } from '../../src/crypto/digest.ts';
import {
  COSIGNATURE_TYPE,
  cosignatureText,
  formatNote,
  noteKeyId,
  parseNote,
  timestampedSignature,
  verifierKey,
} from '../../src/crypto/note.ts';
import { SigningKey } from '../../src/crypto/signing.ts';
import { lotRecord, TIME_MS } from './fixtures.ts';
import { scene } from './scene.ts';

/** Certificates whose checkpoints witnesses have cosigned. */

/** When the answer was issued, in seconds since 1970. */
export const SECOND = Math.floor(TIME_MS / 1_000);

export function witness(seed: number) {
  const key = SigningKey.fromSeed(new Uint8Array(32).fill(seed));
  const name = `witness.example/w${seed}`;
  return { name, key, verifier: verifierKey(sha256, name, key.publicKey, COSIGNATURE_TYPE) };
}

/** The proof with the witness's cosignature on its checkpoint. */
export function cosigned(
  proof: string | null,
  { name, key }: ReturnType<typeof witness>,
  atS: number,
): string {
  assert.ok(proof !== null);
  const blank = proof.indexOf('\n\n') + 2;
  const note = parseNote(proof.slice(blank));
  assert.ok(note !== undefined);
  const signature = timestampedSignature(atS, key.sign(Buffer.from(cosignatureText(atS, note.text))));
  const keyId = noteKeyId(sha256, name, key.publicKey, COSIGNATURE_TYPE);
  const signatures = [...note.signatures, { name, keyId, signature }];
  return proof.slice(0, blank) + formatNote({ text: note.text, signatures });
}

export type Times = readonly (readonly [seed: number, atS: number])[];

/** A seeded answer of version 4 whose lot and certificate were seen at these times, and a policy that asks for witnesses. */
export async function witnessed(
  lotSeen: Times,
  seen: Times,
  quorum: number,
  named: readonly number[] = [1, 2, 3],
): Promise<VerificationInput & Required<Pick<VerificationInput, 'witnesses'>>> {
  const lots = [lotRecord('a')];
  const { document, keys } = await scene({ lots, drawn: [{ lot: 0, offset: 32, bytes: 32 }] });
  const over = (proof: string | null, times: Times) =>
    times.reduce<string | null>((text, [seed, atS]) => cosigned(text, witness(seed), atS), proof);
  const certificate = {
    ...document,
    certificate: { ...document.certificate, proof: over(document.certificate.proof, seen) },
    lots: document.lots?.map((lot) => ({ ...lot, proof: over(lot.proof, lotSeen) })),
  } as CertificateDocument;
  return { certificate, keys, witnesses: { keys: named.map((seed) => witness(seed).verifier), quorum } };
}
