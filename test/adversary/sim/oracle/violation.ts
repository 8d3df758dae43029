/** What the service promises (SPEC-NOTES.md, SECURITY.md), and the simulation holds it to. */
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
  /** Nothing fails but what was made to fail. */
  | 'no fault of its own'
  /** In fair weather everything is answered, logged and brought to its end. */
  | 'progress';

export class Violation extends Error {
  override name = 'Violation';
  readonly invariant: Invariant;

  constructor(invariant: Invariant, what: string) {
    super(`${invariant}: ${what}`);
    this.invariant = invariant;
  }
}

export function hold(condition: unknown, invariant: Invariant, what: () => string): asserts condition {
  if (!condition) throw new Violation(invariant, what());
}
