import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { uniforms } from '../../support/chance.ts';
import { trendOf } from './trend.ts';

describe('a trend', () => {
  const line = (points: number, value: (i: number) => number) =>
    trendOf(Array.from({ length: points }, (_, i) => ({ atS: i, value: value(i) })))!;

  it('is the slope of a line, whatever a fifth of the points do', () => {
    const random = uniforms(3);
    const noisy = line(300, (i) => 100 + 0.1 * i + (i % 5 === 0 ? 500 * random() : random()));
    assert.ok(Math.abs(noisy.perMinute - 6) < 0.3, `${noisy.perMinute} a minute`);
    assert.ok(Math.abs(noisy.growth - 29.9) < 1.5);
    const flat = line(2_000, () => 100 + random());
    assert.ok(Math.abs(flat.growth) < 1);
    assert.equal(flat.points, 2_000);
  });

  it('needs three points', () => {
    assert.equal(trendOf([]), undefined);
    const two = [0, 1].map((atS) => ({ atS, value: 1 }));
    assert.equal(trendOf(two), undefined);
    assert.equal(trendOf(two.concat(two).map(({ value }) => ({ atS: 1, value }))), undefined);
  });
});
