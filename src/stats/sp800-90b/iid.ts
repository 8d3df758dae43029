import { assert } from '../../core/assert.ts';
import { igamc } from '../special.ts';
import { compactAlphabet, symbolBits } from './alphabet.ts';
import type { RepeatedSubstrings } from './kernels.ts';
import { repeatedSubstrings } from './repeated-substrings.ts';

/** Each test of 5.2 fails below this p-value (SP 800-90B 5.2.1 to 5.2.5). */
const IID_ALPHA = 0.001;

export type IidTests = ReturnType<typeof additionalIidTests>;

/**
 * Runs the additional statistical tests of the IID track (SP 800-90B 5.2) on ten or more symbols, one per byte,
 * of which at least two are distinct. An IID claim needs the permutation tests of 5.1 as well.
 */
export function additionalIidTests(symbols: Uint8Array) {
  const alphabet = compactAlphabet(symbols);
  const independence = chiSquareIndependence(alphabet.symbols, alphabet.size);
  const goodnessOfFit = chiSquareGoodnessOfFit(alphabet.symbols, alphabet.size);
  const repeats = repeatedSubstrings(alphabet.symbols, symbolBits(alphabet.size));
  const repeatLength = repeatLengthTest(repeats, alphabet.symbols, alphabet.size);
  const passed = independence.passed && goodnessOfFit.passed && repeatLength.passed;
  return { independence, goodnessOfFit, repeatLength, passed };
}

/** Length of the longest repeated substring test (SP 800-90B 5.2.5). */
export function repeatLengthTest(repeats: RepeatedSubstrings, symbols: Uint8Array, alphabetSize: number) {
  let pCollision = 0; // the probability that two IID symbols are equal
  for (const count of symbolCounts(symbols, alphabetSize)) pCollision += (count / symbols.length) ** 2;
  const length = repeats.longest; // W
  const places = symbols.length - length + 1;
  const pairs = (places * (places - 1)) / 2;
  // 1 - (1 - p^W)^N by logarithms, because p^W is tiny and N is huge.
  const pValue = -Math.expm1(pairs * Math.log1p(-(pCollision ** length)));
  return { length, pCollision, pValue, passed: pValue >= IID_ALPHA };
}

/** The fewest observations that a bin may expect (5.2.1). */
const EXPECTATION_MIN = 5;
/** Subsets compared for goodness of fit (5.2.2, 5.2.4). */
const SUBSETS = 10;

export interface ChiSquareResult {
  readonly statistic: number;
  readonly degreesOfFreedom: number;
  readonly pValue: number;
  readonly passed: boolean;
}

/**
 * Tests whether neighbours are independent (SP 800-90B 5.2.1; 5.2.3 for bits). Takes two or more distinct symbols below
 * `alphabetSize`, all of which occur.
 */
export function chiSquareIndependence(symbols: Uint8Array, alphabetSize: number): ChiSquareResult {
  assert(alphabetSize >= 2, 'at least two distinct symbols are tested');
  return alphabetSize === 2 ? bitIndependence(symbols) : pairIndependence(symbols, alphabetSize);
}

/**
 * Tests whether ten subsets have the same distribution (SP 800-90B 5.2.2; 5.2.4 for bits). Needs at least ten symbols.
 */
function chiSquareGoodnessOfFit(symbols: Uint8Array, alphabetSize: number): ChiSquareResult {
  assert(alphabetSize >= 2, 'at least two distinct symbols are tested');
  assert(symbols.length >= SUBSETS, 'ten subsets hold a symbol each');
  const length = Math.floor(symbols.length / SUBSETS);
  const expectations = symbolCounts(symbols, alphabetSize).map((count) => (count / symbols.length) * length);
  // 5.2.4 keeps the two bit values apart; 5.2.2 joins rare symbols first.
  const bins: Bins =
    alphabetSize === 2
      ? { binOf: Int32Array.of(0, 1), expectations: [...expectations] }
      : joinRare(expectations);
  let statistic = 0;
  for (let subset = 0; subset < SUBSETS; subset++) {
    const observed = new Int32Array(bins.expectations.length);
    for (let i = subset * length; i < (subset + 1) * length; i++) observed[bins.binOf[symbols[i]]]++;
    statistic += pearson(observed, bins.expectations);
  }
  return result(statistic, (SUBSETS - 1) * (bins.expectations.length - 1));
}

