import fc from 'fast-check';
import type { DataEndpoint } from '../../../src/core/vocabulary.ts';
import type { HttpRequest } from '../../support/http.ts';
import type { Role } from './world.ts';

/** The parts of a request to a data endpoint that say what is requested. */
export interface DataAsk {
  readonly endpoint: DataEndpoint;
  /** The query after `?`, as it is sent: each character is a byte. */
  readonly query: string;
  readonly contentType: string;
  readonly body: Uint8Array;
}

const mistyped = (key: string) => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');

/** A key of valid form with a right checksum that nobody has. */
const NEVER_GIVEN_OUT = 'qrn_p_0000000000000000000000000000000000000000000000000NEVER0';

/** How the key is sent; from `missing` on no valid key is sent. */
const KEY_WAYS = {
  bearer: (key) => ({ Authorization: `Bearer ${key}` }),
  'lower-case scheme': (key) => ({ authorization: `bEARER   ${key}` }),
  'x-api-key': (key) => ({ 'X-API-Key': key }),
  both: (key) => ({ 'X-API-Key': mistyped(key), Authorization: `Bearer ${key}` }),
  missing: () => ({}),
  'other scheme': (key) => ({ Authorization: `Basic ${key}` }),
  mistyped: (key) => ({ Authorization: `Bearer ${mistyped(key)}` }),
  'never given out': () => ({ Authorization: `Bearer ${NEVER_GIVEN_OUT}` }),
} as const satisfies Record<string, (key: string) => Readonly<Record<string, string>>>;
export type KeyWay = keyof typeof KEY_WAYS;

type Form = 'json' | 'msgpack' | 'octet-stream';

/** An Accept field, and the order of preference in which it names our forms; it never prefers others. */
export interface Accept {
  readonly field: string | null;
  readonly wants: readonly Form[];
  readonly wantsProblem?: true;
}

/** A request to a data endpoint. */
export interface FuzzCase {
  readonly role: Role;
  readonly keyWay: KeyWay;
  readonly method: string;
  readonly ask: DataAsk;
  readonly accept: Accept;
}

export const ACCEPTS: readonly Accept[] = [
  { field: null, wants: ['json'] },
  { field: '', wants: ['json'] },
  { field: '*/*', wants: ['json'] },
  { field: 'application/json', wants: ['json'] },
  { field: 'application/msgpack', wants: ['msgpack'] },
  { field: 'APPLICATION/MsgPack', wants: ['msgpack'] },
  { field: 'application/octet-stream', wants: ['octet-stream'] },
  { field: 'application/octet-stream;q=0.9, application/msgpack;q=0.5', wants: ['octet-stream', 'msgpack'] },
  { field: 'application/json;q=0.1, application/msgpack;q=0.2', wants: ['msgpack'] },
  { field: 'application/msgpack;q=0', wants: [] },
  { field: 'application/octet-stream;q=0.000, */*', wants: ['json'] },
  { field: 'text/html, application/xhtml+xml, */*;q=0.8', wants: ['json'] },
  { field: 'application/*', wants: ['json'] },
  { field: 'application/msgpack; a="b,\\"c", application/json;q=0.9', wants: ['msgpack'] },
  { field: 'no-media-type, application/msgpack', wants: ['msgpack'] },
  { field: ', ,application/msgpack,', wants: ['msgpack'] },
  { field: 'application/msgpack;q=2', wants: ['json'] },
  { field: 'application/problem+json', wants: ['json'], wantsProblem: true },
  { field: 'application/problem+json, application/msgpack;q=0.1', wants: ['msgpack'], wantsProblem: true },
];

export const anyAccept: fc.Arbitrary<Accept> = fc.oneof(
  { weight: 2, arbitrary: fc.constant(ACCEPTS[0]) },
  { weight: 1, arbitrary: fc.constantFrom(...ACCEPTS) },
);

export const anyKeyWay: fc.Arbitrary<KeyWay> = fc.oneof(
  { weight: 12, arbitrary: fc.constant<KeyWay>('bearer') },
  { weight: 1, arbitrary: fc.constantFrom(...(Object.keys(KEY_WAYS) as KeyWay[])) },
);

/** Tells whether an answer in one of the forms is acceptable; otherwise the request gets 406. */
export function isAcceptable({ wants }: Accept, hasOctets: boolean): boolean {
  return wants.some((form) => form !== 'octet-stream' || hasOctets);
}

/** Returns the request as it is sent. `key` is the role's key. */
export function wireRequest({ keyWay, method, ask, accept }: FuzzCase, key: string): HttpRequest {
  const { endpoint, query, contentType, body } = ask;
  const headers: [string, string][] = Object.entries(KEY_WAYS[keyWay](key));
  if (accept.field !== null) headers.push(['Accept', accept.field]);
  if (contentType !== '') headers.push(['Content-Type', contentType]);
  const target = query === '' ? `/v1/${endpoint}` : `/v1/${endpoint}?${query}`;
  return { method, target, headers, body: method === 'POST' ? body : null };
}
