import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { planWords, SPAN_MAX } from '../../clients/typescript/src/uniform.ts';

const wordsOf = (bytes: number): bigint => (bytes === 7 ? 2n ** 53n : 256n ** BigInt(bytes));

/** Bytes per value of a plan with words of that size, as a fraction. */
function cost(span: bigint, bytes: number): { over: bigint; under: bigint } {
  const words = wordsOf(bytes);
  return { over: BigInt(bytes) * words, under: words - (words % span) };
}

describe('planWords', () => {
  it('keeps whole multiples of the span, from words that cost the fewest bytes', () => {
    const spans = fc.oneof(
      fc.integer({ min: 2, max: 70_000 }),
      fc.maxSafeInteger().map((n) => Math.abs(n) + 1),
      fc.nat(52).chain((bits) => fc.integer({ min: -3, max: 3 }).map((near) => 2 ** (bits + 1) + near)),
    );
    fc.assert(
      fc.property(
        spans.filter((span) => span >= 2 && span <= SPAN_MAX),
        (span) => {
          const { bytes, limit } = planWords(span);
          const words = wordsOf(bytes);
          assert.equal(BigInt(limit) % BigInt(span), 0n);
          assert.ok(BigInt(limit) <= words && words - BigInt(limit) < BigInt(span) && limit > 0);
          const chosen = cost(BigInt(span), bytes);
          for (let other = 1; other <= 7; other++) {
            if (wordsOf(other) < BigInt(span)) continue;
            const { over, under } = cost(BigInt(span), other);
            assert.ok(chosen.over * under <= over * chosen.under, `${span}: ${other} bytes are cheaper`);
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('needs no bytes for one result, seven for 2^53, and refuses an invalid span', () => {
    assert.deepEqual(planWords(1), { span: 1, bytes: 0, limit: 1 });
    assert.deepEqual(planWords(SPAN_MAX), { span: SPAN_MAX, bytes: 7, limit: SPAN_MAX });
    for (const span of [0, -1, Number.NaN, 2 ** 54, Infinity])
      assert.throws(() => planWords(span), RangeError);
  });
});