/**
 * Tests the frequencies of m-bit words (5.2.3), for the largest m up to 11 at which the rarest word is expected often
 * enough.
 */
function bitIndependence(bits: Uint8Array): ChiSquareResult {
  const probability = symbolCounts(bits, 2).map((count) => count / bits.length);
  const rarer = Math.min(probability[0], probability[1]);
  let m = 11;
  while (m > 1 && rarer ** m * Math.floor(bits.length / m) < EXPECTATION_MIN) m--;
  if (m < 2) return result(0, 0); // too few samples for a test
  const words = Math.floor(bits.length / m);
  const observed = new Int32Array(1 << m);
  for (let i = 0, at = 0; i < words; i++) {
    let word = 0;
    for (const end = at + m; at < end; at++) word = (word << 1) | bits[at];
    observed[word]++;
  }
  const expectations = Array.from(observed, (_, word) => {
    let weight = 0;
    for (let rest = word; rest > 0; rest >>>= 1) weight += rest & 1;
    return probability[1] ** weight * probability[0] ** (m - weight) * words;
  });
  return result(pearson(observed, expectations), 2 ** m - 2);
}

/** Tests the frequencies of non-overlapping pairs of neighbours (5.2.1). */
function pairIndependence(symbols: Uint8Array, alphabetSize: number): ChiSquareResult {
  const counts = symbolCounts(symbols, alphabetSize);
  const pairs = Math.floor(symbols.length / 2);
  const scale = pairs / symbols.length ** 2;
  const expectations = new Float64Array(alphabetSize ** 2);
  for (let a = 0; a < alphabetSize; a++) {
    // The product of counts is exact, so that equally rare pairs get equal expectations and keep their order.
    for (let b = 0; b < alphabetSize; b++) expectations[a * alphabetSize + b] = counts[a] * counts[b] * scale;
  }
  const bins = joinRare(expectations);
  const observed = new Int32Array(bins.expectations.length);
  for (let i = 0; i + 1 < symbols.length; i += 2)
    observed[bins.binOf[symbols[i] * alphabetSize + symbols[i + 1]]]++;
  return result(pearson(observed, bins.expectations), bins.expectations.length - alphabetSize);
}

function symbolCounts(symbols: Uint8Array, alphabetSize: number): Float64Array {
  const counts = new Float64Array(alphabetSize);
  for (let i = 0; i < symbols.length; i++) counts[symbols[i]]++;
  return counts;
}

interface Bins {
  /** The bin of each value. */
  readonly binOf: Int32Array;
  readonly expectations: readonly number[];
}

/**
 * Joins values, rarest first, until every bin expects enough. What is left at the end joins the last bin
 * (5.2.1, 5.2.2).
 */
function joinRare(expected: Float64Array): Bins {
  // The sort is stable: equally rare values keep their order.
  const rarestFirst = Array.from(expected, (_, value) => value).sort((a, b) => expected[a] - expected[b]);
  const binOf = new Int32Array(expected.length);
  const expectations: number[] = [];
  let open = 0;
  for (const value of rarestFirst) {
    if (open >= EXPECTATION_MIN) {
      expectations.push(open);
      open = 0;
    }
    binOf[value] = expectations.length;
    open += expected[value];
  }
  if (open >= EXPECTATION_MIN || expectations.length === 0) expectations.push(open);
  else {
    const last = expectations.length - 1;
    expectations[last] += open;
    for (let value = 0; value < binOf.length; value++) binOf[value] = Math.min(binOf[value], last);
  }
  return { binOf, expectations };
}

function pearson(observed: Int32Array, expectations: readonly number[]): number {
  let sum = 0;
  for (let bin = 0; bin < observed.length; bin++) {
    sum += (observed[bin] - expectations[bin]) ** 2 / expectations[bin];
  }
  return sum;
}

function result(statistic: number, degreesOfFreedom: number): ChiSquareResult {
  // With no degree of freedom nothing is compared, so nothing can fail.
  const pValue = degreesOfFreedom > 0 ? igamc(degreesOfFreedom / 2, statistic / 2) : 1;
  return { statistic, degreesOfFreedom, pValue, passed: pValue >= IID_ALPHA };
}
