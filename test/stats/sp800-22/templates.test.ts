/** NonOverlappingTemplate, OverlappingTemplate and Universal against the slow twins. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  nonOverlappingTemplateTest,
  overlappingTemplateTest,
} from '../../../src/stats/sp800-22/templates.ts';
import { universalParameters, universalTest } from '../../../src/stats/sp800-22/universal.ts';
import {
  blocksOf,
  meanLogDistance,
  nonOverlappingMatches,
  overlappingMatches,
} from '../../reference/sp800-22.ts';
import { arbitraryBits, sequenceOf } from '../../support/bit-sequences.ts';

test('NonOverlappingTemplate counts what a jumping window finds', () => {
  fc.assert(
    fc.property(
      arbitraryBits(40, 400),
      fc.integer({ min: 2, max: 9 }),
      fc.integer({ min: 1, max: 3 }),
      (bits, templateBits, blocks) => {
        const size = Math.floor(bits.length / blocks);
        for (const { template, counts } of nonOverlappingTemplateTest(
          sequenceOf(bits),
          templateBits,
          blocks,
        )) {
          const pattern = Array.from(template, Number);
          const expected = blocksOf(bits, size).map((block) => nonOverlappingMatches(block, pattern));
          assert.deepEqual(counts, expected.slice(0, blocks), template);
        }
      },
    ),
    { numRuns: 40 },
  );
});

test('OverlappingTemplate counts what a sliding window finds', () => {
  fc.assert(
    fc.property(
      arbitraryBits(40, 600),
      fc.integer({ min: 2, max: 10 }),
      fc.integer({ min: 10, max: 120 }),
      (bits, templateBits, blockBits) => {
        fc.pre(bits.length >= blockBits && blockBits >= templateBits + 4);
        const expected = new Array(6).fill(0);
        const template = new Array(templateBits).fill(1);
        for (const block of blocksOf(bits, blockBits))
          expected[Math.min(overlappingMatches(block, template), 5)]++;
        assert.deepEqual(overlappingTemplateTest(sequenceOf(bits), templateBits, blockBits).counts, expected);
      },
    ),
  );
});

test('OverlappingTemplate: the exact chances are those of all sequences of a short block', () => {
  // With each of the 2^12 blocks once, counts and expected counts agree and χ² is zero.
  const blockBits = 12;
  const bits = Array.from({ length: 2 ** blockBits }, (_, word) =>
    Array.from({ length: blockBits }, (_, i) => (word >>> i) & 1),
  ).flat();
  assert.ok(overlappingTemplateTest(sequenceOf(bits), 3, blockBits).pValue > 1 - 1e-12);
  assert.ok(overlappingTemplateTest(sequenceOf(bits), 3, blockBits, 'reference').pValue < 0.01);
});

test('Universal: the mean log distance for any block length', () => {
  fc.assert(
    fc.property(
      arbitraryBits(60, 600),
      fc.integer({ min: 1, max: 6 }),
      fc.nat(8),
      (bits, blockBits, initialBlocks) => {
        const { meanLog, testBlocks } = universalTest(sequenceOf(bits), {
          blockBits,
          initialBlocks,
          expected: 1,
          sigma: () => 1,
        });
        assert.equal(testBlocks, Math.floor(bits.length / blockBits) - initialBlocks);
        assert.ok(Math.abs(meanLog - meanLogDistance(bits, blockBits, initialBlocks)) < 1e-12);
      },
    ),
  );
});

test('Universal takes L and Q as 2.9.7 does', () => {
  const choices = [387_840, 904_959, 904_960, 1_000_000, 2_068_480, 49_643_520].map((n) => {
    const { blockBits, initialBlocks } = universalParameters(n);
    return [blockBits, initialBlocks];
  });
  assert.deepEqual(choices, [
    [6, 640],
    [6, 640],
    [7, 1280],
    [7, 1280],
    [8, 2560],
    [12, 40_960],
  ]);
});
