import { type HeadedField, IN_BARE_HEADS, IN_EVERY_HEAD } from '../../answer/fields.ts';
import type { Schema } from '../../core/schema.ts';

// The header fields of answers: those of the table in answer/fields.ts, each with the description of its member, and others.

const namesOf = (fields: readonly HeadedField[]) => fields.map(({ header }) => header);

export const PLAIN_HEADERS = [
  'X-Request-ID',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit',
  'RateLimit-Policy',
];
const PROVENANCE = ['X-Lang-Circuit', 'X-Lang-Version', 'X-Quantum-Backend', 'X-NIST-Verified'];
export const HEALTH_HEADERS = refsOf(['X-Request-ID', ...PROVENANCE]);
export const DOCUMENT_HEADERS = refsOf([...PLAIN_HEADERS, ...PROVENANCE]);
const OF_DATA = [...new Set([...PLAIN_HEADERS, ...namesOf(IN_EVERY_HEAD), 'X-Ignored-Parameters'])];
export const DATA_HEADERS = refsOf([...OF_DATA, ...namesOf(IN_BARE_HEADS)]);
/** The header fields of a stream. Fields whose value may differ from block to block are not among them. */
export const STREAM_HEADERS = refsOf(
  OF_DATA.filter((name) => ![...PROVENANCE, 'X-Entropy-Origin'].includes(name)),
);

export function refsOf(names: readonly string[]): Schema {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function header(description: string, type: 'string' | 'integer' = 'string'): Schema {
  return { description, schema: { type } };
}

const OF_ANSWERS = [...IN_EVERY_HEAD, ...IN_BARE_HEADS].map((field) => {
  const place = field.group === 'drawn' ? 'data.metadata' : field.group;
  const ofBare = field.isInEveryHead === true ? '' : ' Only answers with bare values have this header.';
  const same = `The same value as \`${place}.${field.name}\`.`;
  const meaning = `${String(field.schema['description'] ?? '')} ${same}${ofBare}`.trim();
  return [field.header, header(meaning, 'number' in field ? 'integer' : 'string')] as const;
});

/** The object `components/headers` of the document. */
export const HEADERS: Readonly<Record<string, Schema>> = {
  ...Object.fromEntries(OF_ANSWERS),
  RateLimit: header('The number of requests left of the burst (draft-ietf-httpapi-ratelimit-headers).'),
  'RateLimit-Policy': header(
    'The rate limits (draft-ietf-httpapi-ratelimit-headers): the burst with the number of seconds in which it refills, and the sustained rate per minute.',
  ),
  'Retry-After': header('The number of seconds after which a retry can succeed.', 'integer'),
  'WWW-Authenticate': header('The authentication scheme and the reason for the refusal (RFC 6750 §3).'),
  'X-Ignored-Parameters': header(
    'The names of parameters that the endpoint does not have and that the service therefore ignored.',
  ),
  'X-RateLimit-Remaining': header('The number of requests that the account may send now.', 'integer'),
  'X-RateLimit-Reset': header(
    'The Unix time in seconds at which the full burst is available again.',
    'integer',
  ),
};
