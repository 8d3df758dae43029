import { compactAlphabet, symbolBits } from './alphabet.ts';
import {
  type ChiSquareResult,
  chiSquareGoodnessOfFit,
  chiSquareIndependence,
  IID_ALPHA,
} from './chi-square.ts';
import { type RepeatedSubstrings, repeatedSubstrings } from './repeated-substrings.ts';

export interface RepeatLengthResult {
  /** W: length of the longest repeated substring. */
  readonly length: number;
  /** Probability that two IID symbols are equal. */
  readonly pCollision: number;
  /** Probability of a repeat at least as long. */
  readonly pValue: number;
  readonly passed: boolean;
}

export interface IidTests {
  readonly independence: ChiSquareResult;
  readonly goodnessOfFit: ChiSquareResult;
  readonly repeatLength: RepeatLengthResult;
  /** All three passed. An IID claim needs the permutation tests of 5.1 as well. */
  readonly passed: boolean;
}

/**
 * The additional statistical tests of the IID track (SP 800-90B 5.2). Ten or more symbols, each in a byte,
 * of which at least two are distinct.
 */
export function additionalIidTests(symbols: Uint8Array): IidTests {
  const alphabet = compactAlphabet(symbols);
  const independence = chiSquareIndependence(alphabet.symbols, alphabet.size);
  const goodnessOfFit = chiSquareGoodnessOfFit(alphabet.symbols, alphabet.size);
  const repeats = repeatedSubstrings(alphabet.symbols, symbolBits(alphabet.size));
  const repeatLength = repeatLengthTest(repeats, alphabet.symbols, alphabet.size);
  const passed = independence.passed && goodnessOfFit.passed && repeatLength.passed;
  return { independence, goodnessOfFit, repeatLength, passed };
}

/** Length of the longest repeated substring test (SP 800-90B 5.2.5). */
export function repeatLengthTest(
  repeats: RepeatedSubstrings,
  symbols: Uint8Array,
  alphabetSize: number,
): RepeatLengthResult {
  const counts = new Float64Array(alphabetSize);
  for (let i = 0; i < symbols.length; i++) counts[symbols[i]]++;
  let pCollision = 0;
  for (const count of counts) pCollision += (count / symbols.length) ** 2;
  const length = repeats.longest;
  const places = symbols.length - length + 1;
  const pairs = (places * (places - 1)) / 2;
  // 1 - (1 - p^W)^N; p^W is tiny and N is huge, so both powers go through their logarithms.
  const pValue = -Math.expm1(pairs * Math.log1p(-(pCollision ** length)));
  return { length, pCollision, pValue, passed: pValue >= IID_ALPHA };
}
