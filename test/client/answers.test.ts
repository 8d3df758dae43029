import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, describe, it } from 'node:test';
import type {
  Answer,
  BatchData,
  BatchType,
  BinaryAnswer,
  BitstringData,
  BytesData,
  EntropyMetadata,
  FloatsData,
  GaussiansData,
  HealthCheck,
  IntegersData,
  Metadata,
  PermutationsData,
  Quote,
  SampleData,
  SequencesData,
  ShuffleData,
  StringsData,
  TiersAnswer,
  Usage,
  UsageCount,
  UuidData,
  WeightedData,
} from '../../clients/typescript/src/answers.ts';
import type { CertificateDocument } from '../../clients/typescript/src/certificate.ts';
import { QrnClient } from '../../clients/typescript/src/client.ts';
import { SERVICE_ERROR_CODES } from '../../clients/typescript/src/error.ts';
import { ERRORS } from '../../src/core/errors.ts';
import { DATA_ENDPOINTS, ENTROPY_MODES, ORIGINS, TIERS } from '../../src/core/vocabulary.ts';
import { EVIDENCE_LEVELS } from '../../src/ledger/records.ts';
import { TestServer } from '../support/server.ts';
import { misfits, type Shape } from './shape.ts';

/** The client's types held against what the real service answers. */
let server: TestServer;
let client: QrnClient;
before(async () => {
  server = await TestServer.shared();
  client = new QrnClient({ baseUrl: server.baseUrl, key: server.key });
});

const ENTROPY: Shape<EntropyMetadata> = { entropy_mode: { oneOf: ENTROPY_MODES }, quantum_source: 'string' };
const METADATA: Shape<Metadata> = {
  request_id: 'string',
  timestamp: 'string',
  lang_circuit: 'string',
  lang_version: 'string',
  quantum_backend: 'string',
  entropy_origin: { oneOf: ORIGINS },
  nist_verified: 'boolean',
  certificate_id: 'string',
  certificate_salt: 'string',
  verify_url: 'string',
  powered_by: 'string',
  processing_time_ms: 'number',
  entropy_consumed_bytes: 'number',
};
const { powered_by: _, ...BINARY_METADATA } = METADATA;
const META = { request_id: 'string', duration_ms: 'number' } as const;
const CREDITS = { remaining: { nullable: 'number' }, used: 'number', total: { nullable: 'number' } } as const;
const RATE_LIMIT = { nullable: { remaining: 'number', resetAtS: 'number' } } as const;
const SORTS = ['none', 'ascending', 'descending'] as const;
const batchOf = <T extends BatchType, V, P>(type: T, values: V, params: P) => ({
  values,
  count: 'number' as const,
  type: { oneOf: [type] },
  params,
});
const BATCH: { readonly [T in BatchType]: Shape<BatchData<T>> } = {
  integers: batchOf('integers', ['number'], {
    max: 'number',
    min: 'number',
    sort: { oneOf: SORTS },
    unique: 'boolean',
  }),
  floats: batchOf('floats', ['number'], { precision: { nullable: 'number' } }),
  bytes: batchOf('bytes', ['string'], { encoding: { oneOf: ['hex', 'base64'] }, length: 'number' }),
  uuid: batchOf('uuid', ['string'], { record: 'boolean' }),
  sample: batchOf('sample', ['string'], { list_sha256: 'string', of: 'number' }),
  weighted: batchOf('weighted', ['string'], { list_sha256: 'string', weights: ['number'] }),
  strings: batchOf('strings', ['string'], { alphabet: 'string', length: 'number' }),
  sequences: batchOf('sequences', [[['number']]], {
    length: ['number'],
    max: ['number'],
    min: ['number'],
    sort: { oneOf: SORTS },
    unique: 'boolean',
  }),
  permutations: batchOf('permutations', [['number']], { length: 'number' }),
  gaussians: batchOf('gaussians', ['number'], { digits: 'number', mean: 'number', stddev: 'number' }),
};
const COUNTS: Shape<UsageCount> = { requests: 'number', values: 'number', bytes: 'number' };

/** Fits an answer into the shape of its data and the envelope that all have. */
const LABEL = {
  public: 'boolean',
  purpose: { optional: 'string' },
  series: { optional: 'string' },
  user_data: { optional: 'string' },
  user_data_sha256: { optional: 'string' },
} as const;

function assertAnswer(answer: Answer<unknown>, data: object): void {
  const { data: _data, ...envelope } = answer;
  const expected: Shape<Omit<Answer<unknown>, 'data'>> = {
    metadata: METADATA,
    meta: META,
    credits: CREDITS,
    rateLimit: RATE_LIMIT,
    opening: { optional: { bytes: 'string', path: 'string', salts: 'string' } },
    label: { optional: LABEL },
  };
  assert.deepEqual(misfits(envelope, expected), []);
  assert.deepEqual(misfits(answer.data, { ...data, metadata: ENTROPY }), []);
}

