import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { InvariantError } from '../../src/core/assert.ts';
import { concatBytes, fromHex, toHex } from '../../src/core/bytes.ts';
import { sha256Hex } from '../../src/crypto/digest.ts';
import { Expander, expandPiece, PIECE_OUTPUT_BYTES } from '../../src/crypto/expander.ts';
import { referenceOutput } from '../reference/expander.ts';
import { fixedBytes } from '../support/backends.ts';
import { systemGives, systemPiece } from '../support/system-entropy.ts';

const golden = JSON.parse(
  readFileSync(new URL('../vectors/crypto/expander.json', import.meta.url), 'utf8'),
) as {
  key: string;
  expander: { first64: string; at4032to4096: string; sha256Of10000: string };
  bareKeystream: { bytes: number; sha256: string; last16: string }[];
};
const KEY = fromHex(golden.key);

function read(expander: Expander, count: number): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(count);
  expander.fill(out);
  return out;
}

describe('Expander', () => {
  it('gives its golden output', () => {
    const expander = new Expander(KEY);
    const out = read(expander, 10_000);
    assert.equal(toHex(out.subarray(0, 64)), golden.expander.first64);
    assert.equal(toHex(out.subarray(4032, 4096)), golden.expander.at4032to4096, 'across the first refill');
    assert.equal(sha256Hex(out), golden.expander.sha256Of10000);
  });

  it('gives the same bytes in portions of any size as its plain twin gives at once', () => {
    const whole = referenceOutput(KEY, 4096, 12_200);
    fc.assert(
      fc.property(fc.array(fc.nat(5_000), { maxLength: 8 }), (sizes) => {
        const expander = new Expander(KEY);
        const joined = concatBytes(...sizes.map((size) => read(expander, size))).subarray(0, whole.length);
        assert.deepEqual(joined, new Uint8Array(whole.subarray(0, joined.length)));
      }),
      { numRuns: 60 },
    );
  });

  it('XORs its output into the target', () => {
    const mask = Uint8Array.from({ length: 5_000 }, (_, i) => (i * 7) & 255);
    const masked = new Uint8Array(mask);
    new Expander(KEY).fill(masked);
    const plain = read(new Expander(KEY), 5_000);
    assert.deepEqual(
      masked,
      mask.map((byte, i) => byte ^ plain[i]),
    );
  });

  it('derives a one-time key that is its next 32 bytes', () => {
    const expander = new Expander(KEY);
    assert.equal(toHex(expander.deriveKey()), golden.expander.first64.slice(0, 64));
    assert.equal(toHex(read(expander, 32)), golden.expander.first64.slice(64));
  });

  it('copies its key, so that wiping the caller’s changes nothing', () => {
    const mine = new Uint8Array(KEY);
    const expander = new Expander(mine);
    mine.fill(0);
    assert.equal(toHex(read(expander, 64)), golden.expander.first64);
  });

  it('refuses a key of another size', () => {
    assert.throws(() => new Expander(new Uint8Array(31)), RangeError);
  });

  it('refuses every call once erased', () => {
    const expander = new Expander(KEY);
    read(expander, 1);
    expander.erase();
    const out = new Uint8Array(8);
    assert.throws(() => expander.fill(out), InvariantError);
    assert.throws(() => expander.deriveKey(), InvariantError);
    assert.deepEqual(out, new Uint8Array(8));
    expander.erase();
  });
});

describe('expandPiece', () => {
  it('gives its golden keystream mixed with the entropy of the system, and keeps nothing of either key', (t) => {
    const kernelKey = fixedBytes('kernel');
    const mixed = new Uint8Array(32);
    kernelKey(mixed);
    systemGives(t, (target) => target.set(mixed));
    const key = new Uint8Array(KEY);
    const piece = expandPiece(key);
    assert.deepEqual(key, KEY, 'the caller wipes its key');
    assert.ok(new Uint8Array(piece.buffer, 0, piece.byteOffset).every((byte) => byte === 0));
    const entropy = systemPiece(mixed, 32 + PIECE_OUTPUT_BYTES).subarray(32);
    const bare = piece.map((byte, i) => byte ^ entropy[i]);
    for (const { bytes, sha256, last16 } of golden.bareKeystream) {
      assert.equal(sha256Hex(bare.subarray(0, bytes)), sha256, `${bytes} bytes`);
      assert.equal(toHex(bare.subarray(0, bytes).subarray(-16)), last16);
    }
    assert.deepEqual(bare, new Uint8Array(referenceOutput(KEY, 65_536, PIECE_OUTPUT_BYTES)));
  });

  it('never repeats its output, and refuses a key of another size', () => {
    const [first, second] = [expandPiece(KEY), expandPiece(KEY)];
    // Chance agrees in 1 of 256 places: 256 of 65,504; 1,000 would be 46 standard deviations away.
    assert.ok(first.reduce((n, byte, i) => n + (byte === second[i] ? 1 : 0), 0) < 1_000);
    assert.throws(() => expandPiece(KEY.subarray(1)), RangeError);
  });
});
