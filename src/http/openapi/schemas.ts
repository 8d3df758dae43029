import { ERRORS } from '../../core/errors.ts';
import {
  DATA_ENDPOINTS,
  type DataEndpoint,
  ENTROPY_MODES,
  ORIGINS,
  SYSTEM_GENERATORS,
  TIERS,
} from '../../core/vocabulary.ts';
import { EVIDENCE_LEVELS } from '../../ledger/records.ts';
import {
  boolean,
  count,
  described,
  integer,
  listOf,
  object,
  oneOfWords,
  orNull,
  ref,
  type Schema,
  sha256,
  text,
  time,
} from './schema.ts';
import { tierListSchema } from './tier-list-schema.ts';

/*
 * The shapes of answers as JSON Schema (draft 2020-12, as OpenAPI 3.1 takes it). test/api/openapi.test.ts
 * holds what the running service answers against them, and no object may have a member that is not named
 * here.
 */

const requestId = described(
  { type: 'string', pattern: '^req_[0-7][0-9a-hjkmnp-tv-z]{25}$' },
  'Names the request; the same 128 bits as X-Request-ID.',
);
const certificateId: Schema = { type: 'string', pattern: '^cert_[0-9a-hjkmnp-tv-z]{26}$' };
const mode = oneOfWords(ENTROPY_MODES, 'The mode that was used.');
const origin = oneOfWords(ORIGINS, 'What kind of thing produced the raw bits; never upgraded.');

/** Of every `data` member that was drawn. */
const drawnFrom = object({
  entropy_mode: mode,
  quantum_source: described(text, 'The processor; none in csprng mode.'),
});

const DATA: Readonly<Record<DataEndpoint, Schema>> = {
  integers: object({
    values: listOf(integer),
    count,
    min: integer,
    max: integer,
    unique: boolean,
    sort: oneOfWords(['none', 'ascending', 'descending']),
    metadata: drawnFrom,
  }),
  bytes: object({
    bytes: described(text, 'In the encoding asked for.'),
    count,
    encoding: oneOfWords(['hex', 'base64']),
    bits: described(count, 'Eight times count.'),
    metadata: drawnFrom,
  }),
  floats: object({
    values: listOf({ type: 'number', minimum: 0, exclusiveMaximum: 1 }),
    count,
    precision: orNull({ type: 'integer', minimum: 1, maximum: 15 }),
    metadata: drawnFrom,
  }),
  uuid: object({
    uuids: listOf({
      type: 'string',
      pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$',
    }),
    count,
    version: { type: 'integer', const: 4 },
    metadata: drawnFrom,
  }),
  bitstring: object({
    bitstring: { type: 'string', pattern: '^[01]+$' },
    length: count,
    metadata: drawnFrom,
  }),
  shuffle: object({ items: listOf(text), count, metadata: drawnFrom }),
  batch: object({
    values: described(
      listOf({ type: ['integer', 'number', 'string', 'array'] }),
      'Lists of numbers for permutations, lists of such lists for sequences.',
    ),
    count,
    type: oneOfWords([
      'integers',
      'floats',
      'bytes',
      'uuid',
      'sample',
      'weighted',
      'strings',
      'sequences',
      'permutations',
    ]),
    metadata: drawnFrom,
  }),
  sample: object({
    items: listOf(text),
    count,
    of: described(count, 'How many items there were.'),
    metadata: drawnFrom,
  }),
  weighted: object({ items: listOf(text), count, metadata: drawnFrom }),
  strings: object({ values: listOf(text), alphabet: text, count, length: count, metadata: drawnFrom }),
  sequences: object({
    values: described(listOf(listOf(listOf(integer))), 'Each entry holds one list for each sequence.'),
    count,
    length: listOf(count),
    max: listOf(integer),
    min: listOf(integer),
    sort: oneOfWords(['none', 'ascending', 'descending']),
    unique: boolean,
    metadata: drawnFrom,
  }),
  permutations: object({
    values: listOf(listOf(count)),
    count,
    length: count,
    metadata: drawnFrom,
  }),
};

