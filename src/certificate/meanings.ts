import { type EntropyMode, isQuantum, type Origin, type SystemGenerator } from '../core/vocabulary.ts';
import type { EvidenceLevel, LotRecord } from '../ledger/records.ts';

/**
 * The sentences of a certificate: what its mode, its origin, its evidence and its tests mean, and what they
 * do not. They are part of the leaf, so a sentence that was printed once never changes: a new one needs a
 * member in the records by which it is told from the old one.
 */

export function modeMeaning(mode: EntropyMode, generator: SystemGenerator | undefined): string {
  if (generator === undefined || mode === 'pure') return MODE_MEANINGS[mode];
  const values = mode === 'csprng' ? STREAM_MEANING : MODE_MEANINGS[mode];
  return `${values} ${GENERATOR_MEANINGS[generator]}`;
}

const STREAM_MEANING =
  'Values: expanded by ChaCha20, each 64 KiB from 32 fresh bytes of system entropy. The lot is a sample that this process drew from its own stream as answers are drawn, renewed every 6 hours; it is not the bytes used.';

const GENERATOR_MEANINGS: Readonly<Record<SystemGenerator, string>> = {
  kernel: 'System entropy: read from the kernel’s generator.',
  openssl:
    'System entropy: from OpenSSL’s generator in the memory of the process, since this platform has no kernel device; a copy of that memory gives later output.',
};

/** Of certificates that do not name the generator: their text never changes. */
const MODE_MEANINGS: Readonly<Record<EntropyMode, string>> = {
  'quantum-seeded':
    'Values: expanded by ChaCha20 from a 32-byte seed of this lot, mixed with system entropy.',
  pure: 'Values: from conditioned bytes of these lots and nothing else.',
  csprng:
    'Values: from the operating system’s generator; the lot is a tested sample of it, not the bytes used.',
};

const ORIGIN_MEANINGS: Readonly<Record<Origin, string>> = {
  'quantum-processor': 'Raw bits: measured on a quantum processor.',
  'qrng-device': 'Raw bits: from a quantum random number device.',
  simulated: 'Raw bits: computed by a simulator; no quantum hardware was involved.',
  replay: 'Raw bits: recorded earlier and played back; they may have been used before.',
  system: 'Raw bits: from the operating system; no quantum origin.',
};

/** A declaration is not an attestation, and one declared lot among several makes the whole declared. */
export function originMeaning(origin: Origin, lots: readonly LotRecord[]): string {
  const isDeclared = isQuantum(origin) && lots.some((lot) => lot.isDeclared === true);
  return isDeclared
    ? 'Raw bits: from a device that its operator declares to be quantum; nothing attests it.'
    : ORIGIN_MEANINGS[origin];
}

/** The claim and what it rests on; the lots have the assumptions in full. */
export function evidenceMeaning(level: EvidenceLevel): string {
  return EVIDENCE_MEANINGS[level];
}

const EVIDENCE_MEANINGS: Readonly<Record<EvidenceLevel, string>> = {
  simulated: 'Evidence: none of a quantum origin.',
  statistical: 'Evidence: statistical tests alone, which cannot tell a quantum source from another.',
  calibrated:
    'Evidence: published readout errors and the lots’ own shots, assuming pure states, and bits that are independent and identically distributed.',
};

export function testsMeaning(mode: EntropyMode, version: number): string {
  return `${TESTS_MEANING}${version >= 3 ? ` ${TESTED_MEANINGS[mode]}` : ''}`;
}

const TESTS_MEANING =
  'Tests can refute randomness, not prove it; min-entropy is estimated on raw bits. ' +
  'Certified: what was delivered, when, to which request, from which lots; not that a qubit was measured.';

/** What `nist_verified` is about, from version 3 on. */
const TESTED_MEANINGS: Readonly<Record<EntropyMode, string>> = {
  'quantum-seeded':
    'nist_verified is about the lot that gave the seed: every bit that serves lies in a tested window that passed. The values themselves are output of ChaCha20.',
  pure: 'nist_verified is about the blocks drawn on: every bit of the lots that serves lies in a tested window that passed.',
  csprng:
    'nist_verified is about the sample that this process drew from its own stream, not about the values, which are output of ChaCha20.',
};
