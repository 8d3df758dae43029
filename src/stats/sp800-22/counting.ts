import { assert } from '../../core/assert.ts';
import { erfc, igamc } from '../special.ts';
import {
  type BitSequence,
  byteAt,
  type Constants,
  chiSquaredOf,
  onesIn,
  popcount,
  wordAt,
} from './sequence.ts';

/* SP 800-22 2.1, Frequency (Monobit) test: are there as many ones as zeros? */

export function frequencyTest(bits: BitSequence) {
  const ones = onesIn(bits.words, 0, bits.length);
  const sum = 2 * ones - bits.length; // 2.1.4 step 1: S_n, ones minus zeros
  const observed = Math.abs(sum) / Math.sqrt(bits.length); // step 2
  return { ones, sum, pValue: erfc(observed / Math.SQRT2) }; // step 3
}

/* SP 800-22 2.2, Frequency test within a block: is each block of M bits balanced? */

export function blockFrequencyTest(bits: BitSequence, blockBits: number) {
  const blocks = Math.floor(bits.length / blockBits); // 2.2.4 step 1: N; the rest of the sequence is not used
  let squares = 0;
  for (let block = 0; block < blocks; block++) {
    // Steps 2, 3: 4M (π_i - 1/2)² = (2 ones - M)² / M, summed as whole numbers.
    const excess = 2 * onesIn(bits.words, block * blockBits, blockBits) - blockBits;
    squares += excess * excess;
  }
  const chiSquared = squares / blockBits;
  return { blocks, chiSquared, pValue: igamc(blocks / 2, chiSquared / 2) }; // step 4
}

/* SP 800-22 2.3, Runs test: does the sequence oscillate as often as it should? */

export function runsTest(bits: BitSequence) {
  const { words, length } = bits;
  const onesShare = onesIn(words, 0, length) / length; // 2.3.4 step 1: π
  const runs = changes(words, length) + 1; // step 3: V_n
  // Step 2: the runs test needs a passed frequency test; without one, document and reference set p = 0.
  if (Math.abs(onesShare - 0.5) >= 2 / Math.sqrt(length)) return { runs, onesShare, pValue: 0 };
  const spread = onesShare * (1 - onesShare);
  const distance = Math.abs(runs - 2 * length * spread);
  return { runs, onesShare, pValue: erfc(distance / (2 * Math.sqrt(2 * length) * spread)) }; // step 4
}

/** Counts the places where a bit differs from the next one. */
function changes(words: Int32Array, length: number): number {
  const pairs = length - 1;
  const whole = pairs >>> 5;
  let count = 0;
  for (let i = 0; i < whole; i++) count += popcount(words[i] ^ ((words[i] << 1) | (words[i + 1] >>> 31)));
  const rest = pairs & 31;
  if (rest !== 0) {
    const next = (words[whole] << 1) | (words[whole + 1] >>> 31);
    count += popcount((words[whole] ^ next) & (-1 << (32 - rest)));
  }
  return count;
}

/* SP 800-22 2.4, Test for the longest run of ones in a block. */

/** 2.4.4 step 2: the longest runs of the first and of the last class, for each block length M of 2.4.2. */
interface RunClasses {
  readonly shortest: number;
  readonly longest: number;
}
const CLASSES: ReadonlyMap<number, RunClasses> = new Map([
  [8, { shortest: 1, longest: 4 }],
  [128, { shortest: 4, longest: 9 }],
  [10_000, { shortest: 10, longest: 16 }],
]);

/** The four-digit values of 3.4 and of sts-2.1.2 for M = 10^4; they differ from the exact ones by up to 2 %. */
const REFERENCE_10_000 = [0.0882, 0.2092, 0.2483, 0.1933, 0.1208, 0.0675, 0.0727];

/** 2.4.2: the block length M for n bits. */
export function longestRunBlockBits(length: number): number {
  if (length < 6272) return 8;
  return length < 750_000 ? 128 : 10_000;
}

/** Lengths of the runs of ones at the start of each byte value, at its end, and of the longest one in it. */
const LEADING = new Uint8Array(256);
const TRAILING = new Uint8Array(256);
const INSIDE = new Uint8Array(256);
for (let byte = 0; byte < 256; byte++) {
  LEADING[byte] = Math.clz32(~(byte << 24));
  TRAILING[byte] = 31 - Math.clz32(~byte & (byte + 1));
  // x & (x << 1) shortens every run of ones by one.
  for (let x = byte; x !== 0; x &= x << 1) INSIDE[byte]++;
}

