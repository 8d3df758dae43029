import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { ContextTree } from '../../../src/stats/sp800-90b/context-tree.ts';
import { PairTable } from '../../../src/stats/sp800-90b/pair-table.ts';
import { uniforms } from './sources.ts';

suite('pair table', () => {
  test('counts like a Map, through every doubling', () => {
    const uniform = uniforms(5);
    const table = new PairTable();
    const model = new Map<number, number>();
    for (let i = 0; i < 60_000; i++) {
      const key = Math.floor(uniform() * 20_000) * 256;
      const count = (model.get(key) ?? 0) + 1;
      model.set(key, count);
      assert.equal(table.increment(key), count);
    }
    for (const [key, count] of model) assert.equal(table.get(key), count);
    assert.equal(table.get(1), -1);
  });

  test('the table gives back the values that were set', () => {
    const property = fc.property(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 2 ** 31 - 1 }), fc.nat()), {
        maxLength: 6000,
        minLength: 4000,
      }),
      (entries) => {
        const table = new PairTable();
        for (const [key, value] of entries) table.set(key, value);
        for (const [key, value] of new Map(entries)) assert.equal(table.get(key), value);
      },
    );
    fc.assert(property, { numRuns: 5 });
  });
});

test('a context prefers the symbol that followed most often, the largest among equals', () => {
  const tree = new ContextTree();
  const context = tree.addChild(tree.addChild(ContextTree.ROOT, 7), 0);
  assert.equal(tree.child(tree.child(ContextTree.ROOT, 7), 0), context);
  assert.equal(tree.child(ContextTree.ROOT, 0), ContextTree.NONE);
  assert.equal(tree.bestCount(context), 0);
  for (const [symbol, count, best] of [
    [3, 1, 3],
    [9, 1, 9],
    [3, 2, 3],
    [5, 1, 3],
    [9, 2, 9],
    [3, 3, 3],
  ]) {
    assert.equal(tree.countSuccessor(context, symbol), count);
    assert.equal(tree.bestSymbol(context), best);
  }
  assert.equal(tree.bestCount(context), 3);
  assert.ok(tree.hasSuccessor(context, 5));
  assert.ok(!tree.hasSuccessor(context, 4));
});
