import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { queryObjects } from 'node:v8';
import {
  IDEMPOTENCY_LIFETIME_MS,
  Idempotency,
  OwnedRunningKeys,
  SealBroken,
} from '../../src/answer/idempotency.ts';
import { utf8Bytes } from '../../src/core/bytes.ts';
import { ApiError } from '../../src/core/errors.ts';
import { LIMITS } from '../../src/core/limits.ts';
import type { StoredAnswer } from '../../src/ledger/records.ts';
import type { Claims } from '../../src/ledger/sharing.ts';
import { account, NOON_MS } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const EXPIRY_MS = NOON_MS + DAY_MS;

/** Two accounts, and the keys under which their answers are kept. */
async function world() {
  const ledger = memoryLedger(new ManualClock(NOON_MS));
  for (const number of [1, 2]) await ledger.createAccount(account(number));
  const keys = new OwnedRunningKeys();
  const idempotency = new Idempotency(ledger, new Uint8Array(32).fill(7), keys);
  const keep = (...answers: StoredAnswer[]) => ledger.commit([], answers);
  return { ledger, keys, idempotency, keep };
}

/** A request with the fingerprint 01 of the first account. */
const use = (
  keyDigest: string,
  bytesMax: number,
  more: { accountNumber?: number; fingerprint?: string } = {},
) => ({
  ...{ accountNumber: 1, keyDigest, fingerprint: '01', bytesMax },
  ...more,
});

describe('the bytes of stored answers', () => {
  it('count against the account after a restart until they expire, and against nobody else', async () => {
    const { ledger, keep } = await world();
    const half = {
      accountNumber: 1,
      fingerprint: '00',
      sealed: new Uint8Array(LIMITS.keptAnswerBytesMax / 2),
    };
    await keep({ ...half, keyDigest: 'a', expiresAtMs: EXPIRY_MS - 2 * HOUR_MS });
    await keep({ ...half, keyDigest: 'b', expiresAtMs: EXPIRY_MS });
    const hasRoom = async (accountNumber: number, nowMs: number, bytesMax = 60_000) => {
      const keys = await OwnedRunningKeys.open(ledger, nowMs);
      return (await keys.hold(use('c', bytesMax, { accountNumber }), nowMs)) === 'held';
    };
    const keys = await OwnedRunningKeys.open(ledger, NOON_MS);
    const restarted = keys.keptBytes(NOON_MS);
    assert.ok(restarted >= LIMITS.keptAnswerBytesMax && restarted < LIMITS.keptAnswerBytesMax + 1_000);
    await keys.hold(use('d', 1_000, { accountNumber: 2 }), NOON_MS);
    assert.equal(keys.keptBytes(NOON_MS), restarted + 1_000, 'what is set aside counts');
    await keys.release('d', 300);
    assert.equal(keys.keptBytes(NOON_MS), restarted + 300);
    assert.equal(keys.keptBytes(EXPIRY_MS + 2 * HOUR_MS), 0, 'what has expired does not');
    assert.equal(await hasRoom(1, NOON_MS), false);
    assert.equal(await hasRoom(2, NOON_MS), true);
    assert.equal(await hasRoom(1, EXPIRY_MS - HOUR_MS), true, 'the first has expired');
    assert.equal(await hasRoom(1, EXPIRY_MS - HOUR_MS, 100_000), false, 'large ones have half');
  });

  it('are bounded to the byte, in total and for large ones, and the first answer of an account always fits', async () => {
    const all = LIMITS.keptAnswerBytesMax;
    const small = 64 * 1024;
    const cases: [kept: number, bytesMax: number, hasRoom: boolean][] = [
      [0, 2 * all, true],
      [1, all - 1, false],
      [1, all / 2 - 1, true],
      [1, all / 2, false],
      [all - small, small, true],
      [all - small + 1, small, false],
      [all / 2, small, true],
      [all / 2, small + 1, false],
      [all / 2 - small - 1, small + 1, true],
    ];
    for (const [kept, bytesMax, hasRoom] of cases) {
      const keys = new OwnedRunningKeys();
      assert.equal(await keys.hold(use('a', kept), NOON_MS), 'held');
      await keys.release('a', kept);
      const held = await keys.hold(use('b', bytesMax), NOON_MS);
      assert.equal(held, hasRoom ? 'held' : 'full', `${kept} and ${bytesMax}`);
      assert.equal(keys.keptBytes(NOON_MS), kept + (hasRoom ? bytesMax : 0));
    }
  });

  it('use no memory for an account that does not come again', async () => {
    const maps = () => queryObjects(Map, { format: 'count' });
    const keys = new OwnedRunningKeys();
    const before = maps();
    for (let account = 0; account < 1_000; account++) {
      await keys.hold(use('a', 1_000, { accountNumber: account }), NOON_MS);
      await keys.release('a', 700);
    }
    assert.equal(keys.keptBytes(NOON_MS), 700_000);
    assert.equal(keys.keptBytes(NOON_MS + DAY_MS + HOUR_MS), 0);
    assert.ok(maps() <= before + 10, `${maps() - before} maps more than before`);
  });

  it('are counted over the last 24 hours, by the hour', async () => {
    const keys = new OwnedRunningKeys();
    const startMs = NOON_MS - (NOON_MS % HOUR_MS);
    for (const [key, atMs] of [
      ['a', startMs],
      ['b', startMs + HOUR_MS],
    ] as const) {
      await keys.hold(use(key, 1_000), atMs);
      await keys.release(key, 700);
    }
    const left = [DAY_MS, DAY_MS + HOUR_MS - 1, DAY_MS + HOUR_MS, DAY_MS + 2 * HOUR_MS];
    assert.deepEqual(
      left.map((ms) => keys.keptBytes(startMs + ms)),
      [1_400, 1_400, 700, 0],
    );
  });
});

