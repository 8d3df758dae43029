import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { Link, type LinkOptions } from '../../src/workers/call.ts';

interface Adder {
  add(a: number, b: number): Promise<number>;
  fail(): Promise<never>;
}

interface Listener {
  heard(word: string): void;
}

function linked<A extends object, B extends object>(
  t: TestContext,
  near: LinkOptions<A, B>,
  far: LinkOptions<B, A>,
) {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close());
  return { near: new Link<A, B>(port1, near), far: new Link<B, A>(port2, far) };
}

const adder: Adder = {
  add: async (a, b) => a + b,
  fail: async () => Promise.reject(new RangeError('no')),
};

describe('a link between threads', () => {
  it('carries calls in both directions over one port', async (t) => {
    const words: string[] = [];
    const listener: Listener = { heard: (word) => void words.push(word) };
    const { near, far } = linked<Listener, Adder>(t, { serve: adder, told: ['heard'] }, { serve: listener });
    near.calls.heard('first');
    assert.equal(await far.calls.add(2, 3), 5);
    assert.deepEqual(words, ['first'], 'what was told before the answer arrives before it');
    await assert.rejects(far.calls.fail(), { name: 'RangeError', message: 'no' });
  });

  it('is the object at the other end, whose methods are called with or without a result', async (t) => {
    const words: string[] = [];
    const served: Listener & Adder = { ...adder, heard: (word) => void words.push(word) };
    const { far } = linked<object, Listener & Adder>(
      t,
      { serve: served },
      { outstandingMax: 1, told: ['heard'] },
    );
    for (const word of ['a', 'b', 'c']) far.calls.heard(word); // as calls, all but the first would be refused
    assert.equal(await far.calls.add(2, 3), 5);
    assert.deepEqual(words, ['a', 'b', 'c']);
    await assert.rejects(far.calls.fail(), { name: 'RangeError' });
  });

  it('refuses a call beyond the bound with overloaded, and accepts calls again after an answer', async (t) => {
    const { far } = linked<object, Adder>(t, { serve: adder }, { outstandingMax: 2 });
    const both = [far.calls.add(1, 1), far.calls.add(2, 2)];
    await assert.rejects(far.calls.add(3, 3), { code: 'overloaded' });
    assert.deepEqual(await Promise.all(both), [2, 4]);
    assert.equal(await far.calls.add(3, 3), 6);
  });

  it('does not block other methods when the calls of one are at their bound', async (t) => {
    const gate = Promise.withResolvers<number>();
    const serve: Adder = { ...adder, add: () => gate.promise };
    const { far } = linked<object, Adder>(t, { serve }, {});
    const stuck = Array.from({ length: 4_096 }, () => far.calls.add(0, 0));
    await assert.rejects(far.calls.add(0, 0), { code: 'overloaded' });
    await assert.rejects(far.calls.fail(), { name: 'RangeError', message: 'no' });
    gate.resolve(0);
    await Promise.all(stuck);
  });

  it('rejects pending calls when the other end closes', async (t) => {
    const { near, far } = linked<object, Adder>(
      t,
      { serve: { ...adder, add: () => new Promise(() => {}) } },
      {},
    );
    const waiting = far.calls.add(1, 2);
    await near.close();
    await assert.rejects(waiting, /no answer from another thread: the thread is gone/);
    await assert.rejects(far.calls.add(1, 2), /the connection to it is closed/);
  });
});
