import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { barPlot, histogram, onesSharePlot } from '../../../src/http/pages/lot-plots.ts';

/**
 * Returns the texts of a plot, and the tops and heights of its bars out of 72; a bar of no height is drawn with 0.8.
 */
function factsOf({ text }: { readonly text: string }) {
  const all = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, ...groups]) => groups.join(' '));
  return {
    caption: all(/<span>([^<]*)<\/span> <strong>([^<]*)</g).join(),
    words: all(/aria-label="([^"]*)"/g).join(),
    bars: all(/<rect class="" x="[\d.]+" y="([\d.]+)" width="[\d.]+" height="([\d.]+)"/g),
    rule: all(/class="line thin" d="M0 ([\d.]+)H360"/g),
    band: all(/class="band" x="0" y="([\d.]+)" width="360" height="([\d.]+)"/g),
    axis: all(/<span>([^<]*)<\/span>(?! <strong>)/g),
  };
}

describe('a plot of a lot', () => {
  it('counts p-values by tenths, beside the height they would have if they were uniform', () => {
    assert.deepEqual(factsOf(histogram('p-values', [1, 0, 2, 1])), {
      caption: 'p-values 4 rows',
      words: 'p-values, 4 of them, by tenths of 0 to 1: 25, 0, 50, 25 %.',
      bars: ['37.0 35.0', '72.0 0.8', '2.0 70.0', '37.0 35.0'],
      rule: ['37.0'],
      band: [],
      axis: ['p = 0', 'p = 1'],
    });
  });

  it('names each bar', () => {
    assert.deepEqual(
      factsOf(
        barPlot('Estimates', [
          ['a', 0.5],
          ['b', 0.25],
          ['c', 1.25],
        ]),
      ),
      {
        caption: 'Estimates 0.250 to 1.250',
        words: 'Estimates: a 0.500, b 0.250, c 1.250.',
        bars: ['44.0 28.0', '58.0 14.0', '2.0 70.0'],
        rule: [],
        band: [],
        axis: ['a', 'c'],
      },
    );
  });

  it('draws shares of ones up and down from the middle, with three deviations of chance around it', () => {
    assert.deepEqual(factsOf(onesSharePlot([0.5, 0.52], 2_500, 'channel')), {
      caption: 'Share of ones by channel 0.5000 to 0.5200',
      words: 'Share of ones: channel 0 0.5000, channel 1 0.5200. Three standard deviations are 0.0300.',
      bars: ['37.0 0.8', '19.5 17.5'],
      rule: ['37.0'],
      band: ['10.8 52.5'],
      axis: ['channel 0', 'middle 0.5 · band ± 0.0300, three standard deviations', 'channel 1'],
    });
    assert.match(factsOf(onesSharePlot([1], 0, 'bit')).words, /are 3\.0000\.$/);
    assert.deepEqual(factsOf(onesSharePlot([0.9, 0.1], 10_000, 'bit')).bars, ['2.0 35.0', '37.0 35.0']);
  });
});
