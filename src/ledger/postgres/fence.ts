import type { Writer } from '../domain/books.ts';
import { LedgerError } from '../ledger.ts';
import type { Session } from './connection.ts';

/** What keeps out a process of a node that is not the newest one: each of its statements names its epoch. */

/** Slots 0 to 3 are for commits: each has one transaction in flight at most. */
export const COMMIT_SLOTS = 4;
/** The slot whose epoch all other statements of a node are held to. */
export const CALL_SLOT = 4;

/** A node as its calls name it. */
export interface NamedEpoch extends Writer {
  /** `QRN_NODE`. */
  readonly name: string;
}

const REQUIRE_EPOCH = {
  name: 'node_require_epoch',
  text: `SELECT 1 FROM qrn.slot WHERE node = $1 AND slot = ${CALL_SLOT} AND epoch = $2 FOR SHARE`,
};

/**
 * To begin a transaction with: a fence waits for its end. Throws LedgerError `stopped` when the node was fenced already, e.g.
 * while its process was paused. A command, which is not a node, has nothing to be fenced.
 */
export async function requireEpoch(session: Session, node: NamedEpoch | undefined): Promise<void> {
  if (node === undefined) return;
  if ((await session.run(REQUIRE_EPOCH, [node.number, node.epoch])).length === 0)
    throw fencedError(node.name);
}

export function fencedError(name: string): LedgerError {
  return new LedgerError(
    'stopped',
    `the node "${name}" was fenced: another process took its name, or an operator fenced it. Start it again`,
  );
}
