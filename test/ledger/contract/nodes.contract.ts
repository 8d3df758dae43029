import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { DrawRecord } from '../../../src/ledger/draw-records.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import type { LimitAsk, LimitGrant } from '../../../src/ledger/sharing.ts';
import {
  account,
  answer,
  block,
  DAY_MS,
  filledSegment,
  job,
  key,
  lot,
  lotId,
  NO_LIMITS,
  NOON_MS,
  spend,
  submitted,
  TODAY,
} from '../../support/ledger-records.ts';
import { addReleased } from '../../support/released-lots.ts';
import { assertRejects } from './ledger.contract.ts';

/** Two nodes over one set of books. */
export interface NodePair {
  readonly a: Ledger;
  readonly b: Ledger;
  /** Fences the node `a` as the command does. Its process goes on. */
  fenceA(): Promise<void>;
  /** The next process of the node `a`. */
  startA(): Promise<Ledger>;
  close(): Promise<void>;
}

/** Calls about a node's own data: its blocks, the jobs that give them, and the audit of both. */
const OF_ONE_NODE: ReadonlySet<string> = new Set([
  ...['addLot', 'claimBlocks', 'blockLevels', 'unclaimedBlocks', 'openJob', 'putJob', 'openJobs'],
  ...['audit', 'backup', 'journalFaults', 'integrity'],
]);

/** Returns one ledger whose calls go to the nodes in turn; calls about a node's own data go to the first. */
export function inTurn(nodes: readonly Ledger[]): Ledger {
  let turn = 0;
  const calls = Object.keys(nodes[0]).map((name) => {
    const call = (...args: readonly unknown[]) => {
      const node = OF_ONE_NODE.has(name) ? nodes[0] : nodes[turn++ % nodes.length];
      return (node as unknown as Record<string, (...args: readonly unknown[]) => unknown>)[name](...args);
    };
    return [name, call];
  });
  const close = async () => {
    for (const node of nodes) await node.close();
  };
  const follow: Ledger['follow'] = async (reader) => {
    for (const node of nodes) await node.follow(reader);
  };
  return { ...Object.fromEntries(calls), follow, close } as Ledger;
}

