import assert from 'node:assert/strict';
import { after, before, describe, it, mock } from 'node:test';
import { QrnClient } from '../../clients/typescript/src/client.ts';
import {
  AuthenticationError,
  ConnectionFailedError,
  CreditsExhaustedError,
  IdempotencyError,
  InvalidAnswerError,
  InvalidRequestError,
  NotFoundError,
  PermissionDeniedError,
  QrnError,
  RateLimitError,
  ServiceError,
  TimeoutExceededError,
} from '../../clients/typescript/src/error.ts';
import type { ResponseEvent, RetryEvent } from '../../clients/typescript/src/hooks.ts';
import type { Fetch } from '../../clients/typescript/src/transport.ts';
import { type FakeReply, FakeService, someAnswer, someError } from './fake-service.ts';

/** The client against a server that misbehaves on the wire. */
let fake: FakeService;
let client: QrnClient;
before(async () => {
  fake = await FakeService.start();
  client = new QrnClient({ baseUrl: fake.baseUrl, key: 'qrn_p_key' });
});
after(() => fake.stop());

async function errorOf(call: Promise<unknown>): Promise<QrnError> {
  try {
    await call;
  } catch (error) {
    assert.ok(error instanceof QrnError, String(error));
    return error;
  }
  assert.fail('it was answered');
}

const SOON = { 'retry-after': '0' };

describe('a request', () => {
  it('sends the key, the accepted form and the parameters, each once', async () => {
    fake.script(someAnswer());
    const answer = await client.integers({ count: 3, min: -5, max: 5, unique: true, sort: 'ascending' });
    const [{ method, url, headers }] = fake.requests;
    assert.equal(method, 'GET');
    assert.equal(url, '/v1/integers?count=3&min=-5&max=5&unique=true&sort=ascending');
    assert.equal(headers.authorization, 'Bearer qrn_p_key');
    assert.equal(headers.accept, 'application/json');
    assert.match(headers['user-agent'] ?? '', /^qrn-client\/\d+\.\d+\.\d+ node\/22\./);
    assert.deepEqual(answer.rateLimit, { remaining: 7, resetAtS: 1_800_000_000 });
    assert.deepEqual(answer.credits, { remaining: 5, used: 0, total: 5 });
  });

  it('rejects text that UTF-8 cannot write, and sends nothing', async () => {
    const sent = fake.requests.length;
    await assert.rejects(client.shuffle({ items: ['a', 'b\ud83d'] }), {
      name: 'TypeError',
      message: /^items: "b\\ud83d" has half of a surrogate pair/,
    });
    assert.equal(fake.requests.length, sent);
  });

  it('sends items between bare commas, and a comma in an item as %2C', async () => {
    fake.script(someAnswer());
    await client.shuffle({ items: ['a,b', '', 'é&=', 'c'], entropyMode: 'csprng' });
    assert.equal(fake.requests[0].url, '/v1/shuffle?items=a%2Cb,,%C3%A9%26%3D,c&entropy_mode=csprng');
  });

  it('sends what the caller says of the values, and a key for retries with a purpose', async () => {
    fake.script(someAnswer(), someAnswer());
    const said = { userData: 'é\n', public: true };
    await client.integers({ count: 2, ...said });
    await client.batch({ type: 'uuid', count: 1, purpose: 'a draw', ...said });
    const [get, post] = fake.requests.slice(-2);
    assert.equal(get.url, '/v1/integers?count=2&user_data=%C3%A9%0A&public=true');
    assert.equal(get.headers['idempotency-key'], undefined);
    assert.deepEqual(JSON.parse(String(post.body)), {
      type: 'uuid',
      count: 1,
      purpose: 'a draw',
      user_data: 'é\n',
      public: true,
    });
    assert.match(String(post.headers['idempotency-key']), /^[0-9a-f-]{32,36}$/);
  });

  it('sends a batch as JSON', async () => {
    fake.script(someAnswer());
    await client.batch({ type: 'integers', count: 2, params: { min: 1, max: 6 }, entropyMode: 'hybrid' });
    const [{ method, headers, body }] = fake.requests;
    assert.deepEqual([method, headers['content-type']], ['POST', 'application/json']);
    assert.deepEqual(JSON.parse(body), {
      type: 'integers',
      count: 2,
      params: { min: 1, max: 6 },
      entropy_mode: 'hybrid',
    });
  });

  it('asks for a price with dry_run, without an Idempotency-Key', async () => {
    fake.script(someAnswer({ mode: 'pure', required_bytes: 8 }));
    const { data } = await client.quote('bytes', { count: 8, entropyMode: 'pure' });
    assert.deepEqual(data, { mode: 'pure', required_bytes: 8 });
    assert.equal(fake.requests[0].url, '/v1/bytes?count=8&entropy_mode=pure&dry_run=true');
    assert.equal(fake.requests[0].headers['idempotency-key'], undefined);
  });

  it('asks for public keys beside /v1 and does not show its own', async () => {
    fake.script({ status: 200, body: { keys: [] } });
    assert.deepEqual(await client.keys(), { keys: [] });
    assert.equal(fake.requests[0].url, '/.well-known/qrn-keys.json');
    assert.equal(fake.requests[0].headers.authorization, undefined);
  });

  it('takes a PDF as bytes, and refuses anything else in its place', async () => {
    const pdf = { status: 200, headers: { 'content-type': 'application/pdf' }, body: '%PDF-1.7' };
    fake.script(pdf, { status: 200, body: {} });
    assert.deepEqual(await client.certificatePdf('cert_1'), new Uint8Array(Buffer.from('%PDF-1.7')));
    assert.equal(fake.requests[0].url, '/v1/certificate?id=cert_1&format=pdf');
    assert.equal((await errorOf(client.certificatePdf('cert_1'))).code, 'invalid_answer');
  });
});