const meta = object({
  duration_ms: count,
  request_id: { type: 'string', format: 'uuid' },
});

const metadata = object({
  request_id: requestId,
  timestamp: time,
  lang_circuit: described(text, 'Name of the circuit; none in csprng mode.'),
  lang_version: described(text, 'Version of the circuit compiler.'),
  quantum_backend: described(text, 'The processor; none in csprng mode.'),
  entropy_origin: origin,
  nist_verified: described(boolean, 'SP 800-22 passed on the bits that the answer was drawn from.'),
  certificate_id: described(certificateId, 'For GET /v1/certificate.'),
  certificate_salt: described(
    { type: 'string', pattern: '^[0-9a-f]{64}$' },
    'The salt of hashes.delivered; for the caller alone, never stored.',
  ),
  powered_by: text,
  processing_time_ms: count,
  entropy_consumed_bytes: described(count, 'Entropy really drawn, rejected draws included.'),
});

/** Beside a document for which nothing is drawn; a certificate's names what its answer was drawn from. */
const documentMetadata = object({
  request_id: requestId,
  timestamp: time,
  lang_circuit: text,
  lang_version: text,
  quantum_backend: text,
  nist_verified: boolean,
  powered_by: text,
});

const credits = object({
  remaining: count,
  used: described(count, 'By this request.'),
  total: count,
});

/** The answer of a data endpoint. */
function answerOf(endpoint: DataEndpoint): Schema {
  return object({
    data: ref(`${nameOf(endpoint)}Data`),
    metadata: ref('Metadata'),
    meta: ref('Meta'),
    quantum_credits: ref('Credits'),
  });
}

/** The name of an endpoint's schemas, e.g. `Integers`. */
export function nameOf(endpoint: string): string {
  return endpoint[0].toUpperCase() + endpoint.slice(1);
}

const quote = object(
  {
    data: object({ mode, required_bytes: described(count, 'What it would cost in pure mode.') }),
    metadata: object({ request_id: requestId, timestamp: time }),
    meta: ref('Meta'),
    quantum_credits: ref('Credits'),
  },
  {},
  'The answer to dry_run=true: nothing was drawn.',
);

const test = object(
  {
    of: oneOfWords(['raw', 'conditioned', 'system']),
    bits: count,
    sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' },
    passed: count,
    total: count,
    smallest_p: { type: 'number' },
    verified: boolean,
  },
  {
    reason: described(text, 'Why it is not verified.'),
    first_bit: described(count, 'Version 3: place of the first bit.'),
    order: oneOfWords(
      ['shots', 'channels'],
      'Version 3, of raw bits: shot after shot, or channel after channel.',
    ),
  },
  'One run of SP 800-22 on named bits.',
);

const claim = oneOfWords(
  EVIDENCE_LEVELS,
  'How quantum the bits are shown to be, from the weakest to the strongest; never promoted.',
);
const evidence = object(
  {
    claim,
    min_entropy_per_bit: described(
      orNull({ type: 'number', minimum: 0, maximum: 1 }),
      'Per raw bit, under the assumptions; null where the claim gives none.',
    ),
    figures: described(
      { type: 'object', additionalProperties: { type: 'number' } },
      'By name, e.g. chsh_s or x_error.',
    ),
    method: described(text, 'The formula and where it is published.'),
    assumptions: described(text, 'What must be true for it to hold.'),
    not_reached: listOf(object({ claim, why: text })),
  },
  {},
  'Version 2.',
);

const read = object(
  {
    source: described(text, 'As the operator named it.'),
    provider: text,
    device: text,
    lang_circuit: text,
    lang_version: text,
    circuit_sha256: orNull(sha256),
    qubits_used: count,
    circuit_depth: count,
    shots: count,
    calibration: orNull(
      object({
        id: orNull(text),
        date: orNull(text),
        digest: described(sha256, 'Of the whole calibration, as RFC 8785 prints it.'),
      }),
    ),
  },
  {},
  'Version 2: what was read, and how.',
);

