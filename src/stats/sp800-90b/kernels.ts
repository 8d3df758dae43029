import { compileWasm, ensureBytes, instantiate, type WasmMemory } from '../../core/wasm.ts';
import type { Hits } from './prediction.ts';

/**
 * The parts of SP 800-90B that take an assessment's time, in WebAssembly (assembly/estimators.ts): the
 * predictors on bits, and repeated substrings. One instance for each thread. Its memory grows to the largest
 * data set seen, about 17 bytes a symbol, and everything that a call wrote there is erased before it returns.
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

/** Zeros that the kernels read behind the symbols. */
const SLACK_BYTES = 32;

/** The zeros, in bytes, that each predictor works on beside the bits. */
const WORK_BYTES = {
  multiMcw: () => 0,
  lag: (n: number) => n / 8 + 32,
  multiMmc: () => 4 * 2 ** 17,
  lz78y: () => 4 * 2 ** 18,
};
type BitPredictor = keyof typeof WORK_BYTES;

/** Runs a predictor of 6.3.7 to 6.3.10 on bits, one a byte: above 4,095 for MultiMCW, above 16 for LZ78Y. */
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

/** How often substrings of each length repeat: what 6.3.5, 6.3.6 and 5.2.5 start from. */
export interface RepeatedSubstrings {
  /** L: symbols examined. */
  readonly sampleCount: number;
  /** v: length of the longest substring that occurs twice; 0 when nothing does. */
  readonly longest: number;
  /** mostFrequent[t], t = 1..longest: occurrences of the most frequent t-tuple (overlapping). */
  readonly mostFrequent: Int32Array;
  /** equalPairs[t], t = 1..longest: pairs of places that hold the same t-tuple. Exact below 2^53. */
  readonly equalPairs: Float64Array;
}

/**
 * Comparisons of 64 bits per symbol before the sort is given up. Good data and bits that are 1 with
 * probability 0.9 take fewer; one 1 in 100 bits, or a block of 100,000 bits repeated, take more (bench
 * `sp800-90b --worst`).
 */
const STEPS_PER_SYMBOL = 20;

/**
 * Counts the repeated substrings of symbols of `symbolBits` bits, one a byte. Undefined for data that repeat
 * so much that comparing suffixes takes too long.
 */
export function repeatCounts(symbols: Uint8Array, symbolBits: number): RepeatedSubstrings | undefined {
  const n = symbols.length;
  const layout = new Layout();
  const textAt = layout.take((n * symbolBits) / 8 + SLACK_BYTES);
  const orderAt = layout.take(4 * n);
  const sharedAt = layout.take(4 * n);
  try {
    // The symbols lie where the order will be until the text is packed.
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

/** The same from what neighbouring suffixes share, which something else has found. */
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

/** Where the parts of one call lie, one behind the other. All are zeros at first. */
class Layout {
  #end = kernels.firstByte.value;

  /** The place of `size` bytes, a multiple of 16. */
  take(size: number): number {
    const at = Math.ceil(this.#end / 16) * 16;
    this.#end = at + Math.ceil(size);
    ensureBytes(memory, this.#end);
    return at;
  }

  /** All of the memory, as large as it is now. */
  bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(memory.buffer);
  }

  erase(): void {
    this.bytes().fill(0, kernels.firstByte.value, this.#end);
  }
}
