import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { scratchFolder } from '../support/scratch-folder.ts';
import { Needles } from './needles.ts';

const SEED = 20_261_121;

describe('the search of the other tests', () => {
  it('finds what a plain search finds, at any place and beside anything', () => {
    const content = fc.uint8Array({ minLength: 0, maxLength: 9_000, max: 3 }); // few values: many near misses
    const cuts = fc.array(fc.tuple(fc.nat(9_000), fc.integer({ min: 15, max: 70 })), { maxLength: 6 });
    fc.assert(
      fc.property(content, cuts, (bytes, ranges) => {
        const haystack = Buffer.from(bytes);
        const needles = new Needles();
        const pieces = ranges
          .map(([at, size]) => haystack.subarray(at, at + size))
          .filter((piece) => piece.length >= 15);
        for (const piece of pieces) needles.add('piece', piece);
        const expected = new Set<string>();
        for (const piece of pieces) {
          for (let at = haystack.indexOf(piece); at !== -1; at = haystack.indexOf(piece, at + 1)) {
            expected.add(`${at} ${piece.length}`);
          }
        }
        const places = new Set([...expected].map((each) => Number(each.split(' ')[0])));
        assert.deepEqual(new Set(needles.in('x', haystack).map(({ at }) => at)), places);
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  it('finds matches across two chunks of a file, and after pages of zeros', () => {
    const folder = scratchFolder();
    const content = Buffer.alloc(2 ** 24 + 5 * 4_096);
    const secret = Buffer.from('a secret of thirty-two bytes, no');
    const places = [0, 4_090, 2 ** 24 - 20, 2 ** 24 + 9_000, content.length - 32];
    for (const at of places) content.set(secret, at);
    writeFileSync(join(folder, 'file'), content);
    const needles = new Needles();
    needles.addBytes('secret', secret);
    assert.deepEqual(
      needles.inFile(join(folder, 'file')).map(({ at }) => at),
      places,
    );
  });

  it('knows the forms of a secret in texts', () => {
    const needles = new Needles();
    const secret = Buffer.from(Array.from({ length: 32 }, (_, i) => (i * 37) ^ 0xa5));
    needles.addBytes('secret', secret);
    needles.addText('key', 'qrn_p_0123456789abcdef');
    const texts = ['hex', 'base64', 'base64url'].map((form) => secret.toString(form as 'hex'));
    for (const text of [...texts, texts[0].toUpperCase(), `x${texts[1]}`, 'qrn_p_0123456789abcdef']) {
      assert.equal(needles.in('x', Buffer.from(`{"a":"${text}"}`)).length, 1, text);
    }
    assert.equal(needles.in('x', Buffer.from('.qrn_p_0123456789abcdef', 'utf16le')).length, 1);
    assert.equal(needles.in('x', Buffer.from('qrn_p_0123456789abcdeg')).length, 0);
  });
});
