import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LotAlarm, refusalChance } from '../../../src/pool/intake/lot-alarm.ts';
import { lotRecord } from '../../pool/fixtures.ts';
import { soundBackend } from '../../support/backends.ts';
import { uniforms } from '../../support/chance.ts';
import { changedBackend, collected, collecting, LOT_RAW_BITS, withRun } from './lying.ts';

const LOTS = {
  'of 64 Kbit': { width: 16, shots: LOT_RAW_BITS / 16 },
  'of 4 Mbit': { width: 16, shots: 262_144 },
};
const chanceOf = refusalChance(LOTS['of 4 Mbit']);

const GOOD = lotRecord('lot_1');
const REFUSED = lotRecord('lot_2', { accepted: false });

/**
 * Returns after how many lots the source is closed if `isRefused` tells which are refused; undefined when `most` are
 * not enough.
 */
function lotsToClose(
  isRefused: (lot: number) => boolean,
  most: number,
  chance = chanceOf,
): number | undefined {
  const alarm = new LotAlarm();
  for (let lot = 1; lot <= most; lot++) {
    alarm.add(isRefused(lot) ? REFUSED : GOOD, chance);
    if (alarm.isClosing) return lot;
  }
  return undefined;
}

describe('the bound of the rule', () => {
  it('never closes a source in a million lots that chance alone refuses at the highest rate', () => {
    const random = uniforms('chance');
    const alarm = new LotAlarm();
    let refused = 0;
    for (let lot = 0; lot < 1e6; lot++) {
      const isRefused = random() < chanceOf;
      refused += isRefused ? 1 : 0;
      alarm.add(isRefused ? REFUSED : GOOD, chanceOf);
      assert.ok(!alarm.isClosing, `closed after ${lot} lots, ${refused} of them refused`);
    }
    assert.ok(refused > 5_000);
  });

  it('is that of the tests: chance refuses one lot of 64 Kbit in 485, one of 4 Mbit in 169', () => {
    assert.deepEqual(
      Object.values(LOTS).map((lot) => Math.floor(1 / refusalChance(lot))),
      [485, 169],
    );
    // Where chance alone refuses one in eight, the rule concludes nothing.
    const huge = refusalChance({ width: 1, shots: 2 ** 28 });
    assert.equal(
      lotsToClose(() => true, 10_000, huge),
      undefined,
    );
  });
});

describe('a share of refused lots', () => {
  it('closes a source sooner the larger it is', () => {
    // Every n-th lot is refused: [n, lots until the source is closed].
    const table: [number, number | undefined][] = [
      [1, 10],
      [2, 20],
      [3, 30],
      [4, 40],
      [6, 66],
      [8, 96],
      [12, 180],
      [16, 336],
      [20, 720],
      [28, undefined],
      [100, undefined],
    ];
    const found = table.map(([n]) => [n, lotsToClose((lot) => lot % n === 0, 20_000)]);
    assert.deepEqual(found, table);
  });

  it('closes the source within 60 lots when it is one half, in each of 2,000 trials', () => {
    const random = uniforms('even');
    for (let trial = 0; trial < 2_000; trial++)
      assert.ok(lotsToClose(() => random() < 0.5, 60) !== undefined);
  });

  it('is forgotten once lots are good again', () => {
    assert.equal(
      lotsToClose((lot) => lot % 100 < 3, 100_000),
      undefined,
    );
  });
});

describe('a source that alternates', () => {
  it('between good and refused lots is closed, whatever refuses them', async () => {
    const earlier = await soundBackend().read(LOT_RAW_BITS, new AbortController().signal);
    for (const [what, liar, assessed] of [
      ['rct', changedBackend((read, count) => (count % 2 === 0 ? withRun(read, 40) : read)), []],
      [
        'copy',
        changedBackend((read, count) => (count % 2 === 0 ? { ...read, bits: earlier.bits.slice() } : read)),
        [],
      ],
      [
        'same result',
        changedBackend((read, count) => (count % 2 === 0 ? { ...read, rawSha256: 'a' } : read)),
        [],
      ],
      ['estimate', soundBackend(), Array.from({ length: 40 }, (_, lot) => (lot % 2 === 0 ? 0.85 : 0.1))],
    ] as const) {
      const world = collecting(liar);
      world.assessor.estimates = [...assessed];
      const { state, lotsAccepted, lotsRejected } = await collected(world);
      assert.equal(state, 'closed', what);
      assert.ok(lotsAccepted + lotsRejected <= 20, `${what}: ${lotsAccepted} and ${lotsRejected}`);
      assert.match(world.closed[0], /^\d+ of \d+ lots were refused, at last: /);
      // Accepted lots serve, and no byte of a refused one does.
      const lots = await world.ledger.lots(100);
      const blocks = await world.ledger.claimBlocks('pure', 1000);
      const goodIds = new Set(lots.filter(({ accepted }) => accepted).map(({ id }) => id));
      assert.deepEqual(new Set(blocks.map(({ lotId }) => lotId)), goodIds);
      assert.equal(goodIds.size, lotsAccepted);
      assert.equal(lots.filter(({ rejection }) => rejection !== '').length, lotsRejected);
    }
  });

  it('between channel layouts cannot hide its failures in new monitors', async () => {
    const widths = Array.from({ length: 40 }, (_, i) => soundBackend(`wide ${i}`, i + 1));
    let reads = 0;
    const { name } = widths[0];
    const world = collecting({
      ...widths[0],
      name,
      read: async (bits, signal) => withRun(await widths[reads++].read(bits, signal), 40),
    });
    const { state, lotsRejected } = await collected(world);
    assert.deepEqual([state, lotsRejected], ['closed', 7]);
  });

  it('between failing and good reads is not closed, because nothing was tested', async () => {
    const world = collecting(
      changedBackend((read, count) =>
        count % 2 === 0 ? { ...read, shots: 1, bits: new Uint8Array(2) } : read,
      ),
      50,
    );
    const { state, lotsAccepted, reads } = await collected(world);
    assert.deepEqual([state, lotsAccepted, reads.failed], ['ok', 50, 49]);
  });
});

it('a source of few shots is not penalized for its startup tests, however many reads those take', async () => {
  // 86 shots a lot: twelve of them before there are 1,024 samples of every channel
  const { state, lotsRejected, lotsAccepted } = await collected(collecting(soundBackend('wide', 768)));
  assert.deepEqual([state, lotsRejected, lotsAccepted], ['ok', 11, 20]);
});
