import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UNIFORMITY_P_MIN, uniformityOf } from '../../../src/stats/sp800-22/uniformity.ts';
import { testSequence } from '../../../src/stats/sp800-22/verdict.ts';
import { fixedBytes } from '../../support/backends.ts';
import { uniforms } from '../../support/chance.ts';

const ROWS = 188;

/** Deciles of sequences whose p-values are uniform, but for what `of` makes of row and sequence. */
function sequencesOf(
  count: number,
  label: string,
  of = (digit: number, _row: number, _sequence: number) => digit,
) {
  const random = uniforms(label);
  return Array.from({ length: count }, (_, sequence) =>
    Array.from({ length: ROWS }, (_, row) => of(Math.floor(10 * random()), row, sequence)).join(''),
  );
}

describe('the uniformity of p-values over the last blocks', () => {
  it('raises no alarm in 2,000 lots of a sound source, each looked at with the 99 before it', () => {
    const all = sequencesOf(2_000, 'sound');
    let least = 1;
    // Every tenth look: neighbours share 99 of 100 lots.
    for (let lot = 100; lot <= all.length; lot += 10) {
      const { passed, p } = uniformityOf(all.slice(lot - 100, lot));
      assert.ok(passed, `lot ${lot}: ${p}`);
      least = Math.min(least, p);
    }
    assert.ok(least > 1_000 * UNIFORMITY_P_MIN, `the least of 191 looks was ${least}`);
  });

  it('sees one row of 188 whose p-values crowd, and all rows that lean', () => {
    const crowded = sequencesOf(100, 'crowded', (digit, row) => (row === 77 ? digit % 3 : digit));
    assert.equal(uniformityOf(crowded).passed, false);
    const leaning = sequencesOf(100, 'leaning', (digit, row) => (row < 20 && digit > 7 ? 0 : digit));
    assert.ok(uniformityOf(leaning).p < 0.01);
  });

  it('says nothing of few lots, and counts every p-value', () => {
    assert.deepEqual([uniformityOf([]).passed, uniformityOf([]).p], [true, 1]);
    const [one] = sequencesOf(1, 'one');
    const { passed, p, counts, sequences } = uniformityOf([one]);
    assert.deepEqual([passed, p, sequences], [true, 1, 1]);
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      ROWS,
    );
    // The excursion tests did not apply to the first: the rows of both are matched all the same.
    assert.equal(
      uniformityOf([one.slice(0, 162), one]).counts.reduce((sum, count) => sum + count),
      162 + ROWS,
    );
  });

  it('takes its digits from a battery: one a row, the excursion tests last', () => {
    const bits = new Uint8Array(125_000);
    fixedBytes('deciles')(bits);
    const { deciles, total, passed, verified } = testSequence(bits, 1_000_000);
    assert.equal(verified, true);
    assert.equal(deciles.length, total);
    assert.ok(deciles.split('0').length - 1 >= total - passed, 'a row below 0.01 is in the first tenth');
  });
});
