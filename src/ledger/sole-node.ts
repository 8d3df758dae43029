import { LedgerError } from './ledger.ts';
import type { Claims, Limits } from './sharing.ts';

/**
 * The limits and claims of a ledger that one process has to itself. There the ceilings of a meter are the limits of the
 * account, and the process alone knows which keys are under way, so nothing is asked.
 */
export const SOLE_NODE: Limits & Claims = {
  isShared: async () => false,
  askLimits: refuse,
  claimKey: refuse,
  releaseKey: refuse,
};

async function refuse(): Promise<never> {
  throw new LedgerError('refused', 'this ledger serves a single node: nothing is shared');
}
