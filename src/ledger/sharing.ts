/**
 * The months of accounts that several nodes serve. Each node is granted a part of what an account may use, asks for more
 * when it is used up, and gives back what others need; the parts are never more than the whole.
 */
export interface Limits {
  /** False where one node has the accounts to itself. Then nothing else of this part or of `Claims` is called. */
  isShared(): Promise<boolean>;
  /**
   * `order` grows with every call of this node. A call that is repeated or late changes nothing twice: what a node says that it
   * holds is what counts; only what it leases of a rate is then lost. Each account is in a call once.
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
  /** Requests that wait; more than these may be granted, so that the next ones need not ask. */
  readonly requestsWanted: number;
  /** Credits that wait; no more than these are granted. */
  readonly creditsWanted: number;
  /** The rate limit over all nodes; Number.MAX_SAFE_INTEGER is none. */
  readonly requestsPerMinute: number;
  readonly burst: number;
  /** Requests of the rate to lease, no more than these. */
  readonly rateWanted: number;
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
  /** Requests of the rate that were leased by this call. They are not taken back: the node uses them within a second or loses them. */
  readonly rateLeased: number;
  /** Requests in the bucket of all nodes after this call, leased ones included; each adds one, and the rate drains it. */
  readonly rateLevel: number;
}

export interface LimitAnswer {
  readonly period: number;
  readonly grants: readonly LimitGrant[];
  /** Accounts of which another node needs what this one holds unused. */
  readonly recalled: readonly number[];
}

/** Which node makes the answer to an Idempotency-Key. */
export interface Claims {
  /** Takes the key for this node, also from a node that was fenced; else what the request that holds it is to this one. */
  claimKey(keyDigest: string, fingerprint: string): Promise<'held' | 'same' | 'other'>;
  /** Lets go of a key whose answer is not kept. The commit of a kept answer lets go of its key by itself. */
  releaseKey(keyDigest: string): Promise<void>;
}
