import type { DataEndpoint, EntropyMode } from '../core/vocabulary.ts';
import type { ValueRequest } from '../values/value-request.ts';

/**
 * What an endpoint asks for, once its parameters are valid: which values, and how the `data` member of the answer
 * names them. Handlers of data endpoints make one of these and nothing else.
 */
export interface DataRequest {
  readonly endpoint: DataEndpoint;
  readonly values: ValueRequest;
  /** The member of `data` that holds the values: values, bytes, uuids, bitstring or items. */
  readonly valueKey: string;
  /** The other members of `data` that echo the effective parameters, e.g. count, max, min, sort, unique. */
  readonly members: Readonly<Record<string, string | number | boolean | null>>;
  /** The mode that was asked for; undefined when the account's tier decides. */
  readonly mode: EntropyMode | undefined;
  /** Price the request, draw nothing. */
  readonly dryRun: boolean;
}
