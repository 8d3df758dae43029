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
const BATCH: { readonly [T in BatchType]: Shape<BatchData<T>> } = {
  integers: {
    values: ['number'],
    count: 'number',
    type: { oneOf: ['integers'] },
    params: { max: 'number', min: 'number', sort: { oneOf: SORTS }, unique: 'boolean' },
  },
  floats: {
    values: ['number'],
    count: 'number',
    type: { oneOf: ['floats'] },
    params: { precision: { nullable: 'number' } },
  },
  bytes: {
    values: ['string'],
    count: 'number',
    type: { oneOf: ['bytes'] },
    params: { encoding: { oneOf: ['hex', 'base64'] }, length: 'number' },
  },
  uuid: { values: ['string'], count: 'number', type: { oneOf: ['uuid'] }, params: { record: 'boolean' } },
  sample: {
    values: ['string'],
    count: 'number',
    type: { oneOf: ['sample'] },
    params: { list_sha256: 'string', of: 'number' },
  },
  weighted: {
    values: ['string'],
    count: 'number',
    type: { oneOf: ['weighted'] },
    params: { list_sha256: 'string', weights: ['number'] },
  },
  strings: {
    values: ['string'],
    count: 'number',
    type: { oneOf: ['strings'] },
    params: { alphabet: 'string', length: 'number' },
  },
  sequences: {
    values: [[['number']]],
    count: 'number',
    type: { oneOf: ['sequences'] },
    params: {
      length: ['number'],
      max: ['number'],
      min: ['number'],
      sort: { oneOf: SORTS },
      unique: 'boolean',
    },
  },
  permutations: {
    values: [['number']],
    count: 'number',
    type: { oneOf: ['permutations'] },
    params: { length: 'number' },
  },
  gaussians: {
    values: ['number'],
    count: 'number',
    type: { oneOf: ['gaussians'] },
    params: { digits: 'number', mean: 'number', stddev: 'number' },
  },
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

function assertAnswer<Data>(answer: Answer<Data>, data: Shape<Data>): void {
  const { data: _data, ...envelope } = answer;
  const expected: Shape<Omit<Answer<Data>, 'data'>> = {
    metadata: METADATA,
    meta: META,
    credits: CREDITS,
    rateLimit: RATE_LIMIT,
    opening: { optional: { bytes: 'string', path: 'string', salts: 'string' } },
    label: { optional: LABEL },
  };
  assert.deepEqual(misfits(envelope, expected), []);
  assert.deepEqual(misfits(answer.data, { ...(data as object), metadata: ENTROPY }), []);
}

describe('answers', () => {
  it('decode integers', async () => {
    const answer = await client.integers({ count: 5, min: -3, max: 9, unique: true, sort: 'descending' });
    assertAnswer<IntegersData>(answer, {
      values: ['number'],
      count: 'number',
      min: 'number',
      max: 'number',
      unique: 'boolean',
      sort: { oneOf: ['none', 'ascending', 'descending'] },
    });
    const { values, metadata: __, ...echoed } = answer.data;
    assert.deepEqual(echoed, { count: 5, min: -3, max: 9, unique: true, sort: 'descending' });
    assert.equal(new Set(values).size, 5);
  });

  it('decode the label of an answer, and verify it', async () => {
    const said = { purpose: 'the client’s types', userData: 'a&b\n', public: true };
    const answer = await client.integers({ count: 2, ...said });
    assertAnswer(answer, {
      values: ['number'],
      count: 'number',
      min: 'number',
      max: 'number',
      unique: 'boolean',
      sort: { oneOf: ['none', 'ascending', 'descending'] },
    });
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

  it('decode bytes', async () => {
    const shape: Shape<BytesData> = {
      bytes: 'string',
      count: 'number',
      encoding: { oneOf: ['hex', 'base64'] },
      bits: 'number',
    };
    assertAnswer(await client.bytes(), shape);
    const answer = await client.bytes({ count: 6, encoding: 'base64', entropyMode: 'csprng' });
    assertAnswer(answer, shape);
    assert.equal(atob(answer.data.bytes).length, 6);
    assert.deepEqual(answer.data.metadata, { entropy_mode: 'csprng', quantum_source: 'none' });
  });

  it('decode floats', async () => {
    const shape: Shape<FloatsData> = {
      values: ['number'],
      count: 'number',
      precision: { nullable: 'number' },
    };
    assertAnswer(await client.floats({ count: 3 }), shape);
    const answer = await client.floats({ count: 3, precision: 2 });
    assertAnswer(answer, shape);
    assert.equal(answer.data.precision, 2);
  });

  it('decode UUIDs', async () => {
    const answer = await client.uuid({ count: 3 });
    assertAnswer<UuidData>(answer, { uuids: ['string'], count: 'number', version: 'number' });
    assert.equal(answer.data.uuids.length, 3);
  });

  it('decode a bitstring', async () => {
    const answer = await client.bitstring({ length: 33 });
    assertAnswer<BitstringData>(answer, { bitstring: 'string', length: 'number' });
    assert.match(answer.data.bitstring, /^[01]{33}$/);
  });

  it('decode a shuffle whose items hold any text', async () => {
    const items = ['a,b', '', 'é', '100%', 'x&y=z', ' +'];
    const answer = await client.shuffle({ items });
    assertAnswer<ShuffleData>(answer, { items: ['string'], count: 'number' });
    assert.deepEqual([...answer.data.items].sort(), [...items].sort());
  });

  it('decode batches of each type', async () => {
    const dice = await client.batch({ type: 'integers', count: 20, params: { min: 1, max: 6 } });
    assertAnswer(dice, BATCH.integers);
    assert.ok(dice.data.values.every((value) => value >= 1 && value <= 6));
    assertAnswer(await client.batch({ type: 'floats', count: 20, params: { precision: 3 } }), BATCH.floats);
    const bytes = await client.batch({ type: 'bytes', count: 20, params: { length: 3, encoding: 'base64' } });
    assertAnswer(bytes, BATCH.bytes);
    assert.match(bytes.data.values[0], /^[A-Za-z0-9+/]{4}$/);
    const pure = await client.batch({ type: 'uuid', count: 2, entropyMode: 'pure' });
    assertAnswer(pure, BATCH.uuid);
    assert.equal(pure.credits.used, 31); // 2 * 122 bits
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

  it('decode samples and weighted picks', async () => {
    const items = ['ada', 'grace', 'barbara, née', 'shafi'];
    const sample = await client.sample({ count: 3, items });
    assertAnswer<SampleData>(sample, {
      items: ['string'],
      count: 'number',
      list_sha256: 'string',
      of: 'number',
    });
    assert.deepEqual([sample.data.count, sample.data.of], [3, 4]);
    assert.equal(new Set(sample.data.items.filter((item) => items.includes(item))).size, 3);
    const picks = await client.weighted({ count: 9, items, weights: [1, 2, 3, 2 ** 50] });
    assertAnswer<WeightedData>(picks, {
      items: ['string'],
      count: 'number',
      list_sha256: 'string',
      weights: ['number'],
    });
    assert.deepEqual(picks.data.items, Array(9).fill('shafi'), 'the others come once in 2^47 picks');
  });

  it('decode strings', async () => {
    const answer = await client.strings({ count: 4, length: 6, alphabet: 'é+, ' });
    assertAnswer<StringsData>(answer, {
      values: ['string'],
      count: 'number',
      length: 'number',
      alphabet: 'string',
    });
    assert.equal(answer.data.values.length, 4);
    for (const value of answer.data.values) assert.match(value, /^[é+, ]{6}$/);
  });

  it('decode sequences and permutations', async () => {
    const sequences = await client.sequences({
      count: 2,
      length: [5, 1],
      min: [1, -9],
      max: [69, -8],
      unique: true,
    });
    assertAnswer<SequencesData>(sequences, {
      values: [[['number']]],
      count: 'number',
      length: ['number'],
      min: ['number'],
      max: ['number'],
      unique: 'boolean',
      sort: { oneOf: ['none', 'ascending', 'descending'] },
    });
    assert.deepEqual(
      sequences.data.values.map((row) => row.map(({ length }) => length)),
      [
        [5, 1],
        [5, 1],
      ],
    );
    const permutations = await client.permutations({ count: 2, length: 7 });
    assertAnswer<PermutationsData>(permutations, { values: [['number']], count: 'number', length: 'number' });
    for (const permutation of permutations.data.values)
      assert.deepEqual(permutation.toSorted(), [0, 1, 2, 3, 4, 5, 6]);
  });

  it('decode normally distributed numbers', async () => {
    const answer = await client.gaussians({ count: 3, mean: 100, stddev: 0.5, digits: 4 });
    assertAnswer<GaussiansData>(answer, {
      values: ['number'],
      count: 'number',
      mean: 'number',
      stddev: 'number',
      digits: 'number',
    });
    for (const value of answer.data.values) assert.equal(Number(value.toPrecision(4)), value);
  });

  it('decode batches of lists', async () => {
    const answers = [
      await client.batch({ type: 'sample', count: 2, params: { items: ['a', 'b', 'c'] } }),
      await client.batch({ type: 'weighted', count: 2, params: { items: ['a', 'b'], weights: [3, 4] } }),
      await client.batch({ type: 'strings', count: 2, params: { alphabet: '01' } }),
      await client.batch({ type: 'sequences', count: 2, params: { length: [2], min: [0], max: [9] } }),
      await client.batch({ type: 'permutations', count: 2, params: { length: 3 } }),
      await client.batch({ type: 'gaussians', count: 2, params: { mean: 5, digits: 3 } }),
    ];
    for (const answer of answers) {
      assert.deepEqual(misfits(answer.data, { ...BATCH[answer.data.type], metadata: ENTROPY }), []);
      assert.equal(answer.data.values.length, 2);
    }
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
