import assert from 'node:assert/strict';
import { hkdfSync } from 'node:crypto';
import { describe, it } from 'node:test';
import { mixedOrder, openStream } from '../../src/answer/make.ts';
import { keystream, readerOf } from '../values/keystream.ts';

describe('client entropy', () => {
  it('makes a key of 32 bytes of the source and the bytes of the caller, by HKDF', () => {
    const source = keystream(64);
    const clientEntropy = Uint8Array.of(1, 2, 3);
    const length = (size: number) => Buffer.from([0, 0, 0, size]);
    const material = Buffer.concat([length(32), source.subarray(0, 32), length(3), clientEntropy]);
    const expected = hkdfSync('sha256', material, '', 'qrn client entropy v1', 32);
    const { key } = mixedOrder(readerOf(source.slice()), clientEntropy);
    assert.deepEqual(Buffer.from(key), Buffer.from(expected));
  });

  it('changes the key with every byte, and is erased', () => {
    const keys = new Set<string>();
    for (const bytes of [[0], [1], [0, 0], [1, 0], Array<number>(64).fill(7)]) {
      const clientEntropy = Uint8Array.from(bytes);
      const { key } = mixedOrder(readerOf(keystream(64)), clientEntropy);
      keys.add(Buffer.from(key).toString('hex'));
      assert.ok(clientEntropy.every((byte) => byte === 0));
    }
    const other = mixedOrder(readerOf(keystream(64).slice(32)), Uint8Array.of(1));
    keys.add(Buffer.from(other.key).toString('hex'));
    assert.equal(keys.size, 6);
  });

  it('takes 32 bytes of the source for each answer, whatever the answer reads', () => {
    const reader = readerOf(keystream(1_024));
    for (let answers = 1; answers <= 3; answers++) {
      const stream = openStream(mixedOrder(reader, Uint8Array.of(9)));
      stream.reader.fill(new Uint8Array(100_000));
      stream.close();
      assert.equal(reader.consumedBytes, 32 * answers);
    }
  });
});