/** The promises of nodes that share books. The cases share the books, each with its own accounts and sequences. */
export function nodesContract(name: string, open: () => Promise<NodePair>): void {
  suite(`nodes contract: ${name}`, () => {
    let pair: NodePair;
    let orders = 0;
    before(async () => {
      pair = await open();
    });
    after(() => pair.close());

    /** Returns the grant to a node that holds so many requests and credits of the account and wants more of both. */
    async function granted(
      node: Ledger,
      [requests, credits]: readonly [number, number],
      wanted: number,
    ): Promise<LimitGrant> {
      const now = await node.askLimits(++orders, []);
      const ask: LimitAsk = {
        accountNumber: 50,
        period: now.period,
        requestsGranted: requests,
        creditsGranted: credits,
        requestsUsed: requests,
        creditsUsed: credits,
        requestsTotal: 10,
        creditsTotal: 10,
        requestsWanted: wanted,
        creditsWanted: wanted,
      };
      const { grants } = await node.askLimits(++orders, [ask]);
      return grants[0];
    }

    test('each node reads what the other has written', async () => {
      const { a, b } = pair;
      const { version } = await b.directoryChanges(undefined);
      const created = await a.createAccount(account(1));
      await a.putKey(key(1, created.id));
      const changes = await b.directoryChanges(version);
      assert.deepEqual([changes.accounts, changes.keys], [[created], [key(1, created.id)]]);
      await b.putKey(key(1, created.id, { revokedAtMs: NOON_MS }));
      assert.equal((await a.keys())[0].revokedAtMs, NOON_MS);
      await a.commit([filledSegment(1, 3)], []);
      await b.commit([filledSegment(2, 2)], []);
      assert.deepEqual(await b.segment(1), filledSegment(1, 3));
      for (const node of [a, b]) {
        assert.deepEqual(await node.balances(202_611), await a.balances(202_611));
        assert.equal((await node.balances(202_611))[0].requests, 5);
      }
      await assertRejects(b.commit([filledSegment(1, 4)], []), 'conflict');
    });

    test('the leased sequences of both nodes are disjoint', async () => {
      const { a, b } = pair;
      const leases = await Promise.all([a, b, a, b].map((node) => node.leaseSequences()));
      leases.sort((one, other) => one.from - other.from);
      for (const [i, { from }] of leases.entries())
        assert.ok(i === 0 || from >= leases[i - 1].before, `the lease from ${from}`);
    });

    test('only the node that stored its lot claims a block, and both know the lot', async () => {
      const { a, b } = pair;
      await addReleased(a, lot(1), [block('pure', 1), block('pure', 2)]);
      assert.deepEqual(await b.lot(lotId(1)), lot(1));
      assert.deepEqual(await b.claimBlocks('pure', 9), []);
      assert.equal((await b.blockLevels()).pure.blocks, 0);
      assert.equal((await a.claimBlocks('pure', 1)).length, 1);
      await b.revokeLot({ lotId: lotId(1), why: 'x', atMs: NOON_MS });
      assert.deepEqual(await a.claimBlocks('pure', 9), [], 'withdrawn through the other node');
      const generations = await Promise.all([a, b, a].map((node) => node.nextSeedGeneration('pro')));
      assert.deepEqual(generations.sort(), [1, 2, 3]);
    });

    test("both nodes share a source's daily budget, and open jobs belong to the node that opened them", async () => {
      const { a, b } = pair;
      const limits = { amountPerDay: 0.3, callsPerDay: null };
      const charges = [a, b, a, b, a].map((node, i) => node.charge(`${i}`, spend(0.1), limits));
      assert.equal((await Promise.all(charges)).filter((isTaken) => isTaken).length, 3);
      assert.equal((await b.spent('simulator', TODAY)).amount, 0.3);
      assert.equal(await b.openJob(job(1), limits), false);
      assert.equal(await a.openJob(job(1), NO_LIMITS), true);
      assert.deepEqual(await b.openJobs('simulator'), []);
      assert.deepEqual(await a.openJobs('simulator'), [job(1)]);
    });

    test('an account may have its number of open draws over both nodes together', async () => {
      const { a, b } = pair;
      const opened = [a, b, a, b].map((node, i) => node.openDraw(drawOf(i), 3));
      assert.equal((await Promise.all(opened)).filter((isOpen) => isOpen).length, 3);
    });

    test('if two nodes extend the log from the same state, one is refused and seals nothing', async () => {
      const { a, b } = pair;
      await a.commit(
        [11, 12].map((sequence) => filledSegment(sequence, 1)),
        [],
      );
      const step = (node: Ledger, value: number, sealed: number[], expected?: number) =>
        node.putLog([{ key: 'state', value: new Uint8Array([value]) }], {
          key: 'state',
          expected: expected === undefined ? undefined : new Uint8Array([expected]),
          sealed,
        });
      const waiting = async () => (await b.unsealed(9_999)).map(({ sequence }) => sequence);
      await step(a, 1, []);
      const steps = await Promise.allSettled([step(a, 2, [11], 1), step(b, 3, [12], 1)]);
      const refused = steps.find(({ status }) => status === 'rejected');
      assert.equal(refused?.status === 'rejected' && refused.reason.reason, 'conflict');
      const taken = steps[0].status === 'fulfilled' ? 2 : 3;
      assert.deepEqual(await b.getLog('state'), new Uint8Array([taken]));
      assert.equal((await waiting()).includes(11), taken === 3);
      assert.equal((await waiting()).includes(12), taken === 2);
      await assertRejects(step(b, 9, [], 1), 'conflict');
    });

    test('a key that one node claims is held until its answer is committed or it is released', async () => {
      const { a, b } = pair;
      const kept = answer(1, 5, NOON_MS + DAY_MS);
      for (const call of ['first', 'repeated'])
        assert.equal(await a.claimKey(kept.keyDigest, 'one'), 'held', call);
      assert.equal(await b.claimKey(kept.keyDigest, 'one'), 'same');
      assert.equal(await b.claimKey(kept.keyDigest, 'two'), 'other');
      await b.releaseKey(kept.keyDigest); // it is not b's to let go of
      assert.equal(await b.claimKey(kept.keyDigest, 'one'), 'same');
      await a.commit([filledSegment(21, 1)], [kept]);
      assert.equal(await b.claimKey(kept.keyDigest, 'one'), 'held');
      assert.deepEqual(await b.storedAnswer(1, kept.keyDigest), kept);
      await b.releaseKey(kept.keyDigest);
      assert.equal(await a.claimKey(kept.keyDigest, 'two'), 'held');
      const claims = [a, b, a, b, a, b].map((node) => node.claimKey('at once', 'one'));
      assert.deepEqual(new Set(await Promise.all(claims)), new Set(['held', 'same']));
    });

    test('the limiter states of both nodes are added to what each has committed since it saved its own', async () => {
      const { a, b } = pair;
      const later = (sequence: number, afterMs: number) =>
        filledSegment(sequence, 1, { accountNumber: 60, issuedAtMs: NOON_MS + afterMs });
      await a.saveRates([{ accountNumber: 60, tatMs: 111, admittedAtMs: [NOON_MS + 1, NOON_MS + 5] }]);
      await b.saveRates([{ accountNumber: 60, tatMs: 99, admittedAtMs: [NOON_MS + 2] }]);
      await a.commit([later(41, 5), later(42, 6)], []);
      await b.commit([later(43, 4)], []);
      for (const node of [a, b]) {
        const rates = (await node.loadRates(0)).filter(({ accountNumber }) => accountNumber === 60);
        const admittedAtMs = [1, 2, 4, 5, 6].map((ms) => NOON_MS + ms);
        assert.deepEqual(rates, [{ accountNumber: 60, tatMs: 111, admittedAtMs }]);
      }
    });

    test('nodes that ask at once are granted no more than there is', async () => {
      const { a, b } = pair;
      const { period } = await a.askLimits(++orders, []);
      const had = { requestsGranted: 0, creditsGranted: 0, requestsUsed: 0, creditsUsed: 0 };
      const total = { requestsTotal: 1_000, creditsTotal: 100 };
      const wanted = { requestsWanted: 0, creditsWanted: 80 };
      const accounts = Array.from({ length: 8 }, (_, i) => 70 + i);
      const asked = accounts.flatMap((accountNumber) =>
        [a, b].map(async (node) => {
          const { grants } = await node.askLimits(++orders, [
            { accountNumber, period, ...had, ...total, ...wanted },
          ]);
          return { accountNumber, credits: grants[0].creditsGranted };
        }),
      );
      const granted = Map.groupBy(await Promise.all(asked), ({ accountNumber }) => accountNumber);
      for (const [account, each] of granted)
        assert.equal(
          each.reduce((sum, { credits }) => sum + credits, 0),
          100,
          `account ${account}`,
        );
    });

    test('a fenced node writes nothing more, and the other node takes over what it held', async () => {
      const { a, b } = pair;
      assert.deepEqual([await a.isShared(), await b.isShared()], [true, true]);
      const { nodes } = await b.askLimits(++orders, []);
      assert.equal(nodes, 2, 'each has half of a rate');
      const first = await granted(a, [0, 0], 6);
      const quarter = 3; // of two nodes, so that half is left for the next calls
      assert.deepEqual([first.requestsGranted, first.creditsGranted], [quarter, 6]);
      const other = await granted(b, [0, 0], 10);
      assert.deepEqual([other.requestsGranted, other.creditsGranted], [2, 4], 'of what a has not');
      assert.deepEqual([other.requestsLeft, other.creditsLeft], [5, 0]);
      await a.commit(
        [filledSegment(31, 2, { accountNumber: 50, credits: 1, issuedAtMs: monthOf(first) })],
        [],
      );
      assert.equal(await a.claimKey('held', 'one'), 'held');
      await pair.fenceA();
      const late: readonly (() => Promise<unknown>)[] = [
        () => a.commit([filledSegment(32, 1)], []),
        () => a.putLog([{ key: 'late', value: new Uint8Array([1]) }]),
        () => a.askLimits(++orders, []),
        () => a.claimKey('late', 'one'),
        () => a.openJob(job(2), NO_LIMITS),
        () => a.putJob(submitted(1)),
        () => a.openJobs('simulator'),
        () => a.charge('late', spend(1), NO_LIMITS),
        () => a.putSourceNote('simulator', 'late', 'x'),
        () => a.openDraw(drawOf(9), 99),
        () => a.putDraw({ ...drawOf(0), state: 'committed' }),
        () => a.dropDraw(drawOf(0).id),
        () => a.drawLeavesLogged([1]),
        () => a.addLot(lot(2), [block('seed', 2)]),
      ];
      for (const call of late) await assertRejects(call(), 'stopped');
      assert.equal(await b.segment(32), undefined);
      assert.equal(await b.getLog('late'), undefined);
      assert.equal(await b.claimKey('late', 'one'), 'held');
      assert.equal(await b.claimKey('held', 'two'), 'held', 'the fenced node had it');
      assert.equal((await b.askLimits(++orders, [])).nodes, 1, 'the fenced node has no part');
      const all = await granted(b, [2, 4], 10);
      assert.deepEqual([all.requestsGranted, all.creditsGranted], [5, 8], 'a spent two of the ten');
      assert.ok([5, 7].includes(all.requestsUnused), 'the counters follow what is committed');
      assert.deepEqual(await b.openJobs('simulator'), [job(1)], 'another node goes on with its jobs');
      const again = await pair.startA();
      await again.commit([filledSegment(33, 1)], []);
      assert.equal((await granted(again, [0, 0], 1)).creditsGranted, 0);
    });
  });
}

function drawOf(i: number): DrawRecord {
  return { id: `draw_${i}`, accountNumber: 7, state: 'opening', dueAtMs: 5, body: '{}' };
}

/** A Unix time in the month of a grant, which is a month of the database's own clock. */
function monthOf({ period }: LimitGrant): number {
  return Date.UTC(Math.floor(period / 100), (period % 100) - 1, 15);
}
