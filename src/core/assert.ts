/** A broken invariant is a bug of this service. It is logged, and the client gets a 500 without its message. */
export class InvariantError extends Error {
  override name = 'InvariantError';
}

export function assert(condition: unknown, what: string): asserts condition {
  if (!condition) throw new InvariantError(what);
}

/**
 * Returns the message of whatever was thrown, which need not be an Error. For an AggregateError it joins the messages
 * of its errors with semicolons.
 */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
