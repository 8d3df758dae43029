import type { OctetType } from '../../src/core/vocabulary.ts';
import type { ValueRequest } from '../../src/values/value-request.ts';

/**
 * The slow twin of src/values: the same values from the same bytes, written down as plainly as possible, in BigInt
 * and plain arrays, sharing no code with the service.
 */

/** Bytes in order; whole numbers little-endian. */
class Bytes {
  readonly all: Uint8Array;
  used = 0;

  constructor(all: Uint8Array) {
    this.all = all;
  }

  take(size: number): Uint8Array {
    if (this.used + size > this.all.length) throw new RangeError('the test bytes are used up');
    this.used += size;
    return this.all.slice(this.used - size, this.used);
  }

  number(size: number): bigint {
    let value = 0n;
    for (const byte of this.take(size).reverse()) value = value * 256n + BigInt(byte);
    return value;
  }
}

/** Numbers, texts, sequences, or sequences that were drawn together. */
type PlainValue = number | string | readonly number[] | readonly (readonly number[])[];

export interface TwinAnswer {
  readonly plain: readonly PlainValue[] | string;
  readonly consumedBytes: number;
}

export function twinSample(request: ValueRequest, entropy: Uint8Array): TwinAnswer {
  const bytes = new Bytes(entropy);
  const plain = plainValues(request, bytes);
  return { plain, consumedBytes: bytes.used };
}

/** The plain values of a request as octets, through DataView alone. */
export function twinOctets(request: ValueRequest, type: OctetType, plain: TwinAnswer['plain']): Buffer {
  const values = (typeof plain === 'string' ? [plain] : plain) as readonly (number | string)[];
  const encoding = request.kind === 'bytes' ? request.encoding : 'hex';
  return Buffer.concat(values.map((value) => valueOctets(value, type, encoding)));
}

function valueOctets(value: number | string, type: OctetType, encoding: 'hex' | 'base64'): Buffer {
  const octets = new DataView(new ArrayBuffer(type === 'int32' ? 4 : 8));
  switch (type) {
    case 'int32':
      octets.setInt32(0, Number(value), true);
      break;
    case 'int64':
      octets.setBigInt64(0, BigInt(value), true);
      break;
    case 'float64':
      octets.setFloat64(0, Number(value), true);
      break;
    case 'uuid':
      return Buffer.from(String(value).replaceAll('-', ''), 'hex');
    case 'bytes':
      return Buffer.from(String(value), encoding);
  }
  return Buffer.from(octets.buffer);
}

function plainValues(request: ValueRequest, bytes: Bytes): TwinAnswer['plain'] {
  switch (request.kind) {
    case 'integers':
      return integers(request, bytes);
    case 'floats':
      return floats(request, bytes);
    case 'bytes': {
      const values: string[] = [];
      for (let i = 0; i < request.count; i++)
        values.push(encode(bytes.take(request.length), request.encoding));
      return request.single ? values[0] : values;
    }
    case 'uuid':
      return Array.from({ length: request.count }, () => uuid(bytes.take(16)));
    case 'bitstring': {
      let bits = '';
      for (const byte of bytes.take(Math.ceil(request.length / 8))) {
        for (const place of [128, 64, 32, 16, 8, 4, 2, 1]) bits += (byte & place) > 0 ? '1' : '0';
      }
      return bits.slice(0, request.length);
    }
    case 'shuffle':
      return shuffle(request.items, request.items.length - 1, bytes);
    case 'sample':
      return uniqueOffsets(BigInt(request.items.length), request.count, bytes).map(
        (place) => request.items[Number(place)],
      );
    case 'weighted':
      return weighted(request, bytes);
    case 'strings': {
      const places = offsets(BigInt(request.alphabet.length), request.count * request.length, bytes);
      const characters = places.map((place) => request.alphabet[Number(place)]);
      return Array.from({ length: request.count }, (_, i) =>
        characters.slice(i * request.length, (i + 1) * request.length).join(''),
      );
    }
    case 'gaussians': {
      const bits = bitsOf(bytes);
      return Array.from({ length: request.count }, () => gaussian(request, bits));
    }
    case 'sequences': {
      const { count, ranges, sort } = request;
      return Array.from({ length: count }, () =>
        ranges.map(({ length, ...range }) =>
          integers({ kind: 'integers', count: length, ...range, sort }, bytes),
        ),
      );
    }
    case 'permutations': {
      const { count, length } = request;
      const range = { min: 0, max: length - 1, unique: true, sort: 'none' } as const;
      return Array.from({ length: count }, () =>
        integers({ kind: 'integers', count: length, ...range }, bytes),
      );
    }
  }
}

