import { type Blocks, writeBlocks } from './blocks.ts';
import { GaussianRounding } from './gaussian-rounding.ts';
import {
  appendText,
  BLOCK_VALUES,
  type ByteSource,
  beginStream,
  feedStream,
  kernels,
  moreResults,
  offsets64,
  putDistribution,
  takeBits,
  textOf,
  useOffsets,
  useText,
} from './kernels.ts';
import { type Output, putArrayHead } from './packed.ts';

/**
 * Normally distributed decimals, exactly: each value is a real number X of N(mean, stddev²) rounded to the nearest decimal
 * with so many significant digits, and no step approximates. `mean` and `stddev` are the decimals that JSON prints for them.
 *
 * 1. *The deviate.* Algorithm N of Karney 2016, "Sampling exactly from the normal distribution" (ACM TOMS 42:1), compares
 *    random bits and computes nothing else. It takes k >= 0 with probability proportional to exp(-k/2), accepts it with
 *    probability exp(-k(k-1)/2), takes x uniform in (0, 1) and accepts it with probability exp(-x(2k+x)/2). The product of the
 *    three is exp(-(k+x)²/2), so k + x is |Z| of a standard normal Z; one more bit is its sign. Each exponential is a
 *    probability of von Neumann's method: a row of uniforms that falls n times has probability v^n / n! for a first bound v,
 *    and the row ends at an even n with probability sum (-v)^n / n! = exp(-v).
 * 2. *Its digits.* All decisions look at the first bits of x alone. The bits that were not drawn are still independent and
 *    uniform, so they are drawn when they are needed.
 * 3. *The rounding.* After b bits X lies between two rational numbers that are stddev / 2^b apart. When both round to the same
 *    decimal, X does; until then four more bits of x are drawn (assembly/gaussians.ts, gaussian-rounding.ts). X lies on the border between
 *    two decimals with probability 0.
 *
 * The bits are those of the entropy's 32-bit words (little-endian), the lowest first.
 */
export interface GaussiansRequest {
  readonly kind: 'gaussians';
  readonly count: number;
  /** Within ±10^6. */
  readonly mean: number;
  /** 10^-9 to 10^6. */
  readonly stddev: number;
  /** Significant decimal digits of each value, 2 to 14. */
  readonly digits: number;
}

/** Each value takes at least these beside those of its fraction: two for its whole part, one to accept it, and its sign. */
const OTHER_BITS_MIN = 4;
/** Bits that are drawn at a time where the first ones do not tell how a value rounds. */
const STEP_BITS = 4;
/** Why the kernel stopped. */
const NO_BITS = 1;
const UNSURE = 2;

/** Writes the JSON array of the values; returns where it ends. */
export function drawGaussians(
  source: ByteSource,
  request: GaussiansRequest,
  target: Uint8Array,
  start: number,
  packed?: Output,
): number {
  if (packed !== undefined) putArrayHead(request.count, packed);
  target[start] = 0x5b; // '['
  const blocks = gaussianBlocks(source, request);
  const end = writeBlocks(blocks, blocks.textBytes, target, start + 1, packed, kernels.packedNumbers);
  target[end - 1] = 0x5d; // ']' over the last comma
  return end;
}

/** Writes the values as float64; returns where they end. */
export function drawGaussianOctets(
  source: ByteSource,
  request: GaussiansRequest,
  target: Uint8Array,
  start: number,
): number {
  const write = (values: number) => {
    kernels.gaussianOctets(values);
    return 8 * values;
  };
  return writeBlocks(gaussianBlocks(source, request), write, target, start);
}

/** Values as float64 in the window, and their text in that of text. */
interface GaussianBlocks extends Blocks {
  textBytes(): number;
}

let isPrepared = false;

function gaussianBlocks(source: ByteSource, request: GaussiansRequest): GaussianBlocks {
  const rounding = roundingOf(request);
  if (!isPrepared) kernels.prepareGaussians();
  isPrepared = true;
  beginStream();
  putDistribution(rounding.parameters);
  const bitsMin = rounding.firstBits + OTHER_BITS_MIN;
  let missing = request.count;
  let size = 0;
  return {
    next() {
      const count = Math.min(missing, BLOCK_VALUES);
      useOffsets(8 * count);
      size = 0;
      for (let made = 0; made < count; ) {
        made = kernels.gaussians(made, count, size);
        const [textBytes, why, left, whole, sign, known] = moreResults;
        size = textBytes;
        useText(size);
        // no word is taken that no value needs
        if (why === NO_BITS) feedStream(source, left, (missing - made) * bitsMin);
        if (why !== UNSURE) continue;
        const deviate = { whole, isNegative: sign === 1, known };
        const value = roundedBy(rounding, deviate, source);
        offsets64[made++] = value;
        size = appendText(size, `${value},`);
      }
      if (rounding.isBeyondDoubles) offsets64.set(JSON.parse(`[${textOf(size - 1)}]`));
      missing -= count;
      return count;
    },
    textBytes: () => size,
  };
}

