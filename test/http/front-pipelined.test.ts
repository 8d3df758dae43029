import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { EngineName } from '../../src/http/engine.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import type { Front } from '../../src/http/front.ts';
import { metricsAlone } from '../../src/http/info-routes.ts';
import { HttpConnection, openSocket, talk } from '../support/http.ts';
import { frontWith, PLAIN_HEAD, replyTo, until } from './front-fixture.ts';

/*
 * What follows a request that is not answered yet. As the router does it, the handler waits for the loop to turn before it
 * serves: what it serves then is charged, so it must be answered.
 */

const PROBE_PATH = '/probe';
const GET = 'GET /x HTTP/1.1\r\nHost: a\r\n\r\n';

const BEHIND: readonly [name: string, bytes: string][] = [
  ['another request', GET],
  ['another request without a host', 'GET /y HTTP/1.1\r\n\r\n'],
  ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['bytes that are no request', 'garbage\r\n\r\n'],
  ['a head that is too large', `GET /y HTTP/1.1\r\nHost: a\r\nA: ${'a'.repeat(70_000)}\r\n\r\n`],
];

for (const engine of ['uws', 'node'] as const) describe(`a front on ${engine}`, () => contract(engine));

function contract(engine: EngineName): void {
  let front: Front;
  let served = 0;

  before(async () => {
    const handle = (exchange: Exchange) => {
      setImmediate(() => {
        if (exchange.isAborted || exchange.isAnswered) return;
        if (exchange.path !== PROBE_PATH) served++;
        exchange.send(PLAIN_HEAD, Buffer.from('served'));
      });
    };
    ({ front } = await frontWith(handle, { engine }));
  });
  after(() => front.drain(0));
  const probe = () => replyTo(front, `GET ${PROBE_PATH} HTTP/1.1\r\nHost: a\r\n\r\n`);
  beforeEach(() => {
    served = 0;
  });

  it('serves nothing after a head that it refuses, also on the port of the metrics', async () => {
    const metrics = await frontWith(() => {}, { engine, handle: metricsAlone(async () => 'a 1\n') });
    const scrape = 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n';
    const refused = scrape.replace('Host: a', 'Host: a\r\nHost: b');
    const { replies, closed } = await talk(metrics.front.port, refused + scrape, { silenceMs: 15_000 });
    assert.ok(closed);
    for (const { status } of replies) assert.equal(status, 400);
  });

  for (const [name, bytes] of BEHIND) {
    it(`answers a request that is followed by ${name}, or does not serve it`, async () => {
      for (const request of [GET, GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')]) {
        served = 0;
        const { replies } = await talk(front.port, request + bytes, { probe });
        const answers = replies.filter(({ body }) => body === 'served');
        assert.equal(answers.length, served);
      }
    });
  }

  it('closes a connection whose client asked for CONNECT and does not close it', async () => {
    const socket = await openSocket(front.port, true);
    socket.on('error', () => {}); // the front may reset it
    socket.resume();
    socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(socket, 'end');
    await until(() => front.openConnections === 0);
    socket.destroy();
  });

  if (engine === 'node')
    it('answers a client that closes its half of the connection', async () => {
      const connection = await HttpConnection.open(front.port);
      connection.send(GET);
      connection.socket.end();
      await connection.closed;
      assert.deepEqual(
        connection.replies.map(({ status, body }) => [status, body.toString()]),
        [[200, 'served']],
      );
      assert.equal(served, 1);
    });
}
