import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { concatBytes } from '../core/bytes.ts';
import { sha256 } from '../crypto/sha256.ts';

/**
 * Rounds of drand (drand.love), a public beacon. At fixed times a group of parties signs the number of a round with
 * BLS12-381. The SHA-256 of the signature is a random number that nobody knows before and everybody can check
 * afterwards.
 */

/** How a chain signs. */
interface Scheme {
  /** Whether the previous round's signature is signed too. */
  readonly isChained: boolean;
  /** Whether signatures are on G1 and the key on G2; otherwise it is the other way round. */
  readonly hasShortSignatures: boolean;
  /** Domain separation tag for hashing to the curve (RFC 9380). */
  readonly domain: string;
}

const G1_DOMAIN = 'BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_';
const G2_DOMAIN = 'BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_';

const SCHEMES: Readonly<Record<string, Scheme>> = {
  'pedersen-bls-chained': { isChained: true, hasShortSignatures: false, domain: G2_DOMAIN },
  'pedersen-bls-unchained': { isChained: false, hasShortSignatures: false, domain: G2_DOMAIN },
  // An early scheme that hashes to G1 with the tag of G2.
  'bls-unchained-on-g1': { isChained: false, hasShortSignatures: true, domain: G2_DOMAIN },
  'bls-unchained-g1-rfc9380': { isChained: false, hasShortSignatures: true, domain: G1_DOMAIN },
};

/** Names of the League of Entropy's chains by their hash: a round every 3 seconds, and one every 30 seconds. */
export const LEAGUE_OF_ENTROPY: Readonly<Record<string, string>> = {
  '52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971': 'quicknet',
  '8990e7a9aaed2ffed73dbd7092123d6f289930540d7651336225dc172e51b2ce': 'default',
};

/** Genesis and period of quicknet. Its hash fixes both. */
const QUICKNET_ROUNDS = { genesisS: 1_692_803_367, periodS: 3 };

/** Returns the first round of quicknet that is due at a time or after it. */
export function quicknetRoundFrom(atMs: number): number {
  return Math.max(1, roundAt(QUICKNET_ROUNDS, atMs - 1) + 1);
}

/** A chain whose information was checked against its hash. */
export interface BeaconChain {
  /** 64 hex digits. It identifies the chain, and all trust rests on it. */
  readonly hash: string;
  readonly scheme: Scheme;
  readonly publicKey: Uint8Array;
  readonly periodS: number;
  readonly genesisS: number;
}

/** A round whose signature holds. Randomness and signature are in hex. */
export interface BeaconRound {
  readonly round: number;
  readonly randomness: string;
  readonly signature: string;
}

/** An answer that is not what the chain says. The message says what is wrong. */
export class BeaconError extends Error {
  override name = 'BeaconError';
}

/** The members of `/HASH/info`, from which `chainOf` makes the chain. */
export const INFO_MEMBERS: readonly string[] = [
  'public_key',
  'period',
  'genesis_time',
  'genesis_seed',
  'hash',
  'groupHash',
  'schemeID',
  'metadata',
];

/** Reads `/HASH/info` of drand's HTTP API. Throws BeaconError unless the information hashes to `hash`. */
export function chainOf(info: unknown, hash: string): BeaconChain {
  const { public_key, period, genesis_time, schemeID, metadata, ...rest } = membersOf(info);
  const scheme =
    typeof schemeID === 'string' && Object.hasOwn(SCHEMES, schemeID) ? SCHEMES[schemeID] : undefined;
  if (scheme === undefined)
    throw new BeaconError(
      `the scheme is ${JSON.stringify(schemeID)}, not one of ${Object.keys(SCHEMES).join(', ')}`,
    );
  const publicKey = bytesOf('public_key', public_key);
  const seed = bytesOf('groupHash', rest['groupHash']);
  const periodS = numberOf('period', period, 2 ** 32 - 1);
  const genesisS = numberOf('genesis_time', genesis_time, Number.MAX_SAFE_INTEGER);
  const beaconId = typeof metadata === 'object' ? membersOf(metadata)['beaconID'] : undefined;
  const named = typeof beaconId === 'string' && beaconId !== 'default' ? beaconId : '';
  const head = new Uint8Array(12);
  new DataView(head.buffer).setUint32(0, periodS);
  new DataView(head.buffer).setBigInt64(4, BigInt(genesisS));
  const computed = digestOf(head, publicKey, seed, new TextEncoder().encode(named));
  if (bytesToHex(computed) !== hash)
    throw new BeaconError(`the information is that of chain ${bytesToHex(computed)}, not of ${hash}`);
  return { hash, scheme, publicKey, periodS, genesisS };
}

/** Returns when the round is due, Unix ms. Round 1 is due at the genesis. */
export function dueMs(
  { genesisS, periodS }: Pick<BeaconChain, 'genesisS' | 'periodS'>,
  round: number,
): number {
  return (genesisS + (round - 1) * periodS) * 1_000;
}

/** Returns the latest round that is due; 0 before the first. */
export function roundAt(
  { genesisS, periodS }: Pick<BeaconChain, 'genesisS' | 'periodS'>,
  nowMs: number,
): number {
  return Math.max(0, Math.floor((nowMs / 1_000 - genesisS) / periodS) + 1);
}

/** Returns the value as an object. Throws BeaconError if it is not one. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BeaconError('the answer is not a JSON object');
  return value as Readonly<Record<string, unknown>>;
}

/** Returns the bytes of a member in hex. Throws BeaconError if the member is anything else. */
export function bytesOf(name: string, value: unknown): Uint8Array {
  if (typeof value !== 'string' || !/^(?:[0-9a-f]{2}){1,256}$/.test(value))
    throw new BeaconError(`${name} is not up to 256 bytes in hex`);
  return hexToBytes(value);
}

function numberOf(name: string, value: unknown, max: number): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > max)
    throw new BeaconError(`${name} is ${JSON.stringify(value)}, not a whole number from 1 to ${max}`);
  return value;
}

/** Returns the SHA-256 of the concatenated parts. */
export function digestOf(...parts: readonly Uint8Array[]): Uint8Array {
  return sha256(concatBytes(...parts));
}
