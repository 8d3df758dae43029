import { certificateIdSchema, modeSchema, requestIdSchema, schemaOf } from '../../answer/fields.ts';
import { certificateForm } from '../../certificate/certificate-members.ts';
import { LOT_LEAF } from '../../certificate/lot-members.ts';
import { ERRORS } from '../../core/errors.ts';
import {
  boolean,
  count,
  described,
  listOf,
  object,
  oneOfWords,
  orNull,
  ref,
  type Schema,
  sha256,
  text,
  time,
} from '../../core/schema.ts';
import { DATA_ENDPOINTS, type DataEndpoint, ENTROPY_MODES, SCOPES, TIERS } from '../../core/vocabulary.ts';
import { BATCH_KINDS, KINDS, type Kind } from '../endpoints/kinds.ts';
import { COUNT_LIMITS } from '../endpoints/tiers.ts';
import { DRAW } from './draws.ts';
import { parameterSchema } from './parameters.ts';

/*
 * The shapes of answers as JSON Schema (draft 2020-12, as OpenAPI 3.1 takes it). test/api/openapi.test.ts
 * holds what the running service answers against them, and no object may have a member that is not named
 * here.
 */
export const lotId: Schema = { type: 'string', pattern: '^lot_[0-9a-hjkmnp-tv-z]{26}$' };

/** Beside a document for which nothing is drawn; a certificate's names what its answer was drawn from. */
const documentMetadata = object({
  request_id: requestIdSchema,
  timestamp: time,
  lang_circuit: text,
  lang_version: text,
  quantum_backend: text,
  nist_verified: boolean,
  powered_by: text,
});

const run = object(
  { first: described(count, 'The index of the first.'), hashes: listOf(text), path: listOf(text) },
  {},
  'Neighbouring leaves of a tree and what leads from them to its root; hashes in base64.',
);
const lotProof = object({
  leaf: described(
    LOT_LEAF,
    'The lot, whole: `provenance.lots` has the hash of its canonical JSON as a leaf.',
  ),
  proof: described(
    orNull(text),
    'c2sp.org/tlog-proof of the leaf; null for a sample of the csprng stream that is not logged yet.',
  ),
  runs: described(listOf(run), 'Proofs of the pieces that were drawn.'),
});
const logged = object({ leaf: text, proof: text });

/** What the log answers of its public leaves. */
const LOG_SCHEMAS: Readonly<Record<string, Schema>> = {
  PublicLeaves: object({ leaves: listOf(object({ index: count, leaf: text })) }),
  PublicLot: object({
    lot_id: text,
    leaf: text,
    proof: text,
    withdrawal: described(orNull(logged), 'The leaf that withdrew the lot; null when it was not withdrawn.'),
    withdrawals: described(listOf(text), 'The leaves of all withdrawals so far.'),
    statement: described(
      orNull(logged),
      'The newest statement of how many withdrawals the log holds; null before the first.',
    ),
  }),
};

/** What the caller said of an answer, in the answer itself. */
const answerLabel = object(
  { public: boolean },
  { purpose: text, series: text, user_data: text, user_data_sha256: sha256 },
  'What the request said of the answer.',
);

/** What GET /v1/draws answers. */
const drawList = object({
  purpose: text,
  series: described(
    listOf(object({ id: text, count })),
    'One for each account that used the purpose publicly, with how many answers it has had.',
  ),
  draws: listOf(
    object({
      series: text,
      serial: described(count, 'The number under the purpose, from 1 without gaps.'),
      issued_at: time,
      certificate_id: described(orNull(certificateIdSchema), 'Null where the answer was not made public.'),
    }),
  ),
  next: described(orNull(count), 'The value of from that continues the list; null at its end.'),
});

const certificate = certificateForm(undefined, {
  status: oneOfWords(['valid', 'revoked', 'test'], 'What holds now; not part of what was signed.'),
  verify_url: described({ type: 'string', format: 'uri' }, 'The public page; not part of what was signed.'),
  proof: described(orNull(text), 'c2sp.org/tlog-proof; null for a moment after the answer.'),
});

