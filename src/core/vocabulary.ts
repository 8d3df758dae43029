/** The closed sets of words that several rooms share. Each is spelled here as it is answered on the wire. */

/**
 * Where values come from (specification, Common parameter `entropy_mode`). No mode ever turns into another.
 */
export const ENTROPY_MODES = ['quantum-seeded', 'pure', 'csprng'] as const;
export type EntropyMode = (typeof ENTROPY_MODES)[number];

/** What kind of thing produced the raw noise. Copied from the source to every answer, and never upgraded. */
export const ORIGINS = ['quantum-processor', 'qrng-device', 'simulated', 'replay', 'system'] as const;
export type Origin = (typeof ORIGINS)[number];

/** Whether raw bits of this origin are said to be measured on something quantum. */
export function isQuantum(origin: Origin): boolean {
  return origin === 'quantum-processor' || origin === 'qrng-device';
}

export const TIERS = ['free', 'developer', 'pro', 'business', 'enterprise'] as const;
export type Tier = (typeof TIERS)[number];

/** The tiers whose seeded mode has a seed of its own, in the order of their seed slots. */
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

/** The endpoints that draw entropy: the unit of pricing, of usage counters and of certificates. */
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

/** What system entropy comes from: the kernel, or OpenSSL's generator where the platform has no device for it. */
export const SYSTEM_GENERATORS = ['kernel', 'openssl'] as const;
export type SystemGenerator = (typeof SYSTEM_GENERATORS)[number];

/**
 * How the values of an answer lie in octets, one behind the other: numbers little-endian, UUIDs as the 16 bytes
 * of RFC 9562 §4, bytes as they are.
 */
const OCTET_TYPES = ['int32', 'float64', 'uuid', 'bytes'] as const;
export type OctetType = (typeof OCTET_TYPES)[number];

/** How the values of an answer are written as lines of text (values/text-lines.ts). */
const TEXT_TYPES = ['plain', 'csv'] as const;
export type TextType = (typeof TEXT_TYPES)[number];

/** How a body of nothing but values is written: what the commitment of such an answer is over. */
export const BARE_TYPES = [...OCTET_TYPES, ...TEXT_TYPES] as const;
export type BareType = OctetType | TextType;

export function isTextType(type: BareType): type is TextType {
  return type === 'plain' || type === 'csv';
}

/** The media type of such a body. Certificates print it: a text here never changes. */
export function bareMediaType(type: BareType): string {
  if (type === 'plain') return 'text/plain; charset=utf-8';
  if (type === 'csv') return 'text/csv; charset=utf-8; header=present'; // RFC 4180 §3
  return 'application/octet-stream';
}
