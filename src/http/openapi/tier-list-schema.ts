import { ENTROPY_MODES, SCOPES, TIERS } from '../../core/vocabulary.ts';
import {
  boolean,
  count,
  described,
  listOf,
  object,
  oneOfWords,
  orNull,
  type Schema,
  text,
} from './schema.ts';

/** The `data` member of GET /v1/tiers. */
export const tierListSchema: Schema = object({
  tiers: listOf(
    object({
      tier: oneOfWords(TIERS),
      requests_per_minute: count,
      burst: described(count, 'Requests that may come at once; also the most in any 60 seconds.'),
      requests_per_month: described(count, 'Answered requests for values.'),
      credits_per_month: described(count, 'Bytes of pure mode.'),
      entropy_modes: listOf(oneOfWords(ENTROPY_MODES)),
      default_entropy_mode: oneOfWords(ENTROPY_MODES, 'The mode of a request that names none.'),
      seed_interval_s: described(
        orNull(count),
        'How often quantum-seeded takes a new seed; null without it.',
      ),
      scopes: listOf(oneOfWords(SCOPES)),
      custom: described(boolean, 'An account may have figures of its own in place of these.'),
    }),
  ),
  prices: listOf(
    object({
      kind: text,
      bits: described(text, 'The entropy of the answer; the price is an eighth of it, rounded up once.'),
      example: text,
      credits: described(count, 'The price of the example.'),
    }),
  ),
  limits: object({
    integers_count: count,
    bytes_count: count,
    floats_count: count,
    uuid_count: count,
    bitstring_length: count,
    shuffle_items: count,
    batch_count: count,
  }),
});
