import assert from 'node:assert/strict';
import { it } from 'node:test';
import { QrnError } from '../../clients/typescript/src/error.ts';
import { retryAfterMs, retryDelayMs } from '../../clients/typescript/src/retry.ts';

it('delays double from 125 to 250 ms up to eight seconds, and are never shorter than the service asks', () => {
  const limitMs = 60_000;
  const cases: [
    code: string,
    status: number | null,
    askedMs: number | null,
    attempt: number,
    jitter: number,
    delayMs: number | null,
  ][] = [
    ['network_error', null, null, 1, 0, 125],
    ['network_error', null, null, 1, 1, 250],
    ['timeout', null, null, 2, 0, 250],
    ['invalid_answer', 502, null, 3, 1, 1_000],
    ['overloaded', 503, null, 6, 0, 4_000],
    ['invalid_answer', 504, null, 50, 1, 8_000],
    ['rate_limited', 429, 3_000, 1, 0, 3_000],
    ['rate_limited', 429, 3_000, 2, 0.5, 3_250],
    ['entropy_unavailable', 503, 3_000, 1, 0, 3_000],
    ['idempotency_in_flight', 409, limitMs, 1, 0, limitMs],
    ['quota_exceeded', 429, limitMs + 1, 1, 0, null], // as until the next month
  ];
  for (const [code, status, askedMs, attempt, jitter, delayMs] of cases) {
    const error = new QrnError(code, { message: 'failed', status, retryAfterMs: askedMs });
    assert.equal(retryDelayMs(error, attempt, jitter, limitMs), delayMs, `${code} ${attempt} ${jitter}`);
  }
});

it('Retry-After is a number of seconds or a date, and nothing else', () => {
  const now = Date.UTC(2026, 10, 21, 9, 0, 0);
  assert.equal(retryAfterMs(null, now), null);
  assert.equal(retryAfterMs('0', now), 0);
  assert.equal(retryAfterMs('17', now), 17_000);
  assert.equal(retryAfterMs('Sat, 21 Nov 2026 09:00:05 GMT', now), 5_000);
  assert.equal(retryAfterMs('Sat, 21 Nov 2026 08:59:00 GMT', now), 0);
  for (const field of ['', '-1', '1.5', 'soon', '1e3', '2026-11-21', 'never GMT'])
    assert.equal(retryAfterMs(field, now), null, field);
});
