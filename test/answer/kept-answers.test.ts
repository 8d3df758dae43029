import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OwnedRunningKeys } from '../../src/answer/idempotency.ts';
import { ApiError } from '../../src/core/errors.ts';
import { LIMITS } from '../../src/core/limits.ts';
import type { Claims } from '../../src/ledger/sharing.ts';
import { openTestLedger, temporaryFolder } from '../support/ledger-folder.ts';
import { account, NOON_MS } from '../support/ledger-records.ts';

const HOUR_MS = 3_600_000;
const LIFETIME_MS = 24 * HOUR_MS;

describe('the bytes of kept answers', () => {
  it('count against the account after a restart, until they expire, and against nobody else', async (t) => {
    const path = temporaryFolder(t);
    const first = await openTestLedger(path);
    for (const number of [1, 2]) await first.createAccount(account(number));
    const kept = (keyDigest: string, sentAtMs: number) => ({
      accountNumber: 1,
      keyDigest,
      fingerprint: '00',
      expiresAtMs: sentAtMs + LIFETIME_MS,
      sealed: new Uint8Array(LIMITS.keptAnswerBytesMax / 2),
    });
    await first.commit([], [kept('a', NOON_MS - 2 * HOUR_MS), kept('b', NOON_MS)]);
    await first.close();

    const ledger = await openTestLedger(path);
    t.after(() => ledger.close());
    const hasRoom = async (accountNumber: number, nowMs: number) => {
      const keys = await OwnedRunningKeys.open(ledger, nowMs);
      await keys.hold('c', '01');
      return keys.reserve(accountNumber, 'c', 1_000_000, nowMs);
    };
    const keys = await OwnedRunningKeys.open(ledger, NOON_MS);
    const restarted = keys.keptBytes(NOON_MS);
    assert.ok(restarted >= LIMITS.keptAnswerBytesMax && restarted < LIMITS.keptAnswerBytesMax + 1_000);
    await keys.hold('d', '01');
    await keys.reserve(2, 'd', 1_000, NOON_MS);
    assert.equal(keys.keptBytes(NOON_MS), restarted + 1_000, 'what is set aside counts');
    await keys.release('d', 300);
    assert.equal(keys.keptBytes(NOON_MS), restarted + 300);
    assert.equal(keys.keptBytes(NOON_MS + LIFETIME_MS + 2 * HOUR_MS), 0, 'what has expired does not');
    assert.equal(await hasRoom(1, NOON_MS), false);
    assert.equal(await hasRoom(2, NOON_MS), true);
    assert.equal(await hasRoom(1, NOON_MS + LIFETIME_MS - HOUR_MS), true, 'the first has expired');
  });
});

describe('a key that several nodes may be asked for', () => {
  it('is let go of when it is not known whether the ledger gave it, so that another node can take it', async () => {
    const taken = new Set<string>();
    let losesReply = true;
    const claims: Claims = {
      async claimKey(keyDigest) {
        if (taken.has(keyDigest)) return 'same';
        taken.add(keyDigest);
        if (losesReply) throw new ApiError('storage_unavailable');
        return 'held';
      },
      async releaseKey(keyDigest) {
        taken.delete(keyDigest);
      },
    };
    const [a, b] = [new OwnedRunningKeys(claims), new OwnedRunningKeys(claims)];
    await assert.rejects(a.hold('k', '01'), { code: 'storage_unavailable' });
    await new Promise(setImmediate);
    losesReply = false;
    assert.equal(await b.hold('k', '01'), 'held');
    assert.equal(await a.hold('k', '01'), 'same');
    await b.release('k', 0);
    assert.equal(await a.hold('k', '01'), 'held');
  });
});