describe('an error', () => {
  it('has the code, the status, the message and the details that the service sent', async () => {
    fake.script(someError(402, 'credits_exhausted', {}, { required: 9, remaining: 5 }));
    const error = await errorOf(client.bytes({ count: 9, entropyMode: 'pure' }));
    const { name, code, status, message, requestId, details, attempts } = error;
    assert.deepEqual(
      { name, code, status, message, requestId, details, attempts },
      {
        name: 'CreditsExhaustedError',
        code: 'credits_exhausted',
        status: 402,
        message: 'Say so.',
        requestId: 'req_01m7yq3qxaep9ryzdvwpqt7yz1',
        details: { required: 9, remaining: 5 },
        attempts: 1,
      },
    );
    assert.equal(error.idempotencyKey, fake.requests[0].headers['idempotency-key']);
  });

  it('has the class of its status, or of its code when no status came', async () => {
    const classes: [status: number, code: string, kind: new (...facts: never[]) => QrnError][] = [
      [400, 'invalid_count', InvalidRequestError],
      [401, 'auth_invalid', AuthenticationError],
      [402, 'credits_exhausted', CreditsExhaustedError],
      [403, 'auth_scope', PermissionDeniedError],
      [404, 'cert_not_found', NotFoundError],
      [406, 'of_a_newer_service', InvalidRequestError],
      [409, 'idempotency_in_flight', IdempotencyError],
      [422, 'idempotency_mismatch', IdempotencyError],
      [429, 'quota_exceeded', RateLimitError],
      [500, 'internal_error', ServiceError],
      [503, 'overloaded', ServiceError],
    ];
    for (const [status, code, kind] of classes) {
      fake.script(someError(status, code));
      const error = await errorOf(client.uuid({}, { retries: 0 }));
      assert.deepEqual([error.constructor, error.code, error.name], [kind, code, kind.name]);
      assert.equal(error.response?.status, status);
      assert.match(error.response?.headers.get('content-type') ?? '', /json/);
    }
    fake.script('cut', 'hang', { status: 200, body: '<html>' });
    const cut = await errorOf(client.uuid({}, { retries: 0 }));
    const hung = await errorOf(client.uuid({}, { retries: 0, timeoutMs: 50 }));
    const page = await errorOf(client.uuid({}, { retries: 0 }));
    assert.deepEqual(
      [cut.constructor, hung.constructor, page.constructor],
      [ConnectionFailedError, TimeoutExceededError, InvalidAnswerError],
    );
    assert.ok(hung instanceof ConnectionFailedError && cut.response === null);
    assert.equal(Buffer.from(page.response?.body ?? []).toString(), '<html>');
  });

  it('is final for a fault of the service', async () => {
    fake.script(someError(500, 'internal_error'), someAnswer());
    assert.equal((await errorOf(client.uuid())).code, 'internal_error');
    assert.equal(fake.requests.length, 1);
  });

  it('is final for a quota that renews next month, and says when', async () => {
    fake.script(someError(429, 'quota_exceeded', { 'retry-after': '864000' }), someAnswer());
    const error = await errorOf(client.uuid());
    assert.deepEqual([error.code, error.retryAfterMs], ['quota_exceeded', 864_000_000]);
    assert.equal(fake.requests.length, 1);
  });

  it('is invalid_answer for a page in the place of an answer', async () => {
    for (const body of ['<html>', '[]', '{"status":"ok"}', '']) {
      fake.script({ status: 200, body });
      const error = await errorOf(client.integers());
      assert.deepEqual([error.code, error.status], ['invalid_answer', 200], body);
    }
    fake.script({ status: 404, body: '<html>' });
    const error = await errorOf(client.integers());
    assert.deepEqual([error.code, error.status], ['invalid_answer', 404]);
    fake.script({ status: 431, body: '<html>' });
    const long = await errorOf(client.integers());
    assert.deepEqual([long.code, long.constructor], ['head_too_large', InvalidRequestError]);
  });

  it('says why a binary answer is not one', async () => {
    fake.script(someAnswer(), { status: 200, headers: { 'content-type': 'application/octet-stream' } });
    assert.match(
      (await errorOf(client.bytesBinary())).message,
      /application\/json, not application\/octet-stream/,
    );
    assert.match((await errorOf(client.bytesBinary())).message, /no readable field x-request-id/);
  });
});