const extraction = described(
  orNull(
    object({
      seed: { type: 'string', pattern: '^[0-9a-f]{64}$' },
      input_bits: count,
      output_bits: count,
      epsilon_bits: count,
    }),
  ),
  'Version 3: the Toeplitz hash of the whole lot under a public seed; null where pieces of it were conditioned.',
);

const lot = object(
  {
    id: { type: 'string', pattern: '^lot_[0-9a-hjkmnp-tv-z]{26}$' },
    origin,
    deterministic: boolean,
    quantum_backend: text,
    job_id: orNull(text),
    finished_at: time,
    raw_bits: count,
    raw_output: sha256,
    processed: sha256,
    health: object({ samples: count, rct_failures: count, apt_failures: count }),
    min_entropy_per_bit: orNull({ type: 'number' }),
    tested: listOf(test),
  },
  {
    read,
    evidence,
    declared: described(boolean, 'Version 3: the operator alone says that the origin is quantum.'),
    raw_windows: described(count, 'Version 3: windows of raw bits that were assessed; they cover every bit.'),
    extraction,
  },
);

const certificate = object(
  {
    version: described(
      { type: 'integer', enum: [1, 2, 3] },
      '3 names the tested windows of every lot and the system’s generator; 2 has the evidence of every lot; 1 is of lots that have none.',
    ),
    id: certificateId,
    status: oneOfWords(['valid', 'revoked', 'test']),
    issued_at: time,
    request_id: requestId,
    endpoint: oneOfWords(DATA_ENDPOINTS),
    entropy_mode: mode,
    powered_by: text,
    provenance: object(
      {
        lang_circuit: text,
        lang_version: text,
        quantum_backend: text,
        qubits_used: count,
        circuit_depth: count,
        origin,
        source: text,
        provider: text,
        device: text,
        job_id: orNull(text),
        shots: count,
        generation: { anyOf: [object({ tier: oneOfWords(TIERS), number: count }), { type: 'null' }] },
        lots: listOf(lot),
        meaning: text,
      },
      {
        evidence: described(claim, 'Version 2: the weakest claim of the lots.'),
        system_entropy: described(
          oneOfWords(SYSTEM_GENERATORS),
          'Version 3, not of pure: the generator that was mixed in, or that gave the values of csprng.',
        ),
      },
    ),
    verification: object({
      nist_sp800_22: described(text, '<passed>/<total> passed, or not tested.'),
      nist_verified: boolean,
      dieharder: { type: 'string', const: 'not implemented' },
      min_entropy_per_bit: orNull({ type: 'number', minimum: 0, maximum: 1 }),
      meaning: text,
    }),
    hashes: object({ raw_output: sha256, processed: sha256, delivered: sha256 }),
    verify_url: { type: 'string', format: 'uri' },
    proof: described(orNull(text), 'c2sp.org/tlog-proof; null for a moment after the answer.'),
  },
  {
    media_type: described(
      text,
      'Of an answer in octets: the octets that hashes.delivered is over. Left out where it is over JSON.',
    ),
  },
);

const certificateDocument = object(
  { certificate },
  { revocation: object({ lot_id: text, reason: text, revoked_at: time }), metadata: documentMetadata },
);

const used = object({ requests: count, values: count, bytes: count });
const usage = object({
  data: object({
    period: { type: 'string', pattern: '^\\d{4}-\\d{2}$' },
    starts_at: time,
    ends_at: time,
    tier: oneOfWords(TIERS),
    requests: object({ used: count, limit: count, remaining: count }),
    rate: object({
      limit_per_minute: count,
      burst: count,
      remaining: count,
      reset_at: time,
    }),
    credits: object({ total: count, used: count, remaining: count }),
    by_endpoint: object(Object.fromEntries(DATA_ENDPOINTS.map((endpoint) => [endpoint, used]))),
    by_mode: object(Object.fromEntries(ENTROPY_MODES.map((each) => [each, used]))),
    days: listOf(
      object({
        date: { type: 'string', format: 'date' },
        requests: count,
        values: count,
        bytes: count,
        credits: count,
      }),
    ),
  }),
  metadata: documentMetadata,
});

