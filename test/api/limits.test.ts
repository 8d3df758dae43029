import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { fetchWhole } from '../support/http.ts';
import { bearer, refusalOf, usageOf } from '../support/replies.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
before(async () => {
  server = await TestServer.shared();
});

interface Body {
  error?: { code: string; details?: Record<string, number> };
  data?: Record<string, unknown>;
  quantum_credits?: { remaining: number; used: number; total: number };
}

async function bodyOf(response: Response): Promise<Body> {
  return (await response.json()) as Body;
}

describe('rate limit', () => {
  it('lets the burst of a free account through and refuses the next with Retry-After, errors counted', async () => {
    const { key } = await server.account('free');
    for (let i = 1; i <= 15; i++) {
      const response = await server.get(i % 2 === 0 ? '/integers' : '/integers?count=0', bearer(key));
      assert.equal(response.status, i % 2 === 0 ? 200 : 400);
      assert.equal(response.headers.get('x-ratelimit-remaining'), String(15 - i));
      await response.arrayBuffer();
    }
    const refused = await server.get('/integers', bearer(key));
    assert.equal((await bodyOf(refused)).error?.code, 'rate_limited');
    assert.equal(refused.status, 429);
    const retryAfterS = Number(refused.headers.get('retry-after'));
    // the bucket gives one token in 6 s, but 15 were let through in this minute already
    assert.ok(retryAfterS > 50 && retryAfterS <= 60, `Retry-After ${retryAfterS}`);
    const resetS = Number(refused.headers.get('x-ratelimit-reset'));
    assert.ok(
      Math.abs(resetS - Date.now() / 1000 - 90) < 35,
      'the full burst is there again within 1.5 minutes',
    );
    assert.equal(refused.headers.get('ratelimit-policy'), '"burst";q=15;w=90, "sustained";q=10;w=60');
    const [, left, untilFullS] = /^"burst";r=(\d+);t=(\d+)$/.exec(refused.headers.get('ratelimit')!)!;
    assert.equal(left, '0');
    assert.ok(Number(untilFullS) > 60 && Number(untilFullS) <= 90, untilFullS);
    const health = await server.get('/health', bearer(key));
    assert.equal(health.status, 200, 'health is not limited');
    await health.arrayBuffer();
  });

  it('is per account, not per key', async () => {
    const { account_id, key } = await server.account('free');
    const second = JSON.parse(await server.qrn('keys', 'create', '--account', account_id, '--json'));
    let left = 15;
    for (const each of [key, second.key, key, second.key]) {
      const response = await server.get('/integers', bearer(each));
      assert.equal(response.headers.get('x-ratelimit-remaining'), String(--left));
      await response.arrayBuffer();
    }
  });

  it('is the largest safe integer for an account without a limit', async () => {
    const { key } = await server.account('enterprise');
    const response = await server.get('/integers', bearer(key));
    const largest = Number.MAX_SAFE_INTEGER;
    for (const name of ['x-ratelimit-remaining', 'x-quantum-credits-remaining']) {
      assert.equal(response.headers.get(name), String(largest), name);
    }
    assert.match(response.headers.get('x-ratelimit-reset')!, /^\d{10}$/);
    assert.equal(response.headers.get('ratelimit-policy'), null);
    assert.equal(response.headers.get('ratelimit'), null);
    const credits = { remaining: largest, total: largest, used: 0 };
    assert.deepEqual((await bodyOf(response)).quantum_credits, credits);
  });
});