describe('a retry', () => {
  it('follows 429, 503, a gateway and a broken connection, until there is an answer', async () => {
    fake.script(someError(429, 'rate_limited', SOON), someError(503, 'overloaded', SOON), someAnswer());
    assert.deepEqual((await client.integers()).data.values, [1]);
    assert.equal(fake.requests.length, 3);
    fake.script({ status: 502, headers: SOON, body: '<html>' }, 'cut', 'cut in the body', someAnswer());
    assert.deepEqual((await client.integers()).data.values, [1]);
    assert.equal(fake.requests.length, 4);
  });

  it('is made as often as asked and no more', async () => {
    const errors = Array.from({ length: 5 }, () => someError(503, 'shutting_down', SOON));
    fake.script(...errors);
    const error = await errorOf(client.integers({}, { retries: 2 }));
    assert.deepEqual([error.code, error.attempts, fake.requests.length], ['shutting_down', 3, 3]);
    fake.script(...errors);
    assert.equal((await errorOf(client.integers({}, { retries: 0 }))).attempts, 1);
    assert.equal(fake.requests.length, 1);
  });

  it('carries the key of the first attempt in pure mode; another call carries another key', async () => {
    fake.script('cut', someError(409, 'idempotency_in_flight', SOON), someAnswer(), someAnswer());
    await client.integers({ entropyMode: 'pure' });
    await client.integers({ entropyMode: 'pure' });
    const keys = fake.requests.map(({ headers }) => headers['idempotency-key']);
    assert.match(String(keys[0]), /^[0-9a-f]{32}$/);
    assert.deepEqual([keys[1], keys[2]], [keys[0], keys[0]]);
    assert.notEqual(keys[3], keys[0]);
  });

  it('in pure mode carries the key of the caller; in no other mode is one made', async () => {
    fake.script('cut', someAnswer(), 'cut', someAnswer());
    await client.batch({ type: 'uuid', count: 1, entropyMode: 'pure' }, { idempotencyKey: 'mine' });
    await client.batch({ type: 'uuid', count: 1 });
    assert.deepEqual(
      fake.requests.map(({ headers }) => headers['idempotency-key']),
      ['mine', 'mine', undefined, undefined],
    );
    await assert.rejects(client.uuid({}, { idempotencyKey: 'with a blank' }), RangeError);
  });

  it('waits as Retry-After says', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      let requests = 0;
      const refusal = { error: { code: 'rate_limited', message: 'Wait.', request_id: 'req_1' } };
      const patient = new QrnClient({
        baseUrl: fake.baseUrl,
        key: 'k',
        fetch: async () => {
          requests += 1;
          if (requests === 1) return Response.json(refusal, { status: 429, headers: { 'retry-after': '6' } });
          return Response.json({ data: { uuids: [] }, metadata: {} });
        },
      });
      const call = patient.uuid();
      await settled();
      mock.timers.tick(5_999);
      await settled();
      assert.equal(requests, 1);
      mock.timers.tick(251); // the six seconds, and the spread behind them
      await call;
      assert.equal(requests, 2);
    } finally {
      mock.timers.reset();
    }
  });
});

