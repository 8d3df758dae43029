import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLog } from '../../../src/core/log.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { commitmentOf } from '../../../src/pool/intake/lot-commitment.ts';
import { PureSupply } from '../../../src/pool/supply/pure.ts';
import { SeedSchedule } from '../../../src/pool/supply/seeds.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { memoryLedger } from '../../support/memory-ledger.ts';
import { isZero, lotRecord, MarkedBlocks, recordingLog, withCalls } from '../fixtures.ts';

/** An operator who changes what is stored when its leaf is in the log: none of it is delivered. */

async function committedLedger() {
  const clock = new ManualClock();
  const ledger = memoryLedger(clock);
  const marked = new MarkedBlocks();
  const blocks = [...marked.seeds(3), ...marked.pure(3)];
  await ledger.addLot(lotRecord('lot_1', { commitment: await commitmentOf(blocks) }), blocks);
  return { clock, ledger };
}

type Changed = 'a bit of one' | 'two in each other’s place';

/** The ledger whose blocks of one kind are others when they are claimed, and all that it gave. */
function changing(ledger: Ledger, changed: Changed | null) {
  const given: Uint8Array[] = [];
  const changedLedger = withCalls(ledger, {
    claimBlocks: (claim) => async (kind, max) => {
      const blocks = await claim(kind, Math.max(max, 3));
      if (changed === 'a bit of one') blocks[0].bytes[blocks[0].bytes.length - 1] ^= 1;
      given.push(...blocks.map(({ bytes }) => bytes));
      if (changed !== 'two in each other’s place') return blocks;
      const [first, second, third] = blocks;
      return [{ ...first, bytes: second.bytes }, { ...second, bytes: first.bytes }, third];
    },
  });
  return { changedLedger, given };
}

describe('the commitment of a lot', () => {
  for (const [changed, usable] of [
    [null, 3],
    ['a bit of one', 2],
    ['two in each other’s place', 1],
  ] as const) {
    it(`${changed ?? 'nothing'} of its pure blocks changed: ${usable} of 3 are delivered`, async () => {
      const { ledger } = await committedLedger();
      const { changedLedger, given } = changing(ledger, changed);
      const log = recordingLog();
      const supply = new PureSupply(changedLedger, log);
      await supply.fill(1_024);
      assert.equal(supply.available(), usable * 4_096);
      assert.equal(log.errors().length, 3 - usable);
      for (const { message } of log.errors())
        assert.equal(
          message,
          'erased a block that is not what its lot had committed to: run `qrn ledger audit`',
        );
      assert.equal(given.filter(isZero).length, 3 - usable);
    });
  }

  it('lets out only the seed that it covers', async () => {
    for (const changed of [null, 'a bit of one'] as const) {
      const { clock, ledger } = await committedLedger();
      const { changedLedger } = changing(ledger, changed);
      const log = changed === null ? silentLog : recordingLog();
      const schedule = new SeedSchedule(changedLedger, clock, log);
      const seen: number[] = [];
      schedule.onSeed(({ index }) => seen.push(index));
      const pro = schedule.add({ tier: 'pro', intervalMs: 3_600_000 });
      await schedule.ensure(pro);
      assert.deepEqual(seen.includes(0), changed === null, `${changed}: ${seen}`);
    }
  });
});
