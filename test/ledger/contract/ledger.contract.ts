import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { dayOf } from '../../../src/core/clock.ts';
import {
  type DirectoryChanges,
  type DirectoryReader,
  type Ledger,
  LedgerError,
  type LedgerErrorReason,
  SEQUENCES_PER_LEASE,
} from '../../../src/ledger/ledger.ts';
import type { SegmentRecord } from '../../../src/ledger/records.ts';
import { temporaryFolder } from '../../support/ledger-folder.ts';
import {
  account,
  answer,
  block,
  CSPRNG,
  DAY_MS,
  entry,
  filledSegment,
  key,
  lot,
  lotId,
  NOON_MS,
  segment,
  source,
} from '../../support/ledger-records.ts';
import { addReleased, release } from '../../support/released-lots.ts';

/** The parts of an implementation: a fresh ledger, and how to reopen it after a restart. */
export interface OpenLedger {
  readonly ledger: Ledger;
  /** Closes the ledger and opens it again. */
  reopen(): Promise<Ledger>;
  /** The ledger as it was opened last. */
  current(): Ledger;
  /** The wall clock of the ledger, for the test to set. */
  readonly clock: { wall: number };
  close(): Promise<void>;
}

export interface ContractOptions {
  /** Why this ledger has no backup; absent when it has one. */
  readonly withoutBackup?: string;
  /** Why a segment is committed once only; absent when a repeat is told from a conflict. */
  readonly withoutRepeats?: string;
  /** Why limiter states are not those of one limiter; absent when one saves and commits. */
  readonly withoutOneLimiter?: string;
}

interface Cases {
  /** Why they are skipped. */
  readonly skip?: string | undefined;
  /** Checks at the end of each test. */
  readonly ends?: (opened: OpenLedger) => Promise<void>;
}

/** Tests, each on a fresh ledger that is closed whatever happens. */
export function casesOn(open: (t: TestContext) => Promise<OpenLedger>, { skip, ends }: Cases = {}) {
  return (name: string, run: (opened: OpenLedger, t: TestContext) => Promise<void>) =>
    test(name, { skip }, async (t) => {
      const opened = await open(t);
      try {
        await run(opened, t);
        await ends?.(opened);
      } finally {
        await opened.close();
      }
    });
}

