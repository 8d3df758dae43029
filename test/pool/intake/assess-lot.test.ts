import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sha256Hex } from '../../../src/crypto/digest.ts';
import { assessLot } from '../../../src/pool/intake/assess-lot.ts';
import { packBits } from '../../support/bit-sequences.ts';
import { keystream } from '../../vectors/sp800-90b/inputs.ts';

describe('assessLot', () => {
  it('covers every bit with windows of a million bits, the last of which overlaps the one before', () => {
    const total = 2_300_003;
    const { windows } = assessLot(keystream(1, Math.ceil(total / 8)), 1, total);
    assert.deepEqual(
      windows.map(({ order, firstBit, bits }) => [order, firstBit, bits]),
      [
        ['shots', 0, 1_000_000],
        ['shots', 1_000_000, 1_000_000],
        ['shots', 1_300_003, 1_000_000],
      ],
    );
    assert.ok(windows.every(({ sp80022 }) => sp80022.verified));
  });

  it('assesses the bits in the order of shots, and channel by channel', () => {
    const [width, shots] = [3, 3_001];
    const lot = keystream(2, Math.ceil((width * shots) / 8));
    const bits = Array.from({ length: width * shots }, (_, i) => (lot[i >>> 3] >>> (7 - (i & 7))) & 1);
    const byChannel = [0, 1, 2].flatMap((channel) => bits.filter((_, i) => i % width === channel));
    const { windows, minEntropyPerBit } = assessLot(lot, width, shots);
    assert.deepEqual(
      windows.map(({ of, order, firstBit, bits: length, sha256 }) => [of, order, firstBit, length, sha256]),
      [
        ['raw', 'shots', 0, 9_003, sha256Hex(packBits(bits))],
        ['raw', 'channels', 0, 9_003, sha256Hex(packBits(byChannel))],
      ],
    );
    for (const { sp80022 } of windows) assert.equal(sp80022.reason, '9003 bits are too few for a verdict');
    assert.equal(minEntropyPerBit, Math.min(...windows.map((each) => each.minEntropyPerBit ?? 1)));
  });

  it('lets the last window begin at any bit', () => {
    const total = 1_000_003;
    const lot = keystream(3, Math.ceil(total / 8));
    const bits = Array.from({ length: total }, (_, i) => (lot[i >>> 3] >>> (7 - (i & 7))) & 1);
    const { windows } = assessLot(lot, 1, total);
    assert.equal(windows[1].sha256, sha256Hex(packBits(bits.slice(3))));
  });

  it('gives no estimate for a lot of fewer than 8,192 bits', () => {
    const { windows, minEntropyPerBit } = assessLot(keystream(4, 1_024), 1, 8_191);
    assert.equal(minEntropyPerBit, null);
    assert.equal(windows[0].minEntropyPerBit, null);
    assert.notEqual(assessLot(keystream(4, 1_024), 1, 8_192).minEntropyPerBit, null);
  });

  it('credits an ideal source with about what one window scores', () => {
    const { minEntropyPerBit, windows } = assessLot(keystream(5, 125_000), 8, 125_000);
    assert.equal(windows.length, 2);
    assert.ok(minEntropyPerBit !== null && minEntropyPerBit > 0.78 && minEntropyPerBit < 0.9);
  });
});

describe('faults that no window of the first megabit shows', () => {
  it('are found: when the second half alternates, next to no entropy is left', () => {
    const lot = keystream(6, 250_000);
    lot.fill(0b0101_0101, 125_000);
    const { windows, minEntropyPerBit } = assessLot(lot, 1, 2_000_000);
    assert.ok(windows[0].minEntropyPerBit! > 0.78, 'the first megabit is good');
    assert.ok(minEntropyPerBit! < 0.01, `${minEntropyPerBit}`);
  });

  it('are found channel by channel when channels flip with probability 0.75, though not in the order of shots', () => {
    const [width, shots] = [16, 62_500];
    const chance = keystream(7, width * shots);
    const bits = new Array<number>(width * shots);
    for (let i = 0; i < bits.length; i++) {
      const turns = chance[i] < 192;
      bits[i] = i < width ? chance[i] & 1 : bits[i - width] ^ (turns ? 1 : 0);
    }
    const { windows } = assessLot(packBits(bits), width, shots);
    const [byShot, byChannel] = windows.map((each) => each.minEntropyPerBit!);
    const trueMinEntropy = -Math.log2(0.75);
    assert.ok(byShot > trueMinEntropy, `${byShot} in the order of shots`);
    assert.ok(byChannel < trueMinEntropy, `${byChannel} channel by channel`);
  });
});
