import type { LabelRequest } from '../answer/label.ts';
import type { DataRequest } from '../answer/request.ts';
import type { ErrorCode } from '../core/errors.ts';
import { boolean, oneOfWords, textLike } from '../core/schema.ts';
import { type DataEndpoint, ENTROPY_MODES, type Scope } from '../core/vocabulary.ts';
import { notBoth, type ParameterDefinition, type ValuesOf } from './params.ts';

/** An endpoint as data. The router, the OpenAPI document, the docs and the tests read the same definitions. */
export interface EndpointDefinition {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** The scope that a key needs. */
  readonly scope: Scope;
  readonly summary: string;
  /** Query parameters in the order in which they are checked. */
  readonly parameters: readonly ParameterDefinition[];
  /** The body, for POST. An endpoint of the method GET that has one also takes POST, with its parameters in the body. */
  readonly body?: BodyDefinition;
  /** Error codes of the endpoint, without those of its parameters and those of every endpoint. */
  readonly errors: readonly ErrorCode[];
}

/** The definition of a JSON body. */
export interface BodyDefinition {
  /** Its members in the order in which they are checked. */
  readonly members: readonly ParameterDefinition[];
  /** The members of `params` by type, for an endpoint with that member. */
  readonly params: Readonly<Record<string, readonly ParameterDefinition[]>>;
}

/** The parts of a request that parameters are read from. The class Exchange implements it. */
export interface RequestContent {
  readonly method: string;
  /** Without `?`. */
  readonly query: string;
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** Returns the content of a GET with this query. */
export function contentOfGet(query: string): RequestContent {
  return { method: 'GET', query, contentType: '', body: new Uint8Array(0) };
}

export interface ParsedDataRequest {
  readonly request: DataRequest;
  /** Names of unknown parameters, encoded for X-Ignored-Parameters. */
  readonly ignored: readonly string[];
  /** The blocks of a stream. `request` is then a request for all values of the stream, for its price. */
  readonly stream?: StreamPlan;
}

/** An endpoint that draws entropy. */
export interface DrawingEndpointDefinition extends EndpointDefinition {
  readonly name: DataEndpoint | 'stream';
  /** Parses a request. Throws the ApiError of the first check that fails. Must read only the query of a GET. */
  parse(content: RequestContent): ParsedDataRequest;
}

/** An endpoint whose reply is one answer. */
export interface DataEndpointDefinition extends DrawingEndpointDefinition {
  readonly name: DataEndpoint;
}

/** A reply of many answers in sequence (http/block-stream.ts). */
export interface StreamPlan {
  /** Number of blocks of the whole stream. */
  readonly blocks: number;
  /** Index of the first block of this reply, from 0. */
  readonly first: number;
  /** Returns the request of a block: the same object for all blocks except the last. */
  requestOf(block: number): DataRequest;
}

// The parameters below belong to every data endpoint. They are checked after its own.

export const ENTROPY_MODE = {
  name: 'entropy_mode',
  schema: oneOfWords(ENTROPY_MODES),
  canonical: (text) => text.toLowerCase().replace(/^hybrid$/, 'quantum-seeded'),
  error: 'invalid_entropy_mode',
  description:
    'Where the values come from. Letter case does not matter; hybrid means quantum-seeded. Left out, the tier decides: csprng for Free, quantum-seeded for every other, never pure.',
} as const satisfies ParameterDefinition;

export const FORMAT = {
  name: 'format',
  schema: oneOfWords(['json', 'plain', 'csv']),
  error: 'invalid_format',
  description:
    'plain: nothing but the values, one to a line; csv: the same as RFC 4180 with a header line; the metadata is then in headers. Comes before Accept, which decides when it is left out.',
} as const satisfies ParameterDefinition;

export const DRY_RUN = {
  name: 'dry_run',
  schema: boolean,
  default: false,
  error: 'invalid_boolean',
  description: 'Checks and prices the request; draws nothing, spends nothing.',
} as const satisfies ParameterDefinition;

/** The parameters of the caller's label, which the certificate covers. Characters are Unicode code points. */
export const LABEL_PARAMETERS = [
  {
    name: 'purpose',
    schema: textLike(/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,100}$/u),
    error: 'invalid_purpose',
    description:
      'What the values are for, 1 to 100 characters. The certificate is bound to it, and numbers the answers of the account under it.',
  },
  {
    name: 'user_data',
    schema: textLike(/^[^\p{Cs}]{1,1000}$/u),
    error: 'invalid_user_data',
    description: 'Anything that the certificate is to be bound to, 1 to 1,000 characters.',
  },
  {
    name: 'user_data_sha256',
    schema: textLike(/^[0-9a-f]{64}$/u),
    error: 'invalid_user_data',
    description: 'In place of user_data its SHA-256, 64 hex digits in lower case.',
    check: notBoth('user_data', 'user_data_sha256', 'invalid_user_data'),
  },
  {
    name: 'public',
    schema: boolean,
    default: false,
    error: 'invalid_boolean',
    description:
      'The certificate and its page show purpose and user_data. Otherwise they hold commitments, which only the answer opens.',
  },
] as const satisfies readonly ParameterDefinition[];

/** Returns the label that a request gives its answer; undefined if it gives none. */
export function labelRequest(values: ValuesOf<typeof LABEL_PARAMETERS>): LabelRequest | undefined {
  const { purpose, user_data: userData, user_data_sha256: userDataSha256, public: isPublic } = values;
  const said = [purpose, userData, userDataSha256];
  if (said.every((each) => each === undefined)) return undefined;
  return { isPublic, purpose, userData, userDataSha256 };
}
