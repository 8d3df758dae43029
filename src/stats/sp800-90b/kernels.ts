import { compileWasm, ensureBytes, instantiate, type WasmMemory } from '../../core/wasm.ts';
import type { Hits } from './prediction.ts';

/**
 * The slow parts of SP 800-90B in WebAssembly (assembly/estimators.ts): the predictors on bits, and repeated substrings.
 * Each thread has one instance. Its memory grows to the largest data set seen, about 17 bytes a symbol. Each call erases
 * everything that it wrote there before it returns.
 */
interface EstimatorKernels extends Record<BitPredictor, (bits: number, n: number, work: number) => void> {
  readonly memory: WasmMemory;
  readonly firstByte: { readonly value: number };
  correct(): number;
  longestRun(): number;
  packText(symbols: number, n: number, symbolBits: number, to: number): void;
  sortSuffixes(n: number, order: number, other: number, steps: bigint): number;
  commonPrefixes(n: number, order: number, shared: number): number;
  repeats(
    n: number,
    shared: number,
    longest: number,
    mostFrequent: number,
    equalPairs: number,
    open: number,
  ): void;
}

const kernels = instantiate<EstimatorKernels>(compileWasm(new URL('./estimators.wasm', import.meta.url)));
const { memory } = kernels;

/** Count of zero bytes after the symbols, which the kernels may read. */
const SLACK_BYTES = 32;

/** Bytes of zeroed working memory that each predictor needs beside the bits. */
const WORK_BYTES = {
  multiMcw: () => 0,
  lag: (n: number) => n / 8 + 32,
  multiMmc: () => 4 * 2 ** 17,
  lz78y: () => 4 * 2 ** 18,
};
type BitPredictor = keyof typeof WORK_BYTES;

/** Runs a predictor of 6.3.7 to 6.3.10 on bits, one per byte. MultiMCW needs more than 4,095 bits, LZ78Y more than 16. */
export function predictBits(predictor: BitPredictor, bits: Uint8Array): Hits {
  const layout = new Layout();
  const bitsAt = layout.take(bits.length + SLACK_BYTES);
  const workAt = layout.take(WORK_BYTES[predictor](bits.length));
  try {
    layout.bytes().set(bits, bitsAt);
    kernels[predictor](bitsAt, bits.length, workAt);
    return { correct: kernels.correct(), longestRun: kernels.longestRun() };
  } finally {
    layout.erase();
  }
}

/** How often substrings of each length repeat: the input of 6.3.5, 6.3.6 and 5.2.5. */
export interface RepeatedSubstrings {
  /** L: count of symbols examined. */
  readonly sampleCount: number;
  /** v: length of the longest substring that occurs twice; 0 when none does. */
  readonly longest: number;
  /** mostFrequent[t], t = 1..longest: occurrences of the most frequent t-tuple (overlapping). */
  readonly mostFrequent: Int32Array;
  /** equalPairs[t], t = 1..longest: pairs of positions that hold the same t-tuple. Exact below 2^53. */
  readonly equalPairs: Float64Array;
}

/**
 * Comparisons of 64 bits per symbol before the sort gives up. Good data and bits that are 1 with probability 0.9 need
 * fewer; data with one 1 in 100 bits, or with a block of 100,000 bits that repeats, need more.
 */
const STEPS_PER_SYMBOL = 20;

/**
 * Counts the repeated substrings of symbols of `symbolBits` bits, one per byte. Returns undefined for data that repeat
 * so much that comparing suffixes takes too long.
 */
export function repeatCounts(symbols: Uint8Array, symbolBits: number): RepeatedSubstrings | undefined {
  const n = symbols.length;
  const layout = new Layout();
  const textAt = layout.take((n * symbolBits) / 8 + SLACK_BYTES);
  const orderAt = layout.take(4 * n);
  const sharedAt = layout.take(4 * n);
  try {
    // The symbols lie in the memory of the order, which is not needed until the text is packed.
    layout.bytes().set(symbols, orderAt);
    kernels.packText(orderAt, n, symbolBits, textAt);
    if (kernels.sortSuffixes(n, orderAt, sharedAt, BigInt(STEPS_PER_SYMBOL * n)) === 0) return undefined;
    const longest = kernels.commonPrefixes(n, orderAt, sharedAt);
    if (longest < 0) return undefined;
    return countRepeats(layout, n, sharedAt, longest);
  } finally {
    layout.erase();
  }
}

/** Counts the repeated substrings from the lengths that neighbouring suffixes share, which the caller has found. */
export function repeatCountsOf(shared: Int32Array): RepeatedSubstrings {
  const layout = new Layout();
  const sharedAt = layout.take(shared.byteLength);
  try {
    new Int32Array(memory.buffer, sharedAt, shared.length).set(shared);
    let longest = 0;
    for (let i = 1; i < shared.length; i++) if (shared[i] > longest) longest = shared[i];
    return countRepeats(layout, shared.length, sharedAt, longest);
  } finally {
    layout.erase();
  }
}

function countRepeats(layout: Layout, n: number, sharedAt: number, longest: number): RepeatedSubstrings {
  const mostAt = layout.take(4 * (longest + 1));
  const pairsAt = layout.take(8 * (longest + 1));
  const openAt = layout.take(8 * (longest + 2));
  kernels.repeats(n, sharedAt, longest, mostAt, pairsAt, openAt);
  return {
    sampleCount: n,
    longest,
    mostFrequent: new Int32Array(memory.buffer, mostAt, longest + 1).slice(),
    equalPairs: new Float64Array(memory.buffer, pairsAt, longest + 1).slice(),
  };
}

/** Lays out the parts of one call, one after another. All memory is zero at first. */
class Layout {
  #end = kernels.firstByte.value;

  /** Returns the offset of `size` new bytes, a multiple of 16. */
  take(size: number): number {
    const at = Math.ceil(this.#end / 16) * 16;
    this.#end = at + Math.ceil(size);
    ensureBytes(memory, this.#end);
    return at;
  }

  /** Returns the whole memory at its present size. */
  bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(memory.buffer);
  }

  erase(): void {
    this.bytes().fill(0, kernels.firstByte.value, this.#end);
  }
}
