import { assert } from '../../core/assert.ts';
import { bitStringOf, compactAlphabet, symbolBits, unpackBits } from './alphabet.ts';
import { collision, compression, markov, mostCommonValue } from './closed-forms.ts';
import { lag, lz78y, multiMcw, multiMmc } from './predictors.ts';
import { longestRepeatedSubstring, repeatedSubstrings, tTuple } from './repeated-substrings.ts';

/** The estimators of SP 800-90B 6.3.1 to 6.3.10, in that order and as NIST's tool prints them. */
export const ESTIMATORS = [
  'Most Common Value',
  'Collision',
  'Markov',
  'Compression',
  't-Tuple',
  'LRS',
  'MultiMCW Prediction',
  'Lag Prediction',
  'MultiMMC Prediction',
  'LZ78Y Prediction',
] as const;
type EstimatorName = (typeof ESTIMATORS)[number];

/**
 * Min-entropy in bits per symbol, by estimator. Estimators that do not apply are absent: collision,
 * Markov and compression on more than two distinct symbols, and any that needs more data.
 */
type Estimates = Readonly<Partial<Record<EstimatorName, number>>>;

export interface NonIidAssessment {
  /** Of the symbols themselves, in bits per symbol. */
  readonly estimators: Estimates;
  /** Of the symbols' bit string, per bit; null when there are at most two distinct symbols. */
  readonly bitstringEstimators: Estimates | null;
  /** The lowest of `estimators`, at most `bitsPerSymbol`. */
  readonly hOriginal: number;
  /** The lowest of `bitstringEstimators`, at most 1. */
  readonly hBitstring: number | null;
  /** min(hOriginal, bitsPerSymbol * hBitstring) (SP 800-90B 3.1.3). */
  readonly minEntropyPerSymbol: number;
  readonly minEntropyPerBit: number;
}

/**
 * Assesses at least two symbols of 1 to 8 bits, one per byte, by the non-IID track of SP 800-90B 3.1.3. An ideal
 * source scores about 0.85 per bit on a million bits, not 1, because the lowest of ten 99 % bounds counts.
 * The result is an estimate under these estimators, not a guarantee. SP 800-90B 3.1.1 asks for a million samples;
 * with fewer, the bounds are wider and the estimate is lower.
 */
export function assessNonIid(symbols: Uint8Array, bitsPerSymbol: number): NonIidAssessment {
  assertSymbols(symbols, bitsPerSymbol);
  const alphabet = compactAlphabet(symbols);
  const estimators = estimate(alphabet.symbols, alphabet.size);
  const hOriginal = lowest(estimators, bitsPerSymbol);
  // With two distinct symbols the estimators for bits have run already, as in NIST's tool.
  const bitstringEstimators = alphabet.size > 2 ? estimate(bitStringOf(symbols, bitsPerSymbol), 2) : null;
  const hBitstring = bitstringEstimators === null ? null : lowest(bitstringEstimators, 1);
  const minEntropyPerSymbol = Math.min(hOriginal, bitsPerSymbol * (hBitstring ?? 1));
  return {
    estimators,
    bitstringEstimators,
    hOriginal,
    hBitstring,
    minEntropyPerSymbol,
    minEntropyPerBit: minEntropyPerSymbol / bitsPerSymbol,
  };
}

/** Assesses `bitLength` packed bits, most significant bit first, as assessNonIid does. */
export function assessBits(packed: Uint8Array, bitLength: number): NonIidAssessment {
  return assessNonIid(unpackBits(packed, bitLength), 1);
}

/** Returns H_original alone, which the restart tests compare (SP 800-90B 3.1.4.2). */
export function assessOriginal(symbols: Uint8Array, bitsPerSymbol: number): number {
  assertSymbols(symbols, bitsPerSymbol);
  const alphabet = compactAlphabet(symbols);
  return lowest(estimate(alphabet.symbols, alphabet.size), bitsPerSymbol);
}

function assertSymbols(symbols: Uint8Array, bitsPerSymbol: number): void {
  assert(
    Number.isInteger(bitsPerSymbol) && bitsPerSymbol >= 1 && bitsPerSymbol <= 8,
    'symbols have 1 to 8 bits',
  );
  assert(symbols.length >= 2, 'at least two symbols are assessed');
  let union = 0;
  for (let i = 0; i < symbols.length; i++) union |= symbols[i];
  assert(union >>> bitsPerSymbol === 0, 'every symbol fits its width');
}

/** Runs every estimator that applies to symbols below `alphabetSize`, all of which occur unless they are bits. */
function estimate(symbols: Uint8Array, alphabetSize: number): Estimates {
  const estimates: Partial<Record<EstimatorName, number>> = {};
  const record = (name: EstimatorName, result: { readonly minEntropy: number } | null): void => {
    if (result !== null) estimates[name] = result.minEntropy;
  };
  record('Most Common Value', mostCommonValue(symbols, alphabetSize));
  // A source that emits only one symbol has no entropy; nothing is left to estimate.
  if (alphabetSize === 1) return estimates;
  if (alphabetSize === 2) {
    record('Collision', collision(symbols));
    record('Markov', markov(symbols));
    record('Compression', compression(symbols));
  }
  const repeats = repeatedSubstrings(symbols, symbolBits(alphabetSize));
  record('t-Tuple', tTuple(repeats));
  record('LRS', longestRepeatedSubstring(repeats));
  record('MultiMCW Prediction', multiMcw(symbols, alphabetSize));
  record('Lag Prediction', lag(symbols, alphabetSize));
  record('MultiMMC Prediction', multiMmc(symbols, alphabetSize));
  record('LZ78Y Prediction', lz78y(symbols, alphabetSize));
  return estimates;
}

function lowest(estimates: Estimates, atMost: number): number {
  return Math.min(atMost, ...Object.values(estimates));
}
