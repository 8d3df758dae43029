import type { CertificateDocument } from '../../src/certificate/document.ts';
import type { VerificationInput } from '../../src/certificate/verify.ts';
import { lotRecord, TIME_MS } from './fixtures.ts';
import { scene } from './scene.ts';
import { cosigned, witness } from './signatures.ts';

/** Certificates whose checkpoints witnesses have cosigned. */

/** Time at which the answer was issued, in seconds since 1970. */
export const SECOND = Math.floor(TIME_MS / 1_000);

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
