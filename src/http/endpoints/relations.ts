import { ApiError, type ErrorCode } from '../../core/errors.ts';
import { grouped } from '../../core/figures.ts';
import { LIMITS } from '../../core/limits.ts';
import { jsonBytesMax, type ValueRequest } from '../../values/value-request.ts';
import type { ReadValues } from '../params.ts';

// The relations that parameters must have to each other when each of them is valid by itself.

/** Throws 400 `invalid_range` unless min < max and the range holds at most 2^53 values. */
export function requireRange(values: ReadValues): void {
  const min = values['min'] as number;
  const max = values['max'] as number;
  // The difference of two safe integers is exact up to 2^53. Above that it may be rounded, but is too large in any case.
  if (min < max && max - min <= LIMITS.integerSpanMax - 1) return;
  throw new ApiError('invalid_range', { details: { min, max } });
}

/** Throws 400 `unique_impossible` when values without repeats are asked for and the range holds fewer. */
export function requirePossible(values: ReadValues, count: number): void {
  if (values['unique'] !== true) return;
  const span = (values['max'] as number) - (values['min'] as number) + 1;
  if (span < count) throw tooFew(`range contains ${grouped(span)} values`, span, count);
}

/** Returns the request for a sample. Throws `unique_impossible` when there are fewer items than `count`. */
export function sampleRequest(items: readonly string[], count: number): ValueRequest {
  if (count > items.length) throw tooFew(`list contains ${grouped(items.length)} items`, items.length, count);
  return { kind: 'sample', count, items };
}

function tooFew(holds: string, available: number, count: number): ApiError {
  return new ApiError('unique_impossible', {
    message: `The ${holds}, but ${grouped(count)} different ones are requested.`,
    details: { available, count },
  });
}

/**
 * Bound on an answer of weighted picks. Long items make a long answer to a short request; a worker writes this much in half a
 * second.
 */
const WEIGHTED_BYTES_MAX = 16 * 1024 * 1024;

/** Returns the request for weighted picks. Throws `invalid_weights` or, for an answer that is too long, `invalid_count`. */
export function weightedRequest(
  items: readonly string[],
  weights: readonly number[],
  count: number,
): ValueRequest {
  const details = { items: items.length, weights: weights.length };
  if (weights.length !== items.length) {
    throw new ApiError('invalid_weights', {
      message: `weights must contain one weight per item: there are ${grouped(items.length)} items and ${grouped(weights.length)} weights.`,
      details,
    });
  }
  // compares before it adds, because a sum beyond 2^53 would be rounded
  let sum = 0;
  for (const weight of weights) {
    if (weight > LIMITS.integerSpanMax - sum) {
      throw new ApiError('invalid_weights', {
        message: 'The sum of the weights must be at most 9,007,199,254,740,992 (2^53).',
        details,
      });
    }
    sum += weight;
  }
  const request = { kind: 'weighted', count, items, weights } as const;
  requireBytes(request, WEIGHTED_BYTES_MAX, 'invalid_count', 'Reduce count or shorten the items.', {
    parameter: 'count',
  });
  return request;
}

/** Throws 400 `invalid_params` when the JSON of the values could be longer than a reply may be. */
export function requireReplyFits(values: ValueRequest): void {
  requireBytes(values, LIMITS.replyBytesMax, 'invalid_params', 'Request fewer or shorter values.');
}

/** Upper bound on the envelope around the values. */
const ENVELOPE_BYTES_MAX = 12_288;

function requireBytes(
  values: ValueRequest,
  limit: number,
  error: ErrorCode,
  advice: string,
  more: object = {},
): void {
  const bytes = jsonBytesMax(values) + ENVELOPE_BYTES_MAX;
  if (bytes <= limit) return;
  throw new ApiError(error, {
    message: `The answer could be ${grouped(bytes)} bytes long; the limit is ${grouped(limit)} bytes. ${advice}`,
    details: { ...more, bytes, limit },
  });
}

/** Throws 400 `invalid_count` for more numbers than one request may draw. */
export function requireNumbers(numbers: number, numbersMax: number): void {
  if (numbers <= numbersMax) return;
  throw new ApiError('invalid_count', {
    message: `The answer would contain ${grouped(numbers)} numbers; the limit per request is ${grouped(numbersMax)}. Reduce count or length.`,
    details: { parameter: 'count', numbers, limit: numbersMax },
  });
}
