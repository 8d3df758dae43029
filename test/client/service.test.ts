import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { QrnClient, type VerifiableAnswer } from '../../clients/typescript/src/client.ts';
import { Random, type RefillAnswer } from '../../clients/typescript/src/random.ts';
import { TestServer } from '../support/server.ts';

/** The client with the real service. */
let server: TestServer;
let client: QrnClient;
before(async () => {
  server = await TestServer.shared();
  client = new QrnClient({ baseUrl: server.baseUrl, key: server.key });
});

describe('verify', () => {
  it('confirms every answer, JSON and binary, in every mode', async () => {
    const answers: VerifiableAnswer[] = await Promise.all([
      client.integers({ count: 3 }),
      client.bytes({ count: 5, encoding: 'base64', entropyMode: 'pure' }),
      client.floats({ count: 3, entropyMode: 'csprng' }),
      client.shuffle({ items: ['é', 'b,c', ''] }),
      client.bytesBinary({ count: 5 }),
      client.batchBinary({ type: 'integers', count: 4, params: { min: -9, max: 9 } }),
      client.batchBinary({ type: 'integers', count: 4, params: { min: 0, max: 2 ** 50 } }),
      client.batchBinary({ type: 'floats', count: 4, entropyMode: 'csprng' }),
      client.batchBinary({ type: 'floats', count: 4, params: { precision: 3 } }),
      client.batchBinary({ type: 'bytes', count: 4, params: { length: 3 }, entropyMode: 'pure' }),
      client.batchBinary({ type: 'uuid', count: 4 }),
    ]);
    for (const answer of answers) {
      const { ok, checks, notCovered } = await client.verify(answer);
      const failed = checks.filter((check) => !check.ok);
      assert.deepEqual([ok, failed], [true, []], JSON.stringify(answer.data));
      assert.ok(checks.length >= 9);
      for (const name of notCovered)
        assert.match(name, /duration|time_ms|consumed|quantum_credits|powered_by|verify_url/);
    }
  });

  it('confirms the label of an answer', async () => {
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

  it('uses no network when certificate and keys are given, and finds changes', async () => {
    const answer = await client.integers({ count: 3 });
    const binary = await client.bytesBinary({ count: 4 });
    assert.ok((await client.verify(answer)).ok && (await client.verify(binary)).ok); // both are logged now
    const keys = await client.keys();
    const certificate = await client.certificate(answer.metadata.certificate_id);
    const deaf = new QrnClient({
      baseUrl: server.baseUrl,
      key: 'none',
      fetch: () => assert.fail('the network was used'),
    });
    assert.ok((await deaf.verify(answer, { certificate, keys })).ok);
    const [first, ...rest] = answer.data.values;
    const changed = { ...answer, data: { ...answer.data, values: [first + 1, ...rest] } };
    assert.deepEqual(await failures(deaf.verify(changed, { certificate, keys })), ['delivered']);
    const upgraded = {
      ...answer,
      metadata: { ...answer.metadata, entropy_origin: 'quantum-processor' as const },
    };
    assert.deepEqual(await failures(deaf.verify(upgraded, { certificate, keys })), ['metadata']);
    const others = await client.certificate(binary.metadata.certificate_id);
    assert.ok((await deaf.verify(binary, { certificate: others, keys })).ok);
    binary.data.bytes[0] ^= 1;
    assert.deepEqual(await failures(deaf.verify(binary, { certificate: others, keys })), ['delivered']);
    for (const none of [null, {}, 'x'])
      assert.ok(!(await deaf.verify(binary, { certificate: none, keys })).ok);
  });

  async function failures(verification: ReturnType<QrnClient['verify']>): Promise<string[]> {
    return (await verification).checks.filter((check) => !check.ok).map((check) => check.name);
  }
});

it('binary answers are typed arrays of the requested kind', async () => {
  const bytes = await client.bytesBinary({ count: 21, entropyMode: 'pure' });
  assert.deepEqual([bytes.data.bytes.length, bytes.credits.used], [21, 21]);
  assert.match(bytes.metadata.request_id, /^req_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  const small = await client.batchBinary({ type: 'integers', count: 9, params: { min: -2, max: 2 } });
  assert.ok(small.data.values instanceof Int32Array && small.data.values.every((n) => Math.abs(n) <= 2));
  const [min, max] = [2 ** 40, 2 ** 41];
  const wide = await client.batchBinary({ type: 'integers', count: 9, params: { min, max } });
  assert.ok(wide.data.values instanceof Float64Array);
  assert.ok(wide.data.values.every((n) => Number.isInteger(n) && n >= min && n <= max));
  const floats = await client.batchBinary({ type: 'floats', count: 9 });
  assert.ok(floats.data.values.length === 9 && floats.data.values.every((n) => n >= 0 && n < 1));
  const params = { length: 5, encoding: 'base64' } as const;
  const raw = await client.batchBinary({ type: 'bytes', count: 9, params });
  assert.equal(raw.data.values.length, 45);
  const uuids = await client.batchBinary({ type: 'uuid', count: 9 });
  assert.ok(uuids.data.values.length === 144 && uuids.data.values[6] >> 4 === 4);
});

describe('Random', () => {
  it('makes values from bytes whose certificates verify', async () => {
    const refills: RefillAnswer[] = [];
    const verified: boolean[] = [];
    const random = new Random(client, {
      refillBytes: 2_048,
      onRefill: async (answer) => {
        verified.push((await client.verify(answer)).ok);
        refills.push(answer);
      },
    });
    const deck = Array.from({ length: 52 }, (_, i) => i);
    const shuffled = await random.shuffle(deck);
    assert.deepEqual(
      shuffled.toSorted((a, b) => a - b),
      deck,
    );
    assert.match(await random.uuid(), /^[0-9a-f-]{36}$/);
    assert.equal((await random.bytes(3_000)).length, 3_000);
    random.close();
    assert.ok(verified.length >= 2 && verified.every((each) => each));
    assert.equal(new Set(refills.map(({ metadata }) => metadata.certificate_id)).size, refills.length);
  });

  it('pays once for a refill in pure mode, for all who draw from it', async () => {
    const random = new Random(client, { entropyMode: 'pure', refillBytes: 100, lowBytes: 0 });
    const before = (await client.usage()).data.credits.used;
    await Promise.all(Array.from({ length: 50 }, () => random.integer(0, 255)));
    assert.equal(random.availableBytes, 50);
    assert.equal((await client.usage()).data.credits.used, before + 100);
    random.close();
  });

  it('throws the error of a refused request', async () => {
    const { key } = await server.account('free');
    const free = new QrnClient({ baseUrl: server.baseUrl, key });
    const random = new Random(free, { entropyMode: 'pure' });
    await assert.rejects(random.integer(1, 6), { code: 'mode_not_allowed', status: 403 });
  });
});
