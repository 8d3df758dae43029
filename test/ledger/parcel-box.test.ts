import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gcm } from '@noble/ciphers/aes.js';
import { x25519 } from '@noble/curves/ed25519.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, fromHex, toHex, utf8Bytes } from '../../src/core/bytes.ts';
import { type ParcelLabel, ParcelSeal } from '../../src/ledger/parcel-box.ts';

/** The seal of parcels against a twin of @noble's parts, and everything that a parcel is bound to. */
const SHARED = Uint8Array.from({ length: 32 }, (_, i) => i);
// RFC 7748 §6.1: the keys of Bob
const SECRET = fromHex('5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb');
const PUBLIC = fromHex('de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f');
const LABEL: ParcelLabel = {
  publicKey: PUBLIC,
  kind: 'pure',
  recipient: { number: 2, epoch: 7 },
  sender: { number: 1, epoch: 3 },
  runs: [{ lotId: 'lot_a', first: 16, count: 2 }],
};
const CONTEXT = `["${toHex(PUBLIC)}","pure",2,7,1,3,[["lot_a",16,2]]]`;
const BYTES = Uint8Array.from({ length: 100 }, (_, i) => 255 - i);

/** The key of a box as docs/cluster.md states it. */
function twinKey(agreed: Uint8Array, ephemeral: Uint8Array): Uint8Array {
  const inputs = [agreed, ephemeral, PUBLIC, SHARED, utf8Bytes(CONTEXT)];
  const material = inputs.flatMap((input) => [Uint8Array.of(0, 0, input.length >> 8, input.length), input]);
  return hkdf(sha256, concatBytes(...material), new Uint8Array(0), utf8Bytes('qrn parcel v1'), 32);
}

describe('the seal of parcels', () => {
  it('gives a box that a twin opens, and opens the box of a twin', () => {
    const seal = new ParcelSeal(SHARED);
    const box = seal.seal(LABEL, BYTES);
    const key = twinKey(x25519.getSharedSecret(SECRET, box.subarray(0, 32)), box.subarray(0, 32));
    assert.deepEqual(new Uint8Array(gcm(key, new Uint8Array(12)).decrypt(box.subarray(32))), BYTES);
    // a box of which the twin chose every part
    const own = new Uint8Array(32).fill(9);
    const ephemeral = x25519.getPublicKey(own);
    const twin = gcm(twinKey(x25519.getSharedSecret(own, PUBLIC), ephemeral), new Uint8Array(12));
    const known = concatBytes(ephemeral, twin.encrypt(BYTES));
    assert.deepEqual(seal.open(LABEL, SECRET, known), BYTES);
    assert.notDeepEqual(seal.seal(LABEL, BYTES), box, 'each box has an ephemeral key of its own');
  });

  it('opens nothing under another key, another secret or another label', () => {
    const seal = new ParcelSeal(SHARED);
    const box = seal.seal(LABEL, BYTES);
    assert.deepEqual(seal.open(LABEL, SECRET, box), BYTES);
    const run = LABEL.runs[0];
    const others: ParcelLabel[] = [
      { ...LABEL, publicKey: SHARED },
      { ...LABEL, kind: 'seed' },
      { ...LABEL, recipient: { number: 3, epoch: 7 } },
      { ...LABEL, recipient: { number: 2, epoch: 8 } },
      { ...LABEL, sender: { number: 4, epoch: 3 } },
      { ...LABEL, sender: { number: 1, epoch: 4 } },
      { ...LABEL, runs: [{ ...run, lotId: 'lot_b' }] },
      { ...LABEL, runs: [{ ...run, first: 17 }] },
      {
        ...LABEL,
        runs: [
          { ...run, count: 1 },
          { ...run, first: 17, count: 1 },
        ],
      },
    ];
    for (const label of others) assert.equal(seal.open(label, SECRET, box), undefined, JSON.stringify(label));
    assert.equal(seal.open(LABEL, SHARED, box), undefined);
    assert.equal(new ParcelSeal(SHARED.map((byte) => byte ^ 1)).open(LABEL, SECRET, box), undefined);
  });

  it('opens nothing that was altered or cut, and no box whose key has low order', () => {
    const seal = new ParcelSeal(SHARED);
    const box = seal.seal(LABEL, BYTES);
    for (const at of [0, 31, 32, 90, box.length - 1]) {
      const altered = box.with(at, box[at] ^ 1);
      assert.equal(seal.open(LABEL, SECRET, altered), undefined, `byte ${at}`);
    }
    for (const length of [0, 47, 48, box.length - 1])
      assert.equal(seal.open(LABEL, SECRET, box.subarray(0, length)), undefined, `${length} bytes`);
    assert.equal(seal.open(LABEL, SECRET, box.fill(0, 0, 32)), undefined);
  });

  it('knows the requests of the cluster', () => {
    const seal = new ParcelSeal(SHARED);
    const request = { publicKey: PUBLIC, kind: 'pure', recipient: { number: 2, epoch: 7 } } as const;
    const proof = seal.proof(request);
    const twin = [SHARED, utf8Bytes(`["${toHex(PUBLIC)}","pure",2,7]`)];
    const material = twin.flatMap((input) => [Uint8Array.of(0, 0, 0, input.length), input]);
    const info = utf8Bytes('qrn parcel request v1');
    assert.deepEqual(
      new Uint8Array(proof),
      hkdf(sha256, concatBytes(...material), new Uint8Array(0), info, 32),
    );
    assert.equal(seal.isProof(request, proof), true);
    assert.equal(seal.isProof({ ...request, kind: 'seed' }, proof), false);
    assert.equal(seal.isProof({ ...request, publicKey: SHARED }, proof), false);
    assert.equal(seal.isProof(request, proof.subarray(1)), false);
    assert.equal(new ParcelSeal(SHARED.map((byte) => byte ^ 1)).isProof(request, proof), false);
  });
});
