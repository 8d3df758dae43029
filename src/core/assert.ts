/** A broken invariant is a bug of ours: never shown to a client, logged and answered as a bare 500. */
export class InvariantError extends Error {
  override name = 'InvariantError';
}

export function assert(condition: unknown, what: string): asserts condition {
  if (!condition) throw new InvariantError(what);
}

/** The message of what was thrown, which need not be an Error; those of an AggregateError with semicolons between them. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
