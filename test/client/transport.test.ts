import assert from 'node:assert/strict';
import { after, before, describe, it, mock } from 'node:test';
import { QrnClient } from '../../clients/typescript/src/client.ts';
import { QrnError } from '../../clients/typescript/src/error.ts';
import type { ResponseEvent, RetryEvent } from '../../clients/typescript/src/hooks.ts';
import type { Fetch } from '../../clients/typescript/src/transport.ts';
import { settle } from '../pool/fixtures.ts';
import { until } from '../support/server.ts';
import { type FakeReply, FakeService, someAnswer, someError } from './fake-service.ts';

/**
 * Promises of this client that clients/conformance.json does not cover: options, signals, hooks, and the data beside
 * an answer.
 */
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
  it('names the client, and returns the values of the header fields', async () => {
    fake.script(someAnswer());
    const answer = await client.integers();
    assert.match(fake.requests[0].headers['user-agent'] ?? '', /^qrn-client\/\d+\.\d+\.\d+ node\/22\./);
    assert.deepEqual(answer.rateLimit, { remaining: 7, resetAtS: 1_800_000_000 });
    assert.deepEqual(answer.credits, { remaining: 5, used: 0, total: 5 });
  });

  it('with text that UTF-8 cannot encode is rejected, and nothing is sent', async () => {
    const sent = fake.requests.length;
    await assert.rejects(client.shuffle({ items: ['a', 'b\ud83d'] }), {
      name: 'TypeError',
      message: /^items: "b\\ud83d" has half of a surrogate pair/,
    });
    assert.equal(fake.requests.length, sent);
  });
});

describe('an error', () => {
  it('has the key of its attempts, and the reply that was no answer', async () => {
    fake.script(someError(402, 'credits_exhausted'), { status: 200, body: '<html>' }, 'cut');
    const refused = await errorOf(client.bytes({ count: 9, entropyMode: 'pure' }));
    assert.equal(refused.name, 'CreditsExhaustedError');
    assert.equal(refused.idempotencyKey, fake.requests[0].headers['idempotency-key']);
    assert.match(refused.response?.headers.get('content-type') ?? '', /json/);
    const page = await errorOf(client.uuid({}, { retries: 0 }));
    assert.equal(Buffer.from(page.response?.body ?? []).toString(), '<html>');
    assert.equal((await errorOf(client.uuid({}, { retries: 0 }))).response, null);
  });

  it('says why a binary answer is invalid', async () => {
    fake.script(someAnswer(), { status: 200, headers: { 'content-type': 'application/octet-stream' } });
    assert.match(
      (await errorOf(client.bytesBinary())).message,
      /application\/json, not application\/octet-stream/,
    );
    assert.match((await errorOf(client.bytesBinary())).message, /no readable field x-request-id/);
  });
});

describe('a retry', () => {
  it('is not made for a key that no header can hold', async () => {
    await assert.rejects(client.uuid({}, { idempotencyKey: 'with a blank' }), RangeError);
  });

  it('waits as long as Retry-After says', async () => {
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
          return Response.json((someAnswer() as Exclude<FakeReply, string>).body);
        },
      });
      const call = patient.uuid();
      await settle();
      mock.timers.tick(5_999);
      await settle();
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
  it('ends with the reason of its signal: before, during and between attempts', async () => {
    const why = new Error('no longer needed');
    await assert.rejects(client.integers({}, { signal: AbortSignal.abort(why) }), why);
    fake.script('hang');
    const during = new AbortController();
    const hanging = client.integers({}, { signal: during.signal });
    await until('the request came', () => fake.requests.length === 1);
    during.abort(why);
    await assert.rejects(hanging, why);
    fake.script(someError(429, 'rate_limited', { 'retry-after': '30' }));
    const between = new AbortController();
    const waiting = client.integers({}, { signal: between.signal });
    await until('the request came', () => fake.requests.length === 1);
    await settle();
    between.abort(why);
    await assert.rejects(waiting, why);
    assert.equal(fake.requests.length, 1);
  });

  it('does not follow a redirect with its key', async () => {
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
  it('gets each attempt, answer and retry, but no key or parameter', async () => {
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

  it('that throws ends the call with its error', async () => {
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
  it('is returned with its answer on request', async () => {
    fake.script(someAnswer());
    const { answer, response } = await client.integers().withResponse();
    assert.deepEqual(answer.data.values, [1]);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('x-ratelimit-remaining'), '7');
    assert.equal(JSON.parse(Buffer.from(response.body).toString()).meta.duration_ms, 1);
  });

  it('is not returned when there is no answer', async () => {
    fake.script(someError(400, 'invalid_count'));
    const error = await errorOf(client.integers().withResponse());
    assert.equal(error.code, 'invalid_count');
  });
});

describe('a client', () => {
  it('rejects invalid options', () => {
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

  it('is configured by QRN_URL and QRN_KEY, and else uses the service on this machine', async () => {
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

  it('accepts a base URL with a path and a closing slash', async () => {
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
