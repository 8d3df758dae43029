import type { LogKeys, PublishedKey } from '../crypto/key-files.ts';
import { type Incarnation, incarnationText, type Predecessor } from './incarnation.ts';

/** What /.well-known/qrn-keys.json says: every key that ever signed for this log. */
export interface KeysDocument {
  readonly origin: string;
  readonly current_key_id: string;
  readonly keys: readonly (PublishedKey & {
    /** The checkpoint that the key before it has signed with it, when it was rotated in; a signed note. */
    readonly vouched_by?: string;
  })[];
  /** The logs that this one has succeeded, oldest first; absent when there is none. */
  readonly predecessors?: readonly Predecessor[];
  /**
   * First leaf of this log: canonical JSON that names the last checkpoint before it; absent when there is
   * none.
   */
  readonly first_leaf?: string;
}

/** `vouchers` are notes by the id of the key that they vouch for (log-state.ts). */
export function keysDocument(
  keys: LogKeys,
  incarnations: readonly Incarnation[] = [],
  vouchers: ReadonlyMap<string, string> = new Map(),
): KeysDocument {
  const predecessors = incarnations.flatMap(({ predecessor }) => predecessor ?? []);
  const last = incarnations.at(-1);
  return {
    origin: keys.name,
    current_key_id: keys.currentKeyId,
    keys: keys.published.map((key) => {
      const voucher = vouchers.get(key.key_id);
      return voucher === undefined ? key : { ...key, vouched_by: voucher };
    }),
    ...(last === undefined || last.predecessor === null
      ? {}
      : { predecessors, first_leaf: incarnationText(last) }),
  };
}
