import type { EntropyMode } from '../core/vocabulary.ts';
import { informationBits, type ValueRequest } from '../values/value-request.ts';

/**
 * What an answer costs in pure mode: the entropy it holds, rounded up to bytes once per request. Deterministic;
 * rejected draws are the service's cost. The other modes cost nothing.
 */
export function creditsFor(values: ValueRequest, mode: EntropyMode): number {
  return mode === 'pure' ? entropyBytes(values) : 0;
}

/** The entropy of the answer in whole bytes, whatever the mode: what `dry_run` quotes. */
export function entropyBytes(values: ValueRequest): number {
  return Math.ceil(informationBits(values) / 8);
}
