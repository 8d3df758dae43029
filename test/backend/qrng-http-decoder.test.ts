import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { BackendErrorKind } from '../../src/backend/backend.ts';
import { decodeReply, isJsonPath, valuesAt } from '../../src/backend/qrng-http/decoder.ts';
import { type Decoder, QRNG_PRESETS, type QrngService } from '../../src/backend/qrng-http/presets.ts';
import { failsWith } from './backend-contract.ts';

interface Shape {
  readonly decoder: Decoder;
  readonly item_bytes: number;
  readonly list: QrngService['list'];
  readonly path?: string;
}

function decoded(shape: Shape, text: string | Uint8Array, items: number): Buffer {
  const service = { ...QRNG_PRESETS.get('lfd')!, path: 'data', ...shape };
  const body = typeof text === 'string' ? new TextEncoder().encode(text) : new Uint8Array(text);
  const json = service.path === '' ? undefined : JSON.parse(String(text));
  return Buffer.from(decodeReply({ status: 200, headers: new Headers(), body }, json, service, items));
}

/** Encodes the items as a service would, by code that shares nothing with the decoder. */
const WRITTEN: Readonly<Record<Exclude<Decoder, 'bytes'>, (bytes: Buffer) => string>> = {
  hex: (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(''),
  base64: (bytes) => btoa(String.fromCharCode(...bytes)),
  binary: (bytes) => [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join(''),
  decimal: (bytes) => bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n).toString(),
};

const itemLists = fc
  .tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 20 }))
  .chain(([size, count]) =>
    fc.array(fc.uint8Array({ minLength: size, maxLength: size }), { minLength: count, maxLength: count }),
  );

for (const [decoder, written] of Object.entries(WRITTEN) as [
  Exclude<Decoder, 'bytes'>,
  (bytes: Buffer) => string,
][]) {
  test(`${decoder}: every list of items decodes to the same items`, () => {
    fc.assert(
      fc.property(itemLists, (items) => {
        const shape = { decoder, item_bytes: items[0].length, list: 'items' } as const;
        const text = JSON.stringify({ data: items.map((item) => written(Buffer.from(item))) });
        assert.deepEqual(decoded(shape, text, items.length), Buffer.concat(items));
      }),
      { numRuns: 200 },
    );
  });

  test(`${decoder}: a list with one item too few or too many is refused`, () => {
    const item = written(Buffer.from([1, 2]));
    const shape = { decoder, item_bytes: 2, list: 'items' } as const;
    for (const count of [0, 1, 3]) {
      const text = JSON.stringify({ data: new Array(count).fill(item) });
      assert.throws(() => decoded(shape, text, 2), failsWith('retryable'));
    }
  });
}

test('numbers may be JSON numbers as long as they are exact', () => {
  const shape = { decoder: 'decimal', item_bytes: 2, list: 'items' } as const;
  assert.deepEqual([...decoded(shape, '{"data":[0,255,256,65535]}', 4)], [0, 0, 0, 255, 1, 0, 255, 255]);
  for (const wrong of ['[65536]', '[-1]', '["-1"]', '["1e2"]', '[""]', '[true]', '["0x1"]']) {
    assert.throws(() => decoded(shape, `{"data":${wrong}}`, 1), failsWith('permanent'), wrong);
  }
  const wide = { ...shape, item_bytes: 8 };
  assert.throws(() => decoded(wide, '{"data":[9007199254740993]}', 1), failsWith('permanent'));
  assert.deepEqual([...decoded(wide, '{"data":["9007199254740993"]}', 1)], [0, 32, 0, 0, 0, 0, 0, 1]);
});

