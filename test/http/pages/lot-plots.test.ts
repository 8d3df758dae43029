import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type LotHistory, lotPlots } from '../../../src/http/pages/lot-plots.ts';

const HISTORY: LotHistory = {
  estimates: [0.84, 0.86, 0.83].map((minEntropyPerBit, i) => ({ minEntropyPerBit, alarmBits: i })),
  alarmBits: 20,
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
    assert.match(text, /aria-label="Alarm of lab over 3 lots: last 2\.0 bits, alarm at 20/);
  });

  it('say so when there is nothing to draw, and draw a single lot', () => {
    const none = { ...HISTORY, estimates: [] };
    const text = textOf('lab', none);
    assert.match(text, /no lot was assessed yet/);
    assert.doesNotMatch(text, /NaN|Infinity/);
    const one = textOf('lab', { ...HISTORY, estimates: HISTORY.estimates.slice(0, 1) });
    assert.match(one, /class="line" d="M0\.0 ([\d.]+)L360\.0 \1"/);
  });
});
