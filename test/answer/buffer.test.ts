import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type ReplyBuffer, ReplyMemory } from '../../src/answer/buffer.ts';
import { systemClock } from '../../src/core/clock.ts';
import { LIMITS } from '../../src/core/limits.ts';
import { overloadedFront } from '../overload/stack.ts';
import { until } from '../support/server.ts';

const KIB = 1_024;
const MIB = 2 ** 20;

const isZero = (bytes: Uint8Array) => Buffer.alloc(bytes.length).equals(bytes);
const partOf = ({ bytes, start, size }: ReplyBuffer) => bytes.subarray(start, start + size);

/** Uses memory like an answer that a worker made: it is written, transferred, and released when it was sent. */
function useLarge(memory: ReplyMemory, size: number): Uint8Array<ArrayBuffer> {
  const sent = memory.forWorker(size).fill(0xee, 0, size);
  const returned = structuredClone(sent, { transfer: [sent.buffer] });
  memory.large(returned, size).release();
  return returned;
}

describe('memory of small answers', () => {
  const step = fc.record({
    do: fc.constantFrom('take', 'take', 'release'),
    size: fc.integer({ min: 1, max: 100 * KIB }),
    which: fc.nat({ max: 20 }),
  });

  it('is zero when taken, overlaps no other, is counted, and is erased with the last of its chunk (property)', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const memory = new ReplyMemory();
        const taken: { buffer: ReplyBuffer; mark: number }[] = [];
        const chunks = new Set<Uint8Array>();
        for (const [mark, { do: what, size, which }] of steps.entries()) {
          const at = which % Math.max(1, taken.length);
          if (what === 'take') {
            const buffer = memory.small(size);
            assert.ok(isZero(partOf(buffer)));
            partOf(buffer).fill(1 + (mark % 255));
            taken.push({ buffer, mark: 1 + (mark % 255) });
            chunks.add(buffer.bytes);
          } else if (taken.length > 0) taken.splice(at, 1)[0].buffer.release();
          for (const { buffer, mark } of taken) {
            const part = partOf(buffer);
            assert.ok(Buffer.alloc(part.length, mark).equals(part), 'it is as it was written');
          }
          assert.equal(
            memory.waitingBytes,
            taken.reduce((sum, { buffer }) => sum + buffer.size, 0),
          );
        }
        const used = new Set(taken.map(({ buffer }) => buffer.bytes));
        for (const chunk of chunks) assert.ok(used.has(chunk as never) || isZero(chunk));
      }),
      { numRuns: 60 },
    );
  });

  it('comes from a chunk up to its size, else from an array of its own, and an empty chunk starts again', () => {
    const memory = new ReplyMemory();
    const whole = memory.small(256 * KIB);
    const own = memory.small(256 * KIB + 1);
    assert.deepEqual([whole.start, whole.bytes.length, whole.size], [0, 256 * KIB, 256 * KIB]);
    assert.deepEqual([own.start, own.bytes.length, own.size], [0, 256 * KIB + 1, 256 * KIB + 1]);
    assert.equal(memory.waitingBytes, 512 * KIB + 1);
    const { bytes } = whole;
    whole.release();
    own.release();
    assert.equal(memory.waitingBytes, 0);
    const next = memory.small(10);
    assert.ok(next.start === 0 && next.bytes === bytes);
  });

  it('keeps up to eight spare chunks of a burst for the next one', () => {
    const memory = new ReplyMemory();
    const burst = () => Array.from({ length: 20 }, () => memory.small(200 * KIB));
    const first = burst();
    for (const buffer of first) buffer.release();
    const known = new Set(first.map(({ bytes }) => bytes));
    const again = burst().filter(({ bytes }) => known.has(bytes));
    assert.equal(again.length, 1 + 8, 'the open chunk and the spare ones');
  });

  it('is refused with overloaded beyond its bound', () => {
    const memory = new ReplyMemory();
    const taken = [];
    while (memory.waitingBytes < LIMITS.pendingReplyBytesMax) {
      memory.assertRoom();
      taken.push(memory.small(90 * KIB));
    }
    assert.throws(() => memory.assertRoom(), { code: 'overloaded', facts: { retryAfterS: 1 } });
    for (const buffer of taken) buffer.release();
    memory.assertRoom();
  });

  it('counts memory that an answer brings along, and erases it', () => {
    const memory = new ReplyMemory();
    const own = new Uint8Array(300 * KIB).fill(1);
    const buffer = memory.adopt(own);
    assert.equal(memory.waitingBytes, own.length);
    buffer.release();
    assert.equal(memory.waitingBytes, 0);
    assert.ok(isZero(own));
  });
});

