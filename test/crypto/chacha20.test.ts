import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { chacha20 as nobleChacha20 } from '@noble/ciphers/chacha.js';
import { fromHex, toHex, utf8Bytes } from '../../src/core/bytes.ts';
import { chacha20 } from '../../src/crypto/chacha20.ts';
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

const IMPLEMENTATIONS: Record<string, typeof chacha20> = {
  openssl: chacha20,
  noble: (key, nonce, counter, input) => new Uint8Array(nobleChacha20(key, nonce, input, undefined, counter)),
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

  it('refuses wrong sizes and a counter that would leave its 32 bits', () => {
    const key = new Uint8Array(32);
    const nonce = new Uint8Array(12);
    const refused = (...args: Parameters<typeof chacha20>) =>
      assert.throws(() => chacha20(...args), RangeError);
    refused(new Uint8Array(31), nonce, 0, new Uint8Array(1));
    refused(key, new Uint8Array(16), 0, new Uint8Array(1));
    refused(key, nonce, -1, new Uint8Array(1));
    refused(key, nonce, 0.5, new Uint8Array(1));
    refused(key, nonce, 0xffff_ffff, new Uint8Array(1));
    refused(key, nonce, 0xffff_fffe, new Uint8Array(65));
    assert.equal(chacha20(key, nonce, 0xffff_fffe, new Uint8Array(64)).length, 64);
  });
});
