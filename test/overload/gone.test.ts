import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { LIMITS } from '../../src/core/limits.ts';
import type { EngineName } from '../../src/http/engine.ts';
import { fetchWhole, HttpConnection, type HttpReply } from '../support/http.ts';
import { AheadClock, type OverloadedFront, overloadedFront, turn } from './stack.ts';

/*
 * What is drawn is charged. A client that is known to be gone by then pays nothing, also one that leaves while its request waits
 * for the ledger, for pure bytes or for a seed.
 */

const CLIENTS = 40;
const DAY_MS = 24 * 60 * 60 * 1_000;
const LEAVE = {
  'closes its half': (socket: Socket) => socket.end(),
  'closes both halves': (socket: Socket) => socket.destroy(),
  'resets the connection': (socket: Socket) => socket.resetAndDestroy(),
};

for (const engine of ['uws', 'node'] as const) describe(`on ${engine}, a client`, () => contract(engine));

function contract(engine: EngineName): void {
  let front: OverloadedFront;
  let key: string;
  /** Key of an account without a seed, which comes when `seedCame` is called. */
  let seedless: string;
  /** Answers that were drawn. */
  let drawn = 0;
  let seedCame: ((isThere: boolean) => void) | undefined;
  const clock = new AheadClock();

  before(async () => {
    const askForSeed = () => new Promise<boolean>((resolve) => (seedCame = resolve));
    front = await overloadedFront(clock, 40, { engine, askForSeed });
    const commit = front.ledger.commit.bind(front.ledger);
    front.ledger.commit = (segments, answers) => {
      for (const { count } of segments) drawn += count;
      return commit(segments, answers);
    };
    key = await front.account();
    seedless = await front.account({ seedIntervalMs: 7_000 });
  });
  after(() => front.stop());

  async function books(of = key) {
    const { data } = (await front.get(of, '/usage')).body;
    const { requests, credits } = data as Record<'requests' | 'credits', { used: number }>;
    const left = (await front.ledger.blockLevels()).pure.bytes + front.stack.supply.pure.available();
    return { requests: requests.used, credits: credits.used, left };
  }

  /** Whatever was sent is read, and what was drawn of it is committed. */
  async function settled(): Promise<void> {
    for (let before = -1; before !== drawn || front.stack.committer.pending > 0; ) {
      before = drawn;
      for (let i = 0; i < 20; i++) await turn();
    }
  }

  const connected = () => HttpConnection.open(front.stack.port);

  function requestOf(of: string, path: string, fields = ''): string {
    return `GET /v1${path} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${of}\r\n${fields}\r\n`;
  }

  function callOf(of: string): string {
    const params = { apiKey: of, n: 32, min: 1, max: 6 };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'generateIntegers', params });
    return `POST /json-rpc/4/invoke HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  }

  const REQUESTS = { request: () => requestOf(key, '/bytes?count=32'), 'JSON-RPC call': () => callOf(key) };

  for (const [what, request] of Object.entries(REQUESTS))
    for (const [how, leave] of Object.entries(LEAVE)) {
      it(`that ${how} right after its ${what} pays for what was drawn, and for nothing else`, async () => {
        const before = await books();
        const drawnBefore = drawn;
        const clients = await HttpConnection.openMany(front.stack.port, CLIENTS);
        const left = clients.map(async (connection) => {
          connection.send(request());
          leave(connection.socket);
          await connection.closed;
          return connection.start.startsWith('HTTP/1.1 200 ');
        });
        const answered = (await Promise.all(left)).filter(Boolean).length;
        await settled();
        const drawnNow = drawn - drawnBefore;
        assert.equal((await books()).requests - before.requests, drawnNow);
        assert.ok(answered <= drawnNow && drawnNow <= CLIENTS, `${answered} answered, ${drawnNow} drawn`);
      });
    }

  it('that looks for the answer of a ticket does not prevent its use, which ends after a day', async () => {
    const tickets = { apiKey: key, n: 2, showResult: true };
    const [early, late] = await called<{ ticketId: string }[]>('createTickets', tickets);
    const { isWaiting, release } = hold('storedAnswer');
    const looked = called<{ result: null }>('getTicket', { ticketId: early.ticketId });
    while (!isWaiting()) await turn();
    const draw = { apiKey: key, n: 2, min: 1, max: 6 };
    const used = called<{ random: { n: number } }>('generateSignedIntegers', { ...draw, ...early });
    for (let i = 0; i < 200 && !isWaiting(2); i++) await turn();
    release();
    assert.equal((await looked).result, null);
    assert.equal((await used).random.n, 2);
    clock.wallAheadMs = DAY_MS;
    const refused = await called<{ code: number }>('generateSignedIntegers', { ...draw, ...late });
    clock.wallAheadMs = 0;
    assert.equal(refused.code, 420);
  });

  /** The result of a JSON-RPC call, or its error. */
  async function called<T>(method: string, params: object): Promise<T> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const response = await fetchWhole(new URL('/json-rpc/4/invoke', front.stack.baseUrl), {
      method: 'POST',
      body,
    });
    const { result, error } = (await response.json()) as { result?: T; error: T };
    return result ?? error;
  }

  /** Sends the request, leaves when it waits, and lets what it waited for come. */
  async function leavesWhile(request: string, isWaiting: () => boolean, release: () => void): Promise<void> {
    const connection = await connected();
    connection.send(request);
    while (!isWaiting()) await turn();
    connection.leave();
    for (let i = 0; i < 4; i++) await turn();
    release();
    for (let i = 0; i < 4; i++) await turn();
  }

  /** Holds the ledger's calls of this name until it is released. */
  function hold(call: 'claimBlocks' | 'storedAnswer' | 'commit') {
    const waiting: (() => void)[] = [];
    const own = front.ledger[call].bind(front.ledger) as (...args: unknown[]) => Promise<unknown>;
    const held = async (...args: unknown[]) => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return own(...args);
    };
    Object.assign(front.ledger, { [call]: held });
    return {
      isWaiting: (calls = 1) => waiting.length >= calls,
      release: () => {
        Object.assign(front.ledger, { [call]: own });
        for (const go of waiting.splice(0)) go();
      },
    };
  }

  it('that leaves while the ledger looks up its Idempotency-Key does not pay', async () => {
    const before = await books();
    const { isWaiting, release } = hold('storedAnswer');
    await leavesWhile(requestOf(key, '/bytes', 'Idempotency-Key: a\r\n'), isWaiting, release);
    assert.deepEqual(await books(), before);
    const again = await front.get(key, '/bytes', { 'idempotency-key': 'a' });
    assert.equal(again.status, 200, 'the key is free again');
  });

  it('that leaves while pure bytes are claimed does not pay, and the bytes serve others', async () => {
    const before = await books();
    const { isWaiting, release } = hold('claimBlocks');
    // nothing was pure before: the ring is empty
    await leavesWhile(requestOf(key, '/bytes?count=1000&entropy_mode=pure'), isWaiting, release);
    assert.deepEqual(await books(), before);
  });

  it('that leaves while blocks are claimed for a large answer does not pay, and the blocks serve others', async () => {
    const before = await books();
    const { isWaiting, release } = hold('claimBlocks');
    await leavesWhile(requestOf(key, '/uuid?count=5000&entropy_mode=pure'), isWaiting, release);
    assert.deepEqual(await books(), before);
    assert.equal(front.workers.taken, 0);
  });

  it('that leaves while a seed is taken does not pay', async () => {
    const before = await books(seedless);
    const isWaiting = () => seedCame !== undefined;
    await leavesWhile(requestOf(seedless, '/bytes'), isWaiting, () => {
      front.installSeed(7_000);
      seedCame!(true);
    });
    assert.deepEqual(await books(seedless), before);
    assert.equal((await front.get(seedless, '/bytes')).status, 200);
  });

  it('that leaves while a worker makes its answer does not keep the front from stopping in order', async () => {
    const own = await overloadedFront(clock, 0, { engine });
    const connection = await HttpConnection.open(own.stack.port);
    connection.send(requestOf(await own.account(), '/uuid?count=5000'));
    while (own.workers.held === 0) await turn();
    connection.socket.destroy();
    await own.stack.drain(1_000);
    assert.equal(
      (await own.ledger.usage(1, 0)).length,
      1,
      'its answer is in the books before the journal is closed',
    );
    await own.stop();
  });

  /** Sends the request, does something while its answer is committed, and gives the whole replies that came. */
  async function receivedAfter(
    meanwhile: (connection: HttpConnection) => void,
    fields: string,
  ): Promise<readonly HttpReply[]> {
    const { isWaiting, release } = hold('commit');
    const connection = await connected();
    connection.send(requestOf(key, '/bytes?count=32', fields));
    while (!isWaiting()) await turn();
    meanwhile(connection);
    for (let i = 0; i < 4; i++) await turn();
    release();
    await connection.closed;
    return connection.replies;
  }

  const AFTER_DRAW: Record<string, (connection: HttpConnection) => void> = {
    'closes its half': ({ socket }) => void socket.end(),
    'resets the connection': ({ socket }) => void socket.resetAndDestroy(),
    'sends its next request': (connection) => connection.send(requestOf(key, '/bytes?count=32')),
  };
  for (const [how, act] of Object.entries(AFTER_DRAW))
    it(`that ${how} after its answer was drawn pays for it, and gets it again by its Idempotency-Key`, async () => {
      const before = await books();
      const headers = { 'idempotency-key': how.replaceAll(' ', '-') };
      const replies = await receivedAfter(act, `Idempotency-Key: ${headers['idempotency-key']}\r\n`);
      const again = await front.get(key, '/bytes?count=32', headers);
      assert.equal(again.status, 200);
      if (replies.length > 0) assert.deepEqual(JSON.parse(replies[0].body.toString()), again.body);
      assert.equal(replies.length, engine === 'node' && how === 'closes its half' ? 1 : 0);
      assert.equal((await books()).requests, before.requests + 1);
    });

  /** Sends a request, waits until `calls` calls are held, and expects the refusal for a passed deadline. */
  async function refusedAsLate(
    paths: readonly string[],
    isWaiting: (calls: number) => boolean,
    calls: number,
  ): Promise<void> {
    const asked = paths.map((path) => front.get(key, path, { 'idempotency-key': path }));
    while (!isWaiting(calls)) await turn();
    clock.aheadMs += 2 * LIMITS.answerDeadlineMs;
    assert.deepEqual(
      (await Promise.all(asked)).map(({ status }) => status),
      paths.map(() => 503),
    );
  }

  const STREAM = '/stream?type=uuid&total=9&block=3';

  it('whose request waited past its deadline and was refused does not pay', async () => {
    const before = await books();
    const { isWaiting, release } = hold('storedAnswer');
    await refusedAsLate(['/bytes', STREAM], isWaiting, 2);
    release();
    for (let i = 0; i < 4; i++) await turn();
    assert.deepEqual(await books(), before);
    const again = await front.get(key, '/bytes', { 'idempotency-key': '/bytes' });
    assert.equal(again.status, 200, 'the key is free again');
  });

  for (const path of ['/bytes?count=33', `${STREAM}&min=1`])
    it(`whose answer waits to be durable past its deadline is not refused, because it is charged: ${path}`, async () => {
      const before = await books();
      const { isWaiting, release } = hold('commit');
      const connection = await connected();
      connection.send(requestOf(key, path, 'Idempotency-Key: late\r\n'));
      while (!isWaiting()) await turn();
      clock.aheadMs += 2 * LIMITS.answerDeadlineMs;
      await connection.closed;
      release();
      for (let i = 0; i < 20; i++) await turn();
      assert.equal(connection.start, '', 'no reply says that nothing was drawn');
      assert.equal((await books()).requests, before.requests + 1, 'no block after the late one');
      assert.equal(front.stack.memory.total, 0, 'nothing is held for it');
    });

  it('whose answer a worker makes past its deadline was refused and does not pay', async () => {
    const before = await books();
    await refusedAsLate(['/uuid?count=5000'], () => front.workers.held > 0, 1);
    front.workers.release();
    for (let i = 0; i < 20; i++) await turn();
    assert.deepEqual(await books(), before);
  });
}
