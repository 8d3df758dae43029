import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { InvariantError } from '../../src/core/assert.ts';
import { ApiError, ERRORS, type ErrorCode } from '../../src/core/errors.ts';
import { uuidText } from '../../src/core/ids.ts';
import { clientError, errorReply } from '../../src/http/error-reply.ts';
import { statusOf } from '../../src/http/head.ts';
import { newRequestId, requestIdText, SYSTEM_RANDOM } from '../../src/http/request-id.ts';
import { LedgerError } from '../../src/ledger/ledger.ts';

const requestId = newRequestId(SYSTEM_RANDOM, 1_700_000_000_000);
const CODES = Object.keys(ERRORS) as ErrorCode[];

function sent(error: ApiError, accept = '', beside: Parameters<typeof errorReply>[2] = []) {
  const reply = errorReply(error, { requestId, accept }, beside);
  const lines = Buffer.from(reply.head).toString('latin1').split('\r\n');
  const fields = Object.fromEntries(lines.slice(1).map((line) => line.split(/: (.*)/).slice(0, 2)));
  return {
    status: statusOf(reply.head),
    statusLine: lines[0],
    fields,
    body: JSON.parse(Buffer.from(reply.body).toString()),
  };
}

describe('an error reply', () => {
  it('has every code of the table with its status and message', () => {
    for (const code of CODES) {
      const { status, statusLine, fields, body } = sent(new ApiError(code));
      assert.equal(status, ERRORS[code].status);
      assert.ok(statusLine.startsWith(`${status} `));
      assert.deepEqual(body, {
        error: { code, message: ERRORS[code].message, status, request_id: requestIdText(requestId) },
      });
      assert.deepEqual(
        [fields['Content-Type'], fields['Cache-Control'], fields['X-Request-ID']],
        ['application/json', 'no-store', uuidText(requestId)],
      );
    }
  });

  it('has the content of RFC 9457 when that is requested', () => {
    const error = new ApiError('invalid_count', {
      message: 'Give count.',
      details: { parameter: 'count', min: 1 },
    });
    const { fields, body } = sent(error, 'application/problem+json');
    assert.equal(fields['Content-Type'], 'application/problem+json');
    const facts = {
      status: 400,
      detail: 'Give count.',
      instance: `urn:uuid:${uuidText(requestId)}`,
      code: 'invalid_count',
      request_id: requestIdText(requestId),
      details: { parameter: 'count', min: 1 },
    };
    assert.deepEqual(body, { type: 'about:blank', title: 'Bad Request', ...facts });
  });

  it('has the fields that its code requires, and those of the caller', () => {
    assert.equal(sent(new ApiError('auth_missing')).fields['WWW-Authenticate'], CHALLENGE);
    assert.equal(
      sent(new ApiError('auth_invalid')).fields['WWW-Authenticate'],
      `${CHALLENGE}, error="invalid_token"`,
    );
    assert.equal(sent(new ApiError('rate_limited', { retryAfterS: 1.2 })).fields['Retry-After'], '2');
    assert.equal(
      sent(new ApiError('method_not_allowed', { field: ['Allow', 'GET, HEAD'] })).fields['Allow'],
      'GET, HEAD',
    );
    const limited = sent(new ApiError('rate_limited'), '', [['X-RateLimit-Remaining', '0']]);
    assert.equal(limited.fields['X-RateLimit-Remaining'], '0');
    assert.equal(limited.fields['WWW-Authenticate'], undefined);
  });

  it('reveals nothing of a fault', () => {
    const told = clientError(new Error('inside: /path, secret'));
    assert.deepEqual([told.code, told.message], ['internal_error', ERRORS.internal_error.message]);
    assert.equal(clientError('text').code, 'internal_error');
    const damaged = new LedgerError('damaged', 'lots x: the stored value does not match its checksum');
    assert.equal(clientError(damaged).code, 'internal_error');
    const stopped = clientError(new LedgerError('stopped', 'inside: /path'));
    assert.deepEqual([stopped.code, stopped.facts.retryAfterS], ['storage_unavailable', 5]);
    assert.ok(!stopped.message.includes('inside'));
    const own = new ApiError('not_found');
    assert.equal(clientError(own), own);
  });

  it('cannot be broken out of by its facts', () => {
    assert.throws(
      () => sent(new ApiError('method_not_allowed', { field: ['Allow', 'GET\r\nX: y'] })),
      InvariantError,
    );
    const { body } = sent(new ApiError('invalid_items', { message: '"}\r\n\u0000' }));
    assert.equal(body.error.message, '"}\r\n\u0000');
  });
});

const CHALLENGE = 'Bearer realm="quantum-random-number-service"';

describe('a request id', () => {
  it('is the UUID version 7 of RFC 9562 A.6 for its time and random bits, printed as a UUID and in base32', () => {
    const random = Buffer.from('fffffffffffffcc3d8c4dc0c0c07398f', 'hex');
    const id = newRequestId({ fill: (bytes) => bytes.set(random) }, Date.UTC(2022, 1, 22, 19, 22, 22));
    assert.equal(uuidText(id), '017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
    assert.equal(requestIdText(id), 'req_01fwhe4ydgfk1shh6w1g60eecf');
  });

  it('differs for each request of the same millisecond', () => {
    assert.notDeepEqual(newRequestId(SYSTEM_RANDOM, 0), newRequestId(SYSTEM_RANDOM, 0));
  });
});
