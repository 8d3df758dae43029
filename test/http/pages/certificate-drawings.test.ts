import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { roundedDown } from '../../../src/core/figures.ts';
import { smallestPPlot, timeLine } from '../../../src/http/pages/certificate-drawings.ts';
import { scene } from '../../certificate/scene.ts';

describe('the drawings of a certificate', () => {
  it('show every tested window, the failing ones above the limit', async () => {
    const tested = (await scene()).document.lots.flatMap(({ leaf }) => leaf.tested);
    const { text } = smallestPPlot(tested);
    assert.equal([...text.matchAll(/<rect/g)].length, tested.length);
    const bars = smallestPPlot([...tested, ...tested]).text;
    const tones = Array.from(bars.matchAll(/<rect class="(\w*)"/g), ([, tone]) => tone);
    assert.deepEqual(tones, tones.toSorted().reverse(), 'raw bits are on the side that the caption names');
    assert.match(bars, /<span>\d+ of raw bits, which may be biased<\/span><span>\d+ of bits that answers/);
    const topOf = (p: number) =>
      Number(/<rect [^>]*y="([\d.]+)"/.exec(smallestPPlot([{ ...tested[0], smallest_p: p }]).text)![1]);
    const limit = Number(/class="line thin" d="M0 ([\d.]+)H/.exec(text)![1]);
    assert.ok(topOf(0) < limit && limit < topOf(0.001), 'a smaller p-value stands higher');
  });

  it('show events in order and how long they took', async () => {
    const { document } = await scene({ revoked: 'fault' });
    const text = timeLine(document).text.replaceAll(/<[^>]*>/g, ' ');
    assert.match(
      text,
      /The lot was read and tested.*The answer was issued.*later.*The operator withdrew a lot/s,
    );
  });
});

describe('a figure that is a guaranteed minimum', () => {
  it('is never rounded up', () => {
    assert.deepEqual([0.5086, 0.732_999, 0.289, 0.0129, 1].map(roundedDown), [
      '0.508',
      '0.732',
      '0.289',
      '0.012',
      '1',
    ]);
  });
});
