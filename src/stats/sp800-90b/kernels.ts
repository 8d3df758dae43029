import { compileWasm, ensureBytes, instantiate, type WasmMemory } from '../../core/wasm.ts';
import type { PredictorRun } from './prediction.ts';

/**
 * The parts of SP 800-90B that take an assessment's time, in WebAssembly (assembly/estimators.ts): the
 * predictors on bits, and repeated substrings. One instance for each thread. Its memory grows to the largest
 * data set seen, about 17 bytes a symbol, and everything that a call wrote there is erased before it returns.
 */
interface EstimatorKernels {
  readonly memory: WasmMemory;
  readonly firstByte: { readonly value: number };
  multiMcw(bits: number, n: number): void;
  lag(bits: number, n: number, words: number): void;
  multiMmc(bits: number, n: number, models: number): void;
  correct(): number;
  longestRun(): number;
  lz78y(bits: number, n: number, counts: number): void;
  lz78yCorrect(): number;
  lz78yLongestRun(): number;
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

/** MultiMCW (6.3.7) on more than 4,095 bits, one a byte. */
export function multiMcwOfBits(bits: Uint8Array): Pick<PredictorRun, 'correct' | 'longestRun'> {
  return onBits(bits, 0, (at) => {
    kernels.multiMcw(at, bits.length);
    return { correct: kernels.correct(), longestRun: kernels.longestRun() };
  });
}

/** Lag (6.3.8) on bits. */
export function lagOfBits(bits: Uint8Array): Pick<PredictorRun, 'correct' | 'longestRun'> {
  return onBits(bits, bits.length / 8 + 32, (at, work) => {
    kernels.lag(at, bits.length, work);
    return { correct: kernels.correct(), longestRun: kernels.longestRun() };
  });
}

/** MultiMMC (6.3.9) on bits. */
export function multiMmcOfBits(bits: Uint8Array): Pick<PredictorRun, 'correct' | 'longestRun'> {
  return onBits(bits, 4 * 2 ** 17, (at, work) => {
    kernels.multiMmc(at, bits.length, work);
    return { correct: kernels.correct(), longestRun: kernels.longestRun() };
  });
}

/** LZ78Y (6.3.10) on more than 16 bits. */
export function lz78yOfBits(bits: Uint8Array): Pick<PredictorRun, 'correct' | 'longestRun'> {
  return onBits(bits, 4 * 2 ** 18, (at, work) => {
    kernels.lz78y(at, bits.length, work);
    return { correct: kernels.lz78yCorrect(), longestRun: kernels.lz78yLongestRun() };
  });
}

/** Calls a kernel with the place of the bits and of as many zeros as it works on. */
function onBits<Result>(
  bits: Uint8Array,
  workBytes: number,
  call: (bitsAt: number, workAt: number) => Result,
): Result {
  const layout = new Layout();
  const bitsAt = layout.take(bits.length + SLACK_BYTES);
  const workAt = layout.take(workBytes);
  try {
    layout.bytes().set(bits, bitsAt);
    return call(bitsAt, workAt);
  } finally {
    layout.erase();
  }
}

/** How often substrings of each length repeat; element 0 of the arrays means nothing. */
export interface RepeatCounts {
  readonly longest: number;
  readonly mostFrequent: Int32Array;
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
export function repeatCounts(symbols: Uint8Array, symbolBits: number): RepeatCounts | undefined {
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
export function repeatCountsOf(shared: Int32Array): RepeatCounts {
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

function countRepeats(layout: Layout, n: number, sharedAt: number, longest: number): RepeatCounts {
  const mostAt = layout.take(4 * (longest + 1));
  const pairsAt = layout.take(8 * (longest + 1));
  const openAt = layout.take(8 * (longest + 2));
  kernels.repeats(n, sharedAt, longest, mostAt, pairsAt, openAt);
  return {
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
