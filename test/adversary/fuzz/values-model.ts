import assert from 'node:assert/strict';
import type { DataEndpoint } from '../../../src/core/vocabulary.ts';
import type { ValueRequest } from '../../../src/values/value-request.ts';
import type { Data } from '../../support/request-table.ts';

/** What must hold for any values, and their price: from the specification, in BigInt and plain lists. */

/**
 * Returns the request that an answer states, and its values. Answers name a list by its hash, so its items are left
 * empty.
 */
export function askedOf(endpoint: DataEndpoint, data: Data): { request: ValueRequest; values: unknown } {
  const { type, params, ...own } = data;
  const kind = endpoint === 'batch' ? type : endpoint;
  const members = { ...own, ...(params as Data | undefined) };
  const key = ['values', 'uuids', 'bytes', 'bitstring', 'items'].find((name) => name in members)!;
  const values = members[key];
  return { request: { kind, ...members, ...impliedOf(kind, members, values) } as ValueRequest, values };
}

/** Returns the members of a request that its answer has in another form. */
function impliedOf(kind: unknown, members: Data, values: unknown): Data {
  const { count, length, min, max, unique } = members as Record<string, number[]> & Data;
  switch (kind) {
    case 'bytes':
      return 'bits' in members ? { count: 1, length: count, single: true } : { single: false };
    case 'shuffle':
    case 'weighted':
      return { items: values };
    case 'sample':
      return { items: Array<string>(members['of'] as number).fill('') };
    case 'strings':
      return { alphabet: [...(members['alphabet'] as string)] };
    case 'sequences':
      return { ranges: length.map((each, i) => ({ length: each, min: min[i], max: max[i], unique })) };
    default:
      return {};
  }
}

/** Checks `values` as a JSON or MessagePack answer has them. */
export function assertValues(request: ValueRequest, values: unknown): void {
  const check = CHECKS[request.kind] as (of: ValueRequest, values: unknown) => void;
  if ('count' in request && request.kind !== 'bytes')
    assert.equal((values as unknown[]).length, request.count);
  check(request, values);
}

type Kind = ValueRequest['kind'];
const CHECKS: { readonly [K in Kind]: (of: ValueRequest & { kind: K }, values: never) => void } = {
  integers: assertIntegers,
  floats({ precision }, values: readonly number[]) {
    for (const value of values) {
      assert.ok(value >= 0 && value < 1 && !Object.is(value, -0), `${value} is in [0, 1)`);
      if (precision === null) assert.ok(Number.isInteger(value * 2 ** 53), `${value} is a multiple of 2^-53`);
      else assert.equal(Number(value.toFixed(precision)), value, `${value} has ${precision} decimal places`);
    }
  },
  bytes({ count, length, encoding, single }, values: string | readonly string[]) {
    const list = [values].flat();
    assert.deepEqual([list.length, typeof values === 'string'], [count, single]);
    for (const text of list) {
      const octets = Buffer.from(text, encoding);
      assert.equal(octets.length, length);
      assert.equal(octets.toString(encoding), text, `canonical ${encoding}`);
    }
  },
  uuid(_request, values: readonly string[]) {
    for (const uuid of values)
      assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.equal(new Set(values).size, values.length, 'no UUID comes twice');
  },
  bitstring({ length }, values: string) {
    assert.match(values, /^[01]+$/);
    assert.equal(values.length, length);
  },
  shuffle: ({ items }, values: readonly string[]) => assert.equal(values.length, items.length),
  sample() {},
  weighted() {},
  strings({ length, alphabet }, values: readonly string[]) {
    for (const characters of values.map((text) => [...text])) {
      assert.equal(characters.length, length);
      for (const each of characters) assert.ok(alphabet.includes(each), `${each} is of the alphabet`);
    }
  },
  sequences({ ranges, sort }, values: readonly (readonly number[][])[]) {
    for (const together of values) {
      assert.equal(together.length, ranges.length);
      for (const [i, { length: count, ...range }] of ranges.entries()) {
        assert.equal(together[i].length, count);
        assertIntegers({ kind: 'integers', count, ...range, sort }, together[i]);
      }
    }
  },
  gaussians({ digits }, values: readonly number[]) {
    for (const value of values)
      assert.equal(Number(value.toPrecision(digits)), value, `${value} has ${digits} digits`);
  },
  permutations({ length: count }, values: readonly (readonly number[])[]) {
    const whole = { kind: 'integers', count, min: 0, max: count - 1, unique: true, sort: 'none' } as const;
    for (const permutation of values) {
      assert.equal(permutation.length, count);
      assertIntegers(whole, permutation);
    }
  },
};

