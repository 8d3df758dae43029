import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, describe, it } from 'node:test';
import type { BinaryAnswer } from '../../clients/typescript/src/answers.ts';
import { QrnClient } from '../../clients/typescript/src/client.ts';
import { TestServer } from '../support/server.ts';

/** What the client makes of the real service's answers. */
let server: TestServer;
let client: QrnClient;
before(async () => {
  server = await TestServer.shared();
  client = new QrnClient({ baseUrl: server.baseUrl, key: server.key });
});

describe('answers', () => {
  it('decode the label of an answer, and verify it', async () => {
    const said = { purpose: 'the client’s types', userData: 'a&b\n', public: true };
    const answer = await client.integers({ count: 2, ...said });
    assert.deepEqual(
      [answer.label?.purpose, answer.label?.user_data, answer.label?.public],
      [said.purpose, said.userData, true],
    );
    const digest = createHash('sha256').update('kept here').digest('hex');
    const hidden = await client.batch({ type: 'uuid', count: 2, userDataSha256: digest });
    assert.equal(hidden.label?.user_data_sha256, `sha256:${digest}`);
    const binary = await client.bytesBinary({ count: 4, ...said });
    for (const each of [answer, hidden, binary]) {
      const { ok, checks } = await client.verify(each);
      assert.deepEqual([ok, checks.filter((check) => !check.ok)], [true, []]);
      assert.ok(checks.some(({ name }) => name === 'label'));
    }
    for await (const block of client.stream.uuid({ total: 2, block: 1, purpose: 'blocks' })) {
      const { checks } = await client.verify(block);
      assert.ok(checks.some(({ name, ok }) => name === 'label' && ok));
    }
  });
});

describe('binary answers', () => {
  function assertBinary(envelope: BinaryAnswer<unknown>): void {
    assert.match(envelope.metadata.request_id, /^req_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
    assert.match(envelope.metadata.certificate_id, /^cert_[0-9a-hjkmnp-tv-z]{26}$/);
  }

  it('are typed arrays of what was asked for', async () => {
    const bytes = await client.bytesBinary({ count: 21, entropyMode: 'pure' });
    assertBinary(bytes);
    assert.deepEqual([bytes.data.bytes.length, bytes.credits.used], [21, 21]);
    const small = await client.batchBinary({ type: 'integers', count: 9, params: { min: -2, max: 2 } });
    assertBinary(small);
    assert.ok(small.data.values instanceof Int32Array && small.data.values.every((n) => Math.abs(n) <= 2));
    const wide = await client.batchBinary({
      type: 'integers',
      count: 9,
      params: { min: 2 ** 40, max: 2 ** 41 },
    });
    assertBinary(wide);
    assert.ok(wide.data.values instanceof Float64Array);
    assert.ok(wide.data.values.every((n) => Number.isInteger(n) && n >= 2 ** 40 && n <= 2 ** 41));
    const floats = await client.batchBinary({ type: 'floats', count: 9 });
    assertBinary(floats);
    assert.ok(floats.data.values.length === 9 && floats.data.values.every((n) => n >= 0 && n < 1));
    const raw = await client.batchBinary({
      type: 'bytes',
      count: 9,
      params: { length: 5, encoding: 'base64' },
    });
    assertBinary(raw);
    assert.equal(raw.data.values.length, 45);
    const uuids = await client.batchBinary({ type: 'uuid', count: 9 });
    assertBinary(uuids);
    assert.ok(uuids.data.values.length === 144 && uuids.data.values[6] >> 4 === 4);
  });
});
