import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { checksumOfKey, digestOfKey, keyMatches, mintKey, parseKey } from '../../src/account/api-keys.ts';
import { TIERS } from '../../src/core/vocabulary.ts';
import { anyCharacter } from '../support/any-character.ts';
import { systemGives } from '../support/system-entropy.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

// checksum and digest from Python: zlib.crc32 = 2255374671 in base 62, hashlib.sha256
const KNOWN = 'qrn_p_0123456789ABCDEFGHIJKLabcdefghijklmnopqrstuvwxyz2SdJyp';
const KNOWN_DIGEST = '15b229b5e659752e14b0b48f0bf6847e7be54e968e780a2125a639e1f95f46b7';

describe('API keys', () => {
  it('have the published form', () => {
    assert.deepEqual(parseKey(KNOWN), { keyId: '0123456789ABCDEFGHIJKL' });
    assert.equal(digestOfKey(KNOWN), KNOWN_DIGEST);
    assert.ok(keyMatches(KNOWN, KNOWN_DIGEST));
  });

  it('name their tier and their id, and are stored as their digest', () => {
    for (const tier of TIERS) {
      const { keyId, text, digest } = mintKey(tier);
      assert.match(text, new RegExp(`^qrn_${tier[0]}_[0-9A-Za-z]{54}$`));
      assert.deepEqual(parseKey(text), { keyId });
      assert.equal(digest, digestOfKey(text));
      assert.ok(keyMatches(text, digest));
      assert.ok(!keyMatches(text, KNOWN_DIGEST));
    }
  });

  it('use every character equally often, because bytes from 248 on are drawn again', (t) => {
    let next = 230;
    systemGives(t, (target) => target.set(target.map(() => next++)));
    const bytes = [
      ...Array.from({ length: 18 }, (_, i) => 230 + i),
      ...Array.from({ length: 30 }, (_, i) => i),
    ];
    assert.equal(mintKey('free').text.slice(6, 54), bytes.map((byte) => BASE62[byte % 62]).join(''));
  });

  it('are refused before any look-up when a single character is wrong', () => {
    for (let at = 0; at < KNOWN.length; at++) {
      for (const character of `${BASE62}_-`) {
        if (character === KNOWN[at]) continue;
        const typo = KNOWN.slice(0, at) + character + KNOWN.slice(at + 1);
        assert.equal(parseKey(typo), undefined, typo);
      }
    }
  });

  it('are refused when two neighbours are swapped, or a character is lost or doubled', () => {
    for (let at = 0; at < KNOWN.length - 1; at++) {
      const swapped = KNOWN.slice(0, at) + KNOWN[at + 1] + KNOWN[at] + KNOWN.slice(at + 2);
      if (swapped !== KNOWN) assert.equal(parseKey(swapped), undefined, swapped);
      assert.equal(parseKey(KNOWN.slice(0, at) + KNOWN.slice(at + 1)), undefined);
      assert.equal(parseKey(KNOWN.slice(0, at) + KNOWN[at] + KNOWN.slice(at)), undefined);
    }
  });

  it('are not accepted in any other form', () => {
    const ofNoTier = KNOWN.slice(0, 54).replace('_p_', '_x_');
    const texts = ['', 'qrn_p_', `${KNOWN}\n`, ` ${KNOWN}`, KNOWN.toUpperCase(), KNOWN.repeat(1_000)];
    for (const text of [...texts, ofNoTier + checksumOfKey(ofNoTier)]) {
      assert.equal(parseKey(text), undefined, text.slice(0, 80));
    }
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 80 }), (text) => parseKey(text) === undefined),
      { numRuns: 300 },
    );
  });
});