test('the error says what is wrong with an item', () => {
  const hex = { decoder: 'hex', item_bytes: 2, list: 'items' } as const;
  const wrong: readonly [Shape, item: unknown, kind: BackendErrorKind, message: RegExp][] = [
    [hex, '0102ff', 'retryable', /an item of 3 instead of 2 bytes/],
    [hex, 'zz', 'permanent', /not hex/],
    [hex, '012', 'permanent', /not hex/],
    [hex, 17, 'permanent', /is a number instead of hex text/],
    [{ ...hex, decoder: 'base64' }, '!', 'permanent', /not base64/],
    [
      { ...hex, decoder: 'binary' },
      '0101',
      'permanent',
      /does not consist of groups of eight characters 0 and 1/,
    ],
    [{ ...hex, decoder: 'decimal' }, '65536', 'permanent', /does not fit into 2 bytes/],
    [{ ...hex, decoder: 'decimal' }, '12abc', 'permanent', /not an unsigned whole number/],
  ];
  for (const [shape, item, kind, message] of wrong) {
    assert.throws(() => decoded(shape, JSON.stringify({ data: [item] }), 1), failsWith(kind, message));
  }
});

test('counts, shares and probabilities are not accepted as outcomes', () => {
  const shape = { decoder: 'decimal', item_bytes: 1, list: 'items' } as const;
  for (const wrong of ['{"0":512,"1":512}', '[0.5,0.5]', '[[1,2],[3,4]]', '[{"value":1}]']) {
    assert.throws(() => decoded(shape, `{"data":${wrong}}`, 2), failsWith('no_raw_shots'), wrong);
  }
});

test('pieces of any size must add up exactly', () => {
  const shape = { decoder: 'base64', item_bytes: 1, list: 'pieces', path: 'jobs[].bytes' } as const;
  const text = '{"jobs":[{"bytes":"AQID"},{"note":"no bytes"},{"bytes":"BA=="}]}';
  assert.deepEqual([...decoded(shape, text, 4)], [1, 2, 3, 4]);
  for (const items of [3, 5]) assert.throws(() => decoded(shape, text, items), failsWith('retryable'));
});

test('base64 may lack its padding and be broken into lines, and nothing else', () => {
  const shape = { decoder: 'base64', item_bytes: 4, list: 'pieces' } as const;
  for (const right of ['AQIDBA==', 'AQIDBA', 'AQID\\nBA==\\n']) {
    assert.deepEqual([...decoded(shape, `{"data":"${right}"}`, 1)], [1, 2, 3, 4]);
  }
  for (const wrong of ['AQIDBB==', 'AQI-_A==', 'AQIDBA===', 'A=QIDBA', 'AQIDB*==']) {
    assert.throws(() => decoded(shape, `{"data":"${wrong}"}`, 1), failsWith('permanent'), wrong);
  }
});

test('a reply that is not JSON is decoded as a whole', () => {
  const plain = { item_bytes: 1, list: 'pieces', path: '' } as const;
  assert.deepEqual([...decoded({ ...plain, decoder: 'hex' }, 'c0FFee\n', 3)], [0xc0, 0xff, 0xee]);
  assert.deepEqual([...decoded({ ...plain, decoder: 'decimal' }, '1\n22,133\n', 3)], [1, 22, 133]);
  assert.deepEqual([...decoded({ ...plain, decoder: 'bytes' }, Uint8Array.of(0, 10, 255), 3)], [0, 10, 255]);
  assert.throws(() => decoded({ ...plain, decoder: 'bytes' }, Uint8Array.of(0), 3), failsWith('retryable'));
});

test('paths select the values they name', () => {
  assert.deepEqual(valuesAt([{ a: 1 }, { b: 2 }, { a: 3 }], '[].a'), [1, 3]);
  assert.deepEqual(valuesAt({ a: { b: ['x', 'y'] } }, 'a.b'), ['x', 'y']);
  assert.deepEqual(valuesAt({ a: { b: ['x', 'y'] } }, 'a.b[]'), ['x', 'y']);
  assert.deepEqual(valuesAt({ a: null }, 'a'), undefined);
  assert.deepEqual(valuesAt({ a: 'x' }, 'a.length'), []);
  assert.equal(valuesAt({}, 'constructor'), undefined);
  for (const path of ['a', 'a.b-c', 'a[].b', '[]', '[].a_1[]']) assert.ok(isJsonPath(path), path);
  for (const path of ['', '.', 'a.', 'a[0]', '$.a', 'a b', '[]a']) assert.ok(!isJsonPath(path), path);
});
