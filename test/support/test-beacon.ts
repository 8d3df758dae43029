import { bls12_381 } from '@noble/curves/bls12-381.js';
import { fromHex, toHex } from '../../src/core/bytes.ts';
import { sha256 } from '../../src/crypto/sha256.ts';

const { longSignatures: bls } = bls12_381;
const SECRET = fromHex('11'.repeat(32));
const DOMAIN = 'BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_';

/** A drand chain with a key of the tests' own: what its HTTP API would say. */
export class TestBeacon {
  /** The document at `/HASH/info`. */
  readonly info: Readonly<Record<string, string | number>>;
  readonly hash: string;

  constructor(genesisS: number, periodS = 10) {
    const publicKey = bls.getPublicKey(SECRET).toHex();
    const groupHash = 'ab'.repeat(32);
    const head = Buffer.alloc(12);
    head.writeUInt32BE(periodS);
    head.writeBigInt64BE(BigInt(genesisS), 4);
    this.hash = toHex(sha256(Buffer.concat([head, fromHex(publicKey), fromHex(groupHash)])));
    const schemeID = 'pedersen-bls-unchained';
    this.info = { public_key: publicKey, period: periodS, genesis_time: genesisS, groupHash, schemeID };
  }

  /** Returns the document at `/HASH/public/ROUND`. */
  signed(round: number): { round: number; signature: string; randomness: string } {
    const number = Buffer.alloc(8);
    number.writeBigUInt64BE(BigInt(round));
    const signature = bls.sign(bls.hash(sha256(number), DOMAIN), SECRET).toHex();
    return { round, signature, randomness: toHex(sha256(fromHex(signature))) };
  }
}