/** Each kind: what it is asked with, and the members of its data. */
const KINDS = {
  integers: [
    { count: 5, min: -3, max: 9, unique: true, sort: 'descending' },
    {
      values: ['number'],
      count: 'number',
      min: 'number',
      max: 'number',
      unique: 'boolean',
      sort: { oneOf: SORTS },
    } satisfies Shape<IntegersData>,
  ],
  bytes: [
    { count: 6, encoding: 'base64' },
    {
      bytes: 'string',
      count: 'number',
      encoding: { oneOf: ['hex', 'base64'] },
      bits: 'number',
    } satisfies Shape<BytesData>,
  ],
  floats: [
    { count: 3 },
    { values: ['number'], count: 'number', precision: { nullable: 'number' } } satisfies Shape<FloatsData>,
  ],
  uuid: [{ count: 3 }, { uuids: ['string'], count: 'number', version: 'number' } satisfies Shape<UuidData>],
  bitstring: [{ length: 33 }, { bitstring: 'string', length: 'number' } satisfies Shape<BitstringData>],
  shuffle: [
    { items: ['a,b', '', 'é', '100%', 'x&y=z', ' +'] },
    { items: ['string'], count: 'number' } satisfies Shape<ShuffleData>,
  ],
  sample: [
    { count: 3, items: ['ada', 'grace', 'barbara, née', 'shafi'] },
    { items: ['string'], count: 'number', list_sha256: 'string', of: 'number' } satisfies Shape<SampleData>,
  ],
  weighted: [
    { count: 9, items: ['a', 'b'], weights: [1, 2 ** 50] },
    {
      items: ['string'],
      count: 'number',
      list_sha256: 'string',
      weights: ['number'],
    } satisfies Shape<WeightedData>,
  ],
  strings: [
    { count: 4, length: 6, alphabet: 'é+, ' },
    {
      values: ['string'],
      count: 'number',
      length: 'number',
      alphabet: 'string',
    } satisfies Shape<StringsData>,
  ],
  sequences: [
    { count: 2, length: [5, 1], min: [1, -9], max: [69, -8], unique: true },
    {
      values: [[['number']]],
      count: 'number',
      length: ['number'],
      min: ['number'],
      max: ['number'],
      unique: 'boolean',
      sort: { oneOf: SORTS },
    } satisfies Shape<SequencesData>,
  ],
  permutations: [
    { count: 2, length: 7 },
    { values: [['number']], count: 'number', length: 'number' } satisfies Shape<PermutationsData>,
  ],
  gaussians: [
    { count: 3, mean: 100, stddev: 0.5, digits: 4 },
    {
      values: ['number'],
      count: 'number',
      mean: 'number',
      stddev: 'number',
      digits: 'number',
    } satisfies Shape<GaussiansData>,
  ],
} as const;

/** What a batch of each type is asked with. */
const BATCH_PARAMS = {
  integers: { min: 1, max: 6 },
  floats: { precision: 3 },
  bytes: { length: 3, encoding: 'base64' },
  uuid: undefined,
  sample: { items: ['a', 'b', 'c'] },
  weighted: { items: ['a', 'b'], weights: [3, 4] },
  strings: { alphabet: '01' },
  sequences: { length: [2], min: [0], max: [9] },
  permutations: { length: 3 },
  gaussians: { mean: 5, digits: 3 },
} as const satisfies Record<BatchType, object | undefined>;

describe('answers', () => {
  for (const [endpoint, [parameters, shape]] of Object.entries(KINDS)) {
    it(`of ${endpoint} have the members that their type states`, async () => {
      const call = client[endpoint as keyof typeof KINDS] as (asked: object) => Promise<Answer<unknown>>;
      assertAnswer(await call.call(client, parameters), shape);
    });
  }

  for (const [type, params] of Object.entries(BATCH_PARAMS)) {
    it(`of batches of ${type} have the members that their type states`, async () => {
      const asked = { type, count: 2, params } as unknown as Parameters<QrnClient['batch']>[0];
      const answer: Answer<unknown> = await client.batch(asked);
      assertAnswer(answer, BATCH[type as BatchType]);
    });
  }

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

  it('decode a price', async () => {
    const quote = await client.quote('shuffle', { items: ['a', 'b', 'c'], entropyMode: 'pure' });
    const shape: Shape<Quote> = {
      data: { mode: { oneOf: ENTROPY_MODES }, required_bytes: 'number' },
      metadata: { request_id: 'string', timestamp: 'string' },
      meta: META,
      credits: CREDITS,
      rateLimit: RATE_LIMIT,
    };
    assert.deepEqual(misfits(quote, shape), []);
    assert.deepEqual(quote.data, { mode: 'pure', required_bytes: 1 });
  });
});

