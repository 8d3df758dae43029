import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { concatBytes, toHex } from '../../../src/core/bytes.ts';
import { condition, rawBitsFor } from '../../../src/pool/intake/conditioner.ts';
import { fixedBytes } from '../../support/backends.ts';

function raw(bytes: number, label = 'raw'): Uint8Array<ArrayBuffer> {
  const bits = new Uint8Array(bytes);
  fixedBytes(label)(bits);
  return bits;
}

/** Hash_df of SP 800-90A §10.3.1, step by step, for any length of output up to 255 blocks. */
function hashDf(input: Uint8Array, bitsToReturn: number): Uint8Array {
  let temp: Uint8Array = new Uint8Array(0);
  for (let counter = 1; temp.length * 8 < bitsToReturn; counter++) {
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, bitsToReturn);
    const block = createHash('sha256').update(Uint8Array.of(counter)).update(length).update(input).digest();
    temp = concatBytes(temp, block);
  }
  return temp.subarray(0, bitsToReturn / 8);
}

/**
 * n - Output_Entropy(n_in, n_out, nw, h_in) of SP 800-90B §3.1.5.1.2, n = min(n_out, nw), without rounding:
 * 7.8e-20 bits for 320 assessed bits into SHA-256. Sizes in bits, 0 <= h_in <= n_in.
 *
 * The standard's terms, multiplied by 2^n, are 1 plus something small, and that something is what is
 * computed. With P_high = 2^-h_in, P_low = (1 - P_high) / (2^n_in - 1):
 *   2^n_in P_low = 1 + a,            a = (2^-n_in - 2^-h_in) / (1 - 2^-n_in)
 *   2^n psi      = 1 + a + 2^(n - h_in)
 *   2^n omega    = (1 + a)(1 + b),   b = sqrt(2 n ln 2 · 2^(n - n_in))
 * and the result is -log2(max(psi, omega)) = n - log2(1 + the larger excess).
 */
function outputEntropyDeficit(nIn: number, nOut: number, nw: number, hIn: number): number {
  assert.ok(nIn >= 1 && nOut >= 1 && nw >= 1, 'sizes of a conditioner are at least one bit');
  assert.ok(hIn >= 0 && hIn <= nIn, 'a conditioner gets no more entropy than bits');
  const n = Math.min(nOut, nw);
  const a = (2 ** -nIn - 2 ** -hIn) / (1 - 2 ** -nIn);
  const b = Math.sqrt(2 * n * Math.LN2 * 2 ** (n - nIn));
  const psiExcess = a + 2 ** (n - hIn);
  const omegaExcess = a + b + a * b;
  return Math.log1p(Math.max(psiExcess, omegaExcess)) / Math.LN2;
}

test('a block has full entropy: at least 1 - 2^-32 bits in every bit (SP 800-90C)', async () => {
  await fc.assert(
    fc.asyncProperty(fc.double({ min: 0.05, max: 1, noNaN: true }), async (h) => {
      const { inputBitsPerBlock, entropyPerBlock } = await condition(raw(2000), 16_000, h);
      assert.ok(entropyPerBlock >= 320 && entropyPerBlock < 320 + 16 * h);
      assert.equal(inputBitsPerBlock % 8, 0);
      assert.ok(outputEntropyDeficit(inputBitsPerBlock, 256, 256, entropyPerBlock) / 256 < 2 ** -32);
    }),
    { numRuns: 200 },
  );
  // The narrowest input is the worst: 320 bits at one bit each.
  const worst = Math.log2(1 + Math.sqrt(2 * 256 * Math.LN2 * 2 ** -64));
  assert.ok(Math.abs(outputEntropyDeficit(320, 256, 256, 320) / worst - 1) < 1e-6);
});

test('each block is Hash_df of the next piece, no bit is used twice, and the rest is left', async () => {
  const bits = raw(1000);
  const { output, blocks, inputBitsPerBlock, entropyPerBlock } = await condition(bits, 8000, 0.85);
  // ceil(320 / 0.85 / 8) = 48 bytes a piece.
  assert.deepEqual([blocks, inputBitsPerBlock, output.length], [20, 384, 640]);
  assert.equal(entropyPerBlock, 384 * 0.85);
  for (let block = 0; block < blocks; block++) {
    const piece = bits.subarray(block * 48, (block + 1) * 48);
    assert.deepEqual(output.subarray(block * 32, (block + 1) * 32), hashDf(piece, 256));
  }
  const changed = raw(1000);
  changed.fill(0, 20 * 48);
  assert.deepEqual((await condition(changed, 8000, 0.85)).output, output);
});

test('condition gives the golden bytes', async () => {
  assert.equal(
    toHex((await condition(raw(96, 'golden'), 768, 0.85)).output),
    'e3c14441e9690dfbc6a5ea0831c81a10294711784b15d2edb380fe17642fafc2c78037203abd04fcf9640471498f00bb216853625755c6e311083e5d03207f33',
  );
});

test('bits beyond bitLength do not count, and too few bits give nothing', async () => {
  assert.equal((await condition(raw(80), 640, 1)).blocks, 2);
  assert.equal((await condition(raw(80), 639, 1)).blocks, 1);
  assert.deepEqual(await condition(raw(40), 319, 1), {
    output: new Uint8Array(0),
    blocks: 0,
    inputBitsPerBlock: 320,
    entropyPerBlock: 320,
  });
});

test('rawBitsFor is the smallest sufficient count', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3000 }),
      fc.double({ min: 0.2, max: 1, noNaN: true }),
      async (bytes, h) => {
        const bits = rawBitsFor(bytes, h);
        assert.ok((await condition(new Uint8Array(bits / 8), bits, h)).output.length >= bytes);
        assert.ok((await condition(new Uint8Array(bits / 8), bits - 1, h)).output.length < bytes);
      },
    ),
    { numRuns: 200 },
  );
});

test('condition throws for a min-entropy outside (0, 1] and for more bits than there are', async () => {
  for (const h of [0, -0.1, 1.1, Number.NaN])
    await assert.rejects(condition(raw(100), 800, h), /InvariantError/);
  for (const length of [801, -1, 1.5]) await assert.rejects(condition(raw(100), length, 1), /InvariantError/);
});