const request = { accountNumber: 1, keyText: 'once', fingerprint: '01', bytesMax: 1_000 };
const answer = { fields: [['x-ä', 'b']], body: utf8Bytes('{"data":1}') } as const;

describe('a first answer', () => {
  it('is sealed, counts once it is stored, and is given again to the same request alone', async () => {
    const { ledger, keys, idempotency, keep } = await world();
    const begin = async (more: { fingerprint?: string } = {}) => {
      const outcome = await idempotency.begin({ ...request, ...more }, NOON_MS);
      assert.ok('first' in outcome);
      return outcome.first;
    };
    const given = await begin();
    await assert.rejects(begin(), { code: 'idempotency_in_flight', facts: { retryAfterS: 1 } });
    await assert.rejects(begin({ fingerprint: '02' }), { code: 'idempotency_mismatch' });
    assert.equal(await idempotency.kept(request, NOON_MS), undefined);
    given.complete(answer, EXPIRY_MS);
    given.finish(false);
    assert.equal(keys.keptBytes(NOON_MS), 0, 'what did not become durable is not kept');
    const first = await begin();
    const stored = first.complete(answer, EXPIRY_MS);
    await keep(stored);
    // a retry that comes before the first request has let go of its key
    assert.deepEqual(await idempotency.begin(request, NOON_MS), { replay: answer });
    first.finish(true);
    assert.equal(keys.keptBytes(NOON_MS), stored.sealed.length);
    assert.ok(!Buffer.from(stored.sealed).includes('data'), 'the ledger cannot read it');
    assert.deepEqual(await idempotency.begin(request, NOON_MS), { replay: answer });
    assert.deepEqual(await idempotency.kept(request, EXPIRY_MS - 1), answer);
    assert.equal(await idempotency.kept({ ...request, fingerprint: '02' }, NOON_MS), undefined);
    assert.equal(await idempotency.kept(request, EXPIRY_MS), undefined);
    await assert.rejects(begin({ fingerprint: '02' }), { code: 'idempotency_mismatch' });
    const another = new Idempotency(ledger, new Uint8Array(32).fill(8), keys);
    await assert.rejects(another.kept(request, NOON_MS), SealBroken);
    assert.ok('first' in (await idempotency.begin(request, EXPIRY_MS)), 'it has expired');
    assert.equal(IDEMPOTENCY_LIFETIME_MS, DAY_MS);
  });

  it('is returned whole, however long it is', async () => {
    const { idempotency, keep } = await world();
    const piece = 256 * 1024;
    for (const size of [0, piece - 50, piece, 2 * piece + 1]) {
      const keyText = `key-${size}`;
      const body = Uint8Array.from({ length: size }, (_, i) => i % 251);
      const outcome = await idempotency.begin({ ...request, keyText }, NOON_MS);
      assert.ok('first' in outcome);
      await keep(outcome.first.complete({ ...answer, body }, EXPIRY_MS));
      const again = await idempotency.kept({ ...request, keyText }, NOON_MS);
      assert.ok(again !== undefined && Buffer.compare(again.body, body) === 0, String(size));
      assert.deepEqual(again.fields, answer.fields);
    }
  });

  it('is refused for an invalid key, and when the account has no room, which leaves its key free', async () => {
    const { keys, idempotency } = await world();
    for (const keyText of ['', 'two words', 'é', 'tab\t', 'x'.repeat(256)])
      await assert.rejects(idempotency.begin({ ...request, keyText }, NOON_MS), {
        code: 'invalid_idempotency_key',
      });
    assert.ok('first' in (await idempotency.begin({ ...request, keyText: '~'.repeat(255) }, NOON_MS)));
    const dear = { ...request, bytesMax: LIMITS.keptAnswerBytesMax };
    for (let i = 0; i < 2; i++)
      await assert.rejects(idempotency.begin(dear, NOON_MS), {
        code: 'idempotency_full',
        facts: { retryAfterS: 3_600 },
      });
    assert.equal(keys.keptBytes(NOON_MS), 1_000);
    assert.ok(
      'first' in (await idempotency.begin({ ...dear, accountNumber: 2 }, NOON_MS)),
      'of another account',
    );
  });

  it('belongs to the request with all of its parts, which cannot run into each other', () => {
    const lists = [['ab', 'c'], ['a', 'bc'], ['abc'], ['ab', 'c', ''], ['c', 'ab']];
    const fingerprints = lists.map((parts) => Idempotency.fingerprint(parts));
    assert.equal(new Set(fingerprints).size, lists.length);
    assert.equal(Idempotency.fingerprint(['ab', utf8Bytes('c')]), fingerprints[0]);
  });
});

