import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LotCatalog } from '../../../src/pool/supply/catalog.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { memoryLedger } from '../../support/memory-ledger.ts';
import { lotRecord, withCalls } from '../fixtures.ts';

describe('lot catalog', () => {
  it('reads a record once, and gives it without waiting from then on', async () => {
    const ledger = memoryLedger(new ManualClock());
    await ledger.addLot(lotRecord('lot_a'), []);
    let reads = 0;
    const catalog = new LotCatalog(
      withCalls(ledger, {
        lot: (lot) => (id) => {
          reads++;
          return lot(id);
        },
      }),
    );
    assert.throws(() => catalog.get('lot_a'), { name: 'InvariantError' });
    assert.equal((await catalog.ready('lot_a')).id, 'lot_a');
    assert.equal((await catalog.ready('lot_a')).id, 'lot_a');
    assert.equal(catalog.get('lot_a').id, 'lot_a');
    assert.equal(reads, 1);
    await assert.rejects(catalog.ready('lot_b'), { name: 'InvariantError' });
  });

  it('is bounded and forgets the oldest lot first, and none for a lot that it knows', () => {
    const catalog = new LotCatalog(memoryLedger(new ManualClock()));
    for (let i = 0; i < 2_048; i++) catalog.add(lotRecord(`lot_${i}`));
    catalog.add(lotRecord('lot_5'));
    assert.equal(catalog.get('lot_0').id, 'lot_0');
    catalog.add(lotRecord('lot_new'));
    assert.throws(() => catalog.get('lot_0'), { name: 'InvariantError' });
    assert.equal(catalog.get('lot_1').id, 'lot_1');
    assert.equal(catalog.get('lot_new').id, 'lot_new');
  });
});
