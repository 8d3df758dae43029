import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QrnError } from '../../clients/typescript/src/error.ts';
import { retryAfterMs, retryDelayMs } from '../../clients/typescript/src/retry.ts';

const failure = (code: string, status: number | null, waitMs: number | null = null) =>
  new QrnError(code, { message: 'failed', status, retryAfterMs: waitMs });

describe('retryDelayMs', () => {
  it('doubles from 125 to 250 ms up to eight seconds when the service asks for no delay', () => {
    const passing: [code: string, status: number | null][] = [
      ['network_error', null],
      ['timeout', null],
      ['invalid_answer', 502],
      ['overloaded', 503],
      ['invalid_answer', 504],
    ];
    for (const [code, status] of passing) {
      const delay = (attempt: number, jitter: number) =>
        retryDelayMs(failure(code, status), attempt, jitter, 60_000);
      assert.deepEqual(
        [1, 2, 3, 6, 7, 50].map((n) => delay(n, 0)),
        [125, 250, 500, 4000, 4000, 4000],
      );
      assert.deepEqual(
        [1, 2, 3].map((n) => delay(n, 1)),
        [250, 500, 1000],
      );
    }
  });

  it('is never shorter than the service asked for, and is spread beyond that', () => {
    for (const [code, status] of [
      ['rate_limited', 429],
      ['entropy_unavailable', 503],
      ['idempotency_in_flight', 409],
    ] as const) {
      assert.equal(retryDelayMs(failure(code, status, 3000), 1, 0, 60_000), 3000);
      assert.equal(retryDelayMs(failure(code, status, 3000), 2, 0.5, 60_000), 3250);
      assert.equal(retryDelayMs(failure(code, status, 60_000), 1, 0, 60_000), 60_000);
    }
  });

  it('is null for a delay longer than the limit, such as a month for a quota', () => {
    assert.equal(retryDelayMs(failure('quota_exceeded', 429, 60_001), 1, 0, 60_000), null);
  });
});

describe('retryAfterMs', () => {
  it('reads seconds and dates, and nothing else', () => {
    const now = Date.UTC(2026, 10, 21, 9, 0, 0);
    assert.equal(retryAfterMs(null, now), null);
    assert.equal(retryAfterMs('0', now), 0);
    assert.equal(retryAfterMs('17', now), 17_000);
    assert.equal(retryAfterMs('Sat, 21 Nov 2026 09:00:05 GMT', now), 5_000);
    assert.equal(retryAfterMs('Sat, 21 Nov 2026 08:59:00 GMT', now), 0);
    for (const field of ['', '-1', '1.5', 'soon', '1e3', '2026-11-21', 'never GMT'])
      assert.equal(retryAfterMs(field, now), null, field);
  });
});
