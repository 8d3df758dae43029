import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { fromHex, toHex, utf8Bytes } from '../../src/core/bytes.ts';
import { type ChaCha20, chacha20, chacha20ByNoble, chacha20ByOpenssl } from '../../src/crypto/chacha20.ts';
import { referenceChacha20 } from '../reference/expander.ts';

interface Vector {
  readonly name: string;
  readonly key: string;
  readonly nonce: string;
  readonly counter: number;
  readonly text?: string;
  readonly plaintext?: string;
  readonly output: string;
}
const vectorsUrl = new URL('../vectors/crypto/rfc8439.json', import.meta.url);
const { vectors } = JSON.parse(readFileSync(vectorsUrl, 'utf8')) as { vectors: Vector[] };

const IMPLEMENTATIONS: Record<string, ChaCha20> = {
  noble: chacha20ByNoble,
  openssl: chacha20ByOpenssl,
  chosen: chacha20,
  reference: (key, nonce, counter, input) => new Uint8Array(referenceChacha20(key, nonce, counter, input)),
};

describe('chacha20', () => {
  for (const [name, cipher] of Object.entries(IMPLEMENTATIONS)) {
    it(`gives every vector of RFC 8439 §2.3.2, §2.4.2, A.1 and A.2 by ${name}`, () => {
      assert.equal(vectors.length, 10);
      for (const vector of vectors) {
        const plaintext = vector.text ? utf8Bytes(vector.text) : fromHex(vector.plaintext ?? '00'.repeat(64));
        const output = cipher(fromHex(vector.key), fromHex(vector.nonce), vector.counter, plaintext);
        assert.equal(toHex(output), vector.output, vector.name);
      }
    });
  }

  it('gives the same by noble and by OpenSSL, on both sides of the size that chooses between them', () => {
    const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
    fc.assert(
      fc.property(
        bytes(32),
        bytes(12),
        fc.nat(0xffff_0000),
        fc.uint8Array({ maxLength: 1_100, size: 'max' }),
        (key, nonce, counter, input) => {
          const expected = chacha20ByNoble(key, nonce, counter, input);
          assert.deepEqual(new Uint8Array(chacha20ByOpenssl(key, nonce, counter, input)), expected);
          assert.deepEqual(new Uint8Array(chacha20(key, nonce, counter, input)), expected);
        },
      ),
      { numRuns: 200 },
    );
  });

  for (const [name, cipher] of Object.entries({ noble: chacha20ByNoble, openssl: chacha20ByOpenssl })) {
    it(`refuses wrong sizes and a counter that would leave its 32 bits, by ${name}`, () => {
      const key = new Uint8Array(32);
      const nonce = new Uint8Array(12);
      const refused = (...args: Parameters<ChaCha20>) => assert.throws(() => cipher(...args), RangeError);
      refused(new Uint8Array(31), nonce, 0, new Uint8Array(1));
      refused(key, new Uint8Array(16), 0, new Uint8Array(1));
      refused(key, nonce, -1, new Uint8Array(1));
      refused(key, nonce, 0.5, new Uint8Array(1));
      refused(key, nonce, 0xffff_ffff, new Uint8Array(1));
      refused(key, nonce, 0xffff_fffe, new Uint8Array(65));
      assert.equal(cipher(key, nonce, 0xffff_fffe, new Uint8Array(64)).length, 64);
    });
  }
});
