import { ENTROPY_MODES } from '../../core/vocabulary.ts';
import type { BooleanParameter, ChoiceParameter } from '../params.ts';

/** Parameters that every data endpoint takes; checked after its own. */

export const ENTROPY_MODE = {
  name: 'entropy_mode',
  kind: 'choice',
  values: ENTROPY_MODES,
  synonyms: { hybrid: 'quantum-seeded' },
  caseInsensitive: true,
  error: 'invalid_entropy_mode',
  description:
    'Where the values come from. Letter case does not matter; hybrid means quantum-seeded. Left out, the tier decides: csprng for Free, quantum-seeded for every other, never pure.',
} as const satisfies ChoiceParameter;

export const DRY_RUN = {
  name: 'dry_run',
  kind: 'boolean',
  default: false,
  error: 'invalid_boolean',
  description: 'Checks and prices the request; draws nothing, spends nothing.',
} as const satisfies BooleanParameter;
