import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { drawnValues } from '../../src/certificate/draw-kinds.ts';
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
    it(`are those of vector ${i} (${each.request.kind}) by the verifier and by the samplers of the service`, () => {
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

  it('come of no request that has other bounds', () => {
    const stream = () => drawStream(new Uint8Array(32));
    const wrong: unknown[] = [
      undefined,
      { kind: 'toString' },
      { kind: 'integers', count: 0, min: 0, max: 1 },
      { kind: 'integers', count: 3, min: 0, max: 1, unique: true },
      { kind: 'integers', count: 1, min: 0, max: 2 ** 53 },
      // no word would be accepted, and one item after the other would be looked at for minutes
      { kind: 'integers', count: 1, min: -1, max: 2 ** 53 - 1, unique: false, sort: 'none' },
      { kind: 'weighted', count: 100_000, items: Array(100_000).fill('a'), weights: Array(100_000).fill(1) },
      { kind: 'sample', count: 3, items: ['a', 'b'] },
      { kind: 'weighted', count: 1, items: ['a', 'b'], weights: [1, 2 ** 53] },
      { kind: 'weighted', count: 1, items: ['a', 'b'], weights: [1, 0] },
      { kind: 'strings', count: 1_000, length: 128, alphabet: ['a', 'b'] },
      { kind: 'strings', count: 1, length: 1, alphabet: ['a', 'a'] },
      { kind: 'permutations', count: 100, length: 10_000 },
      { kind: 'sequences', count: 1, ranges: [{ length: 2, min: 1, max: 1, unique: true }] },
      { kind: 'gaussians', count: 1, mean: 0, stddev: 0, digits: 14 },
    ];
    for (const request of wrong)
      assert.throws(() => drawnValues(request, stream()), Refusal, JSON.stringify(request)?.slice(0, 99));
  });
});
