/** A broken invariant is a bug of ours: never shown to a client, logged and answered as a bare 500. */
export class InvariantError extends Error {
  override name = 'InvariantError';
}

export function assert(condition: unknown, what: string): asserts condition {
  if (!condition) throw new InvariantError(what);
}

export function unreachable(value: never): never {
  throw new InvariantError(`unreachable: ${String(value)}`);
}
