import { bls12_381 } from '@noble/curves/bls12-381.js';
import { type BeaconChain, chainOf } from '../../src/beacon/drand.ts';
import { concatBytes, fromHex, toHex } from '../../src/core/bytes.ts';
import { sha256 } from '../../src/crypto/digest.ts';

const { shortSignatures: bls } = bls12_381;
const DOMAIN = 'BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_';
const SECRET = fromHex('17'.repeat(32));
const PERIOD_S = 3;
const GENESIS_S = 1_790_000_000;

interface Round {
  readonly round: number;
  readonly randomness: string;
  readonly signature: string;
}

/** A beacon of the tests alone, in the form of drand's HTTP API, with a key of its own and the scheme of quicknet. */
export class LocalDrand {
  readonly hash: string;
  readonly chain: BeaconChain;
  readonly #info: object;
  readonly #published = new Map<number, Round>();
  readonly #signed = new Map<number, Round>();
  /** How often a round was asked for. */
  asked = 0;
  /** Gives the information of another chain. */
  lies = false;

  constructor() {
    const publicKey = bls.getPublicKey(SECRET).toBytes();
    const seed = fromHex('ab'.repeat(32));
    const head = new Uint8Array(12);
    new DataView(head.buffer).setUint32(0, PERIOD_S);
    new DataView(head.buffer).setBigInt64(4, BigInt(GENESIS_S));
    this.hash = toHex(sha256(concatBytes(head, publicKey, seed)));
    this.#info = {
      public_key: toHex(publicKey),
      period: PERIOD_S,
      genesis_time: GENESIS_S,
      hash: this.hash,
      groupHash: toHex(seed),
      schemeID: 'bls-unchained-g1-rfc9380',
      metadata: { beaconID: 'default' },
    };
    this.chain = chainOf(this.#info, this.hash);
  }

  reset(): void {
    this.#published.clear();
    this.asked = 0;
    this.lies = false;
  }

  round(round: number): Round {
    let signed = this.#signed.get(round);
    if (signed === undefined) {
      const number = new Uint8Array(8);
      new DataView(number.buffer).setBigUint64(0, BigInt(round));
      const signature = bls.sign(bls.hash(sha256(number), DOMAIN), SECRET).toBytes();
      signed = { round, randomness: toHex(sha256(signature)), signature: toHex(signature) };
      this.#signed.set(round, signed);
    }
    return signed;
  }

  /** From now on the round is there; with the signature of another round where one is named. */
  publish(round: number, signedAs = round): void {
    this.#published.set(round, { ...this.round(signedAs), round });
  }

  /** Undefined for what is not there. */
  reply(path: string): unknown {
    if (path === `/${this.hash}/info`)
      return this.lies ? { ...this.#info, period: PERIOD_S + 1 } : this.#info;
    const [, round] = new RegExp(`^/${this.hash}/public/(\\d+)$`).exec(path) ?? [];
    if (round === undefined) return undefined;
    this.asked++;
    return this.#published.get(Number(round));
  }
}