describe('binary answers', () => {
  const shape: Shape<Omit<BinaryAnswer<unknown>, 'data'>> = {
    metadata: BINARY_METADATA,
    meta: META,
    credits: { remaining: { nullable: 'number' }, used: 'number' },
    rateLimit: RATE_LIMIT,
  };

  function assertBinary({ data, ...envelope }: BinaryAnswer<unknown>): void {
    assert.deepEqual(misfits(envelope, shape), []);
    assert.deepEqual(misfits(data.metadata, ENTROPY), []);
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

describe('documents that hold no values', () => {
  it('have the members that the type of a certificate states', async () => {
    const { metadata } = await client.integers();
    const found = await client.certificate(metadata.certificate_id);
    assert.deepEqual(misfits(found, CERTIFICATE), []);
    assert.equal(found.certificate.request_id, metadata.request_id);
  });

  it('have the members that the type of a labelled certificate states, public or not', async () => {
    const said = { purpose: 'types of labels', userData: 'a' };
    for (const isPublic of [true, false]) {
      const { metadata } = await client.integers({ ...said, public: isPublic });
      const found = await client.certificate(metadata.certificate_id);
      assert.deepEqual(misfits(found, CERTIFICATE), []);
      const { label } = found.certificate;
      assert.deepEqual([label?.public, label?.serial], [isPublic, isPublic ? 1 : 2]);
      assert.equal(label?.purpose_commitment === undefined, isPublic);
    }
  });

  it('have the members that the type of usage states', async () => {
    const { data, metadata } = await client.usage();
    assert.deepEqual(misfits(metadata, DOCUMENT_METADATA), []);
    assert.deepEqual(misfits(data, USAGE), []);
    assert.equal(data.tier, 'pro');
  });

  it('have the members that the types of tiers, prices and limits state', async () => {
    const { data, metadata } = await client.tiers();
    assert.deepEqual(misfits(metadata, DOCUMENT_METADATA), []);
    assert.deepEqual(misfits(data, TIERS_DATA), []);
    assert.equal(data.limits['batch_count'], 100_000);
  });

  it('have the members that the type of health states, whatever checks there are', async () => {
    const { data, metadata } = await client.health();
    assert.deepEqual(misfits(metadata, DOCUMENT_METADATA), []);
    const { status, version, time, checks } = data;
    assert.ok(['pass', 'warn', 'fail'].includes(status));
    assert.deepEqual([typeof version, Number.isNaN(Date.parse(time))], ['string', false]);
    assert.ok(Object.keys(checks).length > 0);
    for (const { observedValue = null, ...check } of Object.values(checks).flat()) {
      assert.deepEqual(misfits(check, HEALTH_CHECK), []);
      assert.ok(observedValue === null || typeof observedValue !== 'object');
    }
  });
});

it('lists every error code of the service', () => {
  assert.deepEqual([...SERVICE_ERROR_CODES], Object.keys(ERRORS));
});

const DOCUMENT_METADATA = {
  request_id: 'string',
  timestamp: 'string',
  lang_circuit: 'string',
  lang_version: 'string',
  quantum_backend: 'string',
  nist_verified: 'boolean',
  powered_by: 'string',
} as const;

const TIERS_DATA: Shape<TiersAnswer['data']> = {
  tiers: [
    {
      tier: { oneOf: TIERS },
      requests_per_minute: { nullable: 'number' },
      burst: { nullable: 'number' },
      requests_per_month: { nullable: 'number' },
      credits_per_month: { nullable: 'number' },
      entropy_modes: [{ oneOf: ENTROPY_MODES }],
      default_entropy_mode: { oneOf: ENTROPY_MODES },
      seed_interval_s: { nullable: 'number' },
      scopes: ['string'],
      custom: 'boolean',
    },
  ],
  prices: [{ kind: 'string', bits: 'string', example: 'string', credits: 'number' }],
  limits: { record: 'number' },
};

const CERTIFICATE: Shape<CertificateDocument> = {
  certificate: {
    version: 'number',
    media_type: { optional: 'string' },
    label: {
      optional: {
        ...LABEL,
        serial: { optional: 'number' },
        purpose_commitment: { optional: 'string' },
        user_data_commitment: { optional: 'string' },
      },
    },
    id: 'string',
    status: { oneOf: ['valid', 'revoked', 'test'] },
    issued_at: 'string',
    request_id: 'string',
    endpoint: { oneOf: DATA_ENDPOINTS },
    entropy_mode: { oneOf: ENTROPY_MODES },
    provenance: {
      lang_circuit: 'string',
      lang_version: 'string',
      quantum_backend: 'string',
      qubits_used: 'number',
      circuit_depth: 'number',
      origin: { oneOf: ORIGINS },
      evidence: { optional: { oneOf: EVIDENCE_LEVELS } },
      system_entropy: { optional: { oneOf: ['kernel', 'openssl'] } },
      seed: { optional: { index: 'number' } },
      drawn: { optional: [{ lot: 'number', offset: 'number', bytes: 'number' }] },
      sample: { optional: 'boolean' },
      lots: [{ id: 'string', leaf: 'string' }],
    },
    verification: {
      nist_sp800_22: 'string',
      nist_verified: 'boolean',
      dieharder: { oneOf: ['not implemented'] },
      min_entropy_per_bit: { nullable: 'number' },
    },
    hashes: { raw_output: 'string', processed: 'string', delivered: 'string' },
    verify_url: 'string',
    proof: { nullable: 'string' },
  },
  lots: [
    {
      leaf: {
        type: { oneOf: ['lot'] },
        version: 'number',
        lot_id: 'string',
        source: 'string',
        provider: 'string',
        device: 'string',
        quantum_backend: 'string',
        job_id: { nullable: 'string' },
        origin: { oneOf: ORIGINS },
        declared: 'boolean',
        deterministic: 'boolean',
        lang_circuit: 'string',
        lang_version: 'string',
        circuit_sha256: { nullable: 'string' },
        qubits_used: 'number',
        circuit_depth: 'number',
        shots: 'number',
        calibration: {
          nullable: { id: { nullable: 'string' }, date: { nullable: 'string' }, digest: 'string' },
        },
        upstream: {
          nullable: {
            log: 'string',
            origin: { oneOf: ORIGINS },
            certificates: [{ id: 'string', leaf: 'string' }],
          },
        },
        finished_at: 'string',
        raw_bits: 'number',
        raw_output: 'string',
        processed: 'string',
        health: { samples: 'number', rct_failures: 'number', apt_failures: 'number' },
        min_entropy_per_bit: { nullable: 'number' },
        raw_windows: 'number',
        tested: [
          {
            of: { oneOf: ['raw', 'conditioned', 'system'] },
            bits: 'number',
            first_bit: 'number',
            order: { optional: { oneOf: ['shots', 'channels'] } },
            sha256: 'string',
            passed: 'number',
            total: 'number',
            smallest_p: 'number',
            verified: 'boolean',
            reason: { optional: 'string' },
          },
        ],
        evidence: {
          nullable: {
            claim: { oneOf: EVIDENCE_LEVELS },
            min_entropy_per_bit: { nullable: 'number' },
            figures: { record: 'number' },
            method: 'string',
            assumptions: 'string',
            not_reached: [{ claim: { oneOf: EVIDENCE_LEVELS }, why: 'string' }],
          },
        },
        pure: { bytes: 'number', block_bytes: 'number', piece_bytes: 'number', root: 'string' },
        seeds: { count: 'number', root: 'string' },
      },
      proof: { nullable: 'string' },
      runs: [{ first: 'number', hashes: ['string'], path: ['string'] }],
    },
  ],
  revocation: { optional: { lot_id: 'string', reason: 'string', revoked_at: 'string' } },
  metadata: { optional: DOCUMENT_METADATA },
};

const USAGE: Shape<Usage> = {
  period: 'string',
  starts_at: 'string',
  ends_at: 'string',
  tier: { oneOf: TIERS },
  requests: { used: 'number', limit: { nullable: 'number' }, remaining: { nullable: 'number' } },
  rate: {
    limit_per_minute: { nullable: 'number' },
    burst: { nullable: 'number' },
    remaining: { nullable: 'number' },
    reset_at: 'string',
  },
  credits: { total: { nullable: 'number' }, used: 'number', remaining: { nullable: 'number' } },
  by_endpoint: {
    integers: COUNTS,
    bytes: COUNTS,
    floats: COUNTS,
    uuid: COUNTS,
    bitstring: COUNTS,
    shuffle: COUNTS,
    batch: COUNTS,
    sample: COUNTS,
    weighted: COUNTS,
    strings: COUNTS,
    sequences: COUNTS,
    permutations: COUNTS,
    gaussians: COUNTS,
  },
  by_mode: { 'quantum-seeded': COUNTS, pure: COUNTS, csprng: COUNTS },
  days: [{ date: 'string', ...COUNTS, credits: 'number' }],
};

const HEALTH_CHECK: Shape<Omit<HealthCheck, 'observedValue'>> = {
  componentType: 'string',
  status: { oneOf: ['pass', 'warn', 'fail'] },
  observedUnit: { optional: 'string' },
  output: { optional: 'string' },
  details: { optional: 'object' },
};