const healthStatus = oneOfWords(['pass', 'warn', 'fail']);
const health = object({
  status: described(healthStatus, 'fail when nothing can be answered, warn when any check is not pass.'),
  version: text,
  releaseId: text,
  time,
  checks: {
    type: 'object',
    description: 'By component and what was measured of it (draft-inadarei-api-health-check-06 §4).',
    additionalProperties: listOf(
      object(
        { componentType: oneOfWords(['datastore', 'component', 'system']), status: healthStatus },
        {
          observedValue: { type: ['number', 'string', 'boolean', 'null'] },
          observedUnit: text,
          output: described(text, 'What is wrong.'),
          details: { type: 'object' },
        },
      ),
    ),
  },
});

const details = described({ type: 'object' }, 'Facts for programs; which ones depends on the code.');
const errorCode = oneOfWords(Object.keys(ERRORS), 'What programs should look at.');
const error = object({
  error: object(
    {
      code: errorCode,
      message: described(text, 'What to do.'),
      status: { type: 'integer', minimum: 400, maximum: 599 },
      request_id: requestId,
    },
    { details },
  ),
});
const problem = object(
  {
    type: { type: 'string', format: 'uri-reference' },
    title: text,
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: text,
    instance: { type: 'string', format: 'uri' },
    code: errorCode,
    request_id: requestId,
  },
  { details },
  'The same facts as RFC 9457.',
);

const logKeys = listOf(
  object({
    key_id: { type: 'string', pattern: '^[0-9a-f]{8}$' },
    algorithm: { type: 'string', const: 'ed25519' },
    public_key: { type: 'string', contentEncoding: 'base64' },
    verifier_key: text,
    cosigner_key: described(
      orNull(text),
      'The same key as cosigner: every checkpoint it signs has a time. Null for a key of a release that gave none.',
    ),
    created_at: described(time, 'From when on it signs.'),
    retired_at: described(orNull(time), 'By when it had signed for the last time; null for the key in use.'),
  }),
);

const keys = object(
  { origin: text, current_key_id: text, keys: logKeys },
  {
    predecessors: described(
      listOf(object({ origin: text, checkpoint: text, keys: logKeys })),
      'The logs that this one has succeeded after a restore, oldest first, each with its last known checkpoint.',
    ),
    first_leaf: described(
      text,
      'The first leaf of a log that succeeds another: it names the last checkpoint before it.',
    ),
  },
);

const consistency = object({
  from: count,
  to: count,
  hashes: listOf({ type: 'string', contentEncoding: 'base64' }),
});

/** Everything under `components/schemas`. */
export const COMPONENT_SCHEMAS: Readonly<Record<string, Schema>> = {
  ...Object.fromEntries(DATA_ENDPOINTS.map((endpoint) => [`${nameOf(endpoint)}Data`, DATA[endpoint]])),
  ...Object.fromEntries(DATA_ENDPOINTS.map((endpoint) => [`${nameOf(endpoint)}Answer`, answerOf(endpoint)])),
  Quote: quote,
  Metadata: metadata,
  Meta: meta,
  Credits: { ...credits, description: 'Bytes of pure mode; 2^53 - 1 stands for unlimited.' },
  CertificateDocument: certificateDocument,
  Usage: { ...usage, description: '2^53 - 1 stands for unlimited.' },
  Tiers: object({ data: tierListSchema, metadata: documentMetadata }, {}, '2^53 - 1 stands for unlimited.'),
  Health: health,
  Error: error,
  Problem: problem,
  Keys: keys,
  Consistency: consistency,
};
