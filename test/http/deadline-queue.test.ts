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
  it('gives the results of a sorted list, and forgets entries that left (model)', () => {
    const action = fc.oneof(
      fc.record({ kind: fc.constant('join' as const), afterMs: fc.nat(30), again: fc.boolean() }),
      fc.record({ kind: fc.constant('leave' as const), which: fc.nat(20) }),
      fc.record({ kind: fc.constant('sweep' as const), afterMs: fc.nat(30) }),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const queue = new DeadlineQueue<Thing>(50);
        let model: Thing[] = [];
        let nowMs = 0;
        let names = 0;
        const left: Thing[] = [];
        for (const each of actions) {
          if (each.kind === 'join') {
            nowMs += each.afterMs;
            const joined = (each.again ? left.pop() : undefined) ?? thing(names++);
            queue.join(joined, nowMs);
            assert.equal(joined.deadlineMs, nowMs + 50);
            model.push(joined);
          } else if (each.kind === 'leave') {
            const leaving = model[each.which];
            if (leaving === undefined) continue;
            queue.leave(leaving);
            left.push(leaving);
            model = model.filter((other) => other !== leaving);
          } else {
            nowMs += each.afterMs;
            for (let late = queue.overdue(nowMs); late; late = queue.overdue(nowMs)) {
              assert.equal(late, model[0]);
              queue.leave(late);
              left.push(late);
              model.shift();
            }
            assert.ok(model.every((other) => other.deadlineMs > nowMs));
          }
          assert.equal(queue.size, model.length);
        }
      }),
      { numRuns: 300 },
    );
  });
});
