import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { unpack } from 'msgpackr';
import { EntropyReader } from '../../src/values/entropy-reader.ts';
import { entropyBytesMax, informationBits } from '../../src/values/value-request.ts';
import { twinInformationBytes, twinSample } from '../reference/values.ts';
import { fixedBytes } from '../support/backends.ts';
import { TestServer } from '../support/server.ts';
import { drawnValues } from '../values/drawn.ts';
import { parseBatch } from './parameters-parsing.ts';

interface Batch {
  readonly data: {
    readonly values: readonly number[];
    readonly count: number;
    readonly type: string;
    readonly params: object;
  };
}

/** What a batch of integers asks for. */
const valuesOf = (count: number, params: object) =>
  parseBatch({ type: 'integers', count, params }).request.values;

describe('integers of a batch, without repeats or in order', () => {
  const CASES: readonly [count: number, params: object][] = [
    [100_000, { min: 1, max: 100_000, unique: true }],
    [100_000, { min: 0, max: 2 ** 53 - 1, unique: true, sort: 'descending' }],
    [100_000, { min: -50, max: 50, sort: 'ascending' }],
    [20_000, { min: 0, max: 70_000, unique: true, sort: 'ascending' }],
  ];
  for (const [count, params] of CASES) {
    it(`are those of the reference: ${count} of ${JSON.stringify(params)}`, () => {
      const values = valuesOf(count, params);
      const entropy = new Uint8Array(entropyBytesMax(values));
      fixedBytes('batch')(entropy);
      const twin = twinSample(values, entropy);
      const reader = new EntropyReader(() => entropy.slice());
      assert.deepEqual(drawnValues(values, reader), twin.plain);
      assert.equal(reader.consumedBytes, twin.consumedBytes);
    });
  }

  it('cost the logarithm of the falling factorial', () => {
    const factors = Array.from({ length: 1_000 }, (_, i) => 5_000n - BigInt(i));
    for (const sort of ['none', 'ascending']) {
      const values = valuesOf(1_000, { min: 1, max: 5_000, unique: true, sort });
      assert.equal(Math.ceil(informationBits(values) / 8), twinInformationBytes(factors));
    }
  });
});

describe('integers of a batch, as the service answers them', () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.shared();
  });

  const ask = (accept: string, params: object) =>
    server.batch({ type: 'integers', count: 30_000, params }, { accept });

  it('hold every value once when the range has as many as are asked for, in every form', async () => {
    const all = Array.from({ length: 30_000 }, (_, i) => i - 10_000);
    const params = { min: -10_000, max: 19_999, unique: true };
    const sorted = { ...params, sort: 'ascending' };
    const json = (await (await ask('application/json', sorted)).json()) as Batch;
    assert.deepEqual(json.data.values, all);
    assert.deepEqual([json.data.count, json.data.type], [30_000, 'integers']);
    assert.deepEqual(json.data.params, sorted);
    const packed = await (await ask('application/msgpack', { ...params, sort: 'descending' })).arrayBuffer();
    const { data } = unpack(Buffer.from(packed)) as Batch;
    assert.deepEqual(data.values, all.toReversed());
    assert.deepEqual(data.params, { ...params, sort: 'descending' });
    const octets = new Int32Array(await (await ask('application/octet-stream', params)).arrayBuffer());
    assert.notDeepEqual([...octets], all);
    assert.deepEqual(
      [...octets].sort((a, b) => a - b),
      all,
    );
  });

  it('are refused before anything is drawn when the range is too small', async () => {
    const reply = await ask('application/json', { min: 1, max: 29_999, unique: true });
    const { error } = (await reply.json()) as { error: { code: string; details: object } };
    assert.equal(`${reply.status} ${error.code}`, '400 unique_impossible');
    assert.deepEqual(error.details, { available: 29_999, count: 30_000 });
  });
});
