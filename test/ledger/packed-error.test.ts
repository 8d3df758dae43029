import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../src/core/errors.ts';
import { LedgerError } from '../../src/ledger/ledger.ts';
import { packError, unpackError } from '../../src/ledger/packed-error.ts';

const own = new TypeError('not a function');
const cases: [what: string, error: unknown, arrives: object][] = [
  [
    'of the API',
    new ApiError('rate_limited', { retryAfterS: 3 }),
    { name: 'ApiError', code: 'rate_limited', facts: { retryAfterS: 3 } },
  ],
  [
    'of the ledger',
    new LedgerError('conflict', 'it is taken'),
    { name: 'LedgerError', reason: 'conflict', message: 'it is taken' },
  ],
  ['of any other kind', own, { name: 'TypeError', message: 'not a function', stack: own.stack }],
  ['that is none', 'a text', { name: 'Error', message: 'a text', stack: '' }],
];
for (const [what, error, arrives] of cases)
  test(`an error ${what} arrives unchanged in another thread`, () => {
    const arrived = unpackError(structuredClone(packError(error)));
    for (const [name, value] of Object.entries(arrives))
      assert.deepEqual(arrived[name as keyof Error], value, name);
    assert.equal(arrived instanceof ApiError, error instanceof ApiError);
    assert.equal(arrived instanceof LedgerError, error instanceof LedgerError);
  });
