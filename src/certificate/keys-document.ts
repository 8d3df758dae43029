import { described, listOf, object, type TypeOf, text } from '../core/schema.ts';
import { type LogKeys, PUBLISHED_KEY, type PublishedKey } from '../crypto/key-files.ts';
import { type Incarnation, incarnationText } from './incarnation.ts';
import type { Voucher } from './log-state.ts';

const KEY_LIST = described(
  listOf(
    object(PUBLISHED_KEY, {
      vouched_by: described(
        text,
        'A checkpoint that this key and the previous key both signed, as a signed note. The first key has none.',
      ),
    }),
  ),
  'All keys that have ever signed for the log, oldest first.',
);
const logName = described(text, 'The name of the log.');

/** The form of /.well-known/qrn-keys.json, which lists every key that ever signed for this log. */
export const KEYS_DOCUMENT = object(
  { origin: logName, current_key_id: described(text, 'The identifier of the key in use.'), keys: KEY_LIST },
  {
    predecessors: described(
      listOf(
        object({
          origin: logName,
          checkpoint: described(text, 'The last known checkpoint of that log, as a signed note.'),
          keys: KEY_LIST,
        }),
      ),
      'The logs that this log succeeded after a restore, oldest first.',
    ),
    first_leaf: described(
      text,
      'The first leaf of this log, which names the last checkpoint of the previous log. Only a log that succeeds another has it.',
    ),
  },
);
export type KeysDocument = TypeOf<typeof KEYS_DOCUMENT>;

/** Returns the document of keys. `vouchers` are keyed by the id of the key that they vouch for. */
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

/**
 * Returns when the key was retired, ISO 8601; null for the key in use. If other nodes share the log, they may have
 * signed with the old key until the new one signed its voucher, so the later of both times counts.
 */
function retiredAt(key: PublishedKey, successors: Voucher | undefined): string | null {
  if (key.retired_at === null || successors === undefined) return key.retired_at;
  const vouchedAtMs = successors.sealedAtS * 1_000;
  return vouchedAtMs > Date.parse(key.retired_at) ? new Date(vouchedAtMs).toISOString() : key.retired_at;
}
