import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { InvariantError } from '../../src/core/assert.ts';
import { concatBytes, fromHex, toHex } from '../../src/core/bytes.ts';
import { sha256Hex } from '../../src/crypto/digest.ts';
import { Expander, expandOnce, expandPiece, PIECE_OUTPUT_BYTES } from '../../src/crypto/expander.ts';
import { referenceOutput } from '../reference/expander.ts';

const golden = JSON.parse(
  readFileSync(new URL('../vectors/crypto/expander.json', import.meta.url), 'utf8'),
) as {
  key: string;
  expander: { first64: string; at4032to4096: string; sha256Of10000: string };
  expandOnce: { bytes: number; sha256: string; last16: string }[];
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

  it('gives the same bytes in portions of any size, as its plain twin does at once', () => {
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

  it('XORs over what is there', () => {
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

  it('copies its key: wiping the caller’s changes nothing', () => {
    const mine = new Uint8Array(KEY);
    const expander = new Expander(mine);
    mine.fill(0);
    assert.equal(toHex(read(expander, 64)), golden.expander.first64);
  });

  it('refuses a key of another size', () => {
    assert.throws(() => new Expander(new Uint8Array(31)), RangeError);
  });

  it('fails closed once erased', () => {
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
  it('gives the first piece of expandOnce, and nothing of the next key', () => {
    const out = new Uint8Array(PIECE_OUTPUT_BYTES);
    expandOnce(KEY, out, 'none');
    const piece = expandPiece(KEY, 'none');
    assert.deepEqual(piece, out);
    assert.ok(new Uint8Array(piece.buffer, 0, piece.byteOffset).every((byte) => byte === 0));
    assert.notDeepEqual(expandPiece(KEY, 'system'), piece, 'the system has its part');
    assert.throws(() => expandPiece(KEY.subarray(1), 'none'), RangeError);
  });
});

describe('expandOnce', () => {
  it('gives its golden output at every edge of a piece and of the two implementations', () => {
    for (const { bytes, sha256, last16 } of golden.expandOnce) {
      const out = new Uint8Array(bytes).fill(0xaa); // overwritten, not XORed
      expandOnce(KEY, out, 'none');
      assert.equal(sha256Hex(out), sha256, `${bytes} bytes`);
      assert.equal(toHex(out.subarray(-16)), last16);
    }
  });

  it('agrees with its plain twin', () => {
    const out = new Uint8Array(70_000);
    expandOnce(KEY, out, 'none');
    assert.deepEqual(out, new Uint8Array(referenceOutput(KEY, 65_536, 70_000)));
  });

  it('never gives the same twice with the system’s entropy, nor the bare keystream', () => {
    const bare = new Uint8Array(70_000);
    expandOnce(KEY, bare, 'none');
    const first = new Uint8Array(70_000);
    const second = new Uint8Array(70_000);
    expandOnce(KEY, first, 'system');
    expandOnce(KEY, second, 'system');
    // Chance agrees in 1 of 256 places: 273 of 70,000; 1,000 would be 44 standard deviations away.
    const agreements = (a: Uint8Array, b: Uint8Array) =>
      a.reduce((n, byte, i) => n + (byte === b[i] ? 1 : 0), 0);
    for (const [a, b] of [
      [first, second],
      [first, bare],
      [second, bare],
    ]) {
      assert.ok(agreements(a, b) < 1_000);
    }
  });

  it('leaves the bare keystream untouched by an earlier call with the system’s entropy', () => {
    expandOnce(KEY, new Uint8Array(100), 'system');
    const out = new Uint8Array(480);
    expandOnce(KEY, out, 'none');
    assert.equal(sha256Hex(out), golden.expandOnce.find((row) => row.bytes === 480)?.sha256);
  });

  it('leaves the key to its caller and writes nothing for nothing', () => {
    const key = new Uint8Array(KEY);
    expandOnce(key, new Uint8Array(0), 'system');
    expandOnce(key, new Uint8Array(100), 'system');
    assert.deepEqual(key, KEY);
    assert.throws(() => expandOnce(new Uint8Array(16), new Uint8Array(1), 'none'), RangeError);
  });

  it('writes into shared memory', () => {
    const shared = new Uint8Array(new SharedArrayBuffer(481));
    expandOnce(KEY, shared, 'none');
    assert.equal(
      sha256Hex(new Uint8Array(shared)),
      golden.expandOnce.find((row) => row.bytes === 481)?.sha256,
    );
  });
});
