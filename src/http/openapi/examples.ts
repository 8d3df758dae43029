import type { DataEndpoint } from '../../core/vocabulary.ts';

/** A request and its answer, for people to read; test/http/openapi.test.ts holds them against the schemas. */
export interface Example {
  /** The query of a GET, without `?`. */
  readonly query: string;
  /** The body of a POST. */
  readonly body?: object;
  readonly answer: object;
}

const SIMULATOR = 'simulator-statevector';
const DRAWN = { entropy_mode: 'quantum-seeded', quantum_source: SIMULATOR };

const ENVELOPE = {
  meta: { duration_ms: 1, request_id: '01a1fd78-f956-7e3d-86f5-dbe7f1dbace8' },
  metadata: {
    certificate_id: 'cert_4w5kkx9yv0t3jrt2ncqmsz7rhd',
    certificate_salt: '6e1f0c9b7a2d4e58b3c1d0f29a86475e13f2c4b5a697887960514233425160fe',
    entropy_consumed_bytes: 3,
    entropy_origin: 'simulated',
    lang_circuit: 'superposition-16',
    lang_version: '1.0.0',
    nist_verified: true,
    powered_by: 'Lang Quantum Circuits',
    processing_time_ms: 1,
    quantum_backend: SIMULATOR,
    request_id: 'req_01m7yqhyapfryrdxevwzrxqb78',
    timestamp: '2026-11-21T09:38:46.230Z',
  },
  quantum_credits: { remaining: 10_240, total: 10_240, used: 0 },
};

function answer(data: object): object {
  return { data: { ...data, metadata: DRAWN }, ...ENVELOPE };
}

export const EXAMPLES: Readonly<Record<DataEndpoint, Example>> = {
  integers: {
    query: 'count=6&min=1&max=49&unique=true&sort=ascending',
    answer: answer({
      count: 6,
      max: 49,
      min: 1,
      sort: 'ascending',
      unique: true,
      values: [4, 11, 19, 30, 31, 46],
    }),
  },
  bytes: {
    query: 'count=16&encoding=hex',
    answer: answer({ bits: 128, bytes: '9f2c41d7be0863a5e4f1720c58ab96d3', count: 16, encoding: 'hex' }),
  },
  floats: {
    query: 'count=3&precision=6',
    answer: answer({ count: 3, precision: 6, values: [0.271604, 0.938157, 0.054223] }),
  },
  uuid: {
    query: 'count=1',
    answer: answer({ count: 1, uuids: ['7d2f6c1e-94b3-4a08-b5d7-1c0e83f2a946'], version: 4 }),
  },
  bitstring: {
    query: 'length=32',
    answer: answer({ bitstring: '01101001110100010110111000101101', length: 32 }),
  },
  shuffle: {
    query: 'items=ada,grace,barbara,shafi',
    answer: answer({ count: 4, items: ['barbara', 'shafi', 'ada', 'grace'] }),
  },
  batch: {
    query: '',
    body: { type: 'integers', count: 5, params: { min: 1, max: 6 } },
    answer: answer({ count: 5, type: 'integers', values: [2, 6, 1, 3, 3] }),
  },
};
