import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { EntropyReader } from '../../src/values/entropy-reader.ts';
import { drawJson, drawOctets } from '../../src/values/sample.ts';
import { octetTypeOf, type ValueRequest } from '../../src/values/value-request.ts';
import { twinOctets, twinSample } from '../reference/values.ts';
import { drawnOctets, drawnText } from './drawn.ts';
import { keystream, readerOf } from './keystream.ts';
import { anyRequest, integers } from './requests.ts';

const ENTROPY = keystream(2 ** 20);

/** One golden output; texts of large answers are given as their SHA-256. */
interface Golden {
  readonly request: ValueRequest;
  readonly consumedBytes: number;
  readonly json?: string;
  readonly jsonSha256?: string;
  readonly octetsSha256?: string;
}

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex');
const vectors = new URL('../vectors/values/', import.meta.url);

describe('drawJson and drawOctets', () => {
  for (const file of readdirSync(vectors).filter((name) => name.endsWith('.json'))) {
    const goldens: Golden[] = JSON.parse(readFileSync(new URL(file, vectors), 'utf8'));
    it(`give the golden outputs of ${file}`, () => {
      assert.ok(goldens.length > 0);
      for (const golden of goldens) {
        const reader = readerOf(ENTROPY, [4_096]);
        const text = drawnText(golden.request, reader);
        const what = JSON.stringify(golden.request).slice(0, 120);
        if (golden.json === undefined) assert.equal(sha256(text), golden.jsonSha256, what);
        else assert.equal(text, golden.json, what);
        assert.equal(reader.consumedBytes, golden.consumedBytes, what);
        if (octetTypeOf(golden.request) === undefined) continue;
        const again = readerOf(ENTROPY, [4_096]);
        assert.equal(sha256(drawnOctets(golden.request, again)), golden.octetsSha256, what);
        assert.equal(again.consumedBytes, golden.consumedBytes, what);
      }
    });
  }

  it('equal the slow twin, values and consumption', () => {
    fc.assert(
      fc.property(anyRequest, fc.nat(2 ** 19), (request, skip) => {
        const entropy = ENTROPY.subarray(skip);
        const reader = readerOf(entropy, [4_096]);
        const twin = twinSample(request, entropy);
        assert.equal(drawnText(request, reader), JSON.stringify(twin.plain));
        assert.equal(reader.consumedBytes, twin.consumedBytes);
        const type = octetTypeOf(request);
        if (type !== undefined) {
          const again = readerOf(entropy, [4_096]);
          const octets = drawnOctets(request, again);
          assert.deepEqual(Buffer.from(octets), twinOctets(request, type, twin.plain), type);
          assert.equal(again.consumedBytes, twin.consumedBytes);
        }
      }),
      { numRuns: 3_000 },
    );
  });

  it("write to any position of a target's buffer", () => {
    const request: ValueRequest = { kind: 'bytes', count: 1, length: 4, encoding: 'hex', single: true };
    const entropy = Uint8Array.of(0xde, 0xad, 0xbe, 0xef);
    const buffer = new ArrayBuffer(64);
    assert.equal(drawJson(request, readerOf(entropy), new Uint8Array(buffer, 7, 50), 3), 13);
    assert.equal(Buffer.from(buffer, 10, 10).toString(), '"deadbeef"');
    assert.equal(drawOctets(request, readerOf(entropy), new Uint8Array(buffer, 30, 9), 3), 7);
    assert.equal(Buffer.from(buffer, 30, 9).toString('hex'), '000000deadbeef0000');
  });
});

describe('a draw', () => {
  it('leaves none of its bytes in the chunks once the reader is told to erase', () => {
    fc.assert(
      fc.property(
        anyRequest,
        fc.integer({ min: 1, max: 700 }),
        fc.boolean(),
        (request, chunkSize, asText) => {
          const chunks: Uint8Array[] = [];
          let at = 0;
          const reader = new EntropyReader(() => {
            const chunk = ENTROPY.slice(at, at + chunkSize);
            at += chunkSize;
            chunks.push(chunk);
            return chunk;
          });
          if (asText || octetTypeOf(request) === undefined) drawnText(request, reader);
          else drawnOctets(request, reader);
          reader.erase();
          const all = Buffer.concat(chunks);
          const read = reader.consumedBytes;
          assert.ok(all.subarray(0, read).every((byte) => byte === 0));
          assert.deepEqual(all.subarray(read), Buffer.from(ENTROPY.subarray(read, all.length)));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('refuses an invalid request', () => {
    const bad: ValueRequest[] = [
      integers(0, 0, 1),
      integers(1, 1, 0),
      integers(1, -1, Number.MAX_SAFE_INTEGER),
      integers(3, 0, 1, { unique: true }),
      { kind: 'floats', count: 0, precision: null },
      { kind: 'floats', count: 1, precision: 0 },
      { kind: 'floats', count: 1, precision: 16 },
      { kind: 'bytes', count: 1, length: 0, encoding: 'hex', single: true },
      { kind: 'bytes', count: 2, length: 1, encoding: 'hex', single: true },
      { kind: 'uuid', count: 0 },
      { kind: 'bitstring', length: 0 },
      { kind: 'shuffle', items: [] },
      { kind: 'shuffle', items: ['\ud800', 'a'] }, // no Unicode text
    ];
    for (const request of bad) {
      const reader = readerOf(ENTROPY);
      const target = new Uint8Array(100);
      assert.throws(() => drawJson(request, reader, target, 0), JSON.stringify(request));
      assert.throws(() => drawOctets(request, reader, target, 0), JSON.stringify(request));
      assert.equal(reader.consumedBytes, 0);
    }
  });
});

describe('the type of octets', () => {
  it('is int32 whenever int32 holds the range, and otherwise float64', () => {
    assert.equal(octetTypeOf(integers(1, -(2 ** 31), 2 ** 31 - 1)), 'int32');
    assert.equal(octetTypeOf(integers(1, -(2 ** 31) - 1, 0)), 'float64');
    assert.equal(octetTypeOf(integers(1, 0, 2 ** 31)), 'float64');
  });

  it('is none for bits and items', () => {
    const bits: ValueRequest = { kind: 'bitstring', length: 8 };
    const items: ValueRequest = { kind: 'shuffle', items: ['a', 'b'] };
    for (const request of [bits, items]) {
      const reader = readerOf(ENTROPY);
      assert.equal(octetTypeOf(request), undefined);
      assert.throws(() => drawOctets(request, reader, new Uint8Array(64), 0), /has no octets/);
      assert.equal(reader.consumedBytes, 0);
    }
  });
});
