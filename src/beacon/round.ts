import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { type BeaconChain, BeaconError, type BeaconRound, bytesOf, digestOf, membersOf } from './drand.ts';

// A file of its own, which a service loads only when it verifies its first round: loading the curve takes 80 ms.

/**
 * Reads the answer of `/HASH/public/ROUND` of drand's HTTP API. Throws BeaconError unless the answer is of this round,
 * its signature holds under the chain's key, and its randomness is the hash of the signature.
 */
export function roundOf(chain: BeaconChain, round: number, answer: unknown): BeaconRound {
  const members = membersOf(answer);
  if (members['round'] !== round)
    throw new BeaconError(`the answer is of round ${JSON.stringify(members['round'])}, not of ${round}`);
  const signature = bytesOf('signature', members['signature']);
  const number = new Uint8Array(8);
  new DataView(number.buffer).setBigUint64(0, BigInt(round));
  const before = chain.scheme.isChained
    ? bytesOf('previous_signature', members['previous_signature'])
    : new Uint8Array(0);
  if (!holds(chain, digestOf(before, number), signature))
    throw new BeaconError(`the signature of round ${round} does not hold under the key of the chain`);
  const randomness = bytesToHex(digestOf(signature));
  if (members['randomness'] !== undefined && members['randomness'] !== randomness)
    throw new BeaconError(`the randomness of round ${round} is not the hash of its signature`);
  return { round, randomness, signature: bytesToHex(signature) };
}

function holds({ scheme, publicKey }: BeaconChain, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    if (scheme.hasShortSignatures) {
      const short = bls12_381.shortSignatures;
      return short.verify(signature, short.hash(message, scheme.domain), publicKey);
    }
    const long = bls12_381.longSignatures;
    return long.verify(signature, long.hash(message, scheme.domain), publicKey);
  } catch {
    return false; // bytes that are not a point of the curve
  }
}
