import { ORIGINS, type Origin } from '../core/vocabulary.ts';
import { EVIDENCE_CLAIMS, type EvidenceClaim } from './records.ts';

/** How claims of evidence compare. The verifier that runs in browsers uses it too. */

export function isClaim(value: unknown): value is EvidenceClaim {
  return EVIDENCE_CLAIMS.some((claim) => claim === value);
}

/** What a draw from several lots is evidence of: the weakest of their claims. No claim is ever promoted. */
export function weakestClaim(claims: readonly EvidenceClaim[]): EvidenceClaim {
  return EVIDENCE_CLAIMS[Math.min(...claims.map(rankOf))];
}

/** Whether a lot of this origin may make the claim at all, whatever its figures are. */
export function mayClaim(origin: unknown, claim: EvidenceClaim): boolean {
  const known = ORIGINS.find((each) => each === origin);
  return known !== undefined && rankOf(claim) <= rankOf(CEILINGS[known]);
}

const CEILINGS: Readonly<Record<Origin, EvidenceClaim>> = {
  'quantum-processor': 'bell-witness',
  'qrng-device': 'bell-witness',
  simulated: 'simulated',
  replay: 'statistical',
  system: 'statistical',
};

function rankOf(claim: EvidenceClaim): number {
  return EVIDENCE_CLAIMS.indexOf(claim);
}
