/** SP 800-22 2.7, Non-overlapping template matching test: do aperiodic patterns turn up too often or too seldom? */
import { assert } from '../../core/assert.ts';
import { igamc } from '../special.ts';
import { type BitSequence, wordAt } from './sequence.ts';

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

/** How often each m-bit word stands in the windows that begin at bits start .. start + windows - 1. */
function countWindows(words: Int32Array, start: number, windows: number, templateBits: number): Int32Array {
  const counts = new Int32Array(2 ** templateBits);
  const shift = 32 - templateBits;
  const atOnce = shift + 1; // windows that one 32-bit word holds whole
  let at = start;
  for (let rest = windows; rest > 0; rest -= atOnce, at += atOnce) {
    let word = wordAt(words, at);
    for (let i = Math.min(rest, atOnce); i > 0; i--) {
      counts[word >>> shift]++;
      word <<= 1;
    }
  }
  return counts;
}

/**
 * All aperiodic templates of m bits in N blocks. Such a template cannot overlap itself, so that skipping m bits after
 * a match (2.7.4 step 2) skips no match: one histogram of all windows of a block counts every template at once.
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
  const histograms = Array.from({ length: blocks }, (_, block) =>
    countWindows(bits.words, block * blockBits, windows, templateBits),
  );
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
