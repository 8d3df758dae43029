import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ValueRequest } from '../../src/values/value-request.ts';
import { chiSquare, requireDistribution } from '../support/chi-square.ts';
import { drawnOctets, drawnValues } from './drawn.ts';
import { keystreamReader } from './keystream.ts';
import { integers } from './requests.ts';

/**
 * Chi-square of each sampler on the fixed keystream. The exact uniformity is proven by enumeration elsewhere; this
 * catches what a proof on small words cannot: wrong word sizes, lost bits, reused bytes.
 */
function assertUniform(what: string, cellCount: number, cells: Iterable<number>): void {
  const counts = new Float64Array(cellCount);
  let total = 0;
  for (const cell of cells) {
    assert.ok(cell >= 0 && cell < cellCount, `${what}: cell ${cell}`);
    counts[cell]++;
    total++;
  }
  assert.ok(total >= 20 * cellCount, 'enough values for each cell');
  requireDistribution(what, counts, new Float64Array(cellCount).fill(1 / cellCount));
}

function numbersOf(request: ValueRequest): number[] {
  return drawnValues(request, keystreamReader(2 ** 20)) as number[];
}

function integersOf(min: number, max: number, count = 100_000): number[] {
  return numbersOf(integers(count, min, max));
}

describe('integers are uniform', () => {
  for (const [min, max] of [
    [0, 1],
    [1, 6],
    [0, 100],
    [-500, 499],
    [0, 4_999],
  ]) {
    it(`on ${min}..${max}, and so are pairs of neighbours`, () => {
      const span = max - min + 1;
      const values = integersOf(min, max);
      assertUniform(
        'values',
        span,
        values.map((value) => value - min),
      );
      // With several values to a word, the pairs that share one and those that do not.
      const side = Math.min(span, 32);
      const cell = (i: number) => Math.floor(((values[i] - min) * side) / span);
      const pairs = values.slice(1).map((_, i) => cell(i) * side + cell(i + 1));
      if (span % side === 0) assertUniform('pairs', side * side, pairs);
    });
  }

  for (const [min, max] of [
    [0, 999_999],
    [-(2 ** 31), 2 ** 31 - 1],
    [0, 2_999_999_999],
    [0, 2 ** 40 - 1],
    [-(2 ** 52), 2 ** 52 - 1],
  ]) {
    it(`on ${min}..${max}: their place in the range and their last digits`, () => {
      const span = max - min + 1;
      const values = integersOf(min, max);
      const offsets = values.map((value) => value - min);
      assertUniform(
        'place',
        125,
        offsets.map((offset) => Math.floor((offset / span) * 125)),
      );
      const last = span % 64 === 0 ? 64 : 1_000;
      assertUniform(
        'last digits',
        last,
        offsets.map((offset) => offset % last),
      );
    });
  }
});

describe('samples without repeats are uniform', () => {
  it('dense: which value stands first, and where a value stands', () => {
    const first: number[] = [];
    const place: number[] = [];
    const reader = keystreamReader(2 ** 20);
    for (let run = 0; run < 5_000; run++) {
      const values = drawnValues(integers(40, 0, 39, { unique: true }), reader) as number[];
      first.push(values[0]);
      place.push(values.indexOf(17));
    }
    assertUniform('first value', 40, first);
    assertUniform('place of 17', 40, place);
  });

  it('a sparse draw covers all values', () => {
    const request = integers(50_000, 0, 999_999, { unique: true });
    assertUniform(
      'values',
      250,
      numbersOf(request).map((value) => Math.floor(value / 4_000)),
    );
  });
});

describe('floats are uniform', () => {
  it('the first and the last bits are equally likely', () => {
    const values = numbersOf({ kind: 'floats', count: 100_000, precision: null });
    assertUniform(
      'first bits',
      1_024,
      values.map((x) => Math.floor(x * 1_024)),
    );
    assertUniform(
      'last bits',
      1_024,
      values.map((x) => (x * 2 ** 53) % 1_024),
    );
    assertUniform(
      'bits between',
      1_024,
      values.map((x) => Math.floor(x * 2 ** 37) % 1_024),
    );
  });

  for (const precision of [1, 3, 6, 9, 12, 15]) {
    it(`in their first and last digits of ${precision}`, () => {
      const values = numbersOf({ kind: 'floats', count: 100_000, precision });
      const size = 10 ** Math.min(precision, 3);
      assertUniform(
        'first',
        size,
        values.map((x) => Math.floor(Math.round(x * 10 ** precision) / (10 ** precision / size))),
      );
      assertUniform(
        'last',
        size,
        values.map((x) => Math.round(x * 10 ** precision) % size),
      );
    });
  }
});