it('monthly quota ends with 429 quota_exceeded until the month ends, and counts only answers', async () => {
  const { key } = await server.account('enterprise', '--requests-per-month', '3');
  const get = (path: string) => server.get(path, bearer(key));
  for (const path of ['/integers', '/integers?count=x', '/integers?dry_run=true', '/uuid', '/floats']) {
    await (await get(path)).arrayBuffer();
  }
  const refused = await get('/integers');
  assert.equal((await bodyOf(refused)).error?.code, 'quota_exceeded');
  const now = new Date();
  const monthEndS = (Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1) - now.getTime()) / 1000;
  assert.ok(Math.abs(Number(refused.headers.get('retry-after')) - monthEndS) < 10);
  const asked = { method: 'HEAD', headers: bearer(key) };
  const statusOf = async (query: string) =>
    (await fetchWhole(`${server.baseUrl}/integers${query}`, asked)).status;
  assert.deepEqual([await statusOf(''), await statusOf('?dry_run=true')], [429, 200], 'HEAD as GET');
  const { requests } = await usageOf(server, key);
  assert.deepEqual(requests, { used: 3, limit: 3, remaining: 0 });
});

it('credits are spent by the price, and a request that is too expensive changes nothing', async () => {
  const { key } = await server.account('enterprise', '--credits-per-month', '100');
  const get = (path: string) =>
    server.get(`${path}${path.includes('?') ? '&' : '?'}entropy_mode=pure`, bearer(key));
  const first = await bodyOf(await get('/bytes?count=60'));
  assert.deepEqual(first.quantum_credits, { remaining: 40, used: 60, total: 100 });
  const refused = await get('/bytes?count=41');
  const body = await bodyOf(refused);
  assert.equal(`${refused.status} ${body.error?.code}`, '402 credits_exhausted');
  assert.deepEqual(body.error?.details, { required: 41, remaining: 40 });
  assert.deepEqual((await bodyOf(await get('/bytes?count=40'))).quantum_credits, {
    remaining: 0,
    used: 40,
    total: 100,
  });
  const usage = await usageOf(server, key);
  assert.deepEqual(usage.credits, { total: 100, used: 100, remaining: 0 });
  assert.equal(usage.requests.used, 2);
  assert.deepEqual([usage.by_endpoint.bytes.requests, usage.by_endpoint.bytes.values], [2, 100]);
  assert.equal(usage.by_mode.pure.requests, 2);
  assert.equal(usage.days.length, 31);
  assert.equal(usage.days.at(-1)?.requests, 2);
});

