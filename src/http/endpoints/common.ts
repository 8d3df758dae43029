import type { DataRequest } from '../../answer/request.ts';
import { ApiError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import {
  DRY_RUN,
  ENTROPY_MODE,
  FORMAT,
  LABEL_PARAMETERS,
  labelRequest,
  type RequestContent,
} from '../endpoint.ts';
import { type MembersPlace, membersOf, parseJsonObject } from '../json-body.ts';
import { ignore, type ParameterDefinition, type SplitQuery, splitQuery, type ValuesOf } from '../params.ts';
import { isJson } from '../representation.ts';

/** The parameters of every endpoint whose reply is one answer. They are checked after its own. */
export const COMMON_PARAMETERS = [
  ENTROPY_MODE,
  DRY_RUN,
  FORMAT,
  ...LABEL_PARAMETERS,
] as const satisfies readonly ParameterDefinition[];

/** Returns the part of a DataRequest that these parameters determine. */
export function commonRequest(
  values: ValuesOf<typeof COMMON_PARAMETERS>,
): Pick<DataRequest, 'mode' | 'dryRun' | 'format' | 'label'> {
  const { entropy_mode: mode, dry_run: dryRun, format } = values;
  return { mode, dryRun, format, label: labelRequest(values) };
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
