import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Idempotency, OwnedRunningKeys, SealBroken } from '../../src/answer/idempotency.ts';
import { utf8Bytes } from '../../src/core/bytes.ts';
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
    const hasRoom = async (accountNumber: number, nowMs: number, bytesMax = 60_000) => {
      const keys = await OwnedRunningKeys.open(ledger, nowMs);
      await keys.hold('c', '01');
      return keys.reserve(accountNumber, 'c', bytesMax, nowMs);
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
    assert.equal(await hasRoom(1, NOON_MS + LIFETIME_MS - HOUR_MS, 100_000), false, 'large ones have half');
  });
});

describe('a first answer', () => {
  it('is sealed, counts once it is kept, and is given again to the same request alone', async (t) => {
    const ledger = await openTestLedger(temporaryFolder(t));
    t.after(() => ledger.close());
    await ledger.createAccount(account(1));
    const keys = new OwnedRunningKeys();
    const idempotency = new Idempotency(ledger, new Uint8Array(32).fill(7), keys);
    const request = { accountNumber: 1, keyText: 'once', fingerprint: '01', bytesMax: 1_000 };
    const answer = { fields: [['x-a', 'b']], body: utf8Bytes('{"data":1}') } as const;
    const begin = async (more: { fingerprint?: string } = {}) => {
      const outcome = await idempotency.begin({ ...request, ...more }, NOON_MS);
      assert.ok('first' in outcome);
      return outcome.first;
    };
    const given = await begin();
    await assert.rejects(begin(), { code: 'idempotency_in_flight' });
    await assert.rejects(begin({ fingerprint: '02' }), { code: 'idempotency_mismatch' });
    given.complete(answer, NOON_MS + LIFETIME_MS);
    given.finish(false);
    assert.equal(keys.keptBytes(NOON_MS), 0, 'what did not become durable is not kept');
    const first = await begin();
    const stored = first.complete(answer, NOON_MS + LIFETIME_MS);
    await ledger.commit([], [stored]);
    first.finish(true);
    assert.equal(keys.keptBytes(NOON_MS), stored.sealed.length);
    assert.ok(!Buffer.from(stored.sealed).includes('data'), 'the ledger cannot read it');
    assert.deepEqual(await idempotency.begin(request, NOON_MS), { replay: answer });
    assert.deepEqual(await idempotency.kept(request, NOON_MS), answer);
    await assert.rejects(begin({ fingerprint: '02' }), { code: 'idempotency_mismatch' });
    const another = new Idempotency(ledger, new Uint8Array(32).fill(8), keys);
    await assert.rejects(another.kept(request, NOON_MS), SealBroken);
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
