import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { EntropyReader } from '../../src/values/entropy-reader.ts';
import { drawJson, octetsOf, plainOf, type Sample, sample, writeJson } from '../../src/values/sample.ts';
import { jsonBytesMax, type ValueRequest } from '../../src/values/value-request.ts';
import { twinSample } from '../reference/values.ts';
import { keystream, readerOf } from './keystream.ts';
import { anyRequest } from './requests.ts';

fc.configureGlobal({ seed: 4_122 });

const ENTROPY = keystream(2 ** 20);

function drawnText(request: ValueRequest, reader: EntropyReader): string {
  const target = new Uint8Array(jsonBytesMax(request));
  return Buffer.from(target.subarray(0, drawJson(request, reader, target, 0))).toString();
}

function textOf(request: ValueRequest, values: Sample): string {
  const target = new Uint8Array(jsonBytesMax(request));
  return Buffer.from(target.subarray(0, writeJson(values, target, 0))).toString();
}

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

describe('sample, writeJson and drawJson', () => {
  for (const file of readdirSync(vectors).filter((name) => name.endsWith('.json'))) {
    const goldens: Golden[] = JSON.parse(readFileSync(new URL(file, vectors), 'utf8'));
    it(`give the golden outputs of ${file}`, () => {
      assert.ok(goldens.length > 0);
      for (const golden of goldens) {
        const reader = readerOf(ENTROPY, [4_096]);
        const values = sample(golden.request, reader);
        const text = textOf(golden.request, values);
        const what = JSON.stringify(golden.request).slice(0, 120);
        if (golden.json === undefined) assert.equal(sha256(text), golden.jsonSha256, what);
        else assert.equal(text, golden.json, what);
        assert.equal(reader.consumedBytes, golden.consumedBytes, what);
        if (values.kind !== 'shuffle') assert.equal(sha256(octetsOf(values)), golden.octetsSha256, what);
        assert.equal(drawnText(golden.request, readerOf(ENTROPY, [4_096])), text, what);
      }
    });
  }

  it('have golden outputs of every kind', () => {
    const files = readdirSync(vectors).sort();
    assert.deepEqual(
      files,
      ['bitstring', 'bytes', 'floats', 'integers', 'shuffle', 'uuid'].map((kind) => `${kind}.json`),
    );
  });

  it('equal the slow twin, values and consumption', () => {
    fc.assert(
      fc.property(anyRequest, fc.nat(2 ** 19), (request, skip) => {
        const entropy = ENTROPY.subarray(skip);
        const reader = readerOf(entropy, [4_096]);
        const twin = twinSample(request, entropy);
        const values = sample(request, reader);
        assert.deepEqual(plainOf(values), twin.plain);
        assert.equal(textOf(request, values), JSON.stringify(twin.plain));
        assert.equal(reader.consumedBytes, twin.consumedBytes);
        const again = readerOf(entropy, [4_096]);
        assert.equal(drawnText(request, again), JSON.stringify(twin.plain));
        assert.equal(again.consumedBytes, twin.consumedBytes);
      }),
      { numRuns: 3_000 },
    );
  });

  it('write what JSON.stringify and RFC 8785 write of the plain value', () => {
    fc.assert(
      fc.property(anyRequest, fc.nat(2 ** 19), (request, skip) => {
        const values = sample(request, readerOf(ENTROPY.subarray(skip), [65_536]));
        const text = textOf(request, values);
        assert.equal(text, JSON.stringify(plainOf(values)));
        assert.equal(text, canonicalize(plainOf(values)));
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
        assert.deepEqual(plainOf(sample(request, cut)), plainOf(sample(request, whole)));
        assert.equal(cut.consumedBytes, whole.consumedBytes);
        assert.equal(drawnText(request, readerOf(ENTROPY, cuts)), drawnText(request, readerOf(ENTROPY)));
      }),
      { numRuns: 1_000 },
    );
  });

  it('write into a target that starts anywhere in its buffer', () => {
    const request: ValueRequest = { kind: 'bytes', count: 1, length: 4, encoding: 'hex', single: true };
    const values = sample(request, readerOf(Uint8Array.of(0xde, 0xad, 0xbe, 0xef)));
    const buffer = new ArrayBuffer(64);
    const end = writeJson(values, new Uint8Array(buffer, 7, 50), 3);
    assert.equal(end, 13);
    assert.equal(Buffer.from(buffer, 10, 10).toString(), '"deadbeef"');
  });
});