/** The promises of every ledger. Each test restarts it, which shows that data were stored and not cached. */
export function ledgerContract(
  name: string,
  open: (t: TestContext) => Promise<OpenLedger>,
  options: ContractOptions = {},
): void {
  const check = casesOn(open);
  const checkRepeats = casesOn(open, { skip: options.withoutRepeats });
  const checkLimiter = casesOn(open, { skip: options.withoutOneLimiter });
  const checkBackup = casesOn(open, { skip: options.withoutBackup });
  suite(`ledger contract: ${name}`, () => {
    check('a new ledger is empty', async ({ ledger }) => {
      assert.deepEqual(await ledger.accounts(), []);
      assert.deepEqual(await ledger.keys(), []);
      assert.deepEqual(await ledger.lots(10), []);
      assert.deepEqual(await ledger.revocations(), []);
      assert.equal(await versionOf(ledger), 0);
      assert.equal(await ledger.segment(1), undefined);
      assert.equal(await ledger.getLog('head'), undefined);
      assert.deepEqual(await ledger.loadRates(0), []);
      assert.deepEqual(await ledger.blockLevels(), {
        pure: { blocks: 0, bytes: 0 },
        seed: { blocks: 0, bytes: 0 },
      });
      await assertSound(ledger, { segments: 0, certificates: 0, lots: 0 });
    });

    check('accounts get dense numbers from 1, once per id', async ({ ledger, reopen }) => {
      const first = await ledger.createAccount(account(7));
      const second = await ledger.createAccount(account(3));
      assert.deepEqual([first.number, second.number], [1, 2]);
      assert.deepEqual(await ledger.createAccount(account(7)), first, 'the same again is the same account');
      await assertRejects(ledger.createAccount(account(7, { name: 'other' })), 'conflict');
      assert.equal(await versionOf(ledger), 2);
      const again = await reopen();
      assert.deepEqual(await again.accounts(), [first, second]);
      assert.equal((await again.createAccount(account(4))).number, 3);
    });

    check('an account is replaced under its id and keeps its number', async ({ ledger, reopen }) => {
      const created = await ledger.createAccount(account(1));
      const changed = { ...created, tier: 'enterprise', name: 'renamed' } as const;
      await ledger.putAccount(changed);
      await ledger.putAccount(changed);
      assert.equal(await versionOf(ledger), 2, 'a put that changes nothing does not count');
      await assertRejects(ledger.putAccount({ ...created, number: 9 }), 'refused');
      await assertRejects(ledger.putAccount({ ...account(2), number: 2 }), 'refused');
      assert.deepEqual(await (await reopen()).accounts(), [changed]);
    });

    check('keys are created, replaced and bound to an account', async ({ ledger, reopen }) => {
      const { id } = await ledger.createAccount(account(1));
      await assertRejects(ledger.putKey(key(1, 'acct_none')), 'refused');
      await ledger.putKey(key(2, id));
      await ledger.putKey(key(1, id));
      await ledger.putKey(key(1, id));
      await ledger.putKey(key(1, id, { revokedAtMs: NOON_MS }));
      assert.equal(await versionOf(ledger), 4);
      const other = await ledger.createAccount(account(2));
      await assertRejects(ledger.putKey(key(2, other.id)), 'conflict');
      assert.deepEqual(await (await reopen()).keys(), [key(1, id, { revokedAtMs: NOON_MS }), key(2, id)]);
    });

    check(
      'tells what has changed in the directory since a version, and all of it where that is not listed',
      async ({ ledger, reopen }) => {
        const { version: empty } = await ledger.directoryChanges(undefined);
        const created = await ledger.createAccount(account(1));
        await ledger.createAccount(account(2));
        await ledger.putKey(key(1, created.id));
        const first = await ledger.directoryChanges(empty);
        assert.deepEqual(first, { ...(await ledger.directoryChanges(undefined)), isWhole: false });
        assert.deepEqual([first.accounts.length, first.keys.length], [2, 1]);
        const revoked = key(1, created.id, { revokedAtMs: NOON_MS });
        await ledger.putKey(revoked);
        await ledger.putKey(revoked);
        await ledger.putAccount({ ...created, name: 'other' });
        const again = await reopen();
        const { version } = first;
        assert.deepEqual(await again.directoryChanges(version), {
          version: version + 2,
          isWhole: false,
          accounts: [{ ...created, name: 'other' }],
          keys: [revoked],
          revoked: [],
        });
        const none = { version: version + 2, isWhole: false, accounts: [], keys: [], revoked: [] };
        assert.deepEqual(await again.directoryChanges(version + 2), none);
        assert.equal((await again.directoryChanges(version + 9)).isWhole, true, 'the ledger was set back');
        const keys = Array.from({ length: 1_025 }, (_, i) => key(10 + i, created.id));
        await Promise.all(keys.map((each) => again.putKey(each)));
        assert.equal((await again.directoryChanges(version + 3)).keys.length, 1_024);
        assert.equal((await again.directoryChanges(version + 2)).isWhole, true, 'only so many are listed');
      },
    );

    check('a change ends when those who follow the directory have it', async ({ ledger }) => {
      const created = await ledger.createAccount(account(1));
      await addReleased(ledger, lot(1), [block('pure', 1)]);
      const told: DirectoryChanges[] = [];
      let isSlow = false;
      const reader: DirectoryReader = {
        async directoryChanged(changes) {
          if (isSlow) await new Promise((resolve) => setImmediate(resolve));
          told.push(changes);
        },
      };
      await ledger.follow(reader);
      assert.deepEqual(told[0].accounts, [created], 'the whole of it first');
      isSlow = true;
      await ledger.putKey(key(1, created.id));
      assert.ok(told.some(({ keys }) => keys.some(({ keyId }) => keyId === key(1, created.id).keyId)));
      await ledger.revokeLot({ lotId: lotId(1), why: 'bad', atMs: NOON_MS });
      assert.ok(told.some(({ revoked }) => revoked.includes(lotId(1))));
      await ledger.follow({
        directoryChanged: async ({ isWhole }) => assert.ok(isWhole, 'this reader ended'),
      });
      for (const other of ['the one that ends it', 'one more']) {
        await ledger.putAccount({ ...created, name: other });
        assert.ok(told.some(({ accounts }) => accounts.some(({ name }) => name === other)));
      }
    });

    check('a lot is stored once, the newest listed first', async ({ ledger, reopen }) => {
      await ledger.addLot(lot(1), [block('pure', 1), block('seed', 2)]);
      await ledger.addLot(lot(2), []);
      await ledger.addLot(lot(3, { accepted: false, rejection: 'APT' }), []);
      await ledger.addLot(lot(1, { device: 'other' }), [block('pure', 9)]);
      const again = await reopen();
      assert.deepEqual(await again.lot(lotId(1)), lot(1));
      assert.equal(await again.lot(lotId(4)), undefined);
      assert.deepEqual(
        (await again.lots(2)).map(({ id }) => id),
        [lotId(3), lotId(2)],
      );
      await again.addLot(lot(4, { source: 'other' }), []);
      const ofSource = async (source: string) => (await again.lots(2, source)).map(({ id }) => id);
      assert.deepEqual(await ofSource('other'), [lotId(4)]);
      assert.deepEqual(await ofSource(lot(1).source), [lotId(3), lotId(2)]);
      assert.deepEqual(await again.blockLevels(), {
        pure: { blocks: 1, bytes: 32 },
        seed: { blocks: 1, bytes: 32 },
      });
      await assertSound(again, { lots: 4, blocksUnclaimed: 2 });
    });

    check('nothing can be drawn from a lot that was not accepted', async ({ ledger }) => {
      await assertRejects(ledger.addLot(lot(1, { accepted: false }), [block('pure', 1)]), 'refused');
      assert.equal(await ledger.lot(lotId(1)), undefined);
      assert.deepEqual(await ledger.claimBlocks('pure', 5), []);
    });

    check('blocks are claimed oldest first, by kind, and never again', async ({ ledger, reopen }) => {
      await addReleased(ledger, lot(1), [block('pure', 1, 64), block('seed', 2), block('pure', 3, 64)]);
      await addReleased(ledger, lot(2), [block('pure', 4, 64)]);
      const first = await ledger.claimBlocks('pure', 2);
      assert.deepEqual(first, [
        { lotId: lotId(1), bytes: new Uint8Array(64).fill(1), index: 0, releasedAtMs: NOON_MS },
        { lotId: lotId(1), bytes: new Uint8Array(64).fill(3), index: 1, releasedAtMs: NOON_MS },
      ]);
      const again = await reopen();
      assert.deepEqual(await again.claimBlocks('pure', 9), [
        { lotId: lotId(2), bytes: new Uint8Array(64).fill(4), index: 0, releasedAtMs: NOON_MS },
      ]);
      assert.deepEqual(await again.claimBlocks('pure', 9), []);
      assert.deepEqual(await again.claimBlocks('seed', 0), []);
      assert.deepEqual(await again.blockLevels(), {
        pure: { blocks: 0, bytes: 0 },
        seed: { blocks: 1, bytes: 32 },
      });
      await assertSound(again, { blocksUnclaimed: 1, blocksClaimed: 3 });
    });

    check('gives no block of a pending lot, nor of one behind it', async ({ ledger, reopen }) => {
      await ledger.addLot(lot(1), [block('pure', 1)]);
      await ledger.addLot(lot(2), [block('pure', 2), block('seed', 3)]);
      await ledger.addLot(lot(3, { accepted: false }), []);
      await ledger.addLot(lot(4), [block('pure', 4)]);
      const pendingIn = async (each: Ledger, limit = 9) =>
        (await each.pendingLots(limit)).map(({ id }) => id);
      const claimedIn = async (each: Ledger) =>
        (await each.claimBlocks('pure', 9)).map(({ lotId, releasedAtMs }) => [lotId, releasedAtMs]);
      assert.deepEqual(await pendingIn(ledger), [lotId(1), lotId(2), lotId(4)]);
      assert.deepEqual(await pendingIn(ledger, 1), [lotId(1)]);
      assert.deepEqual(await claimedIn(ledger), []);
      assert.deepEqual((await ledger.blockLevels()).pure, { blocks: 3, bytes: 96 }, 'they are counted');
      assert.equal(await ledger.unclaimedBlocks(lotId(2)), 2);
      const again = await reopen();
      assert.deepEqual(await claimedIn(again), []);
      await again.putLog([], undefined, { lotIds: [lotId(2), lotId(4)], atMs: NOON_MS });
      assert.equal((await pendingIn(again)).length, 3, 'none is released before an earlier one');
      await again.putLog([], undefined, { lotIds: [lotId(1), lotId(2)], atMs: NOON_MS });
      await release(again, lotId(2), NOON_MS + 1);
      await release(again, lotId(9));
      assert.deepEqual(await claimedIn(again), [
        [lotId(1), NOON_MS],
        [lotId(2), NOON_MS],
      ]);
      assert.equal((await again.claimBlocks('seed', 9)).length, 1);
      assert.deepEqual(await pendingIn(again), [lotId(4)]);
      await assertSound(again, { lots: 4, blocksUnclaimed: 1, blocksClaimed: 3 });
    });

    check('a pending lot that is withdrawn is logged, and gives no block', async ({ ledger, reopen }) => {
      for (const n of [1, 2]) await ledger.addLot(lot(n), [block('pure', n), block('seed', n)]);
      await ledger.revokeLot({ lotId: lotId(1), why: 'x', atMs: NOON_MS });
      const again = await reopen();
      assert.equal(await again.unclaimedBlocks(lotId(1)), 0);
      const lotIds = (await again.pendingLots(9)).map(({ id }) => id);
      assert.deepEqual(lotIds, [lotId(1), lotId(2)]);
      await again.putLog([], undefined, { lotIds, atMs: NOON_MS });
      const claimed = [...(await again.claimBlocks('pure', 9)), ...(await again.claimBlocks('seed', 9))];
      assert.deepEqual(
        claimed.map((each) => each.lotId),
        [lotId(2), lotId(2)],
      );
      assert.deepEqual(await again.pendingLots(9), []);
      await assertSound(again, { lots: 2, blocksUnclaimed: 0, blocksClaimed: 4 });
    });

    check('a step of the log that is not taken releases no lot', async ({ ledger }) => {
      const state = (value: number) => [{ key: 'state', value: new Uint8Array([value]) }];
      const step = { key: 'state', expected: undefined, sealed: [] };
      await ledger.putLog(state(1), step);
      await ledger.addLot(lot(1), [block('pure', 1)]);
      const released = { lotIds: [lotId(1)], atMs: NOON_MS };
      await assertRejects(ledger.putLog(state(2), step, released), 'conflict');
      assert.equal((await ledger.pendingLots(9)).length, 1);
      await ledger.putLog(state(2), { ...step, expected: new Uint8Array([1]) }, released);
      assert.equal((await ledger.claimBlocks('pure', 9)).length, 1);
    });

    check('claims made at once share no block', async ({ ledger }) => {
      const blocks = Array.from({ length: 60 }, (_, i) => block('pure', i));
      await addReleased(ledger, lot(1), blocks);
      const claims = await Promise.all(Array.from({ length: 25 }, () => ledger.claimBlocks('pure', 3)));
      const fills = claims.flat().map(({ bytes }) => bytes[0]);
      assert.deepEqual(
        fills.sort((a, b) => a - b),
        Array.from({ length: 60 }, (_, i) => i),
      );
    });

    check('lots that are added while others ask for blocks lose none', async ({ ledger }) => {
      const blocks = Array.from({ length: 8 }, (_, i) => block('pure', i));
      let isAdded = false;
      const adding = Promise.all(blocks.map((each, i) => ledger.addLot(lot(i + 1), [each])));
      const added = adding.then(() => (isAdded = true));
      while (!isAdded) {
        assert.deepEqual(await ledger.claimBlocks('pure', 9), []);
        await turn();
      }
      await added;
      const lotIds = (await ledger.pendingLots(9)).map(({ id }) => id);
      await ledger.putLog([], undefined, { lotIds, atMs: NOON_MS });
      assert.equal((await ledger.claimBlocks('pure', 9)).length, blocks.length);
      await assertSound(ledger, { lots: 8, blocksUnclaimed: 0, blocksClaimed: 8 });
    });

    check('a revoked lot gives no more blocks; its first revocation stays', async ({ ledger, reopen }) => {
      await addReleased(ledger, lot(1), [block('pure', 1), block('pure', 2), block('seed', 3)]);
      await addReleased(ledger, lot(2), [block('pure', 4)]);
      await ledger.claimBlocks('pure', 1);
      const revocation = { lotId: lotId(1), why: 'bad calibration', atMs: NOON_MS };
      await ledger.revokeLot(revocation);
      await ledger.revokeLot({ ...revocation, why: 'again' });
      await assertRejects(ledger.revokeLot({ ...revocation, lotId: lotId(9) }), 'refused');
      const again = await reopen();
      assert.deepEqual(await again.revocations(), [revocation]);
      assert.equal(await versionOf(again), 1);
      assert.deepEqual(
        (await again.claimBlocks('pure', 9)).map((claimed) => claimed.lotId),
        [lotId(2)],
      );
      assert.deepEqual(await again.claimBlocks('seed', 9), []);
      await assertSound(again, { blocksUnclaimed: 0, blocksClaimed: 4 });
    });

    check('a committed segment is read back as it was, and counted', async ({ ledger, reopen }) => {
      await ledger.addLot(lot(1), []);
      await ledger.addLot(lot(2), []);
      const sources = [source('pure', [1, 2]), source('quantum-seeded', [2]), CSPRNG];
      const make = () =>
        segment(
          1,
          [
            entry(1, { mode: 'pure', source: 0, credits: 40, endpoint: 'uuid', accountNumber: 2 }),
            entry(2, { mode: 'quantum-seeded', source: 1, endpoint: 'batch' }),
            entry(3, { mode: 'csprng', source: 2 }),
            entry(4, { mode: 'csprng', source: 2, issuedAtMs: NOON_MS + 11 * DAY_MS }),
          ],
          { sources },
        );
      await ledger.commit([make()], []);
      const again = await reopen();
      assert.deepEqual(await again.segment(1), make());
      assert.equal(await again.segment(2), undefined);
      assert.deepEqual(await again.balances(202611), [
        { accountNumber: 1, period: 202611, requests: 2, credits: 0 },
        { accountNumber: 2, period: 202611, requests: 1, credits: 40 },
      ]);
      assert.deepEqual(await again.balances(202612), [
        { accountNumber: 1, period: 202612, requests: 1, credits: 0 },
      ]);
      assert.deepEqual(await again.balances(202601), []);
      const count = { requests: 1, values: 10, bytes: 120 };
      const today = {
        day: dayOf(NOON_MS),
        ...{ requests: 2, values: 20, bytes: 240, credits: 0 },
        byEndpoint: { integers: count, batch: count },
        byMode: { 'quantum-seeded': count, csprng: count },
      };
      const later = {
        day: dayOf(NOON_MS) + 11,
        ...{ requests: 1, values: 10, bytes: 120, credits: 0 },
        byEndpoint: { integers: count },
        byMode: { csprng: count },
      };
      assert.deepEqual(await again.usage(1, 0), [today, later]);
      assert.deepEqual(await again.usage(1, dayOf(NOON_MS) + 1), [later]);
      assert.deepEqual(await again.usage(3, 0), []);
      await assertSound(again, { segments: 1, certificates: 4, creditsSpent: 40 });
    });

    checkRepeats(
      'a repeated commit changes nothing; other content under its sequence is refused',
      async ({ ledger, reopen }) => {
        await ledger.commit([filledSegment(1, 3)], []);
        await ledger.commit([filledSegment(1, 3), filledSegment(2, 2)], []);
        await ledger.commit([filledSegment(2, 2)], []);
        await assertRejects(ledger.commit([filledSegment(2, 1), filledSegment(3, 1)], []), 'conflict');
        await assertRejects(ledger.commit([filledSegment(4, 1), filledSegment(4, 1)], []), 'conflict');
        const again = await reopen();
        await assertRejects(again.commit([filledSegment(1, 4)], []), 'conflict');
        await again.commit([filledSegment(1, 3)], []);
        assert.equal(await again.segment(3), undefined, 'a refused commit stores none of its segments');
        assert.equal((await again.balances(202611))[0].requests, 5);
        await assertSound(again, { segments: 2, certificates: 5 });
      },
    );

    checkRepeats('a refused commit does not touch others made at the same time', async ({ ledger }) => {
      await ledger.commit([filledSegment(1, 1)], []);
      const results = await Promise.allSettled([
        ledger.commit([filledSegment(2, 1)], []),
        ledger.commit([filledSegment(1, 2)], []),
        ledger.commit([filledSegment(3, 1)], []),
      ]);
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      );
      await assertSound(ledger, { segments: 3 });
    });

    check('segments may be committed out of order and are listed in order', async ({ ledger, reopen }) => {
      for (const sequence of [5, 2, 9, 300, 7]) await ledger.commit([filledSegment(sequence, 1)], []);
      const again = await reopen();
      assert.deepEqual(sequencesOf(await again.segmentsFrom(0, 100)), [2, 5, 7, 9, 300]);
      assert.deepEqual(sequencesOf(await again.segmentsFrom(6, 2)), [7, 9]);
      assert.deepEqual(sequencesOf(await again.segmentsFrom(301, 2)), []);
    });

    check('many commits at once are all stored', async ({ ledger }) => {
      const sequences = Array.from({ length: 200 }, (_, i) => i + 1);
      await Promise.all(sequences.map((sequence) => ledger.commit([filledSegment(sequence, 5)], [])));
      assert.deepEqual(sequencesOf(await ledger.segmentsFrom(1, 1_000)), sequences);
      assert.equal((await ledger.balances(202611))[0].requests, 1_000);
      await assertSound(ledger, { segments: 200, certificates: 1_000 });
    });

    check('a stored answer is found until it expires', async ({ ledger, reopen, clock }) => {
      const stored = answer(1, 5, NOON_MS + DAY_MS);
      await ledger.commit([filledSegment(1, 1)], [stored]);
      assert.equal(await ledger.storedAnswer(2, stored.keyDigest), undefined, 'it is its owner’s alone');
      const again = await reopen();
      assert.deepEqual(await again.storedAnswer(1, stored.keyDigest), stored);
      clock.wall = NOON_MS + DAY_MS;
      assert.equal(await again.storedAnswer(1, stored.keyDigest), undefined);
      clock.wall = NOON_MS;
    });

    check('keeps the answer that lives longer when two have the same key', async ({ ledger }) => {
      const old = answer(1, 5, NOON_MS + 1);
      const young = { ...answer(1, 5, NOON_MS + 2), fingerprint: 'd'.repeat(64) };
      await ledger.commit([filledSegment(1, 1)], [old]);
      await ledger.commit([filledSegment(2, 1)], [young]);
      await ledger.commit([filledSegment(options.withoutRepeats === undefined ? 1 : 3, 1)], [old]);
      assert.deepEqual(await ledger.storedAnswer(1, old.keyDigest), young);
      await assertSound(ledger, {});
    });

    check('expire erases answers and old segments, and the counters stay', async ({ ledger, reopen }) => {
      const ofSecond = (n: number) => ({ ...filledSegment(n, 2), committedAtMs: NOON_MS + n * 1_000 });
      for (let sequence = 1; sequence <= 40; sequence++) {
        await ledger.commit([ofSecond(sequence)], [answer(1, sequence, NOON_MS + sequence)]);
      }
      const balances = await ledger.balances(202611);
      const usage = await ledger.usage(1, 0);
      assert.deepEqual(await ledger.segmentSpan(), { oldestMs: NOON_MS + 1_000, newestMs: NOON_MS + 40_000 });
      assert.deepEqual(await ledger.expire(NOON_MS + 30, NOON_MS + 36_000), { answers: 30, segments: 35 });
      assert.deepEqual(await ledger.expire(NOON_MS + 30, NOON_MS + 36_000), { answers: 0, segments: 0 });
      const again = await reopen();
      assert.deepEqual(await again.segmentSpan(), { oldestMs: NOON_MS + 36_000, newestMs: NOON_MS + 40_000 });
      assert.equal(await again.segment(35), undefined);
      assert.deepEqual(await again.segment(36), ofSecond(36));
      assert.deepEqual(await again.balances(202611), balances);
      assert.deepEqual(await again.usage(1, 0), usage);
      if (options.withoutRepeats === undefined)
        await assertRejects(again.commit([filledSegment(35, 2)], []), 'refused');
      await again.commit([ofSecond(36)], []);
      await assertSound(again, { segments: 5, certificates: 10 });
    });

    check(
      'leases share no sequence with each other or with a segment, whoever asks and after a restart',
      async ({ ledger, reopen }) => {
        await ledger.commit([filledSegment(7, 1)], []);
        const leases = await Promise.all([ledger.leaseSequences(), ledger.leaseSequences()]);
        await ledger.commit([filledSegment(leases[1].from + 3, 1)], []);
        leases.push(await ledger.leaseSequences(), await (await reopen()).leaseSequences());
        let before = 8;
        for (const lease of leases.sort((a, b) => a.from - b.from)) {
          assert.ok(lease.from >= before, `the lease from ${lease.from} begins below ${before}`);
          assert.ok(lease.before - lease.from >= SEQUENCES_PER_LEASE - 1);
          before = lease.before;
        }
      },
    );

    check('a sequence is never given again, even when nothing is left', async ({ ledger, reopen }) => {
      await ledger.commit([filledSegment(1, 1), filledSegment(2, 1)], []);
      await ledger.expire(0, NOON_MS + DAY_MS);
      assert.equal(await ledger.segmentSpan(), undefined);
      assert.deepEqual(await ledger.segmentsFrom(0, 10), []);
      assert.ok((await (await reopen()).leaseSequences()).from > 2);
    });

    checkLimiter(
      'limiter states come back joined with what was committed since',
      async ({ ledger, reopen }) => {
        await ledger.saveRates([
          { accountNumber: 1, tatMs: 111, admittedAtMs: [NOON_MS + 1, NOON_MS + 5] },
          { accountNumber: 3, tatMs: 333, admittedAtMs: [] },
        ]);
        await ledger.saveRates([{ accountNumber: 3, tatMs: 334, admittedAtMs: [] }]);
        const entries = [
          entry(1, { issuedAtMs: NOON_MS + 5 }),
          entry(2, { issuedAtMs: NOON_MS + 6 }),
          entry(3, { issuedAtMs: NOON_MS + 7, accountNumber: 2 }),
        ];
        await ledger.commit([segment(1, [entry(9, { accountNumber: 9 })], { committedAtMs: NOON_MS })], []);
        await ledger.commit([segment(2, entries, { committedAtMs: NOON_MS + 10 })], []);
        assert.deepEqual(await (await reopen()).loadRates(NOON_MS + 10), [
          { accountNumber: 1, tatMs: 111, admittedAtMs: [NOON_MS + 1, NOON_MS + 5, NOON_MS + 6] },
          { accountNumber: 2, tatMs: 0, admittedAtMs: [NOON_MS + 7] },
          { accountNumber: 3, tatMs: 334, admittedAtMs: [] },
        ]);
      },
    );

    check('an answer is charged to the month of its issue, also when its segment has expired', async (of) => {
      const { ledger, clock, reopen } = of;
      const sources = [{ mode: 'pure', lotIds: [], drawn: [] } as const];
      const spent = (i: number, credits: number, issuedAtMs: number) =>
        entry(i, { credits, mode: 'pure', issuedAtMs });
      const DECEMBER_MS = Date.UTC(2026, 11, 1);
      await ledger.commit(
        [segment(1, [spent(1, 7, DECEMBER_MS - 1), spent(2, 5, DECEMBER_MS)], { sources })],
        [],
      );
      // the clock was ahead for a while, and is right again: each answer stays in its month
      await ledger.commit([segment(2, [spent(3, 10, NOON_MS + 366 * DAY_MS)], { sources })], []);
      await ledger.commit([segment(3, [spent(4, 100, NOON_MS)], { sources })], []);
      const charged = async (books: typeof ledger) => {
        const months = await Promise.all([202_611, 202_612, 202_711].map((month) => books.balances(month)));
        return months.flat().map(({ period, requests, credits }) => [period, requests, credits]);
      };
      const expected = [
        [202_611, 2, 107],
        [202_612, 1, 5],
        [202_711, 1, 10],
      ];
      assert.deepEqual(await charged(ledger), expected);
      let again = await reopen();
      assert.deepEqual(await charged(again), expected);
      await assertSound(again, { creditsSpent: 122 });
      clock.wall += 400 * DAY_MS;
      await again.expire(clock.wall, NOON_MS + 100 * DAY_MS);
      again = await reopen();
      assert.deepEqual(await charged(again), expected);
      await assertSound(again, { segments: 0, creditsSpent: 122 });
    });

    check('seed generations count up for each tier, across restarts', async ({ ledger, reopen }) => {
      assert.equal(await ledger.nextSeedGeneration('pro'), 1);
      assert.equal(await ledger.nextSeedGeneration('pro'), 2);
      assert.equal(await ledger.nextSeedGeneration('developer'), 1);
      const again = await reopen();
      assert.equal(await again.nextSeedGeneration('pro'), 3);
      const both = await Promise.all([again.nextSeedGeneration('pro'), again.nextSeedGeneration('pro')]);
      assert.deepEqual(both.sort(), [4, 5]);
      await assertSound(again, {});
    });

    check('a probe changes nothing that can be read', async ({ ledger, reopen }) => {
      await ledger.commit([filledSegment(1, 3)], []);
      await ledger.probe();
      await assertSound(await reopen(), { segments: 1, certificates: 3 });
    });

    check('log records are put, replaced and read', async ({ ledger, reopen }) => {
      await ledger.putLog([
        { key: 'head', value: new Uint8Array([1]) },
        { key: 'tile/0', value: new Uint8Array(3_000).fill(2) },
      ]);
      await ledger.putLog([{ key: 'head', value: new Uint8Array([9, 9]) }]);
      const again = await reopen();
      assert.deepEqual(await again.getLog('head'), new Uint8Array([9, 9]));
      assert.deepEqual(await again.getLog('tile/0'), new Uint8Array(3_000).fill(2));
      await assertSound(again, {});
    });

    check(
      'a step of the log is taken from the expected state alone, and seals segments with it',
      async ({ ledger, reopen }) => {
        for (const sequence of [3, 1, 2]) await ledger.commit([filledSegment(sequence, 2)], []);
        const state = (value: number) => [{ key: 'state', value: new Uint8Array([value]) }];
        const step = (from: number | undefined, sealed: number[]) => {
          return { key: 'state', expected: from === undefined ? undefined : new Uint8Array([from]), sealed };
        };
        assert.deepEqual(sequencesOf(await ledger.unsealed(3)), [1, 2], 'whole segments');
        assert.deepEqual(sequencesOf(await ledger.unsealed(100)), [1, 2, 3]);
        await ledger.putLog(state(1), step(undefined, [1]));
        await ledger.putLog(state(1), step(undefined, [1]));
        await assert.rejects(ledger.putLog(state(2), step(undefined, [2])), { reason: 'conflict' });
        await assert.rejects(ledger.putLog(state(2), step(9, [2])), { reason: 'conflict' });
        assert.deepEqual(sequencesOf(await ledger.unsealed(100)), [2, 3], 'a refused step seals nothing');
        await ledger.putLog(state(2), step(1, [3]));
        const again = await reopen();
        assert.deepEqual(await again.getLog('state'), new Uint8Array([2]));
        assert.deepEqual(sequencesOf(await again.unsealed(100)), [2]);
        await assertSound(again, { segments: 3 });
      },
    );

    check('an audit beside commits sees one moment', async ({ ledger }) => {
      const commits = Array.from({ length: 150 }, (_, i) => ledger.commit([filledSegment(1 + i, 3)], []));
      await Promise.all(commits.slice(0, 100)); // a ledger may commit a later one first
      const rest = Array.from({ length: 50 }, (_, i) => ledger.commit([filledSegment(151 + i, 3)], []));
      const [report] = await Promise.all([ledger.audit(), ...rest]);
      assert.deepEqual(report.problems, []);
      assert.ok(report.segments >= 100 && report.segments <= 200);
      assert.equal(report.certificates, report.segments * 3);
      await Promise.all(commits);
    });

    checkBackup('a backup made while commits go on is one sound moment', async ({ ledger }, t) => {
      const target = join(temporaryFolder(t), 'copy');
      await ledger.createAccount(account(1));
      for (let sequence = 1; sequence <= 20; sequence++)
        await ledger.commit([filledSegment(sequence, 50)], []);
      const commits = Array.from({ length: 20 }, (_, i) => ledger.commit([filledSegment(21 + i, 50)], []));
      await Promise.all([ledger.backup(target), ...commits]); // backup itself audits the copy
      assert.ok(existsSync(join(target, 'data.mdb')));
      assert.ok(!existsSync(join(target, 'lock.mdb')), 'no lock file of another folder');
      await assertRejects(ledger.backup(target), 'refused');
    });
  });
}

function sequencesOf(segments: readonly SegmentRecord[]): number[] {
  return segments.map(({ sequence }) => sequence);
}

export async function assertSound(ledger: Ledger, expected: Record<string, number>): Promise<void> {
  const report = await ledger.audit();
  assert.deepEqual(report.problems, []);
  assert.ok(report.ok);
  for (const [name, value] of Object.entries(expected)) {
    assert.equal(report[name as keyof typeof report], value, name);
  }
}

export async function assertRejects(call: Promise<unknown>, reason: LedgerErrorReason): Promise<void> {
  await assert.rejects(call, (error: unknown) => {
    assert.ok(error instanceof LedgerError, `rejected with ${String(error)}`);
    assert.equal(error.reason, reason, error.message);
    return true;
  });
}

async function versionOf(ledger: Ledger): Promise<number> {
  return (await ledger.directoryChanges(undefined)).version;
}