/**
 * Returns the longest run of ones in a block of whole bytes. Each byte lengthens the open run, or ends it and starts
 * another.
 */
function longestRunOf(words: Int32Array, firstByte: number, bytes: number): number {
  let longest = 0;
  let open = 0;
  for (let i = firstByte; i < firstByte + bytes; i++) {
    const byte = byteAt(words, i);
    if (byte === 255) {
      open += 8;
      continue;
    }
    const closed = open + LEADING[byte];
    if (closed > longest) longest = closed;
    if (INSIDE[byte] > longest) longest = INSIDE[byte];
    open = TRAILING[byte];
  }
  return Math.max(open, longest);
}

/** The chance that no run of ones in M fair bits is longer than k: q(n) = q(n-1) - 2^-(k+2) q(n-k-2). */
function chanceOfAtMost(k: number, blockBits: number): number {
  const q = new Float64Array(blockBits + 1);
  const ending = 2 ** -(k + 2); // a zero, then k + 1 ones that end here
  for (let n = 0; n <= blockBits; n++) {
    if (n <= k) q[n] = 1;
    else if (n === k + 1) q[n] = 1 - 2 ** -(k + 1);
    else q[n] = q[n - 1] - ending * q[n - k - 2];
  }
  return q[blockBits];
}

const exactTables = new Map<number, readonly number[]>();

function probabilitiesOf(blockBits: number, classes: RunClasses, constants: Constants): readonly number[] {
  if (constants === 'reference' && blockBits === 10_000) return REFERENCE_10_000;
  let table = exactTables.get(blockBits);
  if (table === undefined) {
    const atMost: number[] = [];
    for (let k = classes.shortest; k < classes.longest; k++) atMost.push(chanceOfAtMost(k, blockBits));
    table = [...atMost, 1].map((chance, i) => chance - (i === 0 ? 0 : atMost[i - 1]));
    exactTables.set(blockBits, table);
  }
  return table;
}

/** `blockBits` is 8, 128 or 10,000. */
export function longestRunTest(bits: BitSequence, blockBits: number, constants: Constants = 'corrected') {
  const classes = CLASSES.get(blockBits);
  assert(classes !== undefined, 'the longest-run test knows blocks of 8, 128 and 10,000 bits');
  const blocks = Math.floor(bits.length / blockBits); // 2.4.4 step 1
  // ν_0 .. ν_K: blocks by the class of their longest run.
  const counts: number[] = new Array(classes.longest - classes.shortest + 1).fill(0);
  for (let block = 0; block < blocks; block++) {
    const run = longestRunOf(bits.words, (block * blockBits) / 8, blockBits / 8);
    counts[Math.min(Math.max(run, classes.shortest), classes.longest) - classes.shortest]++;
  }
  const chiSquared = chiSquaredOf(counts, probabilitiesOf(blockBits, classes, constants), blocks); // step 3
  return { blocks, counts, pValue: igamc((counts.length - 1) / 2, chiSquared / 2) }; // step 4
}

/* SP 800-22 2.5, Binary matrix rank test: are substrings of fixed length linearly independent? */

/** Returns the chance that a random rows × columns matrix over GF(2) has rank r (3.5). */
function chanceOfRank(r: number, rows: number, columns: number): number {
  let product = 2 ** (r * (columns + rows - r) - rows * columns);
  for (let i = 0; i < r; i++)
    product *= ((1 - 2 ** (i - columns)) * (1 - 2 ** (i - rows))) / (1 - 2 ** (i - r));
  return product;
}

/** Returns the rank of the matrix whose `rows` rows of `columns` bits follow each other from bit `start` on. */
function rankAt(words: Int32Array, start: number, rows: number, columns: number, basis: Int32Array): number {
  // basis[z]: the kept row whose first one follows z zeros.
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

/** Tests M × Q matrices, at most 32 columns wide; 2.5.2 has M = Q = 32. */
export function rankTest(bits: BitSequence, rows = 32, columns = 32) {
  assert(rows >= 2 && columns >= 2 && columns <= 32, 'a matrix is 2 to 32 columns wide');
  const matrices = Math.floor(bits.length / (rows * columns)); // 2.5.4 step 1: N
  const full = Math.min(rows, columns);
  const basis = new Int32Array(32);
  const counts = [0, 0, 0]; // F_M, F_(M-1) and the rest: full rank, one less, and any smaller one
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
