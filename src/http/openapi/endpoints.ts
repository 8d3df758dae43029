import { ERRORS, type ErrorCode } from '../../core/errors.ts';
import { constant, described, octets, ref, type Schema, text } from '../../core/schema.ts';
import type { BodyDefinition, EndpointDefinition } from '../endpoint.ts';
import { BODY_ERRORS, COMMON_PARAMETERS } from '../endpoint.ts';
import { STREAM } from '../endpoints/stream.ts';
import { CERTIFICATE, ENDPOINT_DEFINITIONS, HEALTH, USAGE } from '../endpoints/table.ts';
import type { ParameterDefinition } from '../params.ts';
import { MEDIA_TYPES } from '../representation.ts';
import { DATA_HEADERS, DOCUMENT_HEADERS, HEALTH_HEADERS, STREAM_HEADERS } from './headers.ts';
import { errorResponses, OF_DRAWING, OF_KEYED, OF_PARAMETERS, type OperationRow } from './operation.ts';
import { IDEMPOTENCY_KEY, json, type MediaTypes, memberSchemas, queryParameter } from './parameters.ts';
import { nameOf } from './schemas.ts';

function rowOf(endpoint: EndpointDefinition, operationId: string, body?: BodyDefinition): OperationRow {
  const { path, summary, scope, parameters } = endpoint;
  const isData = 'parse' in endpoint;
  // a request with a body has only the common parameters in its query
  const inQuery = (body === undefined ? parameters : COMMON_PARAMETERS).map(queryParameter);
  const codes = errorCodesOf(endpoint).filter(
    (code) => body !== undefined || BODY_ERRORS.every((each) => each !== code),
  );
  return {
    ...{ path, operationId, summary, scope, codes },
    method: body === undefined ? 'get' : 'post',
    tag: isData ? 'values' : 'account',
    parameters: isData ? [...inQuery, IDEMPOTENCY_KEY] : inQuery,
    ...(body && { body: bodyContent(body) }),
    responses: responsesOf(endpoint, codes),
  };
}

/** Returns the content of a body. It has one schema for each `type`, because the types differ in their `params`. */
function bodyContent({ members, params }: BodyDefinition): MediaTypes {
  const shapes = Object.entries(params ?? {}).map(([type, definitions]) => {
    const own = bodySchema(definitions);
    const { properties, required } = bodySchema(members);
    return {
      title: type,
      type: 'object',
      properties: {
        ...properties,
        type: described(constant(type), 'The kind of values.'),
        params: described(own, 'The parameters of this kind of values.'),
      },
      required: own.required.length === 0 ? required : [...required, 'params'],
      additionalProperties: false,
    };
  });
  return json(shapes.length === 0 ? bodySchema(members) : { oneOf: shapes });
}

function bodySchema(members: readonly ParameterDefinition[]) {
  return {
    type: 'object',
    properties: memberSchemas(members),
    required: members.filter(({ required }) => required === true).map(({ name }) => name),
    additionalProperties: false,
  };
}

function responsesOf(endpoint: EndpointDefinition, codes: readonly ErrorCode[]): OperationRow['responses'] {
  const inBoth = (schema: Schema) => ({ ...json(schema), [MEDIA_TYPES.msgpack]: { schema } });
  const success = (description: string, headers: Schema, content: MediaTypes) => ({
    200: { description, headers, content },
  });
  switch (endpoint) {
    case CERTIFICATE: {
      const content = { ...inBoth(ref('CertificateDocument')), 'application/pdf': { schema: octets } };
      return success('The certificate.', DOCUMENT_HEADERS, content);
    }
    case USAGE:
      return success('The usage and the limits of the account.', DOCUMENT_HEADERS, inBoth(ref('Usage')));
    case HEALTH: {
      const report = { [MEDIA_TYPES.health]: { schema: ref('HealthReport') } };
      const unavailable = errorResponses(codes)[503];
      const failing = json({ anyOf: [ref('Health'), ref('Error')] });
      return {
        ...success('The status is `pass` or `warn`.', HEALTH_HEADERS, {
          ...inBoth(ref('Health')),
          ...report,
        }),
        503: {
          ...unavailable,
          description: 'The status is `fail`, or the service cannot report its state.',
          content: { ...unavailable.content, ...report, ...failing },
        },
      };
    }
    case STREAM:
      return success(
        'The values in blocks, sent as fast as the client reads them. With `dry_run=true`, the price of all values.',
        STREAM_HEADERS,
        { 'application/x-ndjson': { schema: described(text, LINES) }, ...inBoth(ref('Quote')) },
      );
    default: {
      const hasOctets = endpoint.name === 'bytes' || endpoint.name === 'batch';
      const plain = described(text, 'The values only, one per line. The metadata is in the headers.');
      return success('The values. With `dry_run=true`, the price of the request.', DATA_HEADERS, {
        ...inBoth({ anyOf: [ref(`${nameOf(endpoint.name)}Answer`), ref('Quote')] }),
        ...(hasOctets && { [MEDIA_TYPES['octet-stream']]: { schema: described(octets, OCTETS) } }),
        'text/plain': { schema: plain },
        'text/csv': {
          schema: described(text, 'The values as CSV (RFC 4180) with one column, whose header is `value`.'),
        },
      });
    }
  }
}

/** Describes the body of a stream. test/api/stream.test.ts checks that streams have this form. */
const LINES =
  'One JSON object per line. Each line except the last is a block: an answer of `POST /v1/batch` with its own certificate. ' +
  'The last line of a complete stream is `{"end":{"first","blocks","of"}}`. If the service refuses a block, the last line is an error ' +
  'object with two more members: `retry_after`, the number of seconds to wait, if known, and `next`, the number of the block to resume with. ' +
  'A reply that ends without such a last line is incomplete.';
/** Describes the bodies of the type application/octet-stream. */
const OCTETS =
  'The values only, without separators. The metadata is in the headers. Integers are little-endian int32 if `min` and `max` fit, ' +
  'otherwise little-endian float64, which represents each of them exactly. Floats are little-endian float64. A UUID is 16 bytes (RFC 9562 §4).';

/** The error codes of nearly every call. The documentation explains them once, not for each call. */
export const ORDINARY_ERRORS: readonly ErrorCode[] = [
  ...OF_KEYED,
  ...OF_PARAMETERS,
  ...OF_DRAWING,
  ...COMMON_PARAMETERS.map(({ error }) => error),
  'pure_too_large',
  'rate_limited',
];

/** Returns every error code of an endpoint, in the order of the table of errors. */
function errorCodesOf(endpoint: EndpointDefinition): ErrorCode[] {
  const { parameters, body, errors } = endpoint;
  const read = [...parameters, ...(body?.members ?? []), ...Object.values(body?.params ?? {}).flat()];
  const codes = new Set<ErrorCode>([
    ...OF_KEYED,
    ...errors,
    ...read.map(({ error }) => error),
    ...(read.length > 0 ? OF_PARAMETERS : []),
    ...(endpoint === HEALTH ? [] : (['rate_limited'] as const)),
    ...('parse' in endpoint ? ([...OF_DRAWING, 'pure_too_large'] as const) : []),
  ]);
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code));
}

/** The operations of the endpoint definitions. A GET endpoint that also takes a body has two operations. */
export const ENDPOINT_ROWS: readonly OperationRow[] = ENDPOINT_DEFINITIONS.flatMap((endpoint) => {
  const { name, method, body } = endpoint;
  if (method === 'POST') return [rowOf(endpoint, name, body)];
  return [rowOf(endpoint, name), ...(body === undefined ? [] : [rowOf(endpoint, `${name}OfBody`, body)])];
});
