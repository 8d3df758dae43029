import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { createRingMemory, SlotRing } from '../../../src/pool/supply/ring.ts';

describe('slot ring', () => {
  it('gives slots in order with their tags', () => {
    const ring = new SlotRing(createRingMemory(4, 4));
    for (const value of [1, 2, 3, 4]) {
      ring.reserve()!.fill(value);
      ring.publish(value * 10);
    }
    assert.equal(ring.reserve(), undefined);
    for (const value of [1, 2, 3, 4]) {
      assert.deepEqual([...ring.peek()!], new Array(4).fill(value));
      assert.equal(ring.tag(), value * 10);
      ring.release();
    }
    assert.equal(ring.peek(), undefined);
  });

  it('erases a slot when it is released', () => {
    const memory = createRingMemory(2, 8);
    const ring = new SlotRing(memory);
    ring.reserve()!.fill(0xff);
    ring.publish(0);
    ring.release();
    assert.deepEqual([...new Uint8Array(memory.slots)], new Array(16).fill(0));
  });

  it('refuses to release what is not filled', () => {
    const ring = new SlotRing(createRingMemory(1, 1));
    assert.throws(() => ring.release(), { name: 'InvariantError' });
  });

  it('refuses a count of slots that does not divide 2^32: the slot of a counter would jump when it wraps', () => {
    for (const slots of [0, 3, 5, 6, 12]) {
      assert.throws(() => createRingMemory(slots, 1), { name: 'InvariantError' });
    }
  });

  it('behaves as a queue under any order of calls, also when its counters wrap', () => {
    const counters = fc.oneof(fc.constant(0), fc.integer({ min: -150, max: 5 }), fc.constant(2 ** 31 - 5));
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { maxLength: 200 }),
        fc.constantFrom(1, 2, 4, 8),
        counters,
        (steps, slots, counter) => {
          const memory = createRingMemory(slots, 1);
          new Int32Array(memory.control).fill(counter, 0, 2); // as after that many slots, published and released
          const ring = new SlotRing(memory);
          const model: number[] = [];
          let next = 1;
          for (const produce of steps) {
            if (produce) {
              const slot = ring.reserve();
              assert.equal(slot === undefined, model.length === slots);
              if (slot === undefined) continue;
              slot[0] = next & 0xff;
              ring.publish(next);
              model.push(next++);
            } else if (model.length > 0) {
              assert.equal(ring.peek()![0], model[0] & 0xff);
              assert.equal(ring.tag(), model.shift());
              ring.release();
            }
            assert.equal(ring.filled(), model.length);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('passes every byte once between two threads', async () => {
    const memory = createRingMemory(4, 64);
    const rounds = 1_000;
    const producer = new Worker(
      `const { workerData } = require('node:worker_threads');
       import(workerData.ringUrl).then(({ SlotRing }) => {
         const ring = new SlotRing(workerData.memory);
         for (let n = 1; n <= workerData.rounds; ) {
           const slot = ring.reserve();
           if (slot === undefined) continue;
           slot.fill(n & 0xff);
           ring.publish(n++);
         }
       });`,
      {
        eval: true,
        workerData: {
          memory,
          rounds,
          ringUrl: new URL('../../../src/pool/supply/ring.ts', import.meta.url).href,
        },
      },
    );
    const ring = new SlotRing(memory);
    for (let n = 1; n <= rounds; ) {
      const slot = ring.peek();
      if (slot === undefined) {
        await new Promise((resolve) => setImmediate(resolve));
        continue;
      }
      assert.equal(ring.tag(), n);
      assert.ok(slot.every((byte) => byte === (n & 0xff)));
      ring.release();
      n++;
    }
    await producer.terminate();
  });
});
