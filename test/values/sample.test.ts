import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { EntropyReader } from '../../src/values/entropy-reader.ts';
import { writeDecimals } from '../../src/values/floats.ts';
import type { SortOrder } from '../../src/values/integers.ts';
import { blocksOf, type Offsets } from '../../src/values/offsets.ts';
import { drawJson, drawOctets } from '../../src/values/sample.ts';
import { jsonBytesMax, octetTypeOf, type ValueRequest } from '../../src/values/value-request.ts';
import { twinOctets, twinSample } from '../reference/values.ts';
import { drawnOctets, drawnText, drawnValues } from './drawn.ts';
import { keystream, readerOf } from './keystream.ts';
import { anyRequest, integers } from './requests.ts';

const ENTROPY = keystream(2 ** 20);

/** One golden output; texts of large answers stand as their SHA-256. */
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

  it('have golden outputs of every kind', () => {
    const files = readdirSync(vectors).sort();
    assert.deepEqual(
      files,
      [
        'bitstring',
        'bytes',
        'floats',
        'gaussians',
        'integers',
        'permutations',
        'sample',
        'sequences',
        'shuffle',
        'strings',
        'uuid',
        'weighted',
      ].map((kind) => `${kind}.json`),
    );
  });

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

  it('write what JSON.stringify and RFC 8785 write of the plain value', () => {
    fc.assert(
      fc.property(anyRequest, fc.nat(2 ** 19), (request, skip) => {
        const text = drawnText(request, readerOf(ENTROPY.subarray(skip), [65_536]));
        assert.equal(text, JSON.stringify(JSON.parse(text)));
        assert.equal(text, canonicalize(JSON.parse(text)));
      }),
      { numRuns: 1_000 },
    );
  });

  it('do not depend on how the bytes are cut into chunks', () => {
    const anyCuts = fc.array(fc.integer({ min: 1, max: 37 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(anyRequest, anyCuts, (request, cuts) => {
        const whole = readerOf(ENTROPY);
        const cut = readerOf(ENTROPY, cuts);
        assert.equal(drawnText(request, cut), drawnText(request, whole));
        assert.equal(cut.consumedBytes, whole.consumedBytes);
        if (octetTypeOf(request) !== undefined) {
          const octets = drawnOctets(request, readerOf(ENTROPY, cuts));
          assert.deepEqual(octets, drawnOctets(request, readerOf(ENTROPY)));
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('write into a target that starts anywhere in its buffer', () => {
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
  it('leaves nothing of what it drew in the chunks once the reader is told to erase', () => {
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

  it('refuses what is no request', () => {
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
    ];
    for (const request of bad) {
      const reader = readerOf(ENTROPY);
      const target = new Uint8Array(100);
      assert.throws(() => drawJson(request, reader, target, 0), JSON.stringify(request));
      assert.throws(() => drawOctets(request, reader, target, 0), JSON.stringify(request));
      assert.equal(reader.consumedBytes, 0);
    }
  });

  it('sorts by number, both ways', () => {
    const drawn = (sort: SortOrder) =>
      drawnValues(integers(50, -1_000, 100_000, { sort }), readerOf(ENTROPY)) as number[];
    const byNumber = drawn('none').toSorted((a, b) => a - b);
    assert.notDeepEqual(drawn('none'), byNumber);
    assert.deepEqual(drawn('ascending'), byNumber);
    assert.deepEqual(drawn('descending'), byNumber.toReversed());
  });
});

describe('the type of octets', () => {
  it('is int32 exactly as far as int32 reaches, and float64 beyond', () => {
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

  it('write UUIDs and bytes as they are', () => {
    const bytes: ValueRequest = { kind: 'bytes', count: 2, length: 3, encoding: 'hex', single: false };
    assert.deepEqual(drawnOctets(bytes, readerOf(ENTROPY)), ENTROPY.slice(0, 6));
    const uuids: ValueRequest = { kind: 'uuid', count: 2 };
    const hex = (drawnValues(uuids, readerOf(ENTROPY)) as string[]).join('').replaceAll('-', '');
    assert.equal(Buffer.from(drawnOctets(uuids, readerOf(ENTROPY))).toString('hex'), hex);
  });
});

describe('uuid', () => {
  it('carries the marks of version 4 and the variant, whatever the bytes (RFC 9562 §5.4)', () => {
    const form = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    const values = drawnValues({ kind: 'uuid', count: 1_000 }, readerOf(ENTROPY)) as string[];
    for (const value of values) assert.match(value, form);
    const ofBytes = (byte: number) =>
      drawnValues({ kind: 'uuid', count: 1 }, readerOf(new Uint8Array(16).fill(byte)));
    assert.deepEqual(ofBytes(0), ['00000000-0000-4000-8000-000000000000']);
    assert.deepEqual(ofBytes(0xff), ['ffffffff-ffff-4fff-bfff-ffffffffffff']);
  });
});

describe('floats with a precision', () => {
  it('print the smallest values of every precision as JavaScript does', () => {
    for (let precision = 5; precision <= 15; precision++) {
      const first = 10 ** Math.max(0, precision - 6); // the numerator of 10^-6
      const around = [-2, -1, 0, 1, 2].flatMap((delta) => [first + delta, 10 * first + delta, delta + 2]);
      assertDecimals(Float64Array.from(around.filter((k) => k >= 0)), precision);
    }
  });

  it('print every value of up to four places', () => {
    for (const precision of [1, 2, 3, 4]) {
      const size = 10 ** precision;
      assertDecimals(
        Uint32Array.from({ length: size }, (_, k) => k),
        precision,
      );
    }
  });

  function assertDecimals(numerators: Offsets, precision: number): void {
    const target = new Uint8Array(jsonBytesMax({ kind: 'floats', count: numerators.length, precision }));
    const end = writeDecimals(blocksOf(numerators), precision, target, 0);
    const expected = Array.from(numerators, (k) => `${Number(`${k}e-${precision}`)},`);
    assert.equal(Buffer.from(target.subarray(0, end)).toString(), expected.join(''));
  }
});
