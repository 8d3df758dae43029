import type { Claims } from '../sharing.ts';
import { type Body, type Store, tx } from '../store.ts';
import { KEY_CLAIMS } from '../tables.ts';
import type { Writer } from './books.ts';

/** Idempotency keys under way on any node. Each has a record until its answer is committed or its request refused. */
export function claimsIn(store: Store, { number, epoch }: Writer): Claims {
  const lockOf = (keyDigest: string) => [`claim/${keyDigest}`];
  function* holderOf(keyDigest: string) {
    const held = yield* tx.get(KEY_CLAIMS, keyDigest);
    return { held, isOwn: held?.node === number && held.epoch === epoch };
  }
  return {
    /** A node that already holds the key repeats a call, and is told so again. */
    claimKey: (keyDigest, fingerprint) =>
      store.write(lockOf(keyDigest), function* () {
        const { held, isOwn } = yield* holderOf(keyDigest);
        if (held !== undefined && !isOwn) return held.fingerprint === fingerprint ? 'same' : 'other';
        yield* tx.put(KEY_CLAIMS, keyDigest, { fingerprint, node: number, epoch });
        return 'held';
      }),

    releaseKey: (keyDigest) =>
      store.write(lockOf(keyDigest), function* () {
        if ((yield* holderOf(keyDigest)).isOwn) yield* tx.remove(KEY_CLAIMS, [keyDigest]);
      }),
  };
}

/** Releases the keys that earlier epochs of the node held: none of them can make an answer any more. */
export function* dropClaims({ number, epoch }: Writer): Body<void> {
  for (const { key, value } of yield* tx.range(KEY_CLAIMS, {}))
    if (value.node === number && value.epoch < epoch) yield* tx.remove(KEY_CLAIMS, [key]);
}
