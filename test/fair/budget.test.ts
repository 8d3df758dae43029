import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../../src/core/errors.ts';
import { Budget, type Hold, NO_KEY } from '../../src/fair/budget.ts';

const MAX = 1_000;

it('a budget never exceeds its bound, gives each owner its half, and ends empty', () => {
  const step = fc.record({
    owner: fc.constantFrom(NO_KEY, 1, 2, 3),
    amount: fc.integer({ min: 1, max: 700 }),
    isReleased: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 80 }), (steps) => {
      const budget = new Budget(MAX);
      const open: { owner: number; amount: number; hold: Hold }[] = [];
      const sum = (of?: number) =>
        open.reduce((total, { owner, amount }) => total + (of === undefined || owner === of ? amount : 0), 0);
      for (const { owner, amount, isReleased } of steps) {
        if (isReleased && open.length > 0) open.shift()!.hold.resize(0);
        const own = sum(owner);
        const mayHold = sum() === 0 || (sum() + amount <= MAX && (own === 0 || own + amount <= MAX / 2));
        try {
          open.push({ owner, amount, hold: budget.hold(owner, amount) });
          assert.ok(mayHold);
        } catch (error) {
          assert.ok(error instanceof ApiError && error.code === 'overloaded' && !mayHold);
        }
        assert.equal(budget.total, sum());
      }
      for (const { hold } of open) hold.resize(0);
      assert.equal(budget.total, 0);
    }),
    { seed: 20261126, numRuns: 300 },
  );
});

it('a budget counts memory that belongs to nobody, and resized memory', () => {
  let besides = 0;
  const budget = new Budget(MAX, () => besides);
  const first = budget.hold(1, 400);
  besides = 300;
  assert.equal(budget.fits(2, 301), false);
  assert.equal(budget.fits(2, 300), true);
  first.resize(100);
  assert.equal(budget.total, 400);
  assert.equal(budget.fits(1, 401), false, 'with the rest it would have more than half');
});
