import type { LogKeys, PublishedKey } from '../crypto/key-files.ts';
import { type Incarnation, incarnationText, type Predecessor } from './incarnation.ts';
import type { Voucher } from './log-state.ts';

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

/** `vouchers` by the id of the key that they vouch for. */
export function keysDocument(
  keys: LogKeys,
  incarnations: readonly Incarnation[] = [],
  vouchers: ReadonlyMap<string, Voucher> = new Map(),
): KeysDocument {
  const predecessors = incarnations.flatMap(({ predecessor }) => predecessor ?? []);
  const last = incarnations.at(-1);
  return {
    origin: keys.name,
    current_key_id: keys.currentKeyId,
    keys: keys.published.map((key, i) => {
      const voucher = vouchers.get(key.key_id);
      const retired_at = retiredAt(key, vouchers.get(keys.published[i + 1]?.key_id));
      return { ...key, retired_at, ...(voucher && { vouched_by: voucher.note }) };
    }),
    ...(last === undefined || last.predecessor === null
      ? {}
      : { predecessors, first_leaf: incarnationText(last) }),
  };
}

/** Other nodes may have signed with the key until the one after it signed too. */
function retiredAt(key: PublishedKey, successors: Voucher | undefined): string | null {
  if (key.retired_at === null || successors === undefined) return key.retired_at;
  const vouchedAtMs = successors.sealedAtS * 1_000;
  return vouchedAtMs > Date.parse(key.retired_at) ? new Date(vouchedAtMs).toISOString() : key.retired_at;
}