describe('a call', () => {
  it('ends at its time-out', async () => {
    fake.script('hang');
    const error = await errorOf(client.integers({}, { timeoutMs: 30, retries: 0 }));
    assert.deepEqual([error.code, error.status], ['timeout', null]);
  });

  it('ends with the reason of its signal: before, during and between attempts', async () => {
    const why = new Error('no longer needed');
    await assert.rejects(client.integers({}, { signal: AbortSignal.abort(why) }), why);
    fake.script('hang');
    const during = new AbortController();
    const hanging = client.integers({}, { signal: during.signal });
    await until(() => fake.requests.length === 1);
    during.abort(why);
    await assert.rejects(hanging, why);
    fake.script(someError(429, 'rate_limited', { 'retry-after': '30' }));
    const between = new AbortController();
    const waiting = client.integers({}, { signal: between.signal });
    await until(() => fake.requests.length === 1);
    await settled();
    between.abort(why);
    await assert.rejects(waiting, why);
    assert.equal(fake.requests.length, 1);
  });

  it('follows no redirect with its key', async () => {
    fake.script({ status: 307, headers: { location: `${fake.origin}/elsewhere` } }, someAnswer());
    assert.equal((await errorOf(client.integers({}, { retries: 0 }))).code, 'network_error');
    assert.equal(fake.requests.length, 1);
  });

  it('says why there is no connection', async () => {
    const gone = await FakeService.start();
    const nowhere = new QrnClient({ baseUrl: gone.baseUrl, key: 'k', retries: 0 });
    await gone.stop();
    const error = await errorOf(nowhere.integers());
    assert.equal(error.code, 'network_error');
    assert.match(error.message, /ECONNREFUSED/);
    assert.ok(error.cause instanceof TypeError);
  });
});

describe('a hook', () => {
  it('is told of each attempt, answer and retry, and of no key or parameter', async () => {
    const told: [hook: string, event: object][] = [];
    const hooked = new QrnClient({
      baseUrl: fake.baseUrl,
      key: 'qrn_p_key',
      onRequest: (event) => told.push(['request', event]),
      onResponse: (event) => told.push(['response', event]),
      onRetry: (event) => told.push(['retry', event]),
    });
    fake.script(someError(503, 'overloaded', SOON), 'cut', someAnswer());
    await hooked.integers({ count: 1 });
    assert.deepEqual(
      told.map(([hook]) => hook),
      ['request', 'response', 'retry', 'request', 'retry', 'request', 'response'],
    );
    const path = '/v1/integers';
    assert.deepEqual(told[0][1], { method: 'GET', path, attempt: 1 });
    const { durationMs, bytes, ...response } = told[1][1] as ResponseEvent;
    assert.deepEqual(response, { method: 'GET', path, attempt: 1, status: 503, requestId: null });
    assert.ok(durationMs >= 0 && bytes > 50);
    const { error, delayMs } = told[4][1] as RetryEvent;
    assert.deepEqual([error.code, error.attempts], ['network_error', 2]);
    assert.ok(delayMs > 0);
    assert.doesNotMatch(JSON.stringify(told), /qrn_p_key|count=/);
  });

  it('is warned of parameters that the service ignored; without a hook the console is', async () => {
    const ignored = someAnswer() as Exclude<FakeReply, string>;
    const reply = { ...ignored, headers: { ...ignored.headers, 'x-ignored-parameters': 'cuont' } };
    const warnings: string[] = [];
    const watched = new QrnClient({
      baseUrl: fake.baseUrl,
      key: 'k',
      onWarning: (message) => warnings.push(message),
    });
    const warn = mock.method(console, 'warn', () => {});
    fake.script(reply, reply);
    await watched.uuid({ cuont: 3 } as object);
    assert.equal(warn.mock.callCount(), 0);
    await client.uuid({ cuont: 3 } as object);
    assert.deepEqual(warnings, ['qrn: the service ignored what it does not know in /v1/uuid: cuont']);
    assert.deepEqual(warn.mock.calls[0]?.arguments, warnings);
    warn.mock.restore();
  });

  it('ends the call with the error that it throws', async () => {
    const fail = () => {
      throw new Error('the log is full');
    };
    fake.script(someAnswer());
    const hooked = new QrnClient({ baseUrl: fake.baseUrl, key: 'k', onRequest: fail });
    await assert.rejects(hooked.uuid(), /the log is full/);
    assert.equal(fake.requests.length, 0);
  });
});