/** Every item stands in a row as often as its weight says; the row is too long to write down, so places are counted. */
function weighted(
  { items, weights, count }: Extract<ValueRequest, { kind: 'weighted' }>,
  bytes: Bytes,
): string[] {
  const whole = weights.map(BigInt);
  let divisor = whole[0];
  for (const weight of whole) {
    let rest = weight;
    while (rest > 0n) [divisor, rest] = [rest, divisor % rest];
  }
  const shares = whole.map((weight) => weight / divisor);
  const sum = shares.reduce((a, b) => a + b, 0n);
  return offsets(sum, count, bytes).map((offset) => {
    let left = offset;
    let i = 0;
    for (; left >= shares[i]; i++) left -= shares[i];
    return items[i];
  });
}

function encode(octets: Uint8Array, encoding: 'hex' | 'base64'): string {
  return encoding === 'hex'
    ? Array.from(octets, (octet) => octet.toString(16).padStart(2, '0')).join('')
    : btoa(String.fromCharCode(...octets));
}

function uuid(octets: Uint8Array): string {
  let bits = 0n;
  for (const octet of octets) bits = (bits << 8n) | BigInt(octet);
  bits = (bits & ~(0xfn << 76n)) | (4n << 76n); // version: bits 48 to 51 of 128
  bits = (bits & ~(3n << 62n)) | (2n << 62n); // variant: bits 64 and 65
  const hex = bits.toString(16).padStart(32, '0');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function integers(request: Extract<ValueRequest, { kind: 'integers' }>, bytes: Bytes): number[] {
  const { min, max, count, unique, sort } = request;
  const span = BigInt(max) - BigInt(min) + 1n;
  const drawn = unique ? uniqueOffsets(span, count, bytes) : offsets(span, count, bytes);
  const values = drawn.map((offset) => BigInt(min) + offset);
  if (sort !== 'none') values.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  if (sort === 'descending') values.reverse();
  return values.map(Number);
}

function floats(request: Extract<ValueRequest, { kind: 'floats' }>, bytes: Bytes): number[] {
  const { count, precision } = request;
  if (precision === null) {
    return Array.from({ length: count }, () => Number(bytes.number(7) % 2n ** 53n) / 2 ** 53);
  }
  return offsets(10n ** BigInt(precision), count, bytes).map((k) => Number(`${k}e-${precision}`));
}

/** How offsets within `span` are drawn: the cheapest of words of 4, 5, 6, 7 bytes, several values from 4 if they fit. */
function offsets(span: bigint, count: number, bytes: Bytes): bigint[] {
  if (span === 1n) return Array.from({ length: count }, () => 0n);
  const batch = span <= 2n ** 21n ? batchSize(span) : 1;
  if (batch === 1) {
    const size = span <= 2n ** 21n ? 4 : wordSize(span);
    return Array.from({ length: count }, () =>
      size === 4 ? scaledNumber(span, bytes) : wideNumber(span, size, bytes),
    );
  }
  const values: bigint[] = [];
  while (values.length < count) {
    const size = Math.min(batch, count - values.length);
    let number = scaledNumber(span ** BigInt(size), bytes);
    const digits: bigint[] = [];
    for (let i = 0; i < size; i++) {
      digits.unshift(number % span);
      number /= span;
    }
    values.push(...digits);
  }
  return values;
}

/** The k that makes k · P(a word is accepted) largest, the smaller of equals. */
function batchSize(span: bigint): number {
  const words = 2n ** 32n;
  let best = 1;
  let bestYield = -1n;
  for (let size = 1; span ** BigInt(size) <= words; size++) {
    const valuesPerWords = BigInt(size) * (words - (words % span ** BigInt(size)));
    if (valuesPerWords > bestYield) {
      best = size;
      bestYield = valuesPerWords;
    }
  }
  return best;
}

function wordCount(size: number): bigint {
  return size === 7 ? 2n ** 53n : 256n ** BigInt(size);
}

/** The size whose bytes per accepted word are fewest, the smaller of equals. */
function wordSize(span: bigint): number {
  let best = 0;
  let bestCost = [1n, 0n]; // infinity as a fraction
  for (const size of [4, 5, 6, 7]) {
    const words = wordCount(size);
    if (words < span) continue;
    const cost = [BigInt(size) * words, words - (words % span)];
    if (cost[0] * bestCost[1] < bestCost[0] * cost[1]) {
      best = size;
      bestCost = cost;
    }
  }
  return best;
}

/** A 32-bit word scaled to [0, bound); words for which the fraction is below 2^32 mod bound are drawn again. */
function scaledNumber(bound: bigint, bytes: Bytes): bigint {
  const words = 2n ** 32n;
  for (;;) {
    const scaled = bytes.number(4) * bound;
    if (scaled % words >= words % bound) return scaled / words;
  }
}

/** A wide word mod span; words of the last, incomplete run of `span` words are drawn again. */
function wideNumber(span: bigint, size: number, bytes: Bytes): bigint {
  const words = wordCount(size);
  for (;;) {
    const word = bytes.number(size) % words;
    if (word < (words / span) * span) return word % span;
  }
}

function uniqueOffsets(span: bigint, count: number, bytes: Bytes): bigint[] {
  if (span <= BigInt(4 * count)) {
    const range = Array.from({ length: Number(span) }, (_, i) => BigInt(i));
    return shuffle(range, count, bytes).slice(0, count);
  }
  const taken = new Set<bigint>();
  while (taken.size < count) for (const offset of offsets(span, count - taken.size, bytes)) taken.add(offset);
  return [...taken];
}

/** The first `steps` steps of a Fisher-Yates shuffle. As many indices as fit come from one word. */
function shuffle<T>(items: readonly T[], steps: number, bytes: Bytes): T[] {
  const order = [...items];
  let i = 0;
  while (i < steps) {
    const bounds = [BigInt(order.length - i)];
    const product = () => bounds.reduce((a, b) => a * b, 1n);
    while (i + bounds.length < steps) {
      const next = BigInt(order.length - i - bounds.length);
      if (product() * next > 2n ** 28n) break;
      bounds.push(next);
    }
    let number = scaledNumber(product(), bytes);
    let place = product();
    for (const bound of bounds) {
      place /= bound;
      const j = i + Number(number / place);
      number %= place;
      [order[i], order[j]] = [order[j], order[i]];
      i++;
    }
  }
  return order;
}

type NextBit = () => bigint;

/** The bits of words of four bytes, the lowest of each first. */
function bitsOf(bytes: Bytes): NextBit {
  let word: bigint[] = [];
  return () => {
    if (word.length === 0) {
      const number = bytes.number(4);
      word = Array.from({ length: 32 }, (_, i) => (number >> BigInt(i)) & 1n);
    }
    return word.shift()!;
  };
}

/** Bits of a number in (0, 1), drawn as far as somebody asks. */
type Lazy = { bits: bigint[]; next: NextBit };

function bitAt(number: Lazy, i: number): bigint {
  while (number.bits.length <= i) number.bits.push(number.next());
  return number.bits[i];
}

function isLess(a: Lazy, b: Lazy): boolean {
  let i = 0;
  while (bitAt(a, i) === bitAt(b, i)) i++;
  return bitAt(a, i) < bitAt(b, i);
}

/** Karney's algorithm N step by step, then X = mean ± stddev · (k + x) between two fractions until both round alike. */
function gaussian(request: Extract<ValueRequest, { kind: 'gaussians' }>, next: NextBit): number {
  const fresh = (): Lazy => ({ bits: [], next });
  const dice = (sides: bigint): bigint => {
    let [v, c] = [1n, 0n];
    for (;;) {
      [v, c] = [2n * v, 2n * c + next()];
      if (v >= sides && c < sides) return c;
      if (v >= sides) [v, c] = [v - sides, c - sides];
    }
  };
  const half = (): boolean => {
    const u = fresh();
    if (bitAt(u, 0) === 1n) return true;
    let [row, last] = [1, u];
    for (let z = fresh(); isLess(z, last); z = fresh()) [row, last] = [row + 1, z];
    return row % 2 === 0;
  };
  const part = (k: number, x: Lazy): boolean => {
    let [row, last] = [0, x];
    for (let z = fresh(); isLess(z, last); z = fresh()) {
      const side = dice(BigInt(2 * k + 2));
      if (side === 0n || (side === 1n && !isLess(fresh(), x))) break;
      [row, last] = [row + 1, z];
    }
    return row % 2 === 0;
  };
  const all = (times: number, trial: () => boolean): boolean => {
    while (times-- > 0) if (!trial()) return false;
    return true;
  };
  for (;;) {
    let k = 0;
    while (half()) k++;
    if (!all(k * (k - 1), half)) continue;
    const x = fresh();
    if (!all(k + 1, () => part(k, x))) continue;
    return roundedGaussian(request, k, x, next() === 1n);
  }
}

function roundedGaussian(
  { mean, stddev, digits }: { readonly mean: number; readonly stddev: number; readonly digits: number },
  k: number,
  x: Lazy,
  isNegative: boolean,
): number {
  const [m, s] = [fractionOf(mean), fractionOf(stddev)];
  const typical: Ratio = [(m[0] < 0n ? -m[0] : m[0]) * s[1] + s[0] * m[1], m[1] * s[1]];
  let first = 0;
  const spacing = placeOf(typical) - digits + 1;
  while (!isAtLeast(power(spacing), [16n * s[0], s[1] << BigInt(first)])) first++;
  for (let known = Math.max(first, x.bits.length); ; known += 4) {
    let fraction = 0n;
    for (let i = 0; i < known; i++) fraction = 2n * fraction + bitAt(x, i);
    const at = (steps: bigint): Ratio => {
      const z = ((BigInt(k) << BigInt(known)) + steps) * (isNegative ? -1n : 1n);
      return [m[0] * s[1] * (1n << BigInt(known)) + z * s[0] * m[1], (m[1] * s[1]) << BigInt(known)];
    };
    const ends = [at(fraction), at(fraction + 1n)];
    if (ends.every(([n]) => n > 0n) || ends.every(([n]) => n < 0n)) {
      const [a, b] = ends.map((each) => decimalText(each, digits));
      if (a === b) return Number(a);
    }
  }
}

type Ratio = readonly [numerator: bigint, denominator: bigint];

function fractionOf(value: number): Ratio {
  const [digits, exponent = '0'] = String(value).split('e');
  const places = (digits.split('.')[1] ?? '').length;
  const [n, d] = power(Number(exponent) - places);
  return [BigInt(digits.replace('.', '')) * n, d];
}

function power(exponent: number): Ratio {
  return exponent >= 0 ? [10n ** BigInt(exponent), 1n] : [1n, 10n ** BigInt(-exponent)];
}

function isAtLeast(a: Ratio, b: Ratio): boolean {
  return a[0] * b[1] >= b[0] * a[1];
}

/** The place of the first digit: 0 for 1 to 9.99…, by counting up or down. */
function placeOf(value: Ratio): number {
  let place = 0;
  while (isAtLeast(value, power(place + 1))) place++;
  while (!isAtLeast(value, power(place))) place--;
  return place;
}

/** The nearest decimal of so many significant digits. */
function decimalText([n, d]: Ratio, digits: number): string {
  const value: Ratio = [n < 0n ? -n : n, d];
  const exponent = placeOf(value) - digits + 1;
  const [p, q] = power(exponent);
  const twice = (2n * value[0] * q) / (value[1] * p);
  const whole = (twice + 1n) / 2n;
  // 99.96 has three digits as 100: written as the same number whichever place its first digit had
  return `${n < 0n ? '-' : ''}${whole === 10n ** BigInt(digits) ? `${whole / 10n}e${exponent + 1}` : `${whole}e${exponent}`}`;
}

/** ceil(log2(possibilities) / 8) for ordered choices, by the full product. */
export function twinInformationBytes(factors: readonly bigint[]): number {
  const possibilities = productOf(factors);
  const digits = (possibilities - 1n).toString(16).length; // possibilities <= 16^digits, and > 16^(digits - 1)
  return possibilities === 1n ? 0 : Math.ceil(digits / 2);
}

function productOf(factors: readonly bigint[]): bigint {
  if (factors.length <= 8) return factors.reduce((a, b) => a * b, 1n);
  const half = factors.length >> 1;
  return productOf(factors.slice(0, half)) * productOf(factors.slice(half));
}
