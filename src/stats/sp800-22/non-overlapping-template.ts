/**
 * SP 800-22 2.7, Non-overlapping template matching test: do aperiodic patterns turn up too often or too
 * seldom?
 */
import { assert } from '../../core/assert.ts';
import { igamc } from '../special.ts';
import { addWindows } from './patterns.ts';
import type { BitSequence } from './sequence.ts';

export interface TemplateResult {
  /** The pattern B as binary digits. */
  readonly template: string;
  /** W_1 .. W_N: matches in each block. */
  readonly counts: readonly number[];
  readonly pValue: number;
}

/**
 * The words of m bits that no shifted copy of themselves overlaps, ascending: the templates of NIST's
 * `templates/template<m>` files (148 for m = 9).
 */
export function aperiodicTemplates(templateBits: number): number[] {
  const templates: number[] = [];
  for (let word = 0; word < 2 ** templateBits; word++) {
    let overlaps = false;
    for (let shift = 1; shift < templateBits; shift++) {
      if (word >>> shift === (word & (2 ** (templateBits - shift) - 1))) overlaps = true;
    }
    if (!overlaps) templates.push(word);
  }
  return templates;
}

/**
 * All aperiodic templates of m bits in N blocks. Such a template cannot overlap itself, so that skipping m
 * bits after a match (2.7.4 step 2) skips no match: one histogram of all windows of a block counts every
 * template at once.
 */
export function nonOverlappingTemplateTest(
  bits: BitSequence,
  templateBits: number,
  blocks: number,
): TemplateResult[] {
  assert(templateBits >= 2 && templateBits <= 16, 'a template has 2 to 16 bits');
  const blockBits = Math.floor(bits.length / blocks); // 2.7.4 step 1
  const windows = blockBits - templateBits + 1;
  assert(windows > 0, 'a block is longer than a template');
  const histograms = Array.from({ length: blocks }, (_, block) => {
    const histogram = new Int32Array(2 ** templateBits);
    addWindows(histogram, bits.words, block * blockBits, windows, templateBits);
    return histogram;
  });
  const mean = windows / 2 ** templateBits; // step 3
  const variance = blockBits * (2 ** -templateBits - (2 * templateBits - 1) * 2 ** (-2 * templateBits));
  return aperiodicTemplates(templateBits).map((word) => {
    const counts = histograms.map((histogram) => histogram[word]);
    let chiSquared = 0;
    for (const count of counts) chiSquared += (count - mean) ** 2 / variance; // step 4
    const template = word.toString(2).padStart(templateBits, '0');
    return { template, counts, pValue: igamc(blocks / 2, chiSquared / 2) }; // step 5
  });
}
