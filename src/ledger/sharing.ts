import { LedgerError } from './ledger.ts';

/**
 * The monthly limits of accounts that several nodes serve. Each node takes requests and credits of an account in chunks, and
 * gives unused ones back; all nodes together never hold more than the limit. Each live node has an equal share of the rate.
 */
export interface Limits {
  /** False when a single node serves the accounts. Then no other call of this interface or of `Claims` is made. */
  isShared(): Promise<boolean>;
  /**
   * Grants parts of limits. `order` grows with every call of this node. Each ask states what the node holds, so a call that
   * is repeated or late changes nothing twice. A call names an account at most once.
   */
  askLimits(order: number, asks: readonly LimitAsk[]): Promise<LimitAnswer>;
}

/** What a node holds of an account's limits for a month, and the limits. */
export interface LimitShare {
  /** The calendar month `YYYYMM` (periodOf); 0 before the first grant. */
  readonly period: number;
  /** Granted to this node since its start, used ones included. */
  readonly requestsGranted: number;
  readonly creditsGranted: number;
  readonly requestsUsed: number;
  readonly creditsUsed: number;
  /** The account's limit, for all nodes together. */
  readonly requestsTotal: number;
  readonly creditsTotal: number;
}

export interface LimitAsk extends LimitShare {
  readonly accountNumber: number;
  /** Further requests that the node asks for. It is granted fewer when few are left. */
  readonly requestsWanted: number;
  /** Credits that requests wait for. The node is never granted more than these. */
  readonly creditsWanted: number;
}

export interface LimitGrant {
  readonly accountNumber: number;
  /** The month by the ledger's clock. Grants of an earlier month have ended. */
  readonly period: number;
  readonly requestsGranted: number;
  readonly creditsGranted: number;
  /** What no node was granted yet. */
  readonly requestsLeft: number;
  readonly creditsLeft: number;
  /**
   * Requests granted to any node for which the books have no answer. The nodes have not used them, and may give them back, or
   * have answered them within the last second.
   */
  readonly requestsUnused: number;
}

interface LimitAnswer {
  readonly period: number;
  /** Count of live nodes, this one included. */
  readonly nodes: number;
  readonly grants: readonly LimitGrant[];
}

/** Decides which node makes the answer to an Idempotency-Key. */
export interface Claims {
  /**
   * Resolves with `held` when this node now holds the key. Otherwise another node holds it, for the `same` request or an
   * `other` one. A fenced node holds no keys.
   */
  claimKey(keyDigest: string, fingerprint: string): Promise<'held' | 'same' | 'other'>;
  /** Releases a key whose answer is not kept. The commit of a kept answer releases its key itself. */
  releaseKey(keyDigest: string): Promise<void>;
}

/**
 * For a ledger that one process has to itself: the process knows the limits and the keys under way, so it has nothing to
 * ask.
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
