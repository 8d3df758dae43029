import { Chance } from '../../support/chance.ts';
import { getOf, postOf } from './requests.ts';

/** The parameters of floods. */
export interface FloodContext {
  /** Count of leaves in the log. */
  readonly size: number;
  readonly certificateId: string;
  /** Key of a free account that has used up its rate. */
  readonly spentKey: string;
  /** Key of a second account without limits, which is not measured. */
  readonly otherKey: string;
}

export interface Flood {
  readonly what: string;
  readonly request: (context: FloodContext) => string;
  /** The status of its answers, apart from 503; 200 by default. */
  readonly status?: number;
  /** Count of its requests that may be answered 200 nevertheless. */
  readonly servedMax?: number;
}

/**
 * The requests that others send while the rate of a paying account is measured, by who pays for them: one of each kind
 * of work.
 */

const chance = new Chance('floods');
const name = () => chance.below(2 ** 31).toString(36);

/** Requests that nobody pays for: look-ups without a key, and refusals. */
export const LOOK_UPS: readonly Flood[] = [
  {
    what: 'consistency of the log',
    request: ({ size }) => getOf(`/log/consistency?from=${1 + chance.below(size - 1)}&to=${size}`),
  },
  { what: 'a certificate', request: ({ certificateId }) => getOf(`/verify/${certificateId}`) },
  { what: 'an unknown key', request: () => getOf('/v1/uuid'), status: 401 },
  {
    what: 'an unknown JSON-RPC method',
    request: () => postOf('/json-rpc/4/invoke', { jsonrpc: '2.0', method: 'a', params: {}, id: 1 }),
  },
];

/** More requests that nobody pays for: pages, preflights, and those of an account that has used up its rate. */
export const PAGES: readonly Flood[] = [
  {
    what: 'the page of a certificate, compressed',
    request: ({ certificateId }) => getOf(`/verify/${certificateId}`, 'Accept-Encoding: br'),
  },
  { what: 'a PDF', request: ({ certificateId }) => getOf(`/verify/${certificateId}.pdf`) },
  { what: 'the OpenAPI document', request: () => getOf('/openapi.json') },
  {
    what: 'values beyond the rate',
    request: ({ spentKey }) => getOf('/v1/uuid', `X-API-Key: ${spentKey}`),
    status: 429,
    servedMax: 60, // ten a minute are admitted again
  },
];

const integers = ({ otherKey }: FloodContext, query = '', ...fields: readonly string[]) =>
  getOf(`/v1/integers?count=1&entropy_mode=csprng${query}`, `X-API-Key: ${otherKey}`, ...fields);

/** The requests of another account without limits, which pays too. */
export const TENANT: readonly Flood[] = [
  { what: 'the same', request: (context) => integers(context) },
  {
    what: 'answers with many purposes',
    request: (context) => integers(context, `&purpose=${name()}&public=true`),
  },
  {
    what: 'an Idempotency-Key each',
    request: (context) => integers(context, '', `Idempotency-Key: ${name()}`),
  },
  {
    what: 'batches of 1,000',
    request: ({ otherKey }) =>
      postOf('/v1/batch', { type: 'uuid', count: 1_000, entropy_mode: 'csprng' }, `X-API-Key: ${otherKey}`),
  },
  {
    what: 'signed answers of JSON-RPC',
    request: ({ otherKey }) =>
      postOf('/json-rpc/4/invoke', {
        jsonrpc: '2.0',
        method: 'generateSignedIntegers',
        params: { apiKey: otherKey, n: 1, min: 1, max: 6 },
        id: 1,
      }),
  },
];
