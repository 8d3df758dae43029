import type { Writer } from '../domain/books.ts';
import { LedgerError } from '../ledger.ts';
import type { Session } from './connection.ts';

/** Keeps out every process of a node but the newest: each transaction that writes names its epoch, and an old one fails. */

/** Slots 0 to 3 are for commits. Each has at most one transaction in flight. */
export const COMMIT_SLOTS = 4;
/** The slot whose epoch all other transactions of a node must name. */
export const CALL_SLOT = 4;

/** A node's number and epoch, as its transactions name them, and its name for messages. */
export interface NamedEpoch extends Writer {
  /** `QRN_NODE`. */
  readonly name: string;
}

const REQUIRE_EPOCH = {
  name: 'node_require_epoch',
  text: `SELECT 1 FROM qrn.slot WHERE node = $1 AND slot = ${CALL_SLOT} AND epoch = $2 FOR SHARE`,
};

/**
 * Locks the node's epoch at the beginning of a transaction, so that a fence waits for the transaction. Throws LedgerError
 * `stopped` when the node was fenced before, e.g. while its process was paused. Does nothing for a command, which is no node.
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
