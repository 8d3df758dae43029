/** SP 800-22 2.5, Binary matrix rank test: are substrings of fixed length linearly independent? */
import { assert } from '../../core/assert.ts';
import { igamc } from '../special.ts';
import { chiSquaredOf } from './chi-squared.ts';
import { type BitSequence, wordAt } from './sequence.ts';

export interface RankResult {
  /** N, whole matrices. */
  readonly matrices: number;
  /** F_M, F_(M-1) and the rest: matrices of full rank, of one less, and of any smaller one. */
  readonly counts: readonly [full: number, oneLess: number, rest: number];
  readonly pValue: number;
}

/** The chance of rank r in a random rows × columns matrix over GF(2) (3.5). */
function chanceOfRank(r: number, rows: number, columns: number): number {
  let product = 2 ** (r * (columns + rows - r) - rows * columns);
  for (let i = 0; i < r; i++)
    product *= ((1 - 2 ** (i - columns)) * (1 - 2 ** (i - rows))) / (1 - 2 ** (i - r));
  return product;
}

/** The rank of `rows` rows of `columns` bits that lie one after the other from bit `start`. */
function rankAt(words: Int32Array, start: number, rows: number, columns: number, basis: Int32Array): number {
  // basis[z]: the row kept so far whose first one stands behind z zeros.
  basis.fill(0);
  const mask = -1 << (32 - columns);
  let rank = 0;
  for (let row = 0; row < rows; row++) {
    let rest = wordAt(words, start + row * columns) & mask;
    while (rest !== 0) {
      const zeros = Math.clz32(rest);
      const kept = basis[zeros];
      if (kept === 0) {
        basis[zeros] = rest;
        rank++;
        break;
      }
      rest ^= kept;
    }
  }
  return rank;
}

/** M × Q matrices, at most 32 columns wide; 2.5.2 has M = Q = 32. */
export function rankTest(bits: BitSequence, rows = 32, columns = 32): RankResult {
  assert(rows >= 2 && columns >= 2 && columns <= 32, 'a matrix is 2 to 32 columns wide');
  const matrices = Math.floor(bits.length / (rows * columns)); // 2.5.4 step 1
  const full = Math.min(rows, columns);
  const basis = new Int32Array(32);
  const counts: [number, number, number] = [0, 0, 0];
  for (let i = 0; i < matrices; i++) {
    const rank = rankAt(bits.words, i * rows * columns, rows, columns, basis); // step 2
    counts[Math.min(full - rank, 2)]++; // step 3
  }
  const chanceFull = chanceOfRank(full, rows, columns);
  const chanceOneLess = chanceOfRank(full - 1, rows, columns);
  const chances = [chanceFull, chanceOneLess, 1 - chanceFull - chanceOneLess];
  const chiSquared = chiSquaredOf(counts, chances, matrices); // step 4
  return { matrices, counts, pValue: igamc(1, chiSquared / 2) }; // step 5: two degrees of freedom
}
