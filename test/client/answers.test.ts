import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Answer, BinaryAnswer } from '../../clients/typescript/src/answers.ts';
import { QrnClient } from '../../clients/typescript/src/client.ts';
import { SERVICE_ERROR_CODES } from '../../clients/typescript/src/error.ts';
import { ERRORS } from '../../src/core/errors.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { TestServer } from '../support/server.ts';

/** The client's types held against what the real service answers. */
const root = fileURLToPath(new URL('../..', import.meta.url));
let server: TestServer;
let client: QrnClient;
before(async () => {
  server = await TestServer.shared();
  client = new QrnClient({ baseUrl: server.baseUrl, key: server.key });
});

/** A type of the client, in TypeScript, and a value that is to be of it. */
type Typed = readonly [type: string, value: unknown];

/**
 * What the compiler says of values as literals of their types: it takes no member that the type lacks, and misses each
 * that the type has.
 */
function complaints(values: readonly Typed[]): Promise<string> {
  const path = join(scratchFolder(), 'answers.ts');
  const from = join(root, 'clients/typescript/src');
  const lines = values.map(([type, value], i) => `export const v${i}: ${type} = ${JSON.stringify(value)};`);
  const imports = [
    `import type * as A from '${from}/answers.ts';`,
    `import type { CertificateDocument } from '${from}/certificate.ts';`,
  ];
  writeFileSync(path, [...imports, ...lines].join('\n'));
  const options =
    '--ignoreConfig --noEmit --strict --allowImportingTsExtensions --target es2022 --lib es2022,dom';
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const args = [compiler, ...options.split(' '), '--module', 'preserve', path];
  return new Promise((resolve) => execFile(process.execPath, args, (_error, out) => resolve(out)));
}

/** What each kind is asked with, one by one and in a batch; null where it is none of a batch. */
const KINDS = {
  integers: [
    { count: 5, min: -3, max: 9, unique: true, sort: 'descending' },
    { min: 1, max: 6 },
  ],
  bytes: [
    { count: 6, encoding: 'base64' },
    { length: 3, encoding: 'base64' },
  ],
  floats: [{ count: 3 }, { precision: 3 }],
  uuid: [{ count: 3 }, undefined],
  bitstring: [{ length: 33 }, null],
  shuffle: [{ items: ['a,b', '', 'é', '100%', 'x&y=z', ' +'] }, null],
  sample: [{ count: 3, items: ['ada', 'grace', 'barbara, née', 'shafi'] }, { items: ['a', 'b', 'c'] }],
  weighted: [
    { count: 9, items: ['a', 'b'], weights: [1, 2 ** 50] },
    { items: ['a', 'b'], weights: [3, 4] },
  ],
  strings: [{ count: 4, length: 6, alphabet: 'é+, ' }, { alphabet: '01' }],
  sequences: [
    { count: 2, length: [5, 1], min: [1, -9], max: [69, -8], unique: true },
    { length: [2], min: [0], max: [9] },
  ],
  permutations: [{ count: 2, length: 7 }, { length: 3 }],
  gaussians: [
    { count: 3, mean: 100, stddev: 0.5, digits: 4 },
    { mean: 5, digits: 3 },
  ],
} as const;

describe('answers', () => {
  it('have the members that their types state, no more and no less', async () => {
    const values: Typed[] = [];
    for (const [kind, [parameters, params]] of Object.entries(KINDS)) {
      const call = client[kind as keyof typeof KINDS] as (asked: object) => Promise<Answer<unknown>>;
      const data = `A.${kind[0].toUpperCase()}${kind.slice(1)}Data`;
      values.push([`A.Answer<${data}>`, await call.call(client, parameters)]);
      if (params === null) continue;
      const asked = { type: kind, count: 2, params } as unknown as Parameters<QrnClient['batch']>[0];
      values.push([`A.Answer<A.BatchData<'${kind}'>>`, await client.batch(asked)]);
    }
    const quote = await client.quote('shuffle', { items: ['a', 'b', 'c'], entropyMode: 'pure' });
    assert.deepEqual(quote.data, { mode: 'pure', required_bytes: 1 });
    const [usage, tiers, health] = await Promise.all([client.usage(), client.tiers(), client.health()]);
    assert.deepEqual([usage.data.tier, tiers.data.limits['batch_count']], ['pro', 100_000]);
    const said = { purpose: 'types of labels', userData: 'a' };
    for (const label of [{}, { ...said, public: true }, { ...said, public: false }]) {
      const { metadata } = await client.integers(label);
      const found = await client.certificate(metadata.certificate_id);
      assert.equal(found.certificate.request_id, metadata.request_id);
      values.push(['CertificateDocument', found]);
    }
    values.push(['A.Quote', quote], ['A.UsageAnswer', usage], ['A.TiersAnswer', tiers]);
    values.push(["A.HealthAnswer['metadata']", health.metadata]); // what the report holds beside checks may grow
    for (const checks of Object.values(health.data.checks)) values.push(['A.HealthCheck[]', checks]);
    assert.equal(await complaints(values), '');

    const [[type, integers]] = values as unknown as [string, Answer<object>][];
    const { meta, ...without } = integers;
    const wrong = await complaints([
      [type, without],
      [type, { ...integers, data: { ...integers.data, more: 1 } }],
      [type, { ...integers, data: { ...integers.data, sort: 'sideways' } }],
      [type, { ...integers, meta: { ...meta, duration_ms: '1' } }],
    ]);
    assert.equal(wrong.match(/: error TS/g)?.length, 4, wrong);
  });

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
  const envelopes: Typed[] = [];

  function assertBinary({ data, ...envelope }: BinaryAnswer<unknown>): void {
    envelopes.push(["Omit<A.BinaryAnswer<unknown>, 'data'>", envelope], ['A.EntropyMetadata', data.metadata]);
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
    assert.equal(await complaints(envelopes), '');
  });
});

it('lists every error code of the service', () => {
  assert.deepEqual([...SERVICE_ERROR_CODES], Object.keys(ERRORS));
});
