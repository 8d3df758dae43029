import { USAGE } from '../../account/usage.ts';
import { modeSchema, requestIdSchema, schemaOf } from '../../answer/fields.ts';
import { DRAW_LIST, PUBLIC_LOT } from '../../certificate/archive.ts';
import { CERTIFICATE_DOCUMENT } from '../../certificate/document.ts';
import { DRAW } from '../../certificate/draw-document.ts';
import { KEYS_DOCUMENT } from '../../certificate/keys-document.ts';
import { ERRORS } from '../../core/errors.ts';
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

/** The facts about the request that accompany every document. */
const timestamp = described(time, 'The time at which the service received the request.');
const ofDocument = 'Facts about the entropy and about the request.';
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
  object({ data: described(data, 'The requested data.'), metadata: documentMetadata });

/** The caller's label in an answer. */
const answerLabel = object(
  { public: described(boolean, 'Whether the certificate shows `purpose` and `user_data` to everyone.') },
  {
    purpose: described(text, 'The purpose of the values.'),
    series: described(text, 'The identifier of the series: all answers of one account under one purpose.'),
    user_data: described(text, 'The user data that the answer is bound to.'),
    user_data_sha256: described(sha256, 'The SHA-256 hash of the user data that the answer is bound to.'),
  },
  'The label that the request gave the answer. Absent if it gave none.',
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

const howMany = described(count, 'The number of values.');

const BATCH_DATA = {
  values: described(
    listOf({ type: ['integer', 'number', 'string', 'array'] }),
    'The values. Each value is a list of numbers for permutations, and a list of such lists for sequences.',
  ),
  count: howMany,
  type: oneOfWords(Object.keys(BATCH_KINDS), 'The kind of values.'),
  params: described(
    { oneOf: Object.values(BATCH_KINDS).map((kind) => object(echoedBy(kind))) },
    'The parameters that were used, including defaults.',
  ),
};

const opening = object(
  {
    bytes: described(text, 'The drawn pieces, in base64.'),
    path: described(text, 'The hashes that lead from the pieces to the roots of their blocks, in base64.'),
    salts: described(text, 'The salts of the pieces, in base64.'),
  },
  {},
  'The proof that the values were made from the drawn pieces of the lots. Only answers in pure mode have it, and long answers do not.',
);

const meta = described(ref('Meta'), 'Further facts about the request.');
const credits = described(ref('Credits'), 'The credits of the account for pure mode.');

function answerOf(endpoint: DataEndpoint, own: Readonly<Record<string, Schema>>): Schema {
  const data = described(
    ref(`${nameOf(endpoint)}Data`),
    'The requested values and the parameters that were used.',
  );
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
      object({
        mode: modeSchema,
        required_bytes: described(
          count,
          'The price of the request in pure mode, in bytes. One credit pays for one byte.',
        ),
      }),
      'The price of the request.',
    ),
    metadata: described(object({ request_id: requestIdSchema, timestamp }), ofDocument),
    meta,
    quantum_credits: credits,
  },
  {},
  'The answer to a request with `dry_run=true`. The service has drawn no entropy.',
);

/** The `data` member of GET /v1/tiers. */
const tierList = object({
  tiers: described(
    listOf(
      object({
        tier: oneOfWords(TIERS, 'The name of the tier.'),
        requests_per_minute: described(
          orNull(count),
          'The number of requests per minute that an account may send continuously.',
        ),
        burst: described(
          orNull(count),
          'The number of requests that an account may send at once. It is also the maximum in any 60 seconds.',
        ),
        requests_per_month: described(orNull(count), 'The number of answered requests for values per month.'),
        credits_per_month: described(
          orNull(count),
          'The credits per month. One credit pays for one byte of pure mode.',
        ),
        entropy_modes: described(
          listOf(oneOfWords(ENTROPY_MODES)),
          'The entropy modes of the tier. The first one is the default.',
        ),
        default_entropy_mode: oneOfWords(
          ENTROPY_MODES,
          'The entropy mode of a request without `entropy_mode`.',
        ),
        seed_interval_s: described(
          orNull(count),
          'The interval in seconds at which quantum-seeded mode takes a new seed. It is null for a tier without this mode.',
        ),
        scopes: described(listOf(oneOfWords(SCOPES)), 'The scopes that API keys of the tier can have.'),
        custom: described(
          boolean,
          'Whether the limits are agreed for each account individually. They are null here if so.',
        ),
      }),
    ),
    'The tiers, smallest first.',
  ),
  prices: described(
    listOf(
      object({
        kind: described(text, 'The kind of values.'),
        bits: described(
          text,
          'The formula for the entropy of the answer in bits. The price in credits is an eighth of it, rounded up.',
        ),
        example: described(text, 'An example request.'),
        credits: described(count, 'The price of the example request in credits.'),
      }),
    ),
    'The prices of pure mode.',
  ),
  limits: described(
    object(
      Object.fromEntries(
        Object.keys(COUNT_LIMITS).map((name) => [name, described(count, 'The maximum per request.')]),
      ),
    ),
    'The limits of one request.',
  ),
});

const details = described({ type: 'object' }, 'Details for programs. The members depend on the error code.');
const errorCode = oneOfWords(
  Object.keys(ERRORS),
  'The error code. Programs should decide by this code and not by the message.',
);
const httpStatus: Schema = { type: 'integer', minimum: 400, maximum: 599 };
const error = object({
  error: described(
    object(
      {
        code: errorCode,
        message: described(
          text,
          'A message for developers that explains the error and how to correct the request.',
        ),
        status: described(httpStatus, 'The HTTP status code.'),
        request_id: requestIdSchema,
      },
      { details },
    ),
    'The error.',
  ),
});
const problem = object(
  {
    type: described({ type: 'string', format: 'uri-reference' }, 'A URI that identifies the kind of error.'),
    title: described(text, 'The name of the HTTP status.'),
    status: described(httpStatus, 'The HTTP status code.'),
    detail: described(
      text,
      'A message for developers that explains the error and how to correct the request.',
    ),
    instance: described({ type: 'string', format: 'uri' }, 'The identifier of the request, as a URI.'),
    code: errorCode,
    request_id: requestIdSchema,
  },
  { details },
  'The error in the form of RFC 9457.',
);

const consistency = object({
  from: described(count, 'The smaller size of the log.'),
  to: described(count, 'The larger size of the log.'),
  hashes: described(listOf(base64), 'The hashes of the consistency proof.'),
});

const publicLeaf = object({
  index: described(count, 'The index of the leaf in the log, from 0.'),
  leaf: described(text, 'The leaf, as canonical JSON.'),
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
    description: 'The credits of the account for pure mode. One credit pays for one byte.',
  },
  CertificateDocument: certificateDocument,
  Usage: { ...documentOf(USAGE), description: 'The usage of the account. 2^53 - 1 means unlimited.' },
  Tiers: documentOf(tierList),
  Health: documentOf(ref('HealthReport')),
  HealthReport: HEALTH_REPORT,
  Error: error,
  Problem: problem,
  Keys: KEYS_DOCUMENT,
  Consistency: consistency,
  Draws: DRAW_LIST,
  Draw: DRAW,
  PublicLeaves: object({
    leaves: described(listOf(publicLeaf), 'The leaves with their indexes in the log.'),
  }),
  PublicLot: PUBLIC_LOT,
};
