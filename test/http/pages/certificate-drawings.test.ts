import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { roundedDown } from '../../../src/core/figures.ts';
import { leafHash, nodeHash } from '../../../src/crypto/merkle.ts';
import {
  merklePath,
  smallestPPlot,
  stepsOf,
  timeLine,
} from '../../../src/http/pages/certificate-drawings.ts';
import { scene } from '../../certificate/scene.ts';
import { referencePath, referenceRoot } from '../../reference/merkle.ts';

describe('the drawn path of a certificate', () => {
  it('puts each sibling on the side on which it is hashed, for every leaf of every small tree', () => {
    for (let size = 1; size <= 17; size++) {
      const leaves = Array.from({ length: size }, (_, i) => leafHash(Uint8Array.of(i)));
      for (let index = 0; index < size; index++) {
        const path = referencePath(leaves, index);
        const root = stepsOf({ index, path }, size).reduce((below, { side, sibling }) => {
          const other = new Uint8Array(Buffer.from(sibling, 'hex'));
          return side === 'left' ? nodeHash(other, below) : nodeHash(below, other);
        }, leaves[index]);
        assert.deepEqual(root, referenceRoot(leaves), `leaf ${index} of ${size}`);
      }
    }
  });

  it('is left out while the certificate is being logged', async () => {
    assert.equal(merklePath(null), null);
    const { document } = await scene();
    const text = merklePath(document.certificate.proof)!.text.replaceAll(/<[^>]*>/g, ' ');
    assert.match(
      text,
      /From leaf 15 up to the signed root of 23 entries:\s+this certificate\s+hashed with the sibling on the left/,
    );
  });
});

describe('the drawings of a certificate', () => {
  it('show every tested window, the failing ones above the limit', async () => {
    const lots = (await scene()).document.lots.map(({ leaf }) => leaf);
    const windows = lots.flatMap(({ tested }) => tested).length;
    const { text } = smallestPPlot(lots)!;
    assert.equal([...text.matchAll(/<rect/g)].length, windows);
    const bars = smallestPPlot([...lots, ...lots])!.text;
    const tones = Array.from(bars.matchAll(/<rect class="(\w*)"/g), ([, tone]) => tone);
    assert.deepEqual(
      tones,
      tones.toSorted().reverse(),
      'raw noise stands on the side that its words stand on',
    );
    assert.match(bars, /<span>\d+ of raw noise, may be biased<\/span><span>\d+ of what answers/);
    const topOf = (p: number) => {
      const tested = [{ ...lots[0].tested[0], smallest_p: p }];
      return Number(/<rect [^>]*y="([\d.]+)"/.exec(smallestPPlot([{ ...lots[0], tested }])!.text)![1]);
    };
    const limit = Number(/class="line thin" d="M0 ([\d.]+)H/.exec(text)![1]);
    assert.ok(topOf(0) < limit && limit < topOf(0.001), 'a smaller p-value stands higher');
    assert.equal(smallestPPlot([{ ...lots[0], tested: [] }]), null);
  });

  it('order what happened and say how long it took', async () => {
    const { document } = await scene({ revoked: 'fault' });
    const text = timeLine(document).text.replaceAll(/<[^>]*>/g, ' ');
    assert.match(
      text,
      /The lot was read and tested.*The answer was issued.*later.*The operator withdrew a lot/s,
    );
  });
});

describe('a figure that is promised as a least', () => {
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
