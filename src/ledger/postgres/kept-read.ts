import type { Statement } from './connection.ts';

/*
 * A commit that waited for a standby in vain, because somebody cancelled the wait or the primary restarted, can be read before a
 * standby has it, and is lost in a failover. An empty message in the write-ahead log, which nobody reads, makes the transaction of
 * a read a commit of its own, which follows what it read: when it ends, the standby has both.
 */
const MESSAGE = "pg_logical_emit_message(true, 'qrn', '')";

/** Within a transaction: what it reads is shown when a standby has it. */
export const KEEP: Statement = { name: 'kept_keep', text: `SELECT ${MESSAGE}` };

const KNOWN_MAX = 4_096;

/** What this node knows a standby to have: of each key the newest state that it has seen there. */
export class KnownKept<Key, State> {
  readonly #states = new Map<Key, State>();

  of(key: Key): State | undefined {
    return this.#states.get(key);
  }

  note(key: Key, state: State): void {
    if (this.#states.size >= KNOWN_MAX) this.#states.clear();
    this.#states.set(key, state);
  }
}

/** The statement, which reads one row, as a transaction of its own that ends when a standby has what it gives. */
export function kept({ name, text }: Statement): Statement {
  return { name: `${name}_kept`, text: `SELECT found.*, ${MESSAGE} FROM (${text}) AS found` };
}