const certificateDocument = object(
  { certificate, lots: described(listOf(lotProof), 'The lots of `provenance.lots`, in the same order.') },
  {
    revocation: object({ lot_id: text, reason: text, revoked_at: time }),
    metadata: documentMetadata,
  },
);

/** Of every `data` member that was drawn. */
const drawnFrom = schemaOf('drawn');

/** The members of `data` that a kind's answer has beside the values. */
function echoedBy(kind: Kind): Record<string, Schema> {
  const echoed = kind.echoed.map((each) => {
    if (typeof each !== 'string') return each;
    const { default: _, ...schema } = parameterSchema(kind.own.find(({ name }) => name === each)!);
    return [each, schema] as const;
  });
  return Object.fromEntries(echoed);
}

function dataOf(endpoint: DataEndpoint): Record<string, Schema> {
  if (endpoint === 'batch') return BATCH_DATA;
  const kind = KINDS[endpoint];
  return { ...(kind.count && { count }), ...echoedBy(kind), [kind.valueKey]: kind.value };
}

const BATCH_DATA = {
  values: described(
    listOf({ type: ['integer', 'number', 'string', 'array'] }),
    'Lists of numbers for permutations, lists of such lists for sequences.',
  ),
  count,
  type: oneOfWords(Object.keys(BATCH_KINDS)),
  params: described(
    { oneOf: Object.values(BATCH_KINDS).map((kind) => object(echoedBy(kind))) },
    'The effective parameters of the type, defaults included.',
  ),
};

const opening = object(
  { bytes: text, path: text, salts: text },
  {},
  'In pure mode, base64: the drawn pieces, the hashes that lead to the roots of their blocks, and their salts. Absent in long answers.',
);

/** The answer of a data endpoint. */
function answerOf(endpoint: DataEndpoint, own: Readonly<Record<string, Schema>>): Schema {
  return object(
    { data: ref(`${nameOf(endpoint)}Data`), metadata: ref('Metadata'), meta: ref('Meta'), ...own },
    { label: answerLabel, opening },
  );
}

/** The name of an endpoint's schemas, e.g. `Integers`. */
export function nameOf(endpoint: string): string {
  return endpoint[0].toUpperCase() + endpoint.slice(1);
}

const quote = object(
  {
    data: object({ mode: modeSchema, required_bytes: described(count, 'What it would cost in pure mode.') }),
    metadata: object({ request_id: requestIdSchema, timestamp: time }),
    meta: ref('Meta'),
    quantum_credits: ref('Credits'),
  },
  {},
  'The answer to dry_run=true: nothing was drawn.',
);

