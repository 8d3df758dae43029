/** SP 800-22 2.4, Test for the longest run of ones in a block. */
import { assert } from '../../core/assert.ts';
import { igamc } from '../special.ts';
import { type Constants, chiSquaredOf } from './chi-squared.ts';
import { type BitSequence, byteAt } from './sequence.ts';

export interface LongestRunResult {
  readonly blocks: number;
  /** ν_0 .. ν_K: blocks by the class of their longest run. */
  readonly counts: readonly number[];
  readonly pValue: number;
}

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

/** The four digits of 3.4 and of sts-2.1.2 for M = 10^4; up to 2 % beside the exact values. */
const REFERENCE_10_000 = [0.0882, 0.2092, 0.2483, 0.1933, 0.1208, 0.0675, 0.0727];

/** 2.4.2: the block length M for n bits. */
export function longestRunBlockBits(length: number): number {
  if (length < 6272) return 8;
  return length < 750_000 ? 128 : 10_000;
}

const LEADING = new Uint8Array(256);
const TRAILING = new Uint8Array(256);
const INSIDE = new Uint8Array(256);
for (let byte = 0; byte < 256; byte++) {
  LEADING[byte] = Math.clz32(~(byte << 24));
  TRAILING[byte] = 31 - Math.clz32(~byte & (byte + 1));
  // x & (x << 1) shortens every run of ones by one.
  for (let x = byte; x !== 0; x &= x << 1) INSIDE[byte]++;
}

/** Blocks are whole bytes: a byte lengthens the open run, or closes it and opens another. */
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
export function longestRunTest(
  bits: BitSequence,
  blockBits: number,
  constants: Constants = 'corrected',
): LongestRunResult {
  const classes = CLASSES.get(blockBits);
  assert(classes !== undefined, 'the longest-run test knows blocks of 8, 128 and 10,000 bits');
  const blocks = Math.floor(bits.length / blockBits); // 2.4.4 step 1
  const counts: number[] = new Array(classes.longest - classes.shortest + 1).fill(0);
  for (let block = 0; block < blocks; block++) {
    const run = longestRunOf(bits.words, (block * blockBits) / 8, blockBits / 8);
    counts[Math.min(Math.max(run, classes.shortest), classes.longest) - classes.shortest]++;
  }
  const chiSquared = chiSquaredOf(counts, probabilitiesOf(blockBits, classes, constants), blocks); // step 3
  return { blocks, counts, pValue: igamc((counts.length - 1) / 2, chiSquared / 2) }; // step 4
}