describe('memory of large answers', () => {
  it('is large enough, a whole array that can be transferred, and zero even when it was used before', () => {
    const memory = new ReplyMemory();
    const sizes: [asked: number, given: number][] = [
      [1, 131_072],
      [131_072, 131_072],
      [131_073, 262_144],
      [400_000, MIB / 2],
      [MIB, MIB],
      [8 * MIB - 1, 8 * MIB],
      [8 * MIB, 8 * MIB],
      [8 * MIB + 1, 8 * MIB + 1],
      [20 * MIB, 20 * MIB],
    ];
    for (const [asked, given] of sizes) {
      useLarge(memory, asked);
      const bytes = memory.forWorker(asked);
      assert.deepEqual([bytes.length, bytes.byteOffset], [given, 0]);
      assert.equal(bytes.length, bytes.buffer.byteLength);
      assert.ok(isZero(bytes));
    }
  });

  it('is reused among answers of about the same size', () => {
    const memory = new ReplyMemory();
    const first = useLarge(memory, 300_000);
    assert.equal(memory.forWorker(500_000), first);
    assert.notEqual(memory.forWorker(500_000), first, 'one owner at a time');
    useLarge(memory, 300_000);
    assert.notEqual(memory.forWorker(600_000).length, first.length);
  });

  it('is kept only up to a bound', () => {
    const memory = new ReplyMemory();
    const taken = Array.from({ length: 12 }, () => memory.forWorker(4 * MIB));
    for (const bytes of taken) memory.large(bytes, 0).release();
    assert.equal(memory.spareBytes, 32 * MIB);
    useLarge(memory, 9 * MIB);
    assert.equal(memory.spareBytes, 32 * MIB, 'larger memory is not kept');
    for (let i = 0; i < 8; i++) memory.forWorker(4 * MIB);
    assert.equal(memory.spareBytes, 0);
  });

  it('is returned to the system at once when it is not kept', () => {
    const memory = new ReplyMemory();
    const buffer = memory.large(memory.forWorker(9 * MIB), 0);
    const adopted = memory.adopt(new Uint8Array(MIB));
    const views = [buffer.bytes, adopted.bytes];
    buffer.release();
    adopted.release();
    assert.deepEqual(
      views.map(({ length }) => length),
      [0, 0],
    );
    assert.equal(memory.spareBytes, 0);
  });

  it('gives up the sizes that were unused for longest in favour of those in use', () => {
    const memory = new ReplyMemory();
    const [unused, ...rest] = [MIB, 2 * MIB, 4 * MIB].map((size) => {
      const taken = Array.from({ length: 5 }, () => memory.forWorker(size));
      for (const bytes of taken) memory.large(bytes, 0).release();
      return taken;
    });
    // 5 + 10 + 20 MiB: three of the first size had to go
    assert.equal(memory.spareBytes, 32 * MIB);
    for (const kept of rest) {
      const again = kept.map((bytes) => memory.forWorker(bytes.length));
      assert.deepEqual(new Set(again), new Set(kept));
    }
    const left = Array.from({ length: 5 }, () => memory.forWorker(MIB));
    assert.equal(left.filter((bytes) => unused.includes(bytes)).length, 2);
  });
});

describe('the body of a labelled answer', () => {
  it('is in memory of its own, which is erased when it has been sent', async (t) => {
    const adopted: Uint8Array[] = [];
    const { adopt } = ReplyMemory.prototype;
    t.mock.method(
      ReplyMemory.prototype,
      'adopt',
      function (this: ReplyMemory, bytes: Uint8Array<ArrayBuffer>) {
        adopted.push(bytes);
        return adopt.call(this, bytes);
      },
    );
    const front = await overloadedFront(systemClock, 8);
    t.after(() => front.stop());
    const key = await front.account({ creditsPerMonth: 100 });
    const { status } = await front.get(key, '/bytes?count=16&purpose=raffle&entropy_mode=pure');
    assert.equal(status, 200);
    assert.equal(adopted.length, 1);
    await until('it is erased', async () => isZero(adopted[0]));
  });
});

describe('memory of an answer', () => {
  it('is released exactly once', () => {
    const memory = new ReplyMemory();
    for (const buffer of [
      memory.small(10),
      memory.large(memory.forWorker(10), 0),
      memory.adopt(new Uint8Array(10)),
    ]) {
      buffer.release();
      assert.throws(() => buffer.release(), /released once/);
    }
  });
});
