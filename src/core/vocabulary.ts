/** The closed sets of words that several rooms share, spelled as on the wire. */

/** The common parameter `entropy_mode` of the specification. The service never replaces one mode by another. */
export const ENTROPY_MODES = ['quantum-seeded', 'pure', 'csprng'] as const;
export type EntropyMode = (typeof ENTROPY_MODES)[number];

/** The kind of thing that produced the raw noise. Every answer states the origin of its source, never a better one. */
export const ORIGINS = ['quantum-processor', 'qrng-device', 'simulated', 'replay', 'system'] as const;
export type Origin = (typeof ORIGINS)[number];

/** Returns whether raw bits of this origin are claimed to be measurements of a quantum system. */
export function isQuantum(origin: Origin): boolean {
  return origin === 'quantum-processor' || origin === 'qrng-device';
}

export const TIERS = ['free', 'developer', 'pro', 'business', 'enterprise'] as const;
export type Tier = (typeof TIERS)[number];

/** The tiers that have quantum-seeded mode, each with its own seed, in the order of their seed slots. */
export const SEEDED_TIERS = ['developer', 'pro', 'business', 'enterprise'] as const;
export type SeededTier = (typeof SEEDED_TIERS)[number];

export const SCOPES = [
  'entropy:read',
  'entropy:batch',
  'certificate:read',
  'usage:read',
  'health:read',
] as const;
export type Scope = (typeof SCOPES)[number];

/** The endpoints that draw entropy. Prices, usage counters and certificates name them. */
export const DATA_ENDPOINTS = [
  'integers',
  'bytes',
  'floats',
  'uuid',
  'bitstring',
  'shuffle',
  'batch',
  'sample',
  'weighted',
  'strings',
  'sequences',
  'permutations',
  'gaussians',
] as const;
export type DataEndpoint = (typeof DATA_ENDPOINTS)[number];

/** The source of system entropy: the kernel, or OpenSSL's generator on a platform that has no device for it. */
export const SYSTEM_GENERATORS = ['kernel', 'openssl'] as const;
export type SystemGenerator = (typeof SYSTEM_GENERATORS)[number];

/**
 * How the values of an answer are written as octets, one after the other: numbers little-endian, UUIDs as the 16 bytes
 * of RFC 9562 §4, bytes as they are.
 */
const OCTET_TYPES = ['int32', 'float64', 'uuid', 'bytes'] as const;
export type OctetType = (typeof OCTET_TYPES)[number];

/** How the values of an answer are written as lines of text (values/text-lines.ts). */
const TEXT_TYPES = ['plain', 'csv'] as const;
export type TextType = (typeof TEXT_TYPES)[number];

/** The forms of a body that holds only values. The commitment of such an answer is over the body. */
export const BARE_TYPES = [...OCTET_TYPES, ...TEXT_TYPES] as const;
export type BareType = OctetType | TextType;

export function isTextType(type: BareType): type is TextType {
  return type === 'plain' || type === 'csv';
}

/** Returns the media type of such a body. Certificates contain it, so these texts must never change. */
export function bareMediaType(type: BareType): string {
  if (type === 'plain') return 'text/plain; charset=utf-8';
  if (type === 'csv') return 'text/csv; charset=utf-8; header=present'; // RFC 4180 §3
  return 'application/octet-stream';
}