describe('bytes, UUIDs, bits and orders are uniform', () => {
  it('every byte is equally likely', () => {
    const request: ValueRequest = {
      kind: 'bytes',
      count: 1,
      length: 100_000,
      encoding: 'base64',
      single: true,
    };
    assertUniform('bytes', 256, drawnOctets(request, keystreamReader(2 ** 20)));
  });

  it('the random digits of UUIDs, each place for itself', () => {
    const uuids = drawnValues({ kind: 'uuid', count: 20_000 }, keystreamReader(2 ** 20)) as string[];
    for (let place = 0; place < 36; place++) {
      if ([8, 13, 14, 18, 23].includes(place)) continue;
      const digits = uuids.map((uuid) => Number.parseInt(uuid[place], 16));
      if (place === 19)
        assertUniform(
          'variant digit',
          4,
          digits.map((digit) => digit - 8),
        );
      else assertUniform(`digit ${place}`, 16, digits);
    }
  });

  it('bits in runs of eight', () => {
    const bits = drawnValues({ kind: 'bitstring', length: 100_000 }, keystreamReader(2 ** 20)) as string;
    const runs = Array.from({ length: 12_500 }, (_, i) => Number.parseInt(bits.slice(8 * i, 8 * i + 8), 2));
    assertUniform('bits', 256, runs);
  });

  it('all orders of five items are equally likely', () => {
    const reader = keystreamReader(2 ** 20);
    const orders = new Map<string, number>();
    const cells: number[] = [];
    for (let run = 0; run < 12_000; run++) {
      const order = (
        drawnValues({ kind: 'shuffle', items: ['a', 'b', 'c', 'd', 'e'] }, reader) as string[]
      ).join();
      if (!orders.has(order)) orders.set(order, orders.size);
      cells.push(orders.get(order) as number);
    }
    assertUniform('orders', 120, cells);
  });
});

const listsOf = (request: ValueRequest) => drawnValues(request, keystreamReader(2 ** 22)) as unknown[];

describe('lists are distributed as they say', () => {
  it('weighted picks in proportion to their weights', () => {
    const weights = [1, 2, 3, 10];
    const items = ['a', 'b', 'c', 'd'];
    const picks = listsOf({ kind: 'weighted', count: 100_000, items, weights }) as string[];
    const counts = Float64Array.from(items, (item) => picks.filter((pick) => pick === item).length);
    const probabilities = weights.map((weight) => weight / 16);
    requireDistribution('picks', counts, probabilities);
    assert.ok(chiSquare(counts, probabilities) > 0.1, 'they are not too even');
  });

  it('picks whose weights have a sum of 2^53', () => {
    const weights = [2 ** 52, 2 ** 51, 2 ** 51 - 1, 1];
    const items = ['a', 'b', 'c', 'd'];
    const picks = listsOf({ kind: 'weighted', count: 50_000, items, weights }) as string[];
    const cells = picks.map((pick, i) => (pick === 'a' ? i % 2 : items.indexOf(pick) + 1));
    assertUniform('quarters, the first two of item a by turns', 4, cells);
  });

  it('characters of strings and pairs of neighbours are equally likely', () => {
    const strings = listsOf({
      kind: 'strings',
      count: 1_000,
      length: 100,
      alphabet: [...'0123456789'],
    }) as string[];
    const digits = [...strings.join('')].map(Number);
    assertUniform('characters', 10, digits);
    assertUniform(
      'pairs',
      100,
      digits.slice(1).map((digit, i) => 10 * digits[i] + digit),
    );
  });

  it('every ordered pair out of five is equally likely', () => {
    const items = ['0', '1', '2', '3', '4'];
    const reader = keystreamReader(2 ** 20);
    const cells: number[] = [];
    for (let run = 0; run < 20_000; run++) {
      const [first, second] = drawnValues({ kind: 'sample', count: 2, items }, reader) as string[];
      const place = Number(second) - (second > first ? 1 : 0);
      cells.push(4 * Number(first) + place);
    }
    assertUniform('pairs', 20, cells);
  });

  it('every order of four is equally likely', () => {
    const drawn = listsOf({ kind: 'permutations', count: 24_000, length: 4 }) as number[][];
    const cells = drawn.map((order) =>
      order.reduce(
        (cell, value, i) => cell * (4 - i) + order.slice(i + 1).filter((later) => later < value).length,
        0,
      ),
    );
    assertUniform('orders', 24, cells);
  });

  it('sequences: each of its own range', () => {
    const ranges = [
      { length: 2, min: -3, max: 3, unique: false },
      { length: 1, min: 100, max: 104, unique: false },
    ];
    const drawn = listsOf({ kind: 'sequences', count: 30_000, ranges, sort: 'none' }) as number[][][];
    assertUniform(
      'triples',
      245,
      drawn.map(([[a, b], [c]]) => ((a + 3) * 7 + b + 3) * 5 + c - 100),
    );
  });
});
