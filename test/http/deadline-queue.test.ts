import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DeadlineQueue, type Timed } from '../../src/http/deadline-queue.ts';

interface Thing extends Timed {
  readonly name: number;
}

function thing(name: number): Thing {
  return { name, deadlineMs: 0, previous: null, next: null };
}

describe('a deadline queue', () => {
  it('does what a sorted list does (model)', () => {
    const action = fc.oneof(
      fc.record({ kind: fc.constant('join' as const), afterMs: fc.nat(30) }),
      fc.record({ kind: fc.constant('leave' as const), which: fc.nat(20) }),
      fc.record({ kind: fc.constant('sweep' as const), afterMs: fc.nat(30) }),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const queue = new DeadlineQueue<Thing>(50);
        let model: Thing[] = [];
        let nowMs = 0;
        let names = 0;
        for (const each of actions) {
          if (each.kind === 'join') {
            nowMs += each.afterMs;
            const joined = thing(names++);
            queue.join(joined, nowMs);
            assert.equal(joined.deadlineMs, nowMs + 50);
            model.push(joined);
          } else if (each.kind === 'leave') {
            const leaving = model[each.which];
            if (leaving !== undefined) queue.leave(leaving);
            model = model.filter((other) => other !== leaving);
          } else {
            nowMs += each.afterMs;
            for (let late = queue.overdue(nowMs); late; late = queue.overdue(nowMs)) {
              assert.equal(late, model[0]);
              queue.leave(late);
              model.shift();
            }
            assert.ok(model.every((other) => other.deadlineMs > nowMs));
          }
          assert.equal(queue.size, model.length);
        }
      }),
      { numRuns: 300, seed: 5 },
    );
  });

  it('takes back what has left', () => {
    const queue = new DeadlineQueue<Thing>(10);
    const [one, other] = [thing(1), thing(2)];
    queue.join(one, 0);
    queue.join(other, 1);
    queue.leave(one);
    queue.join(one, 2);
    assert.equal(queue.overdue(100), other);
    queue.leave(other);
    assert.equal(queue.overdue(100), one);
    queue.leave(one);
    assert.equal(queue.overdue(100), undefined);
  });
});
