import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { EntropyReader } from '../../src/values/entropy-reader.ts';
import { keystream, readerOf } from './keystream.ts';

type Read = { kind: 'u32' } | { kind: 'fill'; size: number };

const anyRead: fc.Arbitrary<Read> = fc.oneof(
  fc.constant<Read>({ kind: 'u32' }),
  fc.nat(120).map((size): Read => ({ kind: 'fill', size })),
);

function perform(reader: EntropyReader, read: Read): number[] {
  if (read.kind === 'u32') return [reader.u32()];
  const out = new Uint8Array(read.size + 2).fill(7);
  reader.fill(out, 1, read.size + 1);
  assert.deepEqual([out[0], out[read.size + 1]], [7, 7], 'nothing beside the range is written');
  return [...out.subarray(1, -1)];
}

/** Returns the same reads from the plain concatenation. */
function expected(bytes: Uint8Array, reads: readonly Read[]): { outputs: number[][]; used: number } {
  let at = 0;
  const byte = () => bytes[at++];
  const outputs = reads.map((read) =>
    read.kind === 'u32'
      ? [byte() + 2 ** 8 * byte() + 2 ** 16 * byte() + 2 ** 24 * byte()]
      : Array.from({ length: read.size }, byte),
  );
  return { outputs, used: at };
}

const anyCuts = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 6 });
const BYTES = keystream(4_096);

describe('EntropyReader', () => {
  it('gives the concatenation of the chunks, however they are cut', () => {
    fc.assert(
      fc.property(fc.array(anyRead, { maxLength: 40 }), anyCuts, (reads, cuts) => {
        const reader = readerOf(BYTES, cuts);
        const { outputs, used } = expected(BYTES, reads);
        assert.deepEqual(
          reads.map((read) => perform(reader, read)),
          outputs,
        );
        assert.equal(reader.consumedBytes, used);
      }),
    );
  });

  it('is unchanged when a refill throws, and the same read then succeeds', () => {
    fc.assert(
      fc.property(
        fc.array(anyRead, { maxLength: 30 }),
        anyCuts,
        fc.array(fc.boolean()),
        (reads, cuts, faults) => {
          const calm = readerOf(BYTES, cuts);
          let refills = 0;
          let at = 0;
          let turn = 0;
          const reader = new EntropyReader(() => {
            if (faults[refills++] === true) throw new Error('no entropy');
            const chunk = BYTES.slice(at, at + cuts[turn++ % cuts.length]);
            at += chunk.length;
            return chunk;
          });
          for (const read of reads) {
            const wanted = perform(calm, read);
            for (;;) {
              const before = reader.consumedBytes;
              const left = reader.remaining();
              try {
                assert.deepEqual(perform(reader, read), wanted);
                break;
              } catch (error) {
                if (!(error instanceof Error && error.message === 'no entropy')) throw error;
                assert.equal(reader.consumedBytes, before);
                assert.equal(reader.remaining(), left);
              }
            }
          }
        },
      ),
    );
  });

  it('draws a chunk only when a read needs it', () => {
    let refills = 0;
    const reader = new EntropyReader(() => {
      refills++;
      return new Uint8Array(8);
    });
    assert.equal(refills, 0);
    reader.fill(new Uint8Array(0));
    assert.equal(refills, 0);
    reader.fill(new Uint8Array(8));
    assert.equal(refills, 1);
    assert.equal(reader.remaining(), 0);
    reader.u32();
    assert.equal(refills, 2);
    assert.equal(reader.remaining(), 4);
    reader.fill(new Uint8Array(5));
    assert.equal(refills, 3);
    assert.equal(reader.remaining(), 7);
  });

  it('zeroes what was read, and nothing else', () => {
    const chunks: Uint8Array[] = [];
    const reader = new EntropyReader(() => {
      const chunk = new Uint8Array(10).fill(0xaa);
      chunks.push(chunk);
      return chunk;
    });
    reader.fill(new Uint8Array(3));
    assert.deepEqual(
      [...chunks[0]],
      Array(10).fill(0xaa),
      'reading alone erases nothing of the current chunk',
    );
    reader.erase();
    assert.deepEqual([...chunks[0]], [0, 0, 0, ...Array(7).fill(0xaa)]);
    reader.u32();
    reader.erase();
    assert.deepEqual([...chunks[0]], [...Array(7).fill(0), 0xaa, 0xaa, 0xaa]);
    reader.fill(new Uint8Array(24)); // to the first byte of the fourth chunk
    assert.equal(chunks.length, 4);
    for (const left of chunks.slice(0, 3)) assert.deepEqual([...left], Array(10).fill(0));
    reader.erase();
    assert.deepEqual([...chunks[3]], [0, ...Array(9).fill(0xaa)]);
  });

  it('discards the bytes in memory, read or not, and continues with a fresh chunk', () => {
    const chunks: Uint8Array[] = [];
    let fails = false;
    const reader = new EntropyReader(() => {
      if (fails) throw new Error('no entropy');
      const chunk = new Uint8Array(6).fill(chunks.length + 1);
      chunks.push(chunk);
      return chunk;
    });
    reader.fill(new Uint8Array(2));
    fails = true;
    assert.throws(() => reader.fill(new Uint8Array(11)));
    fails = false;
    reader.fill(new Uint8Array(5)); // one byte into the second chunk
    reader.discard();
    assert.deepEqual(
      chunks.flatMap((chunk) => [...chunk]),
      Array(12).fill(0),
    );
    assert.equal(reader.consumedBytes, 7);
    assert.equal(reader.remaining(), 0);
    assert.equal(reader.u32(), 0x03030303);
    assert.equal(reader.consumedBytes, 11);
  });

  it('also discards the chunks that a failed read had drawn ahead', () => {
    const chunks: Uint8Array[] = [];
    const reader = new EntropyReader(() => {
      if (chunks.length === 2) throw new Error('no entropy');
      const chunk = new Uint8Array(3).fill(9);
      chunks.push(chunk);
      return chunk;
    });
    assert.throws(() => reader.fill(new Uint8Array(8)), /no entropy/);
    reader.discard();
    assert.deepEqual(
      chunks.flatMap((chunk) => [...chunk]),
      Array(6).fill(0),
    );
    assert.equal(reader.consumedBytes, 0);
  });

  it('refuses an empty chunk', () => {
    const reader = new EntropyReader(() => new Uint8Array(0));
    assert.throws(() => reader.u32(), /never empty/);
  });

  it('reads a chunk that is a view into a larger buffer', () => {
    const reader = readerOf(BYTES);
    const viewed = new EntropyReader(() => new Uint8Array(BYTES.slice(0, 64).buffer, 3, 32));
    reader.fill(new Uint8Array(3));
    for (let i = 0; i < 8; i++) assert.equal(viewed.u32(), reader.u32());
  });
});
