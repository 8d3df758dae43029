import { hexToBytes } from '@noble/hashes/utils.js';
import { type EntropyMode, ORIGINS, type Origin } from '../core/vocabulary.ts';
import { type EvidenceLevel, weakestEvidence } from '../ledger/records.ts';
import type { LotLeaf } from './lot-members.ts';
import { digestText } from './verdict.ts';
import { type DrawnSpan, resultOf } from './windows.ts';

/**
 * What a certificate says of its lots, derived from their leaves. The service issues by these functions, and a verifier
 * refuses a certificate that says otherwise. Runs in browsers.
 */
export interface DerivedFrom {
  readonly mode: EntropyMode;
  /** At least one, in the order in which they were drawn from. */
  readonly lots: readonly LotLeaf[];
  /** For each lot, where in it the answer lies; of csprng nowhere. */
  readonly spans: readonly (readonly DrawnSpan[])[];
}

type Circuit = Pick<
  LotLeaf,
  'lang_circuit' | 'lang_version' | 'quantum_backend' | 'qubits_used' | 'circuit_depth'
>;

/** decisions.md, Entropy modes, "one shape": csprng has no quantum origin whatever its lot says. */
const NO_CIRCUIT: Circuit = {
  lang_circuit: 'none',
  lang_version: 'none',
  quantum_backend: 'none',
  qubits_used: 0,
  circuit_depth: 0,
};

/** The first lot names the circuit; each lot's leaf has its own. */
export function circuitOf({ mode, lots }: DerivedFrom): Circuit {
  return mode === 'csprng' ? NO_CIRCUIT : lots[0];
}

/**
 * Where a draw came from, when it took from lots of several kinds: the weakest, in the order of ORIGINS from
 * `quantum-processor` down to `system`. An origin is never upgraded.
 */
export function originOf(lots: readonly { readonly origin: Origin }[]): Origin {
  return ORIGINS[Math.max(...lots.map((lot) => ORIGINS.indexOf(lot.origin)))];
}

/** The weakest claim of the lots: each level holds of every lot that has a higher one. */
export function evidenceOf(lots: readonly Pick<LotLeaf, 'evidence'>[]): EvidenceLevel {
  return weakestEvidence(lots.map(({ evidence }) => evidence?.claim ?? 'simulated'));
}

/** One lot's digest as it is; several joined in order and hashed again. Each `sha256:` and 64 hex digits. */
export function joinedDigest(digests: readonly string[]): string {
  if (digests.length === 1) return digests[0];
  return digestText(hexToBytes(digests.map((digest) => digest.slice('sha256:'.length)).join('')));
}

/** Null where a lot was not assessed. */
export function minEntropyOf(lots: readonly Pick<LotLeaf, 'min_entropy_per_bit'>[]): number | null {
  const estimates = lots.map((lot) => lot.min_entropy_per_bit).filter((each) => each !== null);
  return estimates.length < lots.length ? null : Math.min(...estimates);
}

function resultsOf({ mode, lots, spans }: DerivedFrom) {
  return lots.map((lot, i) => resultOf(lot, mode, spans[i]));
}

/** One result over all lots: a lot that was not tested leaves nothing to report. */
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
