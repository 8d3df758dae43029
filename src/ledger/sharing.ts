import { LedgerError } from './ledger.ts';

/**
 * The months of accounts that several nodes serve. Each node takes what an account may use in chunks, and gives back what it
 * does not use; the parts are never more than the whole. Of the rate, each living node has an equal part.
 */
export interface Limits {
  /** False where one node has the accounts to itself. Then nothing else of this part or of `Claims` is called. */
  isShared(): Promise<boolean>;
  /**
   * `order` grows with every call of this node. A call that is repeated or late changes nothing twice: what a node says that it
   * holds is what counts. Each account is in a call once.
   */
  askLimits(order: number, asks: readonly LimitAsk[]): Promise<LimitAnswer>;
}

/** What a node holds of an account's month, and of what. */
export interface LimitShare {
  /** The calendar month, as periodOf gives it; 0 before the first grant. */
  readonly period: number;
  /** Granted to this node since its start, used ones included. */
  readonly requestsGranted: number;
  readonly creditsGranted: number;
  readonly requestsUsed: number;
  readonly creditsUsed: number;
  /** What the account may use, on all nodes together. */
  readonly requestsTotal: number;
  readonly creditsTotal: number;
}

export interface LimitAsk extends LimitShare {
  readonly accountNumber: number;
  /** Requests that the node would hold beyond those that it has; fewer are granted where few are left. */
  readonly requestsWanted: number;
  /** Credits that wait; no more than these are granted. */
  readonly creditsWanted: number;
}

export interface LimitGrant {
  readonly accountNumber: number;
  /** The month by the ledger's clock; what was granted of an earlier one is over. */
  readonly period: number;
  readonly requestsGranted: number;
  readonly creditsGranted: number;
  /** What nobody was granted yet. */
  readonly requestsLeft: number;
  readonly creditsLeft: number;
  /**
   * Granted requests, to this node or to others, for which the books have no answer: they are held unused, and may come back, or
   * their answers are a second old at most.
   */
  readonly requestsUnused: number;
}

interface LimitAnswer {
  readonly period: number;
  /** Nodes that live, this one among them. */
  readonly nodes: number;
  readonly grants: readonly LimitGrant[];
}

/** Which node makes the answer to an Idempotency-Key. */
export interface Claims {
  /** Takes the key for this node, also from a node that was fenced; else what the request that holds it is to this one. */
  claimKey(keyDigest: string, fingerprint: string): Promise<'held' | 'same' | 'other'>;
  /** Lets go of a key whose answer is not kept. The commit of a kept answer lets go of its key by itself. */
  releaseKey(keyDigest: string): Promise<void>;
}

/**
 * Of a ledger that one process has to itself. There the ceilings of a meter are the limits of the account, and the process alone
 * knows which keys are under way, so nothing is asked.
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