const used = object({ requests: count, values: count, bytes: count }, {}, 'How much of it was used.');
const usage = object({
  data: object({
    period: { type: 'string', pattern: '^\\d{4}-\\d{2}$' },
    starts_at: described(time, 'When it begins.'),
    ends_at: described(time, 'When it ends.'),
    tier: oneOfWords(TIERS),
    requests: object({ used: count, limit: count, remaining: count }),
    rate: object({
      limit_per_minute: described(count, 'Requests a minute.'),
      burst: described(count, 'Requests that may come at once.'),
      remaining: count,
      reset_at: described(time, 'When the full burst is there again.'),
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

/** The `data` member of GET /v1/tiers. */
const tierList = object({
  tiers: listOf(
    object({
      tier: oneOfWords(TIERS),
      requests_per_minute: described(orNull(count), 'The sustained rate.'),
      burst: described(orNull(count), 'Requests that may come at once; also the most in any 60 seconds.'),
      requests_per_month: described(orNull(count), 'Answered requests for values.'),
      credits_per_month: described(orNull(count), 'Bytes of pure mode.'),
      entropy_modes: described(
        listOf(oneOfWords(ENTROPY_MODES)),
        'The modes that the tier has, the default first.',
      ),
      default_entropy_mode: oneOfWords(ENTROPY_MODES, 'The mode of a request that names none.'),
      seed_interval_s: described(
        orNull(count),
        'How often quantum-seeded takes a new seed; null without it.',
      ),
      scopes: described(listOf(oneOfWords(SCOPES)), 'What keys may be allowed.'),
      custom: described(boolean, 'Each account agrees on figures of its own; they are null here.'),
    }),
  ),
  prices: listOf(
    object({
      kind: text,
      bits: described(text, 'The entropy of the answer; the price is an eighth of it, rounded up once.'),
      example: described(text, 'A request with this price.'),
      credits: described(count, 'The price of the example.'),
    }),
  ),
  limits: object(
    Object.fromEntries(
      Object.keys(COUNT_LIMITS).map((name) => [name, described(count, 'The most in one request.')]),
    ),
  ),
});

const healthStatus = oneOfWords(['pass', 'warn', 'fail']);
const healthReport = object({
  status: described(healthStatus, 'fail when nothing can be answered, warn when any check is not pass.'),
  version: text,
  releaseId: described(text, 'The version of the software.'),
  time: described(time, 'When it was observed.'),
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
      request_id: requestIdSchema,
    },
    { details },
  ),
});
const problem = object(
  {
    type: { type: 'string', format: 'uri-reference' },
    title: described(text, 'The status in words.'),
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: described(text, 'What to do.'),
    instance: { type: 'string', format: 'uri' },
    code: errorCode,
    request_id: requestIdSchema,
  },
  { details },
  'The same facts as RFC 9457.',
);

const logKeys = listOf(
  object(
    {
      key_id: { type: 'string', pattern: '^[0-9a-f]{8}$' },
      algorithm: { type: 'string', const: 'ed25519' },
      public_key: { type: 'string', contentEncoding: 'base64' },
      verifier_key: text,
      cosigner_key: described(text, 'The same key as cosigner: every checkpoint it signs has a time.'),
      created_at: described(time, 'From when on it signs.'),
      retired_at: described(
        orNull(time),
        'By when it had signed for the last time; null for the key in use.',
      ),
    },
    {
      vouched_by: described(
        text,
        'The checkpoint that the key before it signed together with it: a signed note. The first key has none.',
      ),
    },
  ),
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
  from: described(count, 'Where it begins.'),
  to: described(count, 'Where it ends.'),
  hashes: listOf({ type: 'string', contentEncoding: 'base64' }),
});

/** Everything under `components/schemas`. */
export const COMPONENT_SCHEMAS: Readonly<Record<string, Schema>> = {
  ...Object.fromEntries(
    DATA_ENDPOINTS.map((endpoint) => [
      `${nameOf(endpoint)}Data`,
      object({ ...dataOf(endpoint), metadata: drawnFrom }),
    ]),
  ),
  ...Object.fromEntries(
    DATA_ENDPOINTS.map((endpoint) => [
      `${nameOf(endpoint)}Answer`,
      answerOf(endpoint, { quantum_credits: ref('Credits') }),
    ]),
  ),
  DrawAnswer: answerOf('bytes', {}),
  Quote: quote,
  Metadata: schemaOf('metadata'),
  Meta: schemaOf('meta'),
  Credits: {
    ...schemaOf('quantum_credits'),
    description: 'Bytes of pure mode; 2^53 - 1 stands for unlimited.',
  },
  CertificateDocument: certificateDocument,
  Usage: { ...usage, description: '2^53 - 1 stands for unlimited.' },
  Tiers: object({ data: tierList, metadata: documentMetadata }),
  Health: object({ data: ref('HealthReport'), metadata: documentMetadata }),
  HealthReport: healthReport,
  Error: error,
  Problem: problem,
  Keys: keys,
  Consistency: consistency,
  Draws: drawList,
  Draw: DRAW,
  ...LOG_SCHEMAS,
};
