import assert from 'node:assert/strict';
import { suite, type TestContext } from 'node:test';
import type { DrawRecord } from '../../../src/ledger/draw-records.ts';
import { assertRejects, assertSound, casesOn, type OpenLedger } from './ledger.contract.ts';

const DRAW: DrawRecord = { id: 'draw_a', accountNumber: 1, state: 'opening', dueAtMs: 5, body: '{"a":1}' };
const COMMITTED: DrawRecord = { ...DRAW, state: 'committed', body: '{"a":2}' };
const ENDED: DrawRecord = { ...DRAW, state: 'ended', body: '{"a":3}' };
const COMMIT = { drawId: 'draw_a', kind: 'commit', text: '{"type":"draw_commit"}' } as const;
const END = { drawId: 'draw_a', kind: 'end', text: '{"type":"draw_end"}' } as const;

/** The promises of every ledger about committed draws: the part DrawStore. */
export function drawsContract(name: string, open: (t: TestContext) => Promise<OpenLedger>): void {
  const check = casesOn(open, { ends: ({ current }) => assertSound(current(), {}) });
  suite(`draws contract: ${name}`, () => {
    check('keeps a draw and its waiting leaves over a restart', async ({ ledger, reopen }) => {
      assert.equal(await ledger.openDraw(DRAW, 2), true);
      assert.equal(await ledger.putDraw(COMMITTED, COMMIT), true);
      const again = await reopen();
      assert.deepEqual(await again.draw('draw_a'), COMMITTED);
      assert.deepEqual(await again.openDraws(10), [COMMITTED]);
      assert.deepEqual(await again.drawLeaves(10), [{ ...COMMIT, ordinal: 1 }]);
      assert.equal(await again.putDraw(ENDED, END), true);
      assert.deepEqual(await again.openDraws(10), []);
      await again.drawLeavesLogged([1]);
      assert.deepEqual(await again.drawLeaves(10), [{ ...END, ordinal: 2 }]);
    });

    check('changes nothing when a call is repeated', async ({ ledger }) => {
      for (const _ of [1, 2]) assert.equal(await ledger.openDraw(DRAW, 1), true);
      for (const _ of [1, 2]) assert.equal(await ledger.putDraw(COMMITTED, COMMIT), true);
      for (const _ of [1, 2]) assert.equal(await ledger.putDraw(ENDED, END), true);
      assert.equal((await ledger.drawLeaves(10)).length, 2);
      for (const _ of [1, 2]) await ledger.drawLeavesLogged([1]);
      assert.equal((await ledger.drawLeaves(10)).length, 1);
    });

    check('never changes a draw that has ended, and logs it once', async ({ ledger }) => {
      await ledger.openDraw(DRAW, 2);
      assert.equal(await ledger.putDraw(ENDED, END), true);
      assert.equal(await ledger.putDraw({ ...ENDED, body: '{"a":4}' }, END), false);
      assert.equal(await ledger.putDraw(COMMITTED, COMMIT), false);
      await ledger.dropDraw('draw_a');
      assert.deepEqual(await ledger.draw('draw_a'), ENDED);
      assert.equal((await ledger.drawLeaves(10)).length, 1);
    });

    check('never takes a draw back to an earlier state', async ({ ledger }) => {
      await ledger.openDraw(DRAW, 2);
      assert.equal(await ledger.putDraw(COMMITTED, COMMIT), true);
      assert.equal(await ledger.putDraw(DRAW), false);
      assert.deepEqual(await ledger.draw('draw_a'), COMMITTED);
    });

    check('forgets only a draw that was never committed', async ({ ledger }) => {
      await ledger.openDraw(DRAW, 2);
      await ledger.dropDraw('draw_a');
      assert.equal(await ledger.draw('draw_a'), undefined);
      assert.deepEqual(await ledger.openDraws(10), []);
      await ledger.openDraw(DRAW, 2);
      await ledger.putDraw(COMMITTED, COMMIT);
      await ledger.dropDraw('draw_a');
      assert.deepEqual(await ledger.draw('draw_a'), COMMITTED);
    });

    check('bounds the draws of one account that have not ended', async ({ ledger }) => {
      assert.equal(await ledger.openDraw(DRAW, 2), true);
      assert.equal(await ledger.openDraw({ ...DRAW, id: 'draw_b' }, 2), true);
      assert.equal(await ledger.openDraw({ ...DRAW, id: 'draw_c' }, 2), false);
      assert.equal(await ledger.draw('draw_c'), undefined);
      assert.equal(await ledger.openDraw({ ...DRAW, id: 'draw_d', accountNumber: 2 }, 2), true);
      await ledger.putDraw(ENDED, END);
      assert.equal(await ledger.openDraw({ ...DRAW, id: 'draw_c' }, 2), true);
    });

    check('refuses an id that is taken, and a draw of another account', async ({ ledger }) => {
      await ledger.openDraw(DRAW, 2);
      await assertRejects(ledger.openDraw({ ...DRAW, body: '{"a":9}' }, 2), 'conflict');
      await assertRejects(ledger.putDraw({ ...COMMITTED, accountNumber: 2 }), 'conflict');
      await assertRejects(ledger.putDraw({ ...COMMITTED, id: 'draw_z' }), 'refused');
      await assertRejects(ledger.openDraw({ ...COMMITTED, id: 'draw_z' }, 2), 'refused');
    });
  });
}
