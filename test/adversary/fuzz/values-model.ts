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
  switch (request.kind) {
    case 'integers':
      assertIntegers(request, values as number[]);
      return;
    case 'floats':
      assertFloats(request, values as number[]);
      return;
    case 'bytes': {
      const list = request.single ? [values] : (values as unknown[]);
      assert.equal(list.length, request.count);
      for (const text of list) assertEncoded(text as string, request.length, request.encoding);
      return;
    }
    case 'uuid': {
      const uuids = values as string[];
      assert.equal(uuids.length, request.count);
      for (const uuid of uuids)
        assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      assert.equal(new Set(uuids).size, uuids.length, 'no UUID comes twice');
      return;
    }
    case 'bitstring':
      assert.match(values as string, /^[01]+$/);
      assert.equal((values as string).length, request.length);
      return;
    case 'shuffle':
    case 'sample':
    case 'weighted':
      assert.equal((values as string[]).length, 'count' in request ? request.count : request.items.length);
      return;
    case 'strings':
      assert.equal((values as string[]).length, request.count);
      for (const text of values as string[]) {
        const characters = [...text];
        assert.equal(characters.length, request.length);
        for (const each of characters)
          assert.ok(request.alphabet.includes(each), `${each} is of the alphabet`);
      }
      return;
    case 'sequences': {
      const { count, ranges, sort } = request;
      assert.equal((values as unknown[]).length, count);
      for (const together of values as number[][][]) {
        assert.equal(together.length, ranges.length);
        ranges.forEach(({ length, min, max, unique }, i) => {
          assertIntegers({ kind: 'integers', count: length, min, max, unique, sort }, together[i]);
        });
      }
      return;
    }
    case 'gaussians': {
      assert.equal((values as number[]).length, request.count);
      for (const value of values as number[])
        assert.equal(
          Number(value.toPrecision(request.digits)),
          value,
          `${value} has ${request.digits} digits`,
        );
      return;
    }
    case 'permutations': {
      const { count, length } = request;
      assert.equal((values as unknown[]).length, count);
      for (const permutation of values as number[][]) {
        const whole = { kind: 'integers', count: length, min: 0, max: length - 1 } as const;
        assertIntegers({ ...whole, unique: true, sort: 'none' }, permutation);
      }
    }
  }
}

function assertIntegers(
  { count, min, max, unique, sort }: ValueRequest & { kind: 'integers' },
  values: readonly number[],
): void {
  assert.equal(values.length, count);
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

function assertFloats(
  { count, precision }: ValueRequest & { kind: 'floats' },
  values: readonly number[],
): void {
  assert.equal(values.length, count);
  for (const value of values) {
    assert.ok(value >= 0 && value < 1 && !Object.is(value, -0), `${value} is in [0, 1)`);
    if (precision === null) assert.ok(Number.isInteger(value * 2 ** 53), `${value} is a multiple of 2^-53`);
    else assert.equal(Number(value.toFixed(precision)), value, `${value} has ${precision} decimal places`);
  }
}

function assertEncoded(text: string, bytes: number, encoding: 'hex' | 'base64'): void {
  const octets = Buffer.from(text, encoding);
  assert.equal(octets.length, bytes);
  assert.equal(octets.toString(encoding), text, `canonical ${encoding}`);
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
