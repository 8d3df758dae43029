import {
  constant,
  described,
  listOf,
  object,
  orNull,
  type Schema,
  type TypeOf,
  text,
  textLike,
  time,
} from '../core/schema.ts';
import type { LogKeys, PublishedKey } from '../crypto/key-files.ts';
import { type Incarnation, incarnationText } from './incarnation.ts';
import type { Voucher } from './log-state.ts';

const base64 = { type: 'string', contentEncoding: 'base64' } as Schema<string>;
const KEY_LIST = described(
  listOf(
    object(
      {
        key_id: described(textLike(/^[0-9a-f]{8}$/), 'Names the key.'),
        algorithm: described(constant('ed25519'), 'The signature algorithm.'),
        public_key: described(base64, 'The key itself.'),
        verifier_key: described(text, 'The key as signed notes name it.'),
        cosigner_key: described(text, 'The same key as cosigner: every checkpoint it signs has a time.'),
        created_at: described(time, 'From when on it signs.'),
        retired_at: described(
          orNull(time),
          'By when it had signed for the last time; null for the key in use.',
        ),
      },
      {
        vouched_by: described(
          text,
          'The checkpoint that the key before it signed together with it: a signed note. The first key has none.',
        ),
      },
    ),
  ),
  'Every key that ever signed.',
);
const logName = described(text, 'The name of the log.');

/** What /.well-known/qrn-keys.json says: every key that ever signed for this log. */
export const KEYS_DOCUMENT = object(
  { origin: logName, current_key_id: described(text, 'The key in use.'), keys: KEY_LIST },
  {
    predecessors: described(
      listOf(
        object({
          origin: logName,
          checkpoint: described(text, 'The last known checkpoint, a signed note.'),
          keys: KEY_LIST,
        }),
      ),
      'The logs that this one has succeeded after a restore, oldest first, each with its last known checkpoint.',
    ),
    first_leaf: described(
      text,
      'The first leaf of a log that succeeds another: it names the last checkpoint before it.',
    ),
  },
);
export type KeysDocument = TypeOf<typeof KEYS_DOCUMENT>;

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