describe('a response', () => {
  it('comes with its answer on request', async () => {
    fake.script(someAnswer());
    const { answer, response } = await client.integers().withResponse();
    assert.deepEqual(answer.data.values, [1]);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('x-ratelimit-remaining'), '7');
    assert.equal(JSON.parse(Buffer.from(response.body).toString()).meta.duration_ms, 1);
  });

  it('does not come where there is no answer', async () => {
    fake.script(someError(400, 'invalid_count'));
    const error = await errorOf(client.integers().withResponse());
    assert.equal(error.code, 'invalid_count');
  });
});

describe('health', () => {
  it('reports a failing service as an answer, and a service that cannot report as an error', async () => {
    const body = (status: string) => ({
      data: { status, version: '1', time: '2026-11-21T00:00:00.000Z', checks: {} },
      metadata: {},
    });
    fake.script({ status: 503, body: body('fail') });
    assert.deepEqual(await client.health(), body('fail'));
    fake.script(someError(503, 'overloaded', SOON), { status: 200, body: body('warn') });
    assert.equal((await client.health()).data.status, 'warn');
    fake.script({ status: 503, body: '<html>' });
    assert.equal((await errorOf(client.health({ retries: 0 }))).code, 'invalid_answer');
  });
});

describe('a client', () => {
  it('rejects options that make no sense', () => {
    const bad = (options: object) => () => new QrnClient({ baseUrl: fake.baseUrl, key: 'k', ...options });
    const urls = [
      '',
      'v1',
      'localhost:3000',
      'ftp://a/v1',
      'http://a/v2',
      'http://a/v1?x=1',
      'http://a/v1#x',
    ];
    for (const baseUrl of urls)
      assert.throws(bad({ baseUrl }), /^TypeError: baseUrl \(or QRN_URL\): /, baseUrl);
    for (const key of ['', 'a b', 'a\n']) assert.throws(bad({ key }), TypeError);
    for (const option of [{ timeoutMs: 0 }, { retries: -1 }, { retryWaitMaxMs: Number.NaN }])
      assert.throws(bad(option), RangeError);
  });

  it('is made of QRN_URL and QRN_KEY, and else of the service on this machine', async () => {
    const { QRN_URL, QRN_KEY } = process.env;
    try {
      delete process.env['QRN_URL'];
      delete process.env['QRN_KEY'];
      assert.throws(() => new QrnClient(), /QRN_KEY/);
      process.env['QRN_KEY'] = 'qrn_p_of_the_environment\n';
      let asked = '';
      const fetch: Fetch = (url) => {
        asked = url;
        return Promise.reject(new Error('no network here'));
      };
      await errorOf(new QrnClient({ fetch, retries: 0 }).uuid());
      assert.equal(asked, 'http://127.0.0.1:3000/v1/uuid');
      process.env['QRN_URL'] = `${fake.origin}/`;
      fake.script(someAnswer());
      await new QrnClient().uuid();
      const [{ url, headers }] = fake.requests;
      assert.deepEqual([url, headers.authorization], ['/v1/uuid', 'Bearer qrn_p_of_the_environment']);
    } finally {
      Object.assign(process.env, { QRN_URL, QRN_KEY });
      if (QRN_URL === undefined) delete process.env['QRN_URL'];
      if (QRN_KEY === undefined) delete process.env['QRN_KEY'];
    }
  });

  it('takes a base URL with a path and a closing slash', async () => {
    fake.script(someAnswer(), { status: 200, body: { keys: [] } });
    const below = new QrnClient({ baseUrl: `${fake.origin}/qrn/v1/`, key: 'k' });
    await below.uuid();
    await below.keys();
    assert.deepEqual(
      fake.requests.map(({ url }) => url),
      ['/qrn/v1/uuid', '/qrn/.well-known/qrn-keys.json'],
    );
  });
});

/** Lets everything happen that needs no timer. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
