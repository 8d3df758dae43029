import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DeadlineQueue, type Linked, type Timed } from '../../src/http/deadline-queue.ts';

class Thing implements Timed {
  queuedAtMs = 0;
  previous: Linked = this;
  next: Linked = this;
}

describe('a deadline queue', () => {
  it('holds its things as a list in the order in which they joined, also while they leave (model)', () => {
    const steps = fc.array(
      fc.record({ afterMs: fc.nat(30), leaves: fc.option(fc.nat(20)), sinceMs: fc.nat(900) }),
    );
    fc.assert(
      fc.property(steps, (steps) => {
        const queue = new DeadlineQueue<Thing>();
        let model: Thing[] = [];
        const left: Thing[] = [];
        const leave = (thing: Thing) => {
          queue.leave(thing);
          left.push(thing);
          model = model.filter((other) => other !== thing);
        };
        let nowMs = 0;
        for (const { afterMs, leaves, sinceMs } of steps) {
          nowMs += afterMs;
          const thing = left.pop() ?? new Thing(); // one that left joins again
          queue.join(thing, nowMs);
          assert.equal(thing.queuedAtMs, nowMs);
          model.push(thing);
          if (leaves !== null && leaves < model.length) leave(model[leaves]);
          assert.deepEqual([queue.before(), queue.size], [model, model.length]);
          const overdue = model.filter(({ queuedAtMs }) => queuedAtMs <= sinceMs - 600);
          for (const each of queue.before(sinceMs - 600)) {
            assert.equal(each, overdue.shift());
            leave(each);
          }
          assert.equal(overdue.length, 0);
        }
      }),
    );
  });

  it('lets any thing leave while its overdue things are gone through', () => {
    const queue = new DeadlineQueue<Thing>();
    const things = Array.from({ length: 3 }, () => new Thing());
    for (const thing of things) queue.join(thing, 0);
    const seen: Thing[] = [];
    for (const each of queue.before()) {
      seen.push(each);
      assert.ok(seen.length <= things.length, 'the walk ends');
      if (each === things[0]) queue.leave(things[1]); // as a handler that cuts another connection
    }
    assert.deepEqual(seen, things);
    assert.deepEqual(queue.before(), [things[0], things[2]]);
  });
});
