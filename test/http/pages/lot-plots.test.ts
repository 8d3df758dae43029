import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type LotHistory, lotPlots } from '../../../src/http/pages/lot-plots.ts';

const counts = [10, 12, 9, 11, 10, 10, 8, 12, 9, 9];
const HISTORY: LotHistory = {
  estimates: [0.84, 0.86, 0.83].map((minEntropyPerBit, i) => ({ minEntropyPerBit, driftBits: i })),
  driftAlarmBits: 20,
  pValues: { counts, blocks: 1, p: 0.25 },
};

function textOf(name: string, history: LotHistory): string {
  return lotPlots(name, history)
    .map(({ text }) => text)
    .join('');
}

describe('plots of the last lots', () => {
  it('say in words what they draw, for whoever does not see it', () => {
    const text = textOf('lab', HISTORY);
    assert.match(
      text,
      /aria-label="Min-entropy of lab over 3 lots: last 0\.830 bits per bit, least 0\.830, most 0\.860\."/,
    );
    assert.match(text, /aria-label="Drift of lab over 3 lots: last 2\.0 bits, alarm at 20/);
    assert.match(
      text,
      /aria-label="P-values of lab, 100 of 1 block, by tenths of 0 to 1: 10, 12, .*; uniformity p 0\.25\."/,
    );
    assert.equal(text.match(/<rect /g)?.length, 10);
  });

  it('take their colours from the style sheet, which has a light and a dark form', () => {
    assert.doesNotMatch(textOf('lab', HISTORY), /style=|fill=|stroke=|#[0-9a-f]{3}/);
  });

  it('say so when there is nothing to draw, and draw a single lot', () => {
    const none = { ...HISTORY, estimates: [], pValues: { counts: new Array(10).fill(0), blocks: 0, p: 1 } };
    const text = textOf('lab', none);
    assert.match(text, /no lot was assessed yet/);
    assert.match(text, /no block was tested yet/);
    assert.doesNotMatch(text, /NaN|Infinity/);
    const one = textOf('lab', { ...HISTORY, estimates: HISTORY.estimates.slice(0, 1) });
    assert.match(one, /class="line" d="M0 [\d.]+H360"/);
  });

  it('escape the name of a source', () => {
    assert.doesNotMatch(textOf('<b>', HISTORY), /<b>/);
  });
});
