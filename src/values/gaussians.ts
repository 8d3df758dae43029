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
 * Normally distributed decimals, exactly: each value is a real number X of N(mean, stddev²) rounded to the nearest
 * decimal with `digits` significant digits, and no step approximates. `mean` and `stddev` are the decimals that JSON
 * prints for them.
 *
 * 1. *The deviate.* Algorithm N of Karney 2016, "Sampling exactly from the normal distribution" (ACM TOMS 42:1), only
 *    compares random bits. It takes k >= 0 with probability proportional to exp(-k/2), accepts it with
 *    probability exp(-k(k-1)/2), takes x uniform in (0, 1) and accepts it with probability exp(-x(2k+x)/2). The product of the
 *    three is exp(-(k+x)²/2), so k + x is |Z| of a standard normal Z; one more bit is its sign. Von Neumann's method gives
 *    each exponential: a row of uniforms that falls n times has probability v^n / n! for a first bound v,
 *    and the row ends at an even n with probability sum (-v)^n / n! = exp(-v).
 * 2. *Its digits.* All decisions depend on the first bits of x alone. The bits that were not drawn are still independent and
 *    uniform, so they are drawn when they are needed.
 * 3. *The rounding.* After b bits X lies between two rational numbers that are stddev / 2^b apart. If both round to the same
 *    decimal, so does X; if not, four more bits of x are drawn (assembly/gaussians.ts, gaussian-rounding.ts). X lies
 *    on the border between two decimals with probability 0.
 *
 * The bits come from the entropy's 32-bit words (little-endian), lowest bit first.
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

/** Bits that each value takes at least beside its fraction: two for its whole part, one to accept it, and its sign. */
const OTHER_BITS_MIN = 4;
/** Bits that are drawn at a time while the known ones do not decide how a value rounds. */
const STEP_BITS = 4;
/** The reasons for which the kernel stops: the stream has no bits left; a value's rounding is undecided. */
const NO_BITS = 1;
const UNSURE = 2;

/** Writes the JSON array of the values; returns its end. */
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
  target[end - 1] = 0x5d; // ']' replaces the last comma
  return end;
}

/** Writes the values as float64; returns their end. */
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

/** Blocks whose values are in the window as float64 and in the text window as text. */
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
        // Takes no word that no value needs.
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
  /** Count of known bits of its fraction. */
  readonly known: number;
}

/** Rounds a value that the kernel could not decide. */
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

/** Keeps the last result, because consecutive requests often have the same distribution. */
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
 * Returns the count of equally likely decimals that a value is priced as: √(2πe) · stddev / spacing rounded up, and at
 * least 2. Its logarithm is the entropy of X in steps of `spacing`, the distance of decimals at |mean| + stddev. Values
 * nearer to 0 are rounded to finer steps, which costs the caller nothing.
 */
export function gaussianChoices(request: GaussiansRequest): number {
  return Math.max(2, roundingOf(request).spacingsIn(SPREAD_THOUSANDTHS, 1000n));
}

/**
 * Returns the bytes that all draws of a request take at most, exceeded with probability below 2^-64.
 *
 * *The deviates.* Count as one operation a first bit and a comparison, and as 1 + k a choice out of 2k + 2. The number
 * of operations N of a value has E[1.03^N] < 1.92: the weighted sum of the probabilities of all rows
 * (test/values/gaussians.test.ts computes it). By Markov n values take more than
 * (n·ln 1.92 + 66·ln 2) / ln 1.03 < 22.1·n + 1548 of them with probability below 2^-66. Each operation, whatever was
 * drawn before, has E[1.05^bits] <= C = (1.05²/2) / (1 - 1.05²/2): a step of a comparison takes at most two bits and
 * ends it with probability 1/2. So m operations take more than (m·ln C + 66·ln 2) / ln 1.05 < 4.22·m + 938 bits with
 * probability below 2^-66: together 93.3·n + 7471 bits.
 *
 * *The fraction.* Its bits after `firstBits` come on top, and so does the sign. Bounds that are 2^-j of the first
 * distance apart still round differently for a share of at most 10^digits · (2 + 0.6·j) · 2^-j of the numbers between
 * the first bounds; this share is largest where the first bounds enclose 0. After 4·digits + 4 more bits each further
 * bit halves the share. By the same argument n values take 1.8·n + 113 bits more, which become 3·n because bits are
 * drawn four at a time.
 */
export function gaussianBytesMax(request: GaussiansRequest): number {
  const { firstBits } = roundingOf(request);
  const { count, digits } = request;
  return 4 * Math.ceil((count * (104 + firstBits + 4 * digits) + 7_600) / 32);
}

/** Length of the longest text of a value: a sign, five zeros after the point and 14 digits, or 20 digits before it. */
export const GAUSSIAN_TEXT_MAX = 24;
