import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  adapt,
  admit,
  newDecision,
  peek,
  type RateLimit,
  rateLimitOf,
  rateWords,
  recall,
  remember,
} from '../../src/account/rate.ts';
import { busiestMinute, PlainRateLimit } from '../reference/rate-limit.ts';

const RATES = [1, 7, 10, 100, 500, 1_999, 2_000];

class Limiter {
  state: Float64Array;
  readonly limit: RateLimit;
  readonly decision = newDecision();
  readonly #slots: number;

  constructor(requestsPerMinute: number, slots = 4_096) {
    this.limit = rateLimitOf(requestsPerMinute);
    this.#slots = slots;
    this.state = new Float64Array(rateWords(slots));
  }

  admit(nowMs: number) {
    admit(this.state, nowMs, this.limit, this.decision);
    return { ...this.decision };
  }

  peek(nowMs: number) {
    peek(this.state, nowMs, this.limit, this.decision);
    return { ...this.decision };
  }

  /** Moves the state to another process, whose clock is `shiftMs` ahead. */
  restart(nowMs: number, shiftMs: number) {
    const memory = remember(this.state, nowMs, this.limit);
    this.state = new Float64Array(rateWords(this.#slots));
    if (memory === undefined) return;
    const moved = {
      emptyAtMs: memory.emptyAtMs + shiftMs,
      admittedAtMs: memory.admittedAtMs.map((at) => at + shiftMs),
    };
    recall(this.state, moved, nowMs + shiftMs, this.limit);
  }
}

/** Pauses in milliseconds: bursts, the pace of the rate, up to several windows. */
const pause = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 50 }) },
  { weight: 2, arbitrary: fc.integer({ min: 100, max: 6_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(59_999, 60_000, 60_001, 90_000, 200_000) },
);
const step = fc.record({ pauseMs: pause, requests: fc.integer({ min: 1, max: 40 }), restart: fc.boolean() });
const schedule = fc.record({
  perMinute: fc.constantFrom(...RATES),
  scale: fc.constantFrom(1, 1, 30),
  steps: fc.array(step, { minLength: 1, maxLength: 40 }),
});

describe('the rate limit', () => {
  it('decides as its definition does, over any schedule', () => {
    fc.assert(
      fc.property(schedule, ({ perMinute, scale, steps }) => {
        const limiter = new Limiter(perMinute);
        const plain = new PlainRateLimit(perMinute);
        let nowMs = 1;
        for (const { pauseMs, requests } of steps) {
          nowMs += pauseMs;
          for (let i = 0; i < requests * scale; i++) {
            const allowed = plain.admit(nowMs);
            assert.equal(limiter.admit(nowMs).allowed, allowed);
            if (!allowed) break;
          }
          assert.equal(limiter.peek(nowMs).remaining, plain.remaining(nowMs));
        }
        assert.ok(busiestMinute(plain.admittedAtMs) <= limiter.limit.burst);
      }),
      { numRuns: 100 },
    );
  });

  it('decides as its definition does once its ring of admissions has wrapped around', () => {
    const slots = rateLimitOf(10).burst; // the smallest ring that is exact
    const limiter = new Limiter(10, slots);
    const plain = new PlainRateLimit(10);
    for (let nowMs = 1; nowMs < 3_600_000; nowMs += 1_500) {
      assert.equal(limiter.admit(nowMs).allowed, plain.admit(nowMs));
      assert.equal(limiter.peek(nowMs).remaining, plain.remaining(nowMs));
    }
    assert.ok(plain.admittedAtMs.length > 10 * slots);
  });

  it('continues over restarts as if there had been none', () => {
    fc.assert(
      fc.property(schedule, ({ perMinute, steps }) => {
        const limiter = new Limiter(perMinute);
        const plain = new PlainRateLimit(perMinute);
        let nowMs = 1;
        let shiftMs = 0;
        for (const { pauseMs, requests, restart } of steps) {
          nowMs += pauseMs;
          for (let i = 0; i < requests; i++) {
            assert.equal(limiter.admit(nowMs + shiftMs).allowed, plain.admit(nowMs));
          }
          if (!restart) continue;
          const newShiftMs = 1 - nowMs; // the new clock begins at 1, so that the past lies before it
          limiter.restart(nowMs + shiftMs, newShiftMs - shiftMs);
          shiftMs = newShiftMs;
        }
      }),
      { numRuns: 150 },
    );
  });

  it('tells exactly when one more and when all are possible', () => {
    fc.assert(
      fc.property(schedule, ({ perMinute, steps }) => {
        const limiter = new Limiter(perMinute);
        let nowMs = 1;
        for (const { pauseMs, requests } of steps) {
          nowMs += pauseMs;
          for (let i = 0; i < requests; i++) limiter.admit(nowMs);
          const { remaining, retryAfterMs, resetAfterMs } = limiter.peek(nowMs);
          assert.equal(retryAfterMs === 0, remaining >= 1);
          const later = (ms: number) => {
            const copy = new Limiter(perMinute);
            copy.state.set(limiter.state);
            return copy.peek(nowMs + ms);
          };
          assert.ok(later(retryAfterMs).allowed);
          if (retryAfterMs > 0) assert.ok(!later(retryAfterMs - 1).allowed);
          assert.equal(later(resetAfterMs).remaining, limiter.limit.burst);
          if (resetAfterMs > 0) assert.ok(later(resetAfterMs - 1).remaining < limiter.limit.burst);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('with a ring smaller than the burst never admits too much, and too little by less than one stride', () => {
    // Takes a full bucket, and asks again when the bucket has refilled in part and the window is still full.
    const filled = [
      { pauseMs: 90_000, requests: 75 },
      { pauseMs: 20_000, requests: 1 },
    ];
    let refusedByWindow = 0;
    fc.assert(
      fc.property(schedule, ({ steps }) => {
        const perMinute = 2_000;
        const slots = 64;
        const stride = Math.ceil(3_000 / slots);
        const limiter = new Limiter(perMinute, slots);
        const admittedAtMs: number[] = [];
        let nowMs = 1;
        let left = 0; // how many of them have left the window
        for (const { pauseMs, requests } of [...steps, ...filled]) {
          nowMs += pauseMs;
          while (nowMs - admittedAtMs[left] >= 60_000) left++;
          for (let i = 0; i < requests * 40; i++) {
            const { allowed, remaining } = limiter.admit(nowMs);
            if (allowed) admittedAtMs.push(nowMs);
            const inWindow = admittedAtMs.length - left;
            assert.ok(remaining <= 3_000 - inWindow);
            if (!allowed && limiter.peek(nowMs).retryAfterMs > 60_000 / perMinute) {
              assert.ok(3_000 - inWindow < stride); // the window refused, not the bucket
              refusedByWindow++;
              break;
            }
          }
        }
        assert.ok(busiestMinute(admittedAtMs) <= 3_000);
      }),
      { numRuns: 12 },
    );
    assert.ok(refusedByWindow >= 12, 'each schedule ends with a refusal by the window');
  });

  it('has no limit at the largest safe integer', () => {
    const limiter = new Limiter(Number.MAX_SAFE_INTEGER, 1);
    const unlimited = { allowed: true, remaining: Number.MAX_SAFE_INTEGER, resetAfterMs: 0, retryAfterMs: 0 };
    for (const ask of ['admit', 'peek'] as const)
      for (let i = 0; i < 1_000; i++) {
        Object.assign(limiter.decision, { allowed: false, remaining: 1, resetAfterMs: 2, retryAfterMs: 3 });
        assert.deepEqual(limiter[ask](1), unlimited);
      }
    assert.equal(remember(limiter.state, 1, limiter.limit), undefined);
    recall(limiter.state, { emptyAtMs: 9_000, admittedAtMs: [1] }, 2, limiter.limit);
    peek(limiter.state, 2, rateLimitOf(10), limiter.decision);
    assert.equal(limiter.decision.remaining, 15, 'nor does a limit find what was admitted without one');
  });

  it('treats a time before its last one as its last one', () => {
    const limiter = new Limiter(10);
    limiter.admit(100_000);
    assert.equal(limiter.admit(1).remaining, 13);
    assert.equal(limiter.peek(100_000).remaining, 13);
  });

  it('applies a smaller limit at once, with the wait of its own full bucket', () => {
    const limiter = new Limiter(500);
    for (let i = 0; i < 750; i++) limiter.admit(1);
    const smaller = rateLimitOf(10);
    adapt(limiter.state, smaller);
    peek(limiter.state, 1, smaller, limiter.decision);
    assert.equal(limiter.decision.remaining, 0);
    assert.equal(limiter.decision.resetAfterMs, 90_000);
    assert.equal(limiter.decision.retryAfterMs, 60_000); // the window is full of requests that the greater limit admitted
  });

  it('applies a greater limit to a ring that the smaller one began, and counts to its end', () => {
    const limiter = new Limiter(10, 64);
    for (let i = 0; i < 15; i++) assert.ok(limiter.admit(1 + i).allowed);
    const greater = rateLimitOf(2_000);
    let admitted = 15;
    for (let nowMs = 16; ; nowMs++, admitted++) {
      admit(limiter.state, nowMs, greater, limiter.decision);
      if (!limiter.decision.allowed) break;
    }
    assert.ok(admitted >= 3_000 && admitted < 3_200, `${admitted} at 33 a second beyond the burst`);
    peek(limiter.state, 200_000, greater, limiter.decision);
    assert.equal(limiter.decision.remaining, 3_000);
  });

  it('restored from a time in the future blocks no longer than a full bucket and window', () => {
    const limiter = new Limiter(10);
    const years = 1e11;
    recall(limiter.state, { emptyAtMs: years, admittedAtMs: Array(40).fill(years) }, 1_000, limiter.limit);
    assert.equal(limiter.peek(1_000).remaining, 0);
    assert.equal(limiter.peek(1_000).resetAfterMs, 90_000);
    assert.equal(limiter.peek(91_000).remaining, 15);
  });

  it('restored with an older bucket counts the admissions', () => {
    const limiter = new Limiter(10);
    recall(limiter.state, { emptyAtMs: 0, admittedAtMs: Array(12).fill(95_000) }, 100_000, limiter.limit);
    assert.equal(limiter.peek(100_000).remaining, 3);
  });

  it('restored with a full bucket is full from now on, however old its admissions are', () => {
    const limiter = new Limiter(10);
    recall(limiter.state, { emptyAtMs: 190_000, admittedAtMs: [50_000] }, 100_000, limiter.limit);
    assert.equal(limiter.peek(100_000).remaining, 0);
    assert.equal(limiter.peek(106_000).remaining, 1);
  });

  it('remembers the admissions of the last minute when its bucket is full again', () => {
    const limiter = new Limiter(10);
    limiter.admit(1);
    const memory = remember(limiter.state, 30_001, limiter.limit); // the bucket gives a token in six seconds
    assert.deepEqual(memory?.admittedAtMs, [1]);
    assert.equal(remember(limiter.state, 60_002, limiter.limit), undefined, 'nothing is left to remember');
  });

  it('remembers the newest of very many admissions, and its bucket in full', () => {
    const limiter = new Limiter(20_000, 64);
    for (let i = 0; i < 30_000; i++) limiter.admit(1 + Math.floor(i / 30_000));
    const memory = remember(limiter.state, 1, limiter.limit)!;
    assert.equal(memory.admittedAtMs.length, 16_384);
    const restarted = new Limiter(20_000, 64);
    recall(restarted.state, memory, 1, restarted.limit);
    assert.equal(restarted.peek(1).remaining, 0);
  });
});
