import { assert } from '../../core/assert.ts';
import { igamc } from '../special.ts';
import { addWindows } from './patterns.ts';
import { type BitSequence, type Constants, chiSquaredOf, popcount, wordAt } from './sequence.ts';

/* SP 800-22 2.7, Non-overlapping template matching test: do aperiodic patterns occur too often or too seldom? */

/**
 * Returns the words of m bits that no shifted copy of themselves overlaps, ascending: the templates of NIST's
 * `templates/template<m>` files (148 for m = 9).
 */
function aperiodicTemplates(templateBits: number): number[] {
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
 * Tests all aperiodic templates of m bits in N blocks. Since such a template cannot overlap itself, skipping m
 * bits after a match (2.7.4 step 2) skips no match. So one histogram of all windows of a block counts every
 * template at once.
 */
export function nonOverlappingTemplateTest(bits: BitSequence, templateBits: number, blocks: number) {
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
    const counts = histograms.map((histogram) => histogram[word]); // W_1 .. W_N
    let chiSquared = 0;
    for (const count of counts) chiSquared += (count - mean) ** 2 / variance; // step 4
    const template = word.toString(2).padStart(templateBits, '0'); // B
    return { template, counts, pValue: igamc(blocks / 2, chiSquared / 2) }; // step 5
  });
}

/* SP 800-22 2.8, Overlapping template matching test: do runs of m ones occur too often or too seldom? */

const CLASSES = 6; // K + 1, 2.8.2

/** Counts the matches of m ones in a block. After step k, bit i of `hits` is set if bits i .. i+k are all ones. */
function matchesAt(words: Int32Array, start: number, positions: number, templateBits: number): number {
  let matches = 0;
  for (let done = 0; done < positions; done += 32) {
    const rest = positions - done;
    let hits = rest >= 32 ? -1 : -1 << (32 - rest);
    for (let k = 0; k < templateBits && hits !== 0; k++) hits &= wordAt(words, start + done + k);
    if (hits !== 0) matches += popcount(hits);
  }
  return matches;
}

/**
 * The asymptotic Pr(U = u) of 3.8 that sts-2.1.2 uses: a compound Poisson law with η = (M - m + 1) / 2^(m+1).
 */
function asymptoticChances(templateBits: number, blockBits: number): number[] {
  const eta = (blockBits - templateBits + 1) / 2 ** templateBits / 2;
  const chances = [Math.exp(-eta)];
  for (let u = 1; u < CLASSES - 1; u++) {
    let sum = 0;
    let term = eta; // C(u-1, l-1) η^l / l!
    for (let l = 1; l <= u; l++) {
      sum += term;
      term *= ((u - l) / l) * (eta / (l + 1));
    }
    chances.push((Math.exp(-eta) / 2 ** u) * sum);
  }
  return [...chances, 1 - chances.reduce((a, b) => a + b)];
}
/**
 * Returns the exact distribution of the number of matches in M fair bits. It follows the pair (matches so far, ones
 * at the end) bit by bit. For m = 9, M = 1032 it gives the values of Hamano & Kaneko 2007 that 2.8 prints
 * (0.364091, 0.185659, ...) and that sts-2.1.2 replaces with the asymptotic ones (IACR ePrint 2022/540).
 */
function exactChances(templateBits: number, blockBits: number): number[] {
  // chance[u · m + r]: u matches (5 means 5 or more), r ones at the end (m - 1 means m - 1 or more).
  let chance = new Float64Array(CLASSES * templateBits);
  chance[0] = 1;
  for (let bit = 0; bit < blockBits; bit++) {
    const next = new Float64Array(chance.length);
    for (let u = 0; u < CLASSES; u++) {
      for (let r = 0; r < templateBits; r++) {
        const halfChance = chance[u * templateBits + r] / 2;
        next[u * templateBits] += halfChance;
        if (r < templateBits - 1) next[u * templateBits + r + 1] += halfChance;
        else next[Math.min(u + 1, CLASSES - 1) * templateBits + r] += halfChance;
      }
    }
    chance = next;
  }
  return Array.from({ length: CLASSES }, (_, u) =>
    chance.subarray(u * templateBits, (u + 1) * templateBits).reduce((a, b) => a + b, 0),
  );
}

const exactTables = new Map<string, readonly number[]>();

function chancesOf(templateBits: number, blockBits: number, constants: Constants): readonly number[] {
  if (constants === 'reference') return asymptoticChances(templateBits, blockBits);
  const key = `${templateBits}/${blockBits}`;
  const table = exactTables.get(key) ?? exactChances(templateBits, blockBits);
  exactTables.set(key, table);
  return table;
}

/** The template is m ones. */
export function overlappingTemplateTest(
  bits: BitSequence,
  templateBits: number,
  blockBits: number,
  constants: Constants = 'corrected',
) {
  assert(templateBits >= 2 && blockBits >= templateBits + CLASSES - 2, 'five matches fit into a block');
  const blocks = Math.floor(bits.length / blockBits); // 2.8.4 step 1
  const counts: number[] = new Array(CLASSES).fill(0); // ν_0 .. ν_5: by matches, 5 or more in the last
  for (let block = 0; block < blocks; block++) {
    const matches = matchesAt(bits.words, block * blockBits, blockBits - templateBits + 1, templateBits);
    counts[Math.min(matches, CLASSES - 1)]++; // step 2
  }
  const chiSquared = chiSquaredOf(counts, chancesOf(templateBits, blockBits, constants), blocks); // step 4
  return { blocks, counts, pValue: igamc((CLASSES - 1) / 2, chiSquared / 2) }; // step 5
}