describe('an Idempotency-Key', () => {
  it('gives the first answer again, byte for byte, and spends nothing', async () => {
    const { key } = await server.account('pro');
    const headers = { ...bearer(key), 'idempotency-key': 'draw-1' };
    const first = await server.get('/bytes?count=50&entropy_mode=pure', headers);
    const text = await first.text();
    const again = await server.get('/bytes?count=50&entropy_mode=pure', headers);
    assert.equal(await again.text(), text);
    const firstId = first.headers.get('x-request-id');
    assert.equal(again.headers.get('x-request-id'), firstId);
    const lines = () =>
      server
        .output()
        .split('\n')
        .filter((line) => line.includes(`${firstId}`));
    await server.until('both lines are in the log', () => lines().length === 2);
    const [own, replay] = lines().map((line) => JSON.parse(line));
    assert.equal(own.x_request_id, firstId);
    assert.equal(own.request_id, JSON.parse(text).metadata.request_id);
    assert.equal(replay.replay_of, firstId, 'the line of the replay names the answer that was sent');
    const usage = await usageOf(server, key);
    assert.deepEqual([usage.credits.used, usage.requests.used], [50, 1]);
    const other = server.get('/bytes?count=51&entropy_mode=pure', headers);
    assert.equal(await refusalOf(other), '422 idempotency_mismatch');
    const stranger = await server.account('pro');
    const theirs = await server.get('/bytes?count=50&entropy_mode=pure', {
      ...headers,
      ...bearer(stranger.key),
    });
    assert.notEqual(await theirs.text(), text, 'a stored answer is for its owner alone');
  });

  it('answers every one of many retries at once', async () => {
    const headers = { ...bearer((await server.account('enterprise')).key), 'idempotency-key': 'finished' };
    const first = await (await server.get('/uuid', headers)).text();
    const retries = await Promise.all(Array.from({ length: 40 }, () => server.get('/uuid', headers)));
    for (const retry of retries) assert.deepEqual([retry.status, await retry.text()], [200, first]);
  });

  it('is refused if it is invalid', async () => {
    const { key } = await server.account('pro');
    // a client that sends an empty one believes that its retry is free
    for (const text of ['x'.repeat(256), 'with a blank', '']) {
      const refused = server.get('/bytes?entropy_mode=pure', { ...bearer(key), 'idempotency-key': text });
      assert.equal(await refusalOf(refused), '400 invalid_idempotency_key', text);
    }
  });

  it('replays answers of the other modes and representations', async () => {
    const { key } = await server.account('pro');
    const forms = [
      ['/uuid?entropy_mode=csprng', {}],
      ['/integers?count=5&ignored=1', { accept: 'application/msgpack' }],
      ['/bytes?count=64', { accept: 'application/octet-stream' }],
      ['/floats?count=3', { accept: 'text/plain' }],
    ] as const;
    for (const [path, accept] of forms) {
      const headers = { ...bearer(key), ...accept, 'idempotency-key': path.slice(1, 8) };
      const [one, two] = [await server.get(path, headers), await server.get(path, headers)];
      assert.deepEqual([one.status, two.status], [200, 200]);
      assert.deepEqual(await two.arrayBuffer(), await one.arrayBuffer(), path);
      const kept = ['content-type', 'x-request-id', 'x-certificate-salt', 'x-ignored-parameters'];
      for (const name of kept) assert.equal(two.headers.get(name), one.headers.get(name), name);
      const other = server.get(path, { ...headers, accept: 'text/csv' });
      assert.equal(await refusalOf(other), '422 idempotency_mismatch', 'another form is another request');
    }
    assert.equal((await usageOf(server, key)).requests.used, forms.length);
  });

  it('keeps at most 64 MiB of answers for an account, of which large ones take half', async () => {
    const { key } = await server.account('business');
    const batch = (name: string) =>
      server.batch({ type: 'uuid', count: 100_000 }, { ...bearer(key), 'idempotency-key': name });
    const statuses: number[] = [];
    for (let i = 0; i < 20 && !statuses.includes(429); i++) {
      const reply = await batch(`large-${i}`);
      statuses.push(reply.status);
      if (reply.status === 200) await reply.arrayBuffer();
      else assert.equal((await bodyOf(reply)).error?.code, 'idempotency_full');
    }
    // each takes 3.9 MB; the last was refused before anything was drawn for it
    assert.equal(statuses.indexOf(429), 8);
    assert.equal((await usageOf(server, key)).requests.used, 8);
    assert.equal((await batch('large-0')).status, 200, 'what is kept is answered');
    const small = await server.get('/uuid', { ...bearer(key), 'idempotency-key': 'small' });
    assert.equal(small.status, 200, 'a stream of batches leaves room for what is small');
    const stranger = await server.account('business');
    assert.equal(
      (await server.get('/uuid', { ...bearer(stranger.key), 'idempotency-key': 'a' })).status,
      200,
    );
  });

  it('takes no quota for a replay or a quote, but for a new request', async () => {
    const { key } = await server.account('enterprise', '--requests-per-month', '2');
    const headers = { ...bearer(key), 'idempotency-key': 'last' };
    const path = '/bytes?count=50&entropy_mode=pure';
    const first = await server.get(path, headers);
    const text = await first.text();
    assert.equal((await server.get('/uuid', bearer(key))).status, 200);
    assert.equal(await refusalOf(server.get('/uuid', bearer(key))), '429 quota_exceeded');
    assert.equal(await (await server.get(path, headers)).text(), text);
    const fresh = { ...bearer(key), 'idempotency-key': 'new' };
    assert.equal(await refusalOf(server.get(path, fresh)), '429 quota_exceeded');
    assert.equal(await refusalOf(server.get('/uuid?count=0', bearer(key))), '429 quota_exceeded');
    const quote = await server.get(`${path}&dry_run=true`, bearer(key));
    assert.equal(quote.status, 200);
    const { requests, credits } = await usageOf(server, key);
    assert.deepEqual([requests.used, credits.used], [2, 50]);
  });
});
