import { createCipheriv } from 'node:crypto';
import { EntropyReader } from '../../src/values/entropy-reader.ts';

/** The bytes every golden output is made from: ChaCha20 with key 00..1f and a zero counter and nonce. */
export function keystream(size: number): Uint8Array<ArrayBuffer> {
  const key = Uint8Array.from({ length: 32 }, (_, i) => i);
  return new Uint8Array(createCipheriv('chacha20', key, new Uint8Array(16)).update(new Uint8Array(size)));
}

/** A reader of `bytes` cut into chunks of the given sizes in turn (16 KiB when none are given); it throws at the end of the bytes. */
export function readerOf(bytes: Uint8Array, chunkSizes: readonly number[] = [16_384]): EntropyReader {
  let at = 0;
  let turn = 0;
  return new EntropyReader(() => {
    if (at >= bytes.length) throw new RangeError('the test bytes are used up');
    const end = Math.min(bytes.length, at + chunkSizes[turn++ % chunkSizes.length]);
    const chunk = bytes.slice(at, end);
    at = end;
    return chunk;
  });
}

/** A reader of the fixed keystream from its start, in chunks of 64 KiB. */
export function keystreamReader(size: number): EntropyReader {
  return readerOf(keystream(size), [65_536]);
}
