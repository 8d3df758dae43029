import type { DataEndpointDefinition, EndpointDefinition } from '../endpoint.ts';
import { BATCH } from './batch.ts';
import { BITSTRING } from './bitstring.ts';
import { BYTES } from './bytes.ts';
import { CERTIFICATE } from './certificate.ts';
import { FLOATS } from './floats.ts';
import { HEALTH } from './health.ts';
import { INTEGERS } from './integers.ts';
import { SHUFFLE } from './shuffle.ts';
import { USAGE } from './usage.ts';
import { UUID } from './uuid.ts';

/** The endpoints that draw entropy, in the order of the specification. */
export const DATA_ENDPOINT_DEFINITIONS: readonly DataEndpointDefinition[] = [
  INTEGERS,
  BYTES,
  FLOATS,
  UUID,
  BITSTRING,
  SHUFFLE,
  BATCH,
];

/** Every endpoint under /v1. */
export const ENDPOINT_DEFINITIONS: readonly EndpointDefinition[] = [
  ...DATA_ENDPOINT_DEFINITIONS,
  CERTIFICATE,
  HEALTH,
  USAGE,
];
