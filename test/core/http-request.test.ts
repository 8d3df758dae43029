import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { before, describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type HttpRequest, ReplyTooLong, sendRequest } from '../../src/core/http-request.ts';

const LONG = 'a'.repeat(100_000);
/** Chunks of one byte each. */
const CRUMBS = Array.from({ length: 100_000 }, (_, i) => `1\r\n${i % 10}\r\n`);
const WHOLE = 'HTTP/1.1 404 Not Found\r\nA: 1\r\na: 2\r\nContent-Length: 3\r\n\r\nabc';

/** The reaction of the test server to a request for a path. */
const REPLIES: Readonly<Record<string, (socket: Socket) => void>> = {
  '/whole': (socket) => socket.write(WHOLE),
  '/until-the-end': (socket) => socket.end(`HTTP/1.1 200 OK\r\n\r\n${LONG}`),
  '/redirect': (socket) =>
    socket.end('HTTP/1.1 302 Found\r\nLocation: /whole\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'),
  '/half': (socket) => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n${LONG}`),
  '/half-a-chunk': (socket) =>
    socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20000\r\n${LONG}`),
  '/reset': (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n${LONG}`);
    socket.resetAndDestroy();
  },
  '/nothing': (socket) => socket.end(),
  '/no-http': (socket) => socket.end('hello\r\n\r\n'),
  '/switches': (socket) =>
    socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nabc'),
  '/compressed': (socket) =>
    socket.end(
      'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc',
    ),
  '/crumbs': (socket) =>
    socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${CRUMBS.join('')}0\r\n\r\n`),
  '/more-crumbs': (socket) =>
    socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${CRUMBS.join('').repeat(2)}`),
  '/silent': () => {},
};

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('a request that the service sends', () => {
  let origin: string;
  /** The count of requests on each connection of the server. */
  const connections: number[] = [];

  before(async () => {
    const server = createServer((socket) => {
      const at = connections.push(0) - 1;
      socket.on('error', () => {}); // the client may close first
      socket.on('data', (head) => {
        const [, path = ''] = head.toString('latin1').split(' ');
        connections[at]!++;
        REPLIES[path]?.(socket);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    server.unref();
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  const ask = (path: string, other: Partial<HttpRequest> = {}) =>
    sendRequest({
      method: 'GET',
      url: `${origin}${path}`,
      replyBytesMax: 1_000_000,
      signal: new AbortController().signal,
      ...other,
    });

  it('resolves with the status, the fields and the body, whatever the status', async () => {
    const { status, headers, body } = await ask('/whole');
    assert.deepEqual([status, headers.get('a'), Buffer.from(body).toString()], [404, '1, 2', 'abc']);
  });

  it('resolves with a body that ends with the connection', async () => {
    assert.equal((await ask('/until-the-end')).body.length, LONG.length);
  });

  it('follows no redirect', async () => {
    const { status, headers } = await ask('/redirect');
    assert.deepEqual([status, headers.get('location')], [302, '/whole']);
  });

  it('does not reuse a connection', async () => {
    const before = connections.length;
    for (const method of ['GET', 'GET', 'POST'] as const) await ask('/whole', { method });
    assert.deepEqual(connections.slice(before), [1, 1, 1]);
  });

  for (const path of ['/half', '/half-a-chunk', '/reset', '/nothing', '/no-http', '/switches', '/compressed'])
    it(`rejects the reply ${path}`, async () => {
      await assert.rejects(ask(path), (error) => error instanceof Error && error.message !== '');
    });

  it('aborts a reply that is too long', async () => {
    await assert.rejects(ask('/until-the-end', { replyBytesMax: LONG.length - 1 }), ReplyTooLong);
    assert.equal((await ask('/until-the-end', { replyBytesMax: LONG.length })).status, 200);
  });

  it('takes little more memory for a reply of many small pieces than it has bytes', async () => {
    const heapBytes = () => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const before = heapBytes();
    let most = 0;
    const looks = setInterval(() => {
      most = Math.max(most, heapBytes() - before);
    }, 5);
    const { body } = await ask('/crumbs');
    clearInterval(looks);
    assert.ok(body.length === CRUMBS.length && body.every((byte, i) => byte === 0x30 + (i % 10)));
    assert.ok(most < 4e6, `${most} bytes were in use`); // 13 MB where every piece was kept
  });

  it('aborts a reply of 200,000 one-byte chunks that does not end', async () => {
    await assert.rejects(ask('/more-crumbs'), ReplyTooLong);
  });

  it('rejects with the reason of its signal, before the request is sent and while it waits', async () => {
    const reason = new Error('no longer wanted');
    await assert.rejects(ask('/whole', { signal: AbortSignal.abort(reason) }), reason);
    const ending = new AbortController();
    const waiting = ask('/silent', { signal: ending.signal });
    ending.abort(reason);
    await assert.rejects(waiting, reason);
  });

  it('rejects an invalid request with a TypeError', async () => {
    await assert.rejects(ask('', { url: 'ftp://127.0.0.1/' }), TypeError);
    await assert.rejects(ask('/whole', { headers: { a: 'b\nc' } }), TypeError);
  });
});
