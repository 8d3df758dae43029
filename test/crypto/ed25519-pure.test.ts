import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { ed25519 } from '@noble/curves/ed25519.js';
import { verifyEd25519 } from '../../src/crypto/ed25519.ts';
import { verifyPurely } from '../../src/crypto/ed25519-pure.ts';

const MESSAGE = Buffer.from('a checkpoint');
const SECRET = new Uint8Array(32).fill(7);
const KEY = ed25519.getPublicKey(SECRET);
const { Point, utils } = ed25519;

/** A point of order 8. */
const TORSION = Point.fromHex('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a');
const [CANONICAL, SHIFTED] = [Point.ZERO, TORSION].map(signatureShiftedBy);

/** Signs as the holder of the key can who adds `shift` to the point R. */
function signatureShiftedBy(shift: typeof TORSION): Uint8Array {
  const { scalar } = utils.getExtendedPublicKey(SECRET);
  const nonce = 123_456_789n;
  const point = Point.BASE.multiply(nonce).add(shift).toBytes();
  const challenge = numberOf(createHash('sha512').update(point).update(KEY).update(MESSAGE).digest());
  const s = (nonce + challenge * scalar) % Point.Fn.ORDER;
  return Buffer.concat([point, Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse()]);
}

function numberOf(littleEndian: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(littleEndian).reverse().toString('hex')}`);
}

describe('a signature checked without OpenSSL', () => {
  for (const [name, signature, expected] of [
    ['that is true holds', CANONICAL, true],
    ['whose R has a part of small order is refused', SHIFTED, false],
    ['of another message is refused', ed25519.sign(Buffer.from('another'), SECRET), false],
  ] as const)
    it(`${name}, like OpenSSL`, () => {
      assert.equal(verifyPurely(KEY, MESSAGE, signature), expected);
      assert.equal(verifyEd25519(KEY, MESSAGE, signature), expected);
    });
});