describe('sample and drawJson', () => {
  it('leaves nothing of what it drew in the chunks once the reader is told to erase', () => {
    fc.assert(
      fc.property(
        anyRequest,
        fc.integer({ min: 1, max: 700 }),
        fc.boolean(),
        (request, chunkSize, atOnce) => {
          const chunks: Uint8Array[] = [];
          let at = 0;
          const reader = new EntropyReader(() => {
            const chunk = ENTROPY.slice(at, at + chunkSize);
            at += chunkSize;
            chunks.push(chunk);
            return chunk;
          });
          if (atOnce) drawJson(request, reader, new Uint8Array(jsonBytesMax(request)), 0);
          else sample(request, reader);
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
      { kind: 'integers', count: 0, min: 0, max: 1, unique: false, sort: 'none' },
      { kind: 'integers', count: 1, min: 1, max: 0, unique: false, sort: 'none' },
      { kind: 'integers', count: 1, min: -1, max: Number.MAX_SAFE_INTEGER, unique: false, sort: 'none' },
      { kind: 'integers', count: 3, min: 0, max: 1, unique: true, sort: 'none' },
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
      assert.throws(() => sample(request, reader), JSON.stringify(request));
      assert.throws(() => drawJson(request, reader, new Uint8Array(100), 0), JSON.stringify(request));
      assert.equal(reader.consumedBytes, 0);
    }
  });

  it('sorts by number, both ways', () => {
    const request = { kind: 'integers', count: 50, min: -1_000, max: 100_000, unique: false } as const;
    const drawn = (sort: 'none' | 'ascending' | 'descending') =>
      plainOf(sample({ ...request, sort }, readerOf(ENTROPY))) as number[];
    const byNumber = drawn('none').toSorted((a, b) => a - b);
    assert.notDeepEqual(drawn('none'), byNumber);
    assert.deepEqual(drawn('ascending'), byNumber);
    assert.deepEqual(drawn('descending'), byNumber.toReversed());
  });
});

describe('octetsOf', () => {
  it('holds the values one behind the other, little-endian', () => {
    fc.assert(
      fc.property(anyRequest, (request) => {
        fc.pre(request.kind === 'integers' || request.kind === 'floats');
        const values = sample(request, readerOf(ENTROPY));
        const octets = octetsOf(values);
        const view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
        const plain = plainOf(values) as number[];
        const fits = request.kind === 'integers' && request.min >= -(2 ** 31) && request.max < 2 ** 31;
        assert.equal(octets.length, plain.length * (fits ? 4 : 8));
        plain.forEach((value, i) => {
          assert.equal(fits ? view.getInt32(4 * i, true) : view.getFloat64(8 * i, true), value);
        });
      }),
    );
  });

  it('takes int32 exactly as far as int32 reaches', () => {
    const sizeOf = (min: number, max: number) =>
      octetsOf(
        sample({ kind: 'integers', count: 1, min, max, unique: false, sort: 'none' }, readerOf(ENTROPY)),
      ).length;
    assert.equal(sizeOf(-(2 ** 31), 2 ** 31 - 1), 4);
    assert.equal(sizeOf(-(2 ** 31) - 1, 0), 8);
    assert.equal(sizeOf(0, 2 ** 31), 8);
  });

  it('is the bytes themselves of bytes, UUIDs and bits', () => {
    const bytes = sample(
      { kind: 'bytes', count: 2, length: 3, encoding: 'hex', single: false },
      readerOf(ENTROPY),
    );
    assert.deepEqual(octetsOf(bytes), ENTROPY.slice(0, 6));
    const uuids = sample({ kind: 'uuid', count: 2 }, readerOf(ENTROPY));
    const hex = (plainOf(uuids) as string[]).join('').replaceAll('-', '');
    assert.equal(Buffer.from(octetsOf(uuids)).toString('hex'), hex);
    const bits = sample({ kind: 'bitstring', length: 11 }, readerOf(Uint8Array.of(0xa5, 0xff)));
    assert.equal(plainOf(bits), '10100101111');
    assert.deepEqual([...octetsOf(bits)], [0xa5, 0xe0], 'the last byte is filled up with zero bits');
  });

  it('is not offered for a shuffle', () => {
    const values = sample({ kind: 'shuffle', items: ['a', 'b'] }, readerOf(ENTROPY));
    assert.throws(() => octetsOf(values), TypeError);
  });
});

describe('uuid', () => {
  it('carries the marks of version 4 and the variant, whatever the bytes (RFC 9562 §5.4)', () => {
    const form = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    const values = plainOf(sample({ kind: 'uuid', count: 1_000 }, readerOf(ENTROPY))) as string[];
    for (const value of values) assert.match(value, form);
    const ofBytes = (byte: number) =>
      plainOf(sample({ kind: 'uuid', count: 1 }, readerOf(new Uint8Array(16).fill(byte))));
    assert.deepEqual(ofBytes(0), ['00000000-0000-4000-8000-000000000000']);
    assert.deepEqual(ofBytes(0xff), ['ffffffff-ffff-4fff-bfff-ffffffffffff']);
  });
});

describe('floats with a precision', () => {
  it('print the smallest values as JavaScript does', () => {
    // 7 bytes little-endian, mod 10^15: the numerators 0, 1, 15 and 999999999 (below 10^-6) and 10^9 (not)
    const numerators = [0, 1, 15, 999_999_999, 1_000_000_000, 123_000_000_000];
    const bytes = new Uint8Array(8 * numerators.length);
    const view = new DataView(bytes.buffer);
    for (const [i, n] of numerators.entries()) view.setBigUint64(7 * i, BigInt(n), true);
    const request: ValueRequest = { kind: 'floats', count: numerators.length, precision: 15 };
    const text = textOf(request, sample(request, readerOf(bytes)));
    assert.equal(text, '[0,1e-15,1.5e-14,9.99999999e-7,0.000001,0.000123]');
  });

  it('print the smallest values of every precision as JavaScript does', () => {
    for (let precision = 5; precision <= 15; precision++) {
      const first = 10 ** Math.max(0, precision - 6); // the numerator of 10^-6
      const around = [-2, -1, 0, 1, 2].flatMap((delta) => [first + delta, 10 * first + delta, delta + 2]);
      const numerators = Float64Array.from(around.filter((k) => k >= 0));
      const values: Sample = { kind: 'floats', precision, numerators };
      const expected = JSON.stringify(Array.from(numerators, (k) => Number(`${k}e-${precision}`)));
      assert.equal(textOf({ kind: 'floats', count: numerators.length, precision }, values), expected);
    }
  });

  it('print every value of up to four places', () => {
    for (const precision of [1, 2, 3, 4]) {
      const size = 10 ** precision;
      const numerators = Uint32Array.from({ length: size }, (_, k) => k);
      const values: Sample = { kind: 'floats', precision, numerators };
      const expected = JSON.stringify(Array.from(numerators, (k) => Number(`${k}e-${precision}`)));
      assert.equal(textOf({ kind: 'floats', count: size, precision }, values), expected);
    }
  });
});
