import { type EntropyMode, isQuantum, type Origin, type SystemGenerator } from '../core/vocabulary.ts';
import type { EvidenceLevel } from '../ledger/records.ts';
import type { CertificateDocument } from './document.ts';

/**
 * Says in sentences what a certificate means and what it does not, for the page and the PDF. The sentences are made
 * from the certificate's members and are not signed.
 */

/** Returns what the certificate's mode, origin and evidence mean. */
export function provenanceMeaning({ certificate, lots }: CertificateDocument): string {
  const { origin, evidence, system_entropy: generator } = certificate.provenance;
  const isDeclared = isQuantum(origin) && lots.some(({ leaf }) => leaf.declared);
  return [
    MODE_MEANINGS[certificate.entropy_mode],
    ...(generator === undefined ? [] : [GENERATOR_MEANINGS[generator]]),
    isDeclared ? DECLARED_MEANING : ORIGIN_MEANINGS[origin],
    ...(evidence === undefined ? [] : [EVIDENCE_MEANINGS[evidence]]),
  ].join(' ');
}

/** Returns what a reader must know of the source first: that it is for tests, not quantum, or not attested. */
export function sourceWarnings({ certificate, lots }: CertificateDocument): [title: string, text: string][] {
  const ofOrigin = ORIGIN_WARNINGS[certificate.provenance.origin];
  const warnings: [string, string][] = [];
  if (lots.some(({ leaf }) => leaf.deterministic))
    warnings.push([
      'Test source: this answer is not random.',
      'A deterministic source made it, for tests; anyone who knows its seed knows the values.',
    ]);
  if (ofOrigin !== undefined) warnings.push([...ofOrigin]);
  if (lots.some(({ leaf }) => leaf.declared))
    warnings.push([
      'Declared source: its origin is not attested.',
      'The operator says that the device is quantum; neither the device nor a test attests it.',
    ]);
  return warnings;
}

const ORIGIN_WARNINGS: Readonly<Partial<Record<Origin, readonly [title: string, text: string]>>> = {
  simulated: [
    'Simulated source: no quantum hardware was involved.',
    'The raw bits were computed by a program that simulates a quantum processor.',
  ],
  replay: [
    'Replayed source: recorded bits were played back.',
    'The raw bits were recorded earlier and may have been used before.',
  ],
  system: ['No quantum origin.', 'The values come from the generator of the operating system.'],
};

/** Returns what the tests mean. */
export function testsMeaning(mode: EntropyMode): string {
  return `${TESTS_MEANING} ${TESTED_MEANINGS[mode]}`;
}

const MODE_MEANINGS: Readonly<Record<EntropyMode, string>> = {
  'quantum-seeded':
    'The values were expanded by ChaCha20 from a 32-byte seed of this lot, mixed with system entropy.',
  pure: 'The values were made from conditioned bytes of these lots and nothing else.',
  csprng:
    'The values were expanded by ChaCha20, each 64 KiB from 32 fresh bytes of system entropy. The lot is a sample that this process drew from its own stream in the same way, not the bytes used; it is renewed every 6 hours.',
};

const GENERATOR_MEANINGS: Readonly<Record<SystemGenerator, string>> = {
  kernel: 'The system entropy came from the kernel’s generator.',
  openssl:
    'The system entropy came from OpenSSL’s generator in the memory of the process, because this platform has no kernel device. Whoever copies that memory can compute later output.',
};

const ORIGIN_MEANINGS: Readonly<Record<Origin, string>> = {
  'quantum-processor': 'The raw bits were measured on a quantum processor.',
  'qrng-device': 'The raw bits came from a quantum random number device.',
  simulated: 'The raw bits were computed by a simulator; no quantum hardware was involved.',
  replay: 'The raw bits were recorded earlier and played back; they may have been used before.',
  system: 'The raw bits came from the operating system and have no quantum origin.',
};

/** Used if any lot is declared: a declaration is not an attestation. */
const DECLARED_MEANING =
  'The raw bits came from a device that its operator declares to be quantum; nothing attests it.';

/** Each claim and what it rests on. The leaves of the lots list all assumptions. */
const EVIDENCE_MEANINGS: Readonly<Record<EvidenceLevel, string>> = {
  simulated: 'There is no evidence of a quantum origin.',
  statistical: 'The evidence is statistical tests alone, which cannot tell a quantum source from another.',
  calibrated:
    'The evidence is published readout errors and the lots’ own shots. It assumes pure states, and bits that are independent and identically distributed.',
};

const TESTS_MEANING =
  'Tests can refute randomness but not prove it. The min-entropy is estimated on raw bits. ' +
  'The certificate says what was delivered, when, for which request and from which lots, but not that a qubit was measured.';

/** Which bits `nist_verified` is about. */
const TESTED_MEANINGS: Readonly<Record<EntropyMode, string>> = {
  'quantum-seeded':
    'nist_verified is about the tested window of the lot that holds the seed. The values themselves are output of ChaCha20.',
  pure: 'nist_verified is about the bytes that were drawn: each bit of them lies in a tested window that passed.',
  csprng:
    'nist_verified is about the sample that this process drew from its own stream, not about the values, which are output of ChaCha20.',
};
