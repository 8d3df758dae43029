/** The promises of the service (SPEC-NOTES.md, SECURITY.md) that the simulation checks. */
export type Invariant =
  /** A reply leaves when its certificate, its spend and its counters are durable. */
  | 'durable before the reply'
  /** A byte of pure entropy is handed out once, and is of the lots that the certificate names. */
  | 'pure bytes once'
  | 'credits and quota'
  /** A request that is refused draws nothing, spends nothing and changes nothing. */
  | 'refused changes nothing'
  | 'rate limit'
  | 'keys'
  | 'certificates'
  | 'log'
  | 'origin'
  | 'mode'
  | 'withdrawn lots'
  | 'seeds'
  | 'jobs'
  | 'lots'
  | 'idempotency'
  /** Only injected faults occur. */
  | 'no fault of its own'
  /** Without faults everything is answered, logged and completed. */
  | 'progress';

export class Violation extends Error {
  override name = 'Violation';
  readonly invariant: Invariant;

  constructor(invariant: Invariant, what: string) {
    super(`${invariant}: ${what}`);
    this.invariant = invariant;
  }
}

export function hold(condition: unknown, invariant: Invariant, what: string): asserts condition {
  if (!condition) throw new Violation(invariant, what);
}