describe('an Idempotency-Key that several nodes may receive', () => {
  it('is held for its first answer, and released after a replay', async () => {
    const { ledger, keep } = await world();
    const taken = new Set<string>();
    const claims: Claims = {
      claimKey: async (keyDigest) => {
        taken.add(keyDigest);
        return 'held';
      },
      releaseKey: async (keyDigest) => void taken.delete(keyDigest),
    };
    const idempotency = new Idempotency(ledger, new Uint8Array(32), new OwnedRunningKeys(claims));
    const begun = await idempotency.begin(request, NOON_MS);
    assert.ok('first' in begun);
    await keep(begun.first.complete(answer, EXPIRY_MS));
    begun.first.finish(true);
    assert.equal(taken.size, 1);
    taken.clear(); // the commit of the answer lets go of it
    assert.deepEqual(await idempotency.begin(request, NOON_MS), { replay: answer });
    assert.equal(taken.size, 0);
  });

  it("is released when the ledger's answer is unknown, so that another node can take it", async () => {
    const taken = new Map<string, string>();
    let losesReply = true;
    let refusal: Error | undefined;
    const claims: Claims = {
      async claimKey(keyDigest, fingerprint) {
        const holder = taken.get(keyDigest);
        if (holder !== undefined) return holder === fingerprint ? 'same' : 'other';
        taken.set(keyDigest, fingerprint);
        if (losesReply) throw new ApiError('storage_unavailable');
        return 'held';
      },
      async releaseKey(keyDigest) {
        if (refusal !== undefined) throw refusal;
        taken.delete(keyDigest);
      },
    };
    const [a, b] = [new OwnedRunningKeys(claims), new OwnedRunningKeys(claims)];
    await assert.rejects(a.hold(use('k', 1), NOON_MS), { code: 'storage_unavailable' });
    await nextTurn();
    losesReply = false;
    assert.equal(await b.hold(use('k', 1), NOON_MS), 'held');
    assert.equal(await a.hold(use('k', 1), NOON_MS), 'same');
    assert.equal(
      await a.hold(use('k', 1, { fingerprint: '02' }), NOON_MS),
      'other',
      'and it is not held here meanwhile',
    );
    await b.release('k', 0);
    assert.equal(await a.hold(use('k', 1), NOON_MS), 'held');
    await a.release('k', 500);
    assert.ok(taken.has('k'), 'the commit of the answer lets go of the claim');
    taken.clear();
    assert.equal(await a.hold(use('k', 1), NOON_MS), 'held');
    refusal = new ApiError('storage_unavailable');
    const released = a.release('k', 0);
    await nextTurn();
    assert.equal(await a.hold(use('k', 1), NOON_MS), 'same', 'no other node could take it either');
    refusal = undefined;
    const alive = setInterval(() => {}, 1_000); // the timer of the retry keeps no process alive
    await released;
    clearInterval(alive);
    assert.ok(!taken.has('k'));
    assert.equal(await a.hold(use('k', 1), NOON_MS), 'held');
    refusal = new Error('this node writes no more');
    await a.release('k', 0);
  });
});
