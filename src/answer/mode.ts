import { type Allowance, tiersWith } from '../account/tiers.ts';
import { ApiError } from '../core/errors.ts';
import type { EntropyMode, Tier } from '../core/vocabulary.ts';

/**
 * The mode of a request: the one it names when the tier has it, else the tier's default. Never `pure` unasked, and
 * never another than the one named.
 */
export function resolveMode(asked: EntropyMode | undefined, tier: Tier, allowance: Allowance): EntropyMode {
  if (asked === undefined) return allowance.defaultMode;
  if (allowance.modes.includes(asked)) return asked;
  const tiers = tiersWith(asked);
  throw new ApiError('mode_not_allowed', {
    message: `Entropy mode ${asked} is not part of the ${tier} tier; the tiers that have it: ${tiers.join(', ')}.`,
    details: { entropy_mode: asked, tier, tiers },
  });
}
