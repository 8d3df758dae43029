import { USAGE } from '../../account/usage.ts';
import { modeSchema, requestIdSchema, schemaOf } from '../../answer/fields.ts';
import { DRAW_LIST, PUBLIC_LOT } from '../../certificate/archive.ts';
import { CERTIFICATE_DOCUMENT } from '../../certificate/document.ts';
import { DRAW } from '../../certificate/draw-document.ts';
import { KEYS_DOCUMENT } from '../../certificate/keys-document.ts';
import { ERRORS } from '../../core/errors.ts';
import { LOT_ID } from '../../core/ids.ts';
import {
  base64,
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
  textLike,
  time,
} from '../../core/schema.ts';
import { DATA_ENDPOINTS, type DataEndpoint, ENTROPY_MODES, SCOPES, TIERS } from '../../core/vocabulary.ts';
import { BATCH_KINDS, KINDS, type Kind } from '../endpoints/kinds.ts';
import { COUNT_LIMITS } from '../endpoints/tiers.ts';
import { HEALTH_REPORT, PROVENANCE } from '../plain-routes.ts';
import { parameterSchema } from './parameters.ts';

/*
 * The answers as JSON Schema (draft 2020-12, which OpenAPI 3.1 uses). test/api/openapi.test.ts validates the replies of a
 * running service, in which no object may have a member that is not named here.
 */
export const lotId = textLike(LOT_ID);

/** The facts about the request that accompany every document. */
const timestamp = described(time, 'When the request came in.');
const ofDocument = 'Where the values came from, and the request.';
/** The `metadata` of documents. That of a certificate names what its answer was drawn from; for all others nothing was drawn. */
const documentMetadata = described(
  object({
    request_id: requestIdSchema,
    timestamp,
    ...PROVENANCE,
  }),
  ofDocument,
);
const documentOf = (data: Schema) =>
  object({ data: described(data, 'What was asked for.'), metadata: documentMetadata });

/** The caller's label in an answer. */
const answerLabel = object(
  { public: described(boolean, 'Whether the certificate shows purpose and user_data.') },
  {
    purpose: described(text, 'What the values are for.'),
    series: described(text, 'The answers of one account under a purpose.'),
    user_data: described(text, 'What the answer was bound to.'),
    user_data_sha256: described(sha256, 'SHA-256 of what the answer was bound to.'),
  },
  'What the request said of the answer.',
);

const certificateDocument = {
  ...CERTIFICATE_DOCUMENT,
  properties: { ...(CERTIFICATE_DOCUMENT['properties'] as object), metadata: documentMetadata },
};

/** The member `metadata` of every `data` that was drawn. */
const drawnFrom = described(schemaOf('drawn'), ofDocument);

/** Returns the members of `data` in a kind's answer, except the values. */
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
  return { ...(kind.count && { count: howMany }), ...echoedBy(kind), [kind.valueKey]: kind.value };
}

const howMany = described(count, 'How many.');

const BATCH_DATA = {
  values: described(
    listOf({ type: ['integer', 'number', 'string', 'array'] }),
    'Lists of numbers for permutations, lists of such lists for sequences.',
  ),
  count: howMany,
  type: oneOfWords(Object.keys(BATCH_KINDS), 'The kind.'),
  params: described(
    { oneOf: Object.values(BATCH_KINDS).map((kind) => object(echoedBy(kind))) },
    'The effective parameters of the type, defaults included.',
  ),
};

const opening = object(
  {
    bytes: described(text, 'Bytes, encoded or counted.'),
    path: described(text, 'Hashes from the leaf to the root.'),
    salts: described(text, 'The salts of the pieces.'),
  },
  {},
  'In pure mode, base64: the drawn pieces, the hashes that lead to the roots of their blocks, and their salts. Absent in long answers.',
);

const meta = described(
  ref('Meta'),
  'The request, as the entropy-mode variant of the specification names it.',
);
const credits = described(ref('Credits'), 'The credits of pure mode.');

function answerOf(endpoint: DataEndpoint, own: Readonly<Record<string, Schema>>): Schema {
  const data = described(ref(`${nameOf(endpoint)}Data`), 'What was asked for.');
  const metadata = described(ref('Metadata'), ofDocument);
  return object({ data, metadata, meta, ...own }, { label: answerLabel, opening });
}

/** Returns the name of an endpoint's schemas, e.g. `Integers`. */
export function nameOf(endpoint: string): string {
  return endpoint[0].toUpperCase() + endpoint.slice(1);
}

const quote = object(
  {
    data: described(
      object({ mode: modeSchema, required_bytes: described(count, 'What it would cost in pure mode.') }),
      'What was asked for.',
    ),
    metadata: described(object({ request_id: requestIdSchema, timestamp }), ofDocument),
    meta,
    quantum_credits: credits,
  },
  {},
  'The answer to dry_run=true: nothing was drawn.',
);

/** The `data` member of GET /v1/tiers. */
const tierList = object({
  tiers: described(
    listOf(
      object({
        tier: oneOfWords(TIERS, 'The tier of the account.'),
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
    'The tiers.',
  ),
  prices: described(
    listOf(
      object({
        kind: described(text, 'The kind of values.'),
        bits: described(text, 'The entropy of the answer; the price is an eighth of it, rounded up once.'),
        example: described(text, 'A request with this price.'),
        credits: described(count, 'The price of the example.'),
      }),
    ),
    'What pure mode costs.',
  ),
  limits: described(
    object(
      Object.fromEntries(
        Object.keys(COUNT_LIMITS).map((name) => [name, described(count, 'The most in one request.')]),
      ),
    ),
    'The most that one request may ask for.',
  ),
});

const details = described({ type: 'object' }, 'Facts for programs; which ones depends on the code.');
const errorCode = oneOfWords(Object.keys(ERRORS), 'What programs should look at.');
const httpStatus: Schema = { type: 'integer', minimum: 400, maximum: 599 };
const error = object({
  error: described(
    object(
      {
        code: errorCode,
        message: described(text, 'What to do.'),
        status: described(httpStatus, 'The state.'),
        request_id: requestIdSchema,
      },
      { details },
    ),
    'What was wrong.',
  ),
});
const problem = object(
  {
    type: described({ type: 'string', format: 'uri-reference' }, 'The kind.'),
    title: described(text, 'The status in words.'),
    status: described(httpStatus, 'The state.'),
    detail: described(text, 'What to do.'),
    instance: described({ type: 'string', format: 'uri' }, 'Names the request, as a URI.'),
    code: errorCode,
    request_id: requestIdSchema,
  },
  { details },
  'The same facts as RFC 9457.',
);

const consistency = object({
  from: described(count, 'Where it begins.'),
  to: described(count, 'Where it ends.'),
  hashes: described(listOf(base64), 'SHA-256 digests.'),
});

const publicLeaf = object({
  index: described(count, 'The place, from 0.'),
  leaf: described(text, 'The leaf of the log: canonical JSON, or its hash.'),
});

/** The object `components/schemas` of the document. */
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
      answerOf(endpoint, { quantum_credits: credits }),
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
  Usage: { ...documentOf(USAGE), description: '2^53 - 1 stands for unlimited.' },
  Tiers: documentOf(tierList),
  Health: documentOf(ref('HealthReport')),
  HealthReport: HEALTH_REPORT,
  Error: error,
  Problem: problem,
  Keys: KEYS_DOCUMENT,
  Consistency: consistency,
  Draws: DRAW_LIST,
  Draw: DRAW,
  PublicLeaves: object({ leaves: described(listOf(publicLeaf), 'The leaves with their indexes.') }),
  PublicLot: PUBLIC_LOT,
};
