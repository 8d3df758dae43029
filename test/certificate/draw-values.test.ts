import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { checkChance, drawnValues } from '../../src/certificate/draw-kinds.ts';
import { drawKey, drawStream } from '../../src/certificate/draw-stream.ts';
import { Refusal } from '../../src/certificate/verdict.ts';
import { fromHex, toHex, utf8Bytes } from '../../src/core/bytes.ts';
import { chacha20 } from '../../src/crypto/chacha20.ts';
import { hkdfSha256 } from '../../src/crypto/digest.ts';
import { EntropyReader } from '../../src/values/entropy-reader.ts';
import type { ValueRequest } from '../../src/values/value-request.ts';
import { drawnValues as servedValues } from '../values/drawn.ts';

interface Case {
  readonly secret: string;
  readonly nonce: string;
  readonly randomness: string;
  readonly statement_sha256: string;
  readonly key: string;
  readonly stream: string;
  readonly request: ValueRequest;
  readonly values: readonly unknown[];
}
const file = new URL('../vectors/draws/values.json', import.meta.url);
const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: readonly Case[] };

describe('values of a committed draw', () => {
  for (const [i, each] of cases.entries()) {
    it(`are the same in the verifier and in the samplers of the service for vector ${i} (${each.request.kind})`, () => {
      const [secret, nonce, randomness, statementDigest] = [
        each.secret,
        each.nonce,
        each.randomness,
        each.statement_sha256,
      ].map((hex) => fromHex(hex));
      const key = drawKey({ secret, nonce, randomness, statementDigest });
      assert.equal(toHex(key), each.key);
      assert.equal(toHex(drawStream(key).take(80)), each.stream);
      assert.deepEqual(drawnValues(each.request, drawStream(key)), each.values);
      const joined = [secret, nonce, randomness, statementDigest].flatMap((part) => {
        const length = Buffer.alloc(4);
        length.writeUInt32BE(part.length);
        return [length, part];
      });
      const again = hkdfSha256(Buffer.concat(joined), new Uint8Array(0), utf8Bytes('qrn draw v1'), 32);
      assert.equal(toHex(again), each.key);
      const bytes = chacha20(again, new Uint8Array(12), 0, new Uint8Array(4_096));
      assert.deepEqual(servedValues(each.request, new EntropyReader(() => bytes)), each.values);
    });
  }

  it('exist for requests up to each bound, and for none beyond it', () => {
    const die = { kind: 'integers', count: 1, min: 1, max: 6, unique: false, sort: 'none' };
    const [dice, two] = [{ length: 6, min: 1, max: 6, unique: true }, ['a', 'b']];
    const bytes = { kind: 'bytes', count: 97, length: 1_024, encoding: 'hex', single: false };
    const strings = { kind: 'strings', count: 1_000, length: 100, alphabet: two };
    const sequences = { kind: 'sequences', count: 1, ranges: [dice], sort: 'none' };
    const weighted = { kind: 'weighted', count: 1, items: two, weights: [2 ** 53 - 1, 1] };
    const normal = { kind: 'gaussians', count: 1, mean: 0, stddev: 1, digits: 5 };
    const long = { ...dice, length: 10_000, unique: false };
    const cases: [within: object, beyond: object][] = [
      [{ ...die, count: 100_000 }, { count: 100_001 }],
      [{ ...die, count: 6, unique: true }, { count: 7 }],
      [{ ...die, min: 6 }, { min: 7 }],
      [{ ...die, min: -1, max: 2 ** 53 - 2 }, { max: 2 ** 53 - 1 }],
      [{ kind: 'floats', count: 1, precision: 15 }, { precision: 16 }],
      [{ kind: 'floats', count: 1, precision: 1 }, { precision: 0 }],
      [bytes, { count: 98 }],
      [bytes, { length: 1_025, count: 1 }],
      [{ kind: 'sample', count: 2, items: two }, { count: 3 }],
      [weighted, { weights: [2 ** 53 - 1, 2] }],
      [weighted, { weights: [1] }],
      [weighted, { weights: [0, 1] }],
      [strings, { length: 101 }],
      [strings, { alphabet: ['a', 'a'] }],
      [sequences, { ranges: [{ ...dice, length: 7 }] }],
      [{ ...sequences, count: 10, ranges: [long] }, { count: 11 }],
      [{ kind: 'permutations', count: 10, length: 10_000 }, { count: 11 }],
      [{ kind: 'permutations', count: 1, length: 10_000 }, { length: 10_001 }],
      [{ ...normal, mean: 1e6 }, { mean: 1_000_001 }],
      [{ ...normal, mean: -1e6 }, { mean: -1_000_001 }],
      [{ ...normal, stddev: 1e6 }, { stddev: 1_000_001 }],
      [{ ...normal, stddev: 1e-9 }, { stddev: 9e-10 }],
      [{ ...normal, digits: 14 }, { digits: 15 }],
      [{ ...normal, digits: 2 }, { digits: 1 }],
      [normal, { count: 10_001 }],
    ];
    for (const [within, beyond] of cases) {
      const what = JSON.stringify({ ...within, ...beyond }).slice(0, 99);
      const { count } = within as { count: number };
      assert.equal(drawnValues(within, drawStream(new Uint8Array(32))).length, count, what);
      const refused = () => drawnValues({ ...within, ...beyond }, drawStream(new Uint8Array(32)));
      assert.throws(refused, Refusal, what);
    }
  });

  it('are left to chance exactly when the request has more than one outcome', () => {
    const range = { kind: 'integers', count: 6, min: 1, max: 6, unique: true, sort: 'none' };
    const sequence = { length: 6, min: 1, max: 6, unique: true };
    const normal = { kind: 'gaussians', count: 1, mean: 5, stddev: 0.1, digits: 2 };
    const cases: [chance: object, none: object][] = [
      [range, { sort: 'ascending' }],
      [{ ...range, sort: 'ascending', unique: false }, { unique: true }],
      [{ ...range, sort: 'descending', count: 5 }, { count: 6 }],
      [{ ...range, count: 1, max: 2 }, { max: 1 }],
      [{ kind: 'sequences', count: 1, ranges: [sequence], sort: 'none' }, { sort: 'ascending' }],
      [{ kind: 'sample', count: 1, items: ['a', 'b'] }, { items: ['a', 'a'] }],
      [{ kind: 'weighted', count: 1, items: ['a', 'b'], weights: [1, 1] }, { items: ['b', 'b'] }],
      [{ kind: 'strings', count: 1, length: 1, alphabet: ['a', 'b'] }, { alphabet: ['a'] }],
      [{ kind: 'permutations', count: 1, length: 2 }, { length: 1 }],
      [normal, { stddev: 0.099 }],
      [{ ...normal, mean: 94, stddev: 5 }, { mean: 95 }],
      [{ ...normal, mean: -94, stddev: 5 }, { mean: -95 }],
    ];
    for (const [chance, none] of cases) {
      checkChance(chance);
      assert.throws(() => checkChance({ ...chance, ...none }), /one possible outcome/, JSON.stringify(none));
    }
  });

  it('exist for no request with values outside the bounds', () => {
    const stream = () => drawStream(new Uint8Array(32));
    const wrong: unknown[] = [
      undefined,
      { kind: 'toString' },
      { kind: 'integers', count: 0, min: 0, max: 1 },
      { kind: 'integers', count: 1, min: 0, max: 2 ** 53 },
      // no word would be accepted, and one item after the other would be looked at for minutes
      { kind: 'integers', count: 1, min: -1, max: 2 ** 53 - 1, unique: false, sort: 'none' },
      { kind: 'weighted', count: 100_000, items: Array(100_000).fill('a'), weights: Array(100_000).fill(1) },
      { kind: 'strings', count: 1_000, length: 128, alphabet: ['a', 'b'] },
    ];
    for (const request of wrong)
      assert.throws(() => drawnValues(request, stream()), Refusal, JSON.stringify(request)?.slice(0, 99));
  });
});
