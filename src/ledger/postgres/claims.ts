import { ApiError } from '../../core/errors.ts';
import type { Claims } from '../sharing.ts';
import type { Database } from './connection.ts';
import { CALL_SLOT, fencedError, type NamedEpoch } from './node.ts';

/** A node that claims its own key again repeats a call; a node that was fenced makes no answer any more. */
const CLAIM = {
  name: 'claim_take',
  text: `WITH fence AS (SELECT 1 FROM qrn.slot WHERE node = $1 AND slot = $2 AND epoch = $3 FOR SHARE)
    INSERT INTO qrn.claim AS c (key_digest, fingerprint, node, epoch, at_ms)
    SELECT $4, $5, $1, $3, floor(extract(epoch FROM clock_timestamp()) * 1000) FROM fence
    ON CONFLICT (key_digest) DO UPDATE
    SET fingerprint = excluded.fingerprint, node = excluded.node, epoch = excluded.epoch, at_ms = excluded.at_ms
    WHERE (c.node = excluded.node AND c.epoch = excluded.epoch)
      OR NOT EXISTS (SELECT FROM qrn.slot s WHERE s.node = c.node AND s.slot = $2 AND s.epoch = c.epoch)
    RETURNING key_digest`,
};
const HOLDER = {
  name: 'claim_holder',
  text: `SELECT (SELECT fingerprint FROM qrn.claim WHERE key_digest = $4) AS fingerprint
    FROM qrn.slot WHERE node = $1 AND slot = $2 AND epoch = $3`,
};
const RELEASE = {
  name: 'claim_release',
  text: 'DELETE FROM qrn.claim WHERE key_digest = $1 AND node = $2 AND epoch = $3',
};

/** How often a key may be let go of between two looks at it. */
const TRIES = 3;

interface ClaimsOptions {
  readonly database: Database;
  readonly node: NamedEpoch;
}

/** Idempotency keys that are under way on any node: one row each, until its answer is committed or its request refused. */
export class PostgresClaims implements Claims {
  readonly #options: ClaimsOptions;

  constructor(options: ClaimsOptions) {
    this.#options = options;
  }

  async claimKey(keyDigest: string, fingerprint: string): Promise<'held' | 'same' | 'other'> {
    const { database, node } = this.#options;
    const self = [node.number, CALL_SLOT, node.epoch];
    for (let tries = 1; tries <= TRIES; tries++) {
      const taken = await database.run(CLAIM, [...self, keyDigest, fingerprint]);
      if (taken.length > 0) return 'held';
      const [holder] = await database.run<{ fingerprint: string | null }>(HOLDER, [...self, keyDigest]);
      if (holder === undefined) throw fencedError(node.name);
      if (holder.fingerprint !== null) return holder.fingerprint === fingerprint ? 'same' : 'other';
    }
    throw new ApiError('overloaded', { retryAfterS: 1 });
  }

  async releaseKey(keyDigest: string): Promise<void> {
    const { database, node } = this.#options;
    await database.run(RELEASE, [keyDigest, node.number, node.epoch]);
  }
}