interface Deviate {
  readonly whole: number;
  readonly isNegative: boolean;
  /** Bits of its fraction that are known. */
  readonly known: number;
}

/** What the kernel left to be rounded in whole numbers. */
function roundedBy(rounding: GaussianRounding, deviate: Deviate, source: ByteSource): number {
  let fraction = 0n;
  for (let i = 0; i < deviate.known; i++) fraction = (fraction << 1n) | BigInt(kernels.fractionBit(i));
  let { known } = deviate;
  const extend = (count: number) => {
    fraction = (fraction << BigInt(count)) | BigInt(takeBits(source, count));
    known += count;
  };
  while (known < rounding.firstBits) extend(Math.min(24, rounding.firstBits - known));
  for (;;) {
    const value = rounding.round(deviate.whole, fraction, known, deviate.isNegative);
    if (value !== undefined) return value;
    extend(STEP_BITS);
  }
}

let lastRequest: GaussiansRequest | undefined;
let lastRounding: GaussianRounding | undefined;

/** Requests for one distribution come in runs. */
function roundingOf(request: GaussiansRequest): GaussianRounding {
  const { mean, stddev, digits } = request;
  const isLast = lastRequest?.mean === mean && lastRequest.stddev === stddev && lastRequest.digits === digits;
  if (!isLast || lastRounding === undefined) {
    lastRounding = new GaussianRounding(request);
    lastRequest = request;
  }
  return lastRounding;
}

/** √(2πe) in thousandths: the entropy of a normal distribution is log2(√(2πe) · stddev). */
const SPREAD_THOUSANDTHS = 4133n;

/**
 * What a value is priced as: one of so many equally likely decimals, √(2πe) · stddev / spacing rounded up, and at least 2. That
 * is the entropy of X in steps of the spacing that decimals of so many digits have at |mean| + stddev. Values nearer to 0 are
 * rounded more finely, which costs nothing.
 */
export function gaussianChoices(request: GaussiansRequest): number {
  return Math.max(2, roundingOf(request).spacingsIn(SPREAD_THOUSANDTHS, 1000n));
}

/**
 * Bytes that all draws of a request take, at most; exceeded with probability below 2^-64.
 *
 * *The deviates.* Count as one operation a first bit and a comparison, and as 1 + k a choice out of 2k + 2. The number of
 * operations N of a value has E[1.03^N] < 1.92: the sum of the probabilities of all rows, weighted so
 * (test/values/gaussians.test.ts adds it up). By Markov n values take more than (n·ln 1.92 + 66·ln 2) / ln 1.03 < 22.1·n + 1548 of them
 * with probability below 2^-66. Of each, whatever was drawn before, E[1.05^bits] <= C = (1.05²/2) / (1 - 1.05²/2): a step of a
 * comparison takes at most two bits and ends it with probability 1/2. So m operations take more than (m·ln C + 66·ln 2) / ln 1.05
 * < 4.22·m + 938 bits with probability below 2^-66: together 93.3·n + 7471 bits.
 * *The fraction.* Beside `firstBits` and the sign: bounds that are 2^-j of a first distance apart still round apart for a share
 * of at most 10^digits · (2 + 0.6·j) · 2^-j of the numbers between the first ones, the most where they hold 0. After 4·digits + 4
 * more bits each further one halves that, so n values take 1.8·n + 113 bits beside those, by the same argument, and 3·n because
 * bits are drawn four at a time.
 */
export function gaussianBytesMax(request: GaussiansRequest): number {
  const { firstBits } = roundingOf(request);
  const { count, digits } = request;
  return 4 * Math.ceil((count * (104 + firstBits + 4 * digits) + 7_600) / 32);
}

/** Longest text of a value: a sign, five zeros behind the point and 14 digits, or 20 digits before it. */
export const GAUSSIAN_TEXT_MAX = 24;
