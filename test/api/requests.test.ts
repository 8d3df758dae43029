import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { LIMITS } from '../../src/core/limits.ts';
import { fetchWhole, HttpConnection, talk } from '../support/http.ts';
import { freshMetrics } from '../support/prometheus.ts';
import { bearer, refusalOf, usageOf } from '../support/replies.ts';
import { TestServer, until } from '../support/server.ts';

/** Requests as real clients and their libraries write them, over a real socket. */
let server: TestServer;
describe('requests as clients write them', () => {
  before(async () => {
    server = await TestServer.shared();
  });

  const requestsUsed = async (of: TestServer) => (await usageOf(of)).requests.used;

  it('OPTIONS and 405 announce that a list of items may come in a JSON body', async () => {
    const allow = async (method: string, path: string) =>
      (await fetchWhole(`${server.baseUrl}${path}`, { method })).headers.get('allow');
    assert.equal(await allow('OPTIONS', '/shuffle'), 'GET, HEAD, POST, OPTIONS');
    assert.equal(await allow('PUT', '/shuffle'), 'GET, HEAD, POST, OPTIONS');
    assert.equal(await allow('OPTIONS', '/uuid'), 'GET, HEAD, OPTIONS');
  });

  it('an Accept header that nothing satisfies gets 406 with the available types, and counts nothing', async () => {
    const before = await requestsUsed(server);
    for (const path of ['/integers', '/usage', '/health', '/integers?dry_run=true']) {
      const response = await server.get(path, { accept: 'text/html' });
      const { error } = (await response.json()) as {
        error: { code: string; details: { available: string[] } };
      };
      assert.deepEqual([response.status, error.code], [406, 'not_acceptable'], path);
      assert.ok(error.details.available.includes('application/json'), path);
    }
    const octets = server.get('/uuid', { accept: 'application/octet-stream' });
    assert.equal(await refusalOf(octets), '406 not_acceptable');
    assert.equal(await requestsUsed(server), before);
  });

  it('a body that arrives slowly makes no request late, and the answer is dated when it has arrived', async () => {
    const body = JSON.stringify({ type: 'integers', count: 10_000, params: { min: 0, max: 100 } });
    const head = [
      'POST /v1/batch HTTP/1.1',
      'Host: a',
      `Authorization: Bearer ${server.key}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ];
    const connection = await HttpConnection.open(Number(new URL(server.baseUrl).port));
    connection.send(`${head.join('\r\n')}\r\n\r\n`);
    await new Promise((resolve) => setTimeout(resolve, LIMITS.largeQueueMs + 100));
    const beforeMs = Date.now();
    connection.send(body);
    await until('the reply', () => connection.replies.length > 0);
    const [reply] = connection.replies;
    connection.leave();
    assert.equal(reply.status, 200, reply.body.toString());
    const { meta, metadata } = JSON.parse(reply.body.toString());
    const idMs = Number.parseInt(meta.request_id.replace('-', '').slice(0, 12), 16);
    for (const atMs of [Date.parse(metadata.timestamp), idMs]) assert.ok(atMs >= beforeMs - 1, `${atMs}`);
    assert.ok(meta.duration_ms < LIMITS.largeQueueMs, `${meta.duration_ms}`);
  });

  describe('a HEAD request', () => {
    const drawn = async () => {
      const text = await freshMetrics(server.origin);
      return [...text.matchAll(/^qrn_entropy_consumed_bytes_total\S* (\d+)$/gm)].reduce(
        (sum, [, n]) => sum + Number(n),
        0,
      );
    };
    const head = (path: string, headers: Record<string, string> = {}) =>
      fetchWhole(`${server.baseUrl}${path}`, {
        method: 'HEAD',
        headers: { ...bearer(server.key), ...headers },
      });

    it('draws, spends and counts nothing, and reports what is known without a draw', async () => {
      const before = [await requestsUsed(server), await drawn()];
      const credits = (await head('/uuid')).headers.get('x-quantum-credits-remaining');
      assert.ok(Number(credits) > 0);
      for (let i = 0; i < 20; i++) {
        const response = await head('/bytes?count=512&entropy_mode=pure&x=1');
        assert.equal(response.status, 200);
        assert.equal(response.headers.get('x-entropy-mode'), 'pure');
        assert.equal(response.headers.get('x-quantum-credits-remaining'), credits, 'nothing is spent');
        assert.equal(response.headers.get('content-type'), 'application/json');
        assert.equal(response.headers.get('x-ignored-parameters'), 'x');
        assert.equal(response.headers.get('content-length'), null, 'no length is made up');
        assert.equal(response.headers.get('x-certificate-id'), null);
      }
      assert.deepEqual([await requestsUsed(server), await drawn()], before);
    });

    it('counts against the rate as GET does, and not against the quota', async () => {
      const { key } = await server.account('free');
      const burst = 15;
      const statuses: number[] = [];
      for (let i = 0; i <= burst; i++) statuses.push((await head('/uuid', bearer(key))).status);
      assert.deepEqual(statuses, [...new Array(burst).fill(200), 429]);
      const refused = await server.get('/uuid', bearer(key));
      assert.equal(refused.status, 429, 'GET and HEAD have one rate');
    });

    it('is refused as GET would be', async () => {
      const refused: [string, Record<string, string>, number][] = [
        ['/bytes?count=0', {}, 400],
        ['/bytes', { authorization: 'Bearer qrn_p_nonsense' }, 401],
        ['/bytes', { accept: 'text/html' }, 406],
        ['/integers?count=10000&max=9007199254740990&entropy_mode=pure', {}, 402],
      ];
      for (const [path, headers, status] of refused)
        assert.equal((await head(path, headers)).status, status, path);
    });
  });

  it('a request whose answer nobody can receive is not charged: pipelined requests cut the connection before a draw', async () => {
    const get = `GET /v1/bytes?entropy_mode=pure HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${server.key}\r\n\r\n`;
    const port = Number(new URL(server.origin).port);
    const before = await requestsUsed(server);
    let answered = 0;
    for (let round = 0; round < 20; round++) {
      const { replies } = await talk(port, get + get, { replies: 2, silenceMs: 5_000 });
      answered += replies.filter(({ status }) => status === 200).length;
    }
    assert.equal((await requestsUsed(server)) - before, answered);
  });

  describe('a body that is too large, and what follows it in the same packet', () => {
    const OVERSIZE = `${(1 << 20).toString(16)}\r\n${' '.repeat(1 << 20)}\r\n10\r\n${' '.repeat(16)}\r\n1\r\n \r\n0\r\n\r\n`;
    for (const engine of ['uws', 'node'])
      it(`gets one reply and a closed connection, and the request behind it is not served (${engine})`, async (t) => {
        const own = engine === 'uws' ? server : await TestServer.spawnFor(t, { QRN_FRONT: engine }).ready();
        const key = own.key;
        const before = await requestsUsed(own);
        const fields = `Host: a\r\nAuthorization: Bearer ${key}\r\n`;
        const post = `POST /v1/batch HTTP/1.1\r\n${fields}Transfer-Encoding: chunked\r\n\r\n${OVERSIZE}`;
        const behind = `GET /v1/integers HTTP/1.1\r\n${fields}\r\n`;
        const { replies, closed } = await talk(own.port, post + behind, { silenceMs: 15_000 });
        assert.ok(closed);
        assert.ok(replies.length <= 1, `${replies.map(({ status }) => status)}`);
        for (const { status } of replies) assert.equal(status, 413);
        assert.equal(await requestsUsed(own), before);
      });
  });
});
