import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { afterEach, describe, it } from 'node:test';
import type { Account } from '../../src/account/directory.ts';
import { LIMITS } from '../../src/core/limits.ts';
import type { EngineName } from '../../src/http/engine.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { headOf } from '../../src/http/head.ts';
import { openSocket, talk } from '../support/http.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { closeFronts, frontWith, PLAIN_HEAD, replyTo, sendLater, until } from './front-fixture.ts';

const GET = 'GET /x HTTP/1.1\r\nHost: a\r\n\r\n';
const getOf = (path: string) => GET.replace('/x', path);
const OK = Buffer.from('ok');
const MEGABYTE = 1_000_000;
const PAYER = { record: { number: 1 } } as Account;

function patterned(size: number): Uint8Array {
  const body = new Uint8Array(size);
  for (let i = 0; i < size; i++) body[i] = 97 + ((i * 31 + (i >>> 8)) % 26);
  return body;
}

for (const engine of ['uws', 'node'] as const) describe(`a front on ${engine}`, () => replyContract(engine));

const startOn = (
  engine: EngineName,
  handle: Parameters<typeof frontWith>[0],
  options: Parameters<typeof frontWith>[1] = {},
) => frontWith(handle, { ...options, engine });

function replyContract(engine: EngineName): void {
  afterEach(closeFronts);

  describe('the failure of a handler', () => {
    it('is logged with its id and closes its connection, and the front continues', async () => {
      const { front, log } = await startOn(
        engine,
        (exchange) => {
          if (exchange.path !== '/fine') throw new Error('inside: secret');
          sendLater(exchange, PLAIN_HEAD, OK);
        },
        { fail: () => assert.fail('second') },
      );
      const nothing = { replies: [], closed: true, rest: '' };
      const post = 'POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n';
      for (const pieces of [[GET], [`${post}ab`], [post, 'ab'], ['GET /x HTTP/1.1\r\nHost: a b\r\n\r\n']]) {
        log.lines.length = 0;
        assert.deepEqual(await talk(front.port, pieces), nothing);
        assert.deepEqual(
          log.lines.map(({ level }) => level),
          ['error'],
        );
        assert.match(String(log.lines[0].facts['request_id']), /^req_/);
      }
      assert.equal((await replyTo(front, getOf('/fine'))).status, 200);
    });

    if (engine === 'uws')
      it('is also answered while the engine reads, or the rest of the bytes would be the next request', async () => {
        const { front, log } = await startOn(engine, (exchange) => exchange.send(PLAIN_HEAD, OK));
        for (const pieces of [GET, 'POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab'])
          assert.deepEqual(await talk(front.port, pieces), { replies: [], closed: true, rest: '' });
        assert.equal(log.lines.length, 2);
      });
  });

  describe('a field that would break out of its line', () => {
    it('is never sent', async () => {
      const { front, log } = await startOn(engine, (exchange) => {
        const echoed = decodeURIComponent(exchange.query);
        sendLater(exchange, headOf(200, [['X-Echo', echoed]]), OK);
      });
      for (const hostile of ['a%0D%0ASet-Cookie:%20b', 'a%0Ab', 'a%0Db', 'a%00b', '%C3%A9']) {
        const { replies } = await talk(front.port, `GET /x?${hostile} HTTP/1.1\r\nHost: a\r\n\r\n`);
        assert.deepEqual(replies, []);
      }
      assert.equal(log.lines.length, 5);
      const reply = await replyTo(front, 'GET /x?fine HTTP/1.1\r\nHost: a\r\n\r\n');
      assert.match(reply.head, /\r\nX-Echo: fine\r\n/);
    });
  });

  describe('an answer', () => {
    it('may come later, from anywhere, with a head that is patched at once', async () => {
      const waiting: Exchange[] = [];
      const { front } = await startOn(engine, (exchange) => {
        waiting.push(exchange);
      });
      const talks = [talk(front.port, GET, { replies: 1 }), talk(front.port, GET, { replies: 1 })];
      await until(() => waiting.length === 2);
      assert.equal(front.waiting.size, 2);
      const head = headOf(200, [['X-Number', '1']]);
      for (const exchange of waiting) {
        exchange.send(head, OK);
        head[head.length - 1]++;
      }
      const heads = (await Promise.all(talks)).map(
        ({ replies }) => /X-Number: (\d)/.exec(replies[0].head)?.[1],
      );
      assert.deepEqual(heads.sort(), ['1', '2']);
      assert.equal(front.waiting.size, 0);
    });

    it('to each of 60 requests of one turn arrives whole, although one memory is used for them all', async () => {
      const waiting: Exchange[] = [];
      const { front } = await startOn(engine, (exchange) => {
        waiting.push(exchange);
        if (waiting.length === 60) setImmediate(() => waiting.forEach(answer));
      });
      const memory = new Uint8Array(4_000);
      const answer = (exchange: Exchange) => {
        const number = Number(exchange.path.slice(1));
        const head = headOf(200, [['X-Number', String(number)]]);
        memory.fill(number, 0, 50 * number);
        exchange.send(head, memory.subarray(0, 50 * number));
        memory.fill(0);
        head.fill(0);
      };
      const numbers = Array.from({ length: 60 }, (_, i) => i + 1);
      const replies = await Promise.all(numbers.map((number) => replyTo(front, getOf(`/${number}`))));
      for (const [i, { head, body }] of replies.entries()) {
        assert.match(head, new RegExp(`\r\nX-Number: ${numbers[i]}\r\n`));
        assert.deepEqual(Buffer.from(body), Buffer.alloc(50 * numbers[i], numbers[i]));
      }
    });

    it('to HEAD has the head of GET with its length, no body, and the connection continues', async () => {
      const sizes: Record<string, number> = { '/empty': 0, '/small': 5, '/large': 3 * MEGABYTE };
      const { front } = await startOn(engine, (exchange) => {
        sendLater(exchange, PLAIN_HEAD, new Uint8Array(sizes[exchange.path]));
      });
      for (const [path, size] of Object.entries(sizes)) {
        const request = `HEAD ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
        const { replies, closed, rest } = await talk(front.port, [request, request], {
          replies: 2,
          head: true,
          inTurn: true,
        });
        assert.deepEqual([replies.length, closed, rest], [2, false, '']);
        for (const { head } of replies)
          assert.equal(head.match(/content-length: \d+/gi)?.join(), `Content-Length: ${size}`);
      }
    });

    it('of status 204 or 304 has no length and no body', async () => {
      const { front } = await startOn(engine, (exchange) => {
        sendLater(exchange, headOf(Number(exchange.path.slice(1)), [['X-A', 'b']]), new Uint8Array(0));
      });
      for (const path of ['/204', '/304']) {
        const request = getOf(path);
        const { replies, rest } = await talk(front.port, [request, request], {
          replies: 2,
          head: true,
          inTurn: true,
        });
        assert.deepEqual([replies.length, rest], [2, '']);
        for (const { head } of replies) assert.doesNotMatch(head, /content-length|transfer-encoding/i);
      }
    });

    it('of 10 MB arrives whole at a reader that pauses, although its owner then reuses the memory', async () => {
      const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
      const body = patterned(10 * MEGABYTE);
      const expected = digest(body);
      const owner = { release: () => void body.fill(0) };
      const { front } = await startOn(engine, (exchange) => sendLater(exchange, PLAIN_HEAD, body, owner));
      const socket = await openSocket(front.port);
      socket.write(GET);
      const received: Buffer[] = [];
      let size = 0;
      for await (const chunk of socket as AsyncIterable<Buffer>) {
        received.push(chunk);
        size += chunk.length;
        if (received.length % 16 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
        if (size >= received[0].indexOf('\r\n\r\n') + 4 + body.length) break;
      }
      const all = Buffer.concat(received);
      const got = all.subarray(all.indexOf('\r\n\r\n') + 4);
      assert.equal(digest(got), expected);
      await until(() => front.sending.size === 0);
      assert.equal(front.heldBytes, 0);
    });

    it('is dropped when its client has gone, and sending it has no effect', async () => {
      const waiting: Exchange[] = [];
      const { front, log } = await startOn(engine, (exchange) => {
        waiting.push(exchange);
      });
      const socket = await openSocket(front.port);
      socket.write(GET);
      await until(() => waiting.length === 1);
      // node:http answers a client that only closed its own half, so there it must reset the connection to be gone
      if (engine === 'node') socket.resetAndDestroy();
      else socket.destroy();
      await until(() => waiting[0].isAborted);
      assert.equal(front.waiting.size, 0);
      waiting[0].send(PLAIN_HEAD, OK);
      assert.equal(waiting[0].isAnswered, false);
      await until(() => front.openConnections === 0);
      assert.deepEqual(log.lines, []);
    });
  });

  describe('deadlines', () => {
    it('answer an overdue request with 503, close its connection and log it, and a late answer has no effect', async () => {
      const waiting: Exchange[] = [];
      const clock = new ManualClock();
      const { front, log } = await startOn(
        engine,
        (exchange) => {
          waiting.push(exchange);
        },
        { clock, limits: { sweepMs: 5 } },
      );
      const talking = talk(front.port, GET);
      await until(() => front.waiting.size === 1);
      clock.advance(LIMITS.answerDeadlineMs);
      const { replies, closed } = await talking;
      assert.deepEqual([replies.length, replies[0].status, closed], [1, 503, true]);
      assert.match(replies[0].head, /\r\nRetry-After: 1\r\n/);
      assert.equal(JSON.parse(replies[0].body).error.code, 'overloaded');
      assert.ok(waiting[0].isAnswered);
      waiting[0].send(PLAIN_HEAD, OK);
      assert.deepEqual(
        log.lines.map((line) => [line.level, line.facts['path']]),
        [['warn', '/x']],
      );
      assert.equal(front.waiting.size, 0);
    });

    it('answer bodies that do not arrive beside paid requests with 503 one after the other, and the loop continues', async () => {
      const clock = new ManualClock();
      const { front } = await startOn(
        engine,
        (exchange) => {
          exchange.account = PAYER;
          sendLater(exchange, PLAIN_HEAD, OK);
        },
        { clock, limits: { sweepMs: 5 } },
      );
      const slow = Array.from({ length: 3 }, () =>
        talk(front.port, 'POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel'),
      );
      await until(() => front.waiting.size === slow.length);
      await talk(front.port, GET, { replies: 1 });
      clock.advance(LIMITS.answerDeadlineMs);
      for (const { replies, closed } of await Promise.all(slow))
        assert.deepEqual([replies.length, replies[0].status, closed], [1, 503, true]);
    });

    it('close connections whose readers do not take 10 MB, and free their memory', async () => {
      const body = patterned(10 * MEGABYTE);
      const readers = 12;
      const clock = new ManualClock();
      const { front, log } = await startOn(engine, (exchange) => sendLater(exchange, PLAIN_HEAD, body), {
        clock,
        limits: { sweepMs: 5 },
      });
      const before = process.memoryUsage.rss();
      const sockets = await Promise.all(Array.from({ length: readers }, () => openSocket(front.port)));
      for (const socket of sockets) {
        socket.pause();
        socket.write(GET);
      }
      await until(() => front.sending.size === readers);
      assert.ok(front.heldBytes > readers * MEGABYTE, 'the readers really have stalled');
      const grownMb = (process.memoryUsage.rss() - before) / MEGABYTE;
      assert.ok(grownMb < 60, `${readers} readers of 10 MB took ${grownMb.toFixed(0)} MB`); // 120 MB if each were copied
      clock.advance(LIMITS.replyDeadlineMs);
      await until(() => front.sending.size === 0);
      assert.equal(front.heldBytes, 0);
      assert.equal(log.lines.filter((line) => line.message === 'reply not taken in time').length, readers);
      await until(() => front.openConnections === 0);
      for (const socket of sockets) socket.destroy();
    });
  });

  describe('draining', () => {
    it('answers requests under way with Connection: close, refuses new ones, and ends', async () => {
      const waiting: Exchange[] = [];
      const { front } = await startOn(engine, (exchange) => {
        waiting.push(exchange);
      });
      const underWay = talk(front.port, GET);
      const idle = await openSocket(front.port);
      await until(() => waiting.length === 1);
      const drained = front.drain(2_000);
      await assert.rejects(openSocket(front.port), { code: 'ECONNREFUSED' });
      waiting[0].send(PLAIN_HEAD, OK);
      const { replies, closed } = await underWay;
      assert.deepEqual([replies[0].status, replies[0].body, closed], [200, 'ok', true]);
      assert.match(replies[0].head, /\r\nConnection: close/);
      idle.resume();
      await drained;
      assert.equal(front.openConnections, 0);
      await front.drain(2_000);
    });

    it('serves a request that arrives on an open connection meanwhile', async () => {
      const clock = new ManualClock(); // stands still, so the front lingers until the request has come
      const { front } = await startOn(
        engine,
        (exchange) => sendLater(exchange, PLAIN_HEAD, new Uint8Array(5_000)),
        {
          clock,
        },
      );
      const socket = await openSocket(front.port);
      const drained = front.drain(2_000);
      socket.write(GET);
      const received: Buffer[] = [];
      for await (const chunk of socket as AsyncIterable<Buffer>) received.push(chunk);
      const text = Buffer.concat(received).toString('latin1');
      assert.match(text, /^HTTP\/1\.1 200 OK\r\n/);
      assert.match(text, /\r\nConnection: close\r\n/);
      assert.equal(text.length - text.indexOf('\r\n\r\n') - 4, 5_000);
      await drained;
    });

    it('finishes a large reply that is being read', async () => {
      const body = patterned(10 * MEGABYTE);
      const { front } = await startOn(engine, (exchange) => sendLater(exchange, PLAIN_HEAD, body));
      const socket = await openSocket(front.port);
      socket.write(GET);
      socket.pause();
      await until(() => front.sending.size === 1);
      const drained = front.drain(60_000);
      let size = 0;
      for await (const chunk of socket as AsyncIterable<Buffer>) size += chunk.length;
      assert.ok(size > body.length);
      await drained;
    });

    it('closes what is not answered by its deadline, and logs it', async () => {
      const { front, log } = await startOn(engine, () => {});
      const underWay = talk(front.port, GET);
      await until(() => front.waiting.size === 1);
      await front.drain(30);
      assert.deepEqual(await underWay, { replies: [], closed: true, rest: '' });
      assert.deepEqual(
        log.lines.map((line) => line.facts),
        [{ unanswered: 1, untaken: 0 }],
      );
    });
  });

  /** A port that was free a moment ago. */
  async function freePort(): Promise<number> {
    const { front } = await startOn(engine, () => {});
    await front.drain(0);
    return front.port;
  }

  describe('listening', () => {
    it('rejects when the port is taken, and succeeds when it is free, even with connections not long closed', async () => {
      const port = await freePort();
      const { front } = await startOn(engine, (exchange) => sendLater(exchange, PLAIN_HEAD, OK), { port });
      await talk(port, GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
      for (const sharePort of [false, true]) {
        const taken = new RegExp(
          `cannot listen on 127\\.0\\.0\\.1:${port}: another program has .* Set QRN_PORT .* QRN_HOST`,
        );
        await assert.rejects(
          startOn(engine, () => {}, { port, sharePort }),
          taken,
        );
      }
      await front.drain(0);
      const { front: again } = await startOn(engine, () => {}, { port });
      assert.equal(again.port, port);
    });

    it('shares a fixed port between fronts that all request it', async () => {
      const port = await freePort();
      const { front: one } = await startOn(engine, () => {}, { port, sharePort: true });
      const { front: other } = await startOn(engine, () => {}, { port, sharePort: true });
      assert.deepEqual([one.port, other.port], [port, port]);
    });
  });
}
