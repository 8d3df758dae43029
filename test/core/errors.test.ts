import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError, ERRORS } from '../../src/core/errors.ts';

describe('the error table', () => {
  it('has the codes and statuses of the specification', () => {
    const specified: Record<string, number> = {
      invalid_count: 400,
      invalid_range: 400,
      unique_impossible: 400,
      invalid_encoding: 400,
      invalid_type: 400,
      invalid_id: 400,
      auth_missing: 401,
      auth_invalid: 401,
      auth_scope: 403,
      cert_not_found: 404,
      rate_limited: 429,
    };
    for (const [code, status] of Object.entries(specified)) {
      assert.equal(ERRORS[code as keyof typeof ERRORS].status, status, code);
    }
  });

  it('says something else only when the thrower knows better', () => {
    assert.equal(new ApiError('not_found').message, ERRORS.not_found.message);
    const exact = new ApiError('invalid_count', { message: 'Give count from 1 to 3.', details: { max: 3 } });
    assert.deepEqual(
      [exact.message, exact.status, exact.facts.details],
      ['Give count from 1 to 3.', 400, { max: 3 }],
    );
  });
});
