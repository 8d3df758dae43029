import { hexToBytes } from '@noble/hashes/utils.js';
import { type EntropyMode, ORIGINS, type Origin } from '../core/vocabulary.ts';
import { type EvidenceLevel, weakestEvidence } from '../ledger/records.ts';
import type { LotLeaf } from './lot-members.ts';
import { digestText } from './verdict.ts';
import { type DrawnSpan, resultOf } from './windows.ts';

/**
 * Derives what a certificate says of its lots from their leaves. The service issues certificates with these functions,
 * and a verifier refuses a certificate that says anything else. Runs in browsers.
 */
export interface DerivedFrom {
  readonly mode: EntropyMode;
  /** At least one lot, in the order in which the answer drew from them. */
  readonly lots: readonly LotLeaf[];
  /** For each lot, the bytes of it that the answer used; empty lists in csprng mode. */
  readonly spans: readonly (readonly DrawnSpan[])[];
}

type Circuit = Pick<
  LotLeaf,
  'lang_circuit' | 'lang_version' | 'quantum_backend' | 'qubits_used' | 'circuit_depth'
>;

/** The circuit of every answer in csprng mode, which has no quantum origin whatever its lot says. */
const NO_CIRCUIT: Circuit = {
  lang_circuit: 'none',
  lang_version: 'none',
  quantum_backend: 'none',
  qubits_used: 0,
  circuit_depth: 0,
};

/** Returns the circuit of the first lot. The leaves name the circuits of the others. */
export function circuitOf({ mode, lots }: DerivedFrom): Circuit {
  return mode === 'csprng' ? NO_CIRCUIT : lots[0];
}

/** Returns the weakest origin of the lots: the last in the order of ORIGINS. An origin is never upgraded. */
export function originOf(lots: readonly { readonly origin: Origin }[]): Origin {
  return ORIGINS[Math.max(...lots.map((lot) => ORIGINS.indexOf(lot.origin)))];
}

/** Returns the weakest claim of the lots. A lot with a stronger claim meets the weaker one too. */
export function evidenceOf(lots: readonly Pick<LotLeaf, 'evidence'>[]): EvidenceLevel {
  return weakestEvidence(lots.map(({ evidence }) => evidence?.claim ?? 'simulated'));
}

/** Returns a single digest as it is; of several, the digest of their bytes in order. All are `sha256:` and hex. */
export function joinedDigest(digests: readonly string[]): string {
  if (digests.length === 1) return digests[0];
  return digestText(hexToBytes(digests.map((digest) => digest.slice('sha256:'.length)).join('')));
}

/** Returns the least estimate of the lots; null if one of them was not assessed. */
export function minEntropyOf(lots: readonly Pick<LotLeaf, 'min_entropy_per_bit'>[]): number | null {
  const estimates = lots.map((lot) => lot.min_entropy_per_bit).filter((each) => each !== null);
  return estimates.length < lots.length ? null : Math.min(...estimates);
}

function resultsOf({ mode, lots, spans }: DerivedFrom) {
  return lots.map((lot, i) => resultOf(lot, mode, spans[i]));
}

/** Returns the sum of the results of all lots. If one lot was not tested, the whole counts as not tested. */
export function nistResultOf(from: DerivedFrom): string {
  let passed = 0;
  let total = 0;
  for (const result of resultsOf(from)) {
    if (result === undefined) return 'not tested';
    passed += result.passed;
    total += result.total;
  }
  return `${passed}/${total} passed`;
}

export function nistVerifiedOf(from: DerivedFrom): boolean {
  return resultsOf(from).every((result) => result?.verified === true);
}
