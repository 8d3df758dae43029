/**
 * The verifier's own samplers. They draw the same values from the same bytes as those of the service, written as
 * plainly as possible with BigInt and arrays, and share no code with src/values. docs/draws.md specifies both, and
 * test/values checks that they agree. Runs in browsers.
 */

/** A stream of bytes. Whole numbers are read little-endian. */
export class ByteStream {
  readonly #next: () => Uint8Array;
  #chunk: Uint8Array = new Uint8Array(0);
  #at = 0;
  /** How many bytes have been taken. */
  used = 0;

  /** `next` returns the next bytes, at least one, or throws if there are none. */
  constructor(next: () => Uint8Array) {
    this.#next = next;
  }

  take(size: number): Uint8Array {
    const taken = new Uint8Array(size);
    for (let i = 0; i < size; i++) {
      if (this.#at === this.#chunk.length) {
        this.#chunk = this.#next();
        this.#at = 0;
      }
      taken[i] = this.#chunk[this.#at++];
    }
    this.used += size;
    return taken;
  }

  number(size: number): bigint {
    let value = 0n;
    for (const byte of this.take(size).reverse()) value = value * 256n + BigInt(byte);
    return value;
  }
}

type Order = 'none' | 'ascending' | 'descending';

/** `count` whole numbers from min to max, both included. With `unique` none occurs twice. */
export interface Integers {
  readonly count: number;
  readonly min: number;
  readonly max: number;
  readonly unique: boolean;
  readonly sort: Order;
}

export function integers({ min, max, count, unique, sort }: Integers, bytes: ByteStream): number[] {
  const span = BigInt(max) - BigInt(min) + 1n;
  const drawn = unique ? uniqueOffsets(span, count, bytes) : offsets(span, count, bytes);
  const values = drawn.map((offset) => BigInt(min) + offset);
  if (sort !== 'none') values.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  if (sort === 'descending') values.reverse();
  return values.map(Number);
}

/** Returns numbers in [0, 1): multiples of 10^-precision, or of 2^-53 if `precision` is null. */
export function floats(count: number, precision: number | null, bytes: ByteStream): number[] {
  if (precision === null) {
    return Array.from({ length: count }, () => Number(bytes.number(7) % 2n ** 53n) / 2 ** 53);
  }
  return offsets(10n ** BigInt(precision), count, bytes).map((k) => Number(`${k}e-${precision}`));
}

/**
 * Returns `count` items. Each pick is a place in a row that holds every item as often as its weight says. The row would
 * be too long to build, so the code counts along the weights.
 */
export function weighted(
  items: readonly string[],
  weights: readonly number[],
  count: number,
  bytes: ByteStream,
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

/** Returns `count` of the items in the order drawn, none twice. */
export function sample(items: readonly string[], count: number, bytes: ByteStream): string[] {
  return uniqueOffsets(BigInt(items.length), count, bytes).map((place) => items[Number(place)]);
}

/** Returns texts of `length` characters of the alphabet. */
export function strings(
  count: number,
  length: number,
  alphabet: readonly string[],
  bytes: ByteStream,
): string[] {
  const places = offsets(BigInt(alphabet.length), count * length, bytes);
  const characters = places.map((place) => alphabet[Number(place)]);
  return Array.from({ length: count }, (_, i) => characters.slice(i * length, (i + 1) * length).join(''));
}

/** Returns the numbers from 0 to length - 1 in random order. */
export function permutation(length: number, bytes: ByteStream): number[] {
  return integers({ count: length, min: 0, max: length - 1, unique: true, sort: 'none' }, bytes);
}

/** Returns a UUID of version 4 (RFC 9562 §5.4). */
export function uuid(octets: Uint8Array): string {
  let bits = 0n;
  for (const octet of octets) bits = (bits << 8n) | BigInt(octet);
  bits = (bits & ~(0xfn << 76n)) | (4n << 76n); // version: bits 48 to 51 of 128
  bits = (bits & ~(3n << 62n)) | (2n << 62n); // variant: bits 64 and 65
  const hex = bits.toString(16).padStart(32, '0');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/**
 * Returns numbers in [0, span). Draws each from a word of 4, 5, 6 or 7 bytes, whichever takes the fewest bytes. For a
 * span of at most 2^21, draws several numbers from one word of 4 bytes if they fit.
 */
function offsets(span: bigint, count: number, bytes: ByteStream): bigint[] {
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

/** Returns how many numbers to draw from one word: the smallest k that maximizes k · P(a word is accepted). */
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

/** Returns the size of a word that takes the fewest bytes per accepted word, and the smallest such size. */
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

/** Returns a 32-bit word scaled to [0, bound). Rejects words for which the fraction is below 2^32 mod bound. */
function scaledNumber(bound: bigint, bytes: ByteStream): bigint {
  const words = 2n ** 32n;
  for (;;) {
    const scaled = bytes.number(4) * bound;
    if (scaled % words >= words % bound) return scaled / words;
  }
}

/** Returns a word of `size` bytes mod span. Rejects words in the last, incomplete run of `span` words. */
function wideNumber(span: bigint, size: number, bytes: ByteStream): bigint {
  const words = wordCount(size);
  for (;;) {
    const word = bytes.number(size) % words;
    if (word < (words / span) * span) return word % span;
  }
}

function uniqueOffsets(span: bigint, count: number, bytes: ByteStream): bigint[] {
  if (span <= BigInt(4 * count)) {
    const range = Array.from({ length: Number(span) }, (_, i) => BigInt(i));
    return shuffle(range, count, bytes).slice(0, count);
  }
  const taken = new Set<bigint>();
  while (taken.size < count) for (const offset of offsets(span, count - taken.size, bytes)) taken.add(offset);
  return [...taken];
}

/** Returns the items after the first `steps` steps of a Fisher-Yates shuffle. One word gives as many indices as fit. */
export function shuffle<T>(items: readonly T[], steps: number, bytes: ByteStream): T[] {
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
