import type { DataRequest } from '../answer/request.ts';
import { ApiError, type ErrorCode } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import { boolean, oneOfWords, textLike } from '../core/schema.ts';
import { type DataEndpoint, ENTROPY_MODES, type Scope } from '../core/vocabulary.ts';
import { type MembersPlace, membersOf, parseJsonObject } from './json-body.ts';
import {
  ignore,
  notBoth,
  type ParameterDefinition,
  parameter,
  type SplitQuery,
  splitQuery,
  type ValuesOf,
} from './params.ts';
import { isJson } from './representation.ts';

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
  readonly params?: Readonly<Record<string, readonly ParameterDefinition[]>>;
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
export type DataEndpointDefinition = DrawingEndpointDefinition & { readonly name: DataEndpoint };

/** A reply of many answers in sequence (http/block-stream.ts). */
export interface StreamPlan {
  /** Number of blocks of the whole stream. */
  readonly blocks: number;
  /** Index of the first block of this reply, from 0. */
  readonly first: number;
  /** Returns the request of a block: the same object for all blocks except the last. */
  requestOf(block: number): DataRequest;
}

const ENTROPY_MODE = parameter(
  'entropy_mode',
  oneOfWords(ENTROPY_MODES),
  'The entropy mode. Upper and lower case are equivalent, and `hybrid` means `quantum-seeded`. The default depends on the tier: `csprng` for Free, `quantum-seeded` for all others.',
  { canonical: (text: string) => text.toLowerCase().replace(/^hybrid$/, 'quantum-seeded') },
);

export const FORMATS = ['json', 'plain', 'csv'] as const;
export const FORMAT = parameter(
  'format',
  oneOfWords(FORMATS),
  'The format of the answer. `plain` returns the values only, one per line. `csv` returns them as CSV (RFC 4180) with a header line. In both formats the metadata is in the headers. `format` takes precedence over the `Accept` header; without `format`, the `Accept` header decides.',
);

const DRY_RUN = parameter(
  'dry_run',
  boolean,
  'If true, the service checks the request and returns its price. It draws no entropy and spends no credits.',
  { default: false },
);

/** The parameters of the caller's label, which the certificate covers. Characters are Unicode code points. */
export const LABEL_PARAMETERS = [
  parameter(
    'purpose',
    textLike(/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,100}$/u),
    'The purpose of the values, 1 to 100 characters. The certificate is bound to the purpose and contains a serial number, which counts the answers of the account with this purpose.',
  ),
  parameter(
    'user_data',
    textLike(/^[^\p{Cs}]{1,1000}$/u),
    'Any text that the certificate is to be bound to, 1 to 1,000 characters.',
  ),
  parameter(
    'user_data_sha256',
    textLike(/^[0-9a-f]{64}$/u),
    'The SHA-256 hash of the user data, 64 lower-case hex digits. Use it instead of `user_data`.',
    { error: 'invalid_user_data', check: notBoth('user_data', 'user_data_sha256', 'invalid_user_data') },
  ),
  parameter(
    'public',
    boolean,
    'If true, the certificate and its public page show `purpose` and `user_data`. If false, they contain commitments instead, which only the salt in the answer can open.',
    { default: false },
  ),
] as const;

/** The parameters of every endpoint that draws entropy. They are checked after its own. */
export const DRAWING_PARAMETERS = [ENTROPY_MODE, DRY_RUN, ...LABEL_PARAMETERS] as const;

/** Those of an endpoint whose reply is one answer. */
export const COMMON_PARAMETERS = [ENTROPY_MODE, DRY_RUN, FORMAT, ...LABEL_PARAMETERS] as const;

/** Returns the part of a DataRequest that these parameters determine. */
export function commonRequest(
  read: ValuesOf<typeof DRAWING_PARAMETERS> & Partial<ValuesOf<typeof COMMON_PARAMETERS>>,
): Pick<DataRequest, 'mode' | 'dryRun' | 'format' | 'label'> {
  const { entropy_mode: mode, dry_run: dryRun, format, public: isPublic } = read;
  const { purpose, user_data: userData, user_data_sha256: userDataSha256 } = read;
  const hasLabel = [purpose, userData, userDataSha256].some((each) => each !== undefined);
  return {
    mode,
    dryRun,
    format,
    label: hasLabel ? { isPublic, purpose, userData, userDataSha256 } : undefined,
  };
}

/** The error codes of an endpoint with a JSON body, in addition to those of its members. */
export const BODY_ERRORS = ['unsupported_media_type', 'payload_too_large', 'invalid_json'] as const;

/** Reads the members of a JSON body. The common parameters may be in the body or in the query; the body wins. */
export function readBody(
  { query, contentType, body: bytes }: RequestContent,
  own: readonly ParameterDefinition[],
  place: MembersPlace = {},
): SplitQuery & { readonly body: JsonObject } {
  if (!isJson(contentType)) throw new ApiError('unsupported_media_type');
  const body = parseJsonObject(bytes);
  const inQuery = splitQuery(COMMON_PARAMETERS, query);
  const members = membersOf(body, [...own, ...COMMON_PARAMETERS], place);
  const ignored = [...inQuery.ignored];
  for (const name of inQuery.given.keys()) if (members.has(name)) ignore(ignored, name);
  return { body, given: new Map([...inQuery.given, ...members]), ignored };
}