function assertIntegers(
  { count, min, max, unique, sort }: ValueRequest & { kind: 'integers' },
  values: readonly number[],
): void {
  for (const value of values) {
    assert.ok(Number.isSafeInteger(value) && value >= min && value <= max, `${value} of ${min} to ${max}`);
    assert.ok(!Object.is(value, -0), '-0 is 0');
  }
  if (unique) assert.equal(new Set(values).size, count, 'no value twice');
  for (let i = 1; i < values.length && sort !== 'none'; i++) {
    const isOrdered = sort === 'ascending' ? values[i - 1] <= values[i] : values[i - 1] >= values[i];
    assert.ok(isOrdered, `${sort}: ${values[i - 1]} before ${values[i]}`);
  }
}

/** Returns the entropy of the answer in whole bytes: the least b with 256^b at least the number of possible answers. */
export function priceOf(request: ValueRequest): number {
  const possible = possibleAnswers(request);
  return possible === 1n ? 0 : Math.ceil(bitLength(possible - 1n) / 8);
}

function possibleAnswers(request: ValueRequest): bigint {
  switch (request.kind) {
    case 'integers': {
      const span = BigInt(request.max) - BigInt(request.min) + 1n;
      return request.unique ? fallingFactorial(span, request.count) : span ** BigInt(request.count);
    }
    case 'floats':
      return (
        (request.precision === null ? 2n ** 53n : 10n ** BigInt(request.precision)) ** BigInt(request.count)
      );
    case 'bytes':
      return 1n << BigInt(8 * request.count * request.length);
    case 'uuid':
      return 1n << BigInt(122 * request.count);
    case 'bitstring':
      return 1n << BigInt(request.length);
    case 'shuffle':
      return fallingFactorial(BigInt(request.items.length), request.items.length);
    case 'sample':
      return fallingFactorial(BigInt(request.items.length), request.count);
    case 'weighted':
      return (sumOf(request.weights) / divisorOf(request.weights)) ** BigInt(request.count);
    case 'strings':
      return BigInt(request.alphabet.length) ** BigInt(request.count * request.length);
    case 'sequences': {
      let together = 1n;
      for (const { length, min, max, unique } of request.ranges) {
        const span = BigInt(max) - BigInt(min) + 1n;
        together *= unique ? fallingFactorial(span, length) : span ** BigInt(length);
      }
      return together ** BigInt(request.count);
    }
    case 'gaussians':
      return gaussianOutcomes(request) ** BigInt(request.count);
    case 'permutations':
      return fallingFactorial(BigInt(request.length), request.length) ** BigInt(request.count);
  }
}

/**
 * Returns 4.133 · stddev / spacing rounded up, at least 2, where spacing is the distance of decimals with `digits`
 * digits at |mean| + stddev.
 */
function gaussianOutcomes({ mean, stddev, digits }: ValueRequest & { kind: 'gaussians' }): bigint {
  const places = 340;
  const scaled = (value: number): bigint => {
    const [text, exponent = '0'] = String(value).split('e');
    const [whole, part = ''] = text.split('.');
    return BigInt(whole + part) * 10n ** BigInt(places + Number(exponent) - part.length);
  };
  const typical = scaled(Math.abs(mean)) + scaled(stddev);
  const step = 1000n * 10n ** BigInt(String(typical).length - digits);
  const outcomes = (4133n * scaled(stddev) + step - 1n) / step;
  return outcomes < 2n ? 2n : outcomes;
}

function sumOf(weights: readonly number[]): bigint {
  return weights.reduce((sum, weight) => sum + BigInt(weight), 0n);
}

/** Returns the greatest integer that divides every weight. */
function divisorOf(weights: readonly number[]): bigint {
  let divisor = 0n;
  for (const weight of weights) {
    let rest = BigInt(weight);
    while (rest !== 0n) [divisor, rest] = [rest, divisor % rest];
  }
  return divisor;
}

function fallingFactorial(from: bigint, factors: number): bigint {
  let product = 1n;
  for (let i = 0; i < factors; i++) product *= from - BigInt(i);
  return product;
}

function bitLength(value: bigint): number {
  const hex = value.toString(16);
  return 4 * (hex.length - 1) + (32 - Math.clz32(Number.parseInt(hex[0], 16)));
}
