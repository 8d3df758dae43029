import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineName } from '../../../src/http/engine.ts';
import { hostileCases } from '../../support/hostile-requests.ts';
import { HttpConnection } from '../../support/http.ts';
import type { Target } from '../../support/raw-http.ts';
import { CaseRunner, cut } from './http-malformed.ts';

/** Clients that are slow, many, impatient or gone, and how the service treats others meanwhile. */

const DRIP_MS = 500;

/** Count of values in a large answer. */
const LARGE_COUNT = 100_000;
/**
 * Bytes of each value, so that an answer exceeds the buffers of two sockets, 4 MB to write and less for a client that
 * does not read.
 */
const HELD_BYTES_EACH = 100;
const HELD_BYTES_MIN = 20_000_000;

/** File descriptors that the attacker needs besides its connections. */
const OWN_DESCRIPTORS = 200;

/** Returns how many files this process may open. */
function descriptorLimit(): number {
  const [, soft] = /^Max open files +(\d+) /m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return Number(soft ?? 1_024);
}

function head(target: Target, request: string, ...fields: readonly string[]): string {
  return `${request} HTTP/1.1\r\n${['Host: a', `Authorization: Bearer ${target.key}`, ...fields].join('\r\n')}\r\n\r\n`;
}

function batch(target: Target, body: object, ...fields: readonly string[]): string {
  const json = JSON.stringify(body);
  const length = `Content-Length: ${json.length}`;
  return head(target, 'POST /v1/batch', 'Content-Type: application/json', length, ...fields) + json;
}

function largeBatch(target: Target, bytesEach = 40, ...fields: readonly string[]): string {
  const params = { length: bytesEach };
  return batch(target, { type: 'bytes', count: LARGE_COUNT, params, entropy_mode: 'csprng' }, ...fields);
}

/** Sends honest requests, one after the other, and asserts that each is answered. */
export async function assertServes(target: Target, requests: number): Promise<void> {
  for (let i = 0; i < requests; i++) {
    const response = await target.get('/integers?entropy_mode=csprng');
    assert.equal(response.status, 200, await response.text());
    await response.arrayBuffer().catch(() => {}); // read already when the status was wrong
  }
}

/**
 * Opens connections that send nothing, or too little, or a byte now and then, `each` of every kind, and cases that
 * wait for the library's own limit, which bytes do not extend. Each must be cut without an answer, or by node:http
 * with a refusal. Returns their count.
 */
async function cutsSlowClients(target: Target, each: number, engine: EngineName): Promise<number> {
  const beginnings = [
    'G',
    'GET /v1/bytes?entropy_mode=pure&a=',
    'GET /v1/bytes?entropy_mode=pure HTTP/1.1\r\nHost: a\r\nA: ',
    head(target, 'POST /v1/batch', 'Content-Type: application/json', 'Content-Length: 65536'),
    `${head(target, 'POST /v1/batch', 'Content-Type: application/json', 'Transfer-Encoding: chunked')}10000\r\n`,
  ];
  const waiting = hostileCases(target.key).filter((each) => each[engine].connection === 'waits');
  const said = [
    ...waiting.map(({ bytes }) => bytes),
    ...Array.from({ length: each * beginnings.length }, (_, i) => beginnings[i % beginnings.length]),
  ];
  const connections = await HttpConnection.openMany(target.port, said.length);
  connections.forEach((connection, i) => {
    connection.send(said[i]);
  });
  const dripping = connections.slice(waiting.length);
  const drip = setInterval(() => {
    for (const connection of dripping) if (!connection.isClosed) connection.send('a');
  }, DRIP_MS).unref();
  await Promise.all(connections.map(({ closed }) => closed));
  clearInterval(drip);
  for (const [i, { start }] of connections.entries())
    assert.match(start, engine === 'uws' ? /^$/ : /^$|^HTTP\/1\.1 (400|503) /, said[i]);
  for (const connection of connections) connection.leave();
  await target.untilCalm();
  return connections.length;
}

/** What a client does before it disconnects: nothing, a part of the request line, of the head or of the body; all; or it waits for a reply. */
const PHASES: readonly ((connection: HttpConnection, target: Target) => Promise<void> | void)[] = [
  () => {},
  (connection) => connection.send('GET /v1/by'),
  (connection) => connection.send('GET /v1/bytes HTTP/1.1\r\nHost: a\r\nAuthor'),
  (connection, target) => connection.send(largeBatch(target).split('{')[0]),
  (connection, target) => connection.send(largeBatch(target).slice(0, -5)),
  (connection, target) => connection.send(head(target, 'GET /v1/bytes?entropy_mode=pure')),
  (connection, target) => connection.send(largeBatch(target)),
  (connection, target) => {
    connection.send(largeBatch(target));
    return connection.received(1);
  },
  (connection, target) => {
    connection.send(head(target, 'GET /v1/uuid?entropy_mode=csprng'));
    return connection.received(1);
  },
];

/**
 * Clients close, reset or half-close their connection in each phase, `rounds` times. Every admitted request must be
 * booked exactly once, whether its client is still there or not.
 */
async function survivesLeavers(target: Target, rounds: number): Promise<number> {
  const before = await target.books();
  let left = 0;
  for (let round = 0; round < rounds; round++) {
    for (const reach of PHASES) {
      for (const way of ['close', 'reset', 'half'] as const) {
        const connection = await HttpConnection.open(target.port);
        await reach(connection, target);
        if (way === 'half') {
          connection.socket.end();
          await connection.closed; // the library treats a half-closed connection as closed
        }
        connection.leave(way === 'reset' ? 'reset' : 'close');
        left++;
      }
    }
  }
  await target.untilCalm();
  const after = await target.books();
  assert.equal(
    after.requests - before.requests,
    after.answers - before.answers,
    'what is counted was answered',
  );
  await assertServes(target, 5);
  return left;
}

/** Opens connections that have read the start of a large answer, of `bytesEach` bytes a value, and read no more. */
async function restingReaders(
  target: Target,
  readers: number,
  bytesEach: number,
  ...fields: readonly string[]
): Promise<HttpConnection[]> {
  const connections: HttpConnection[] = [];
  for (let i = 0; i < readers; i++) {
    const connection = await HttpConnection.open(target.port);
    connection.restSoon();
    connection.send(largeBatch(target, bytesEach, ...fields));
    await connection.received(1);
    assert.match(connection.start, /^HTTP\/1\.1 200 OK\r\n/);
    connections.push(connection);
  }
  return connections;
}

/**
 * Readers take the start of a large answer and then pause: the service holds the rest, serves others, and sends the
 * rest to those who continue.
 */
async function holdsForReaders(target: Target, readers: number): Promise<number> {
  const connections = await restingReaders(target, readers, HELD_BYTES_EACH, 'Connection: close');
  const { heldBytes } = await target.until(({ sendingReplies }) => sendingReplies >= readers);
  assert.ok(heldBytes > readers * 100_000, `${readers} readers rest, ${heldBytes} bytes are held for them`);
  assert.ok(
    heldBytes <= readers * 1.1 * HELD_BYTES_MIN,
    `${heldBytes} bytes are held for ${readers} readers`,
  );
  await assertServes(target, 20);
  for (const [i, connection] of connections.entries()) {
    if (i % 2 === 0) connection.leave(i % 4 === 0 ? 'reset' : 'close');
    else connection.socket.resume();
  }
  for (const [i, connection] of connections.entries()) {
    if (i % 2 === 0) continue;
    await connection.closed;
    const length = Number(/\r\nContent-Length: (\d+)\r\n/i.exec(connection.start)?.[1]);
    assert.ok(length > HELD_BYTES_MIN);
    assert.equal(
      connection.receivedBytes,
      connection.start.indexOf('\r\n\r\n') + 4 + length,
      'the answer is whole',
    );
    connection.leave();
  }
  await target.until(({ sendingReplies, heldBytes: held }) => sendingReplies + held === 0);
  return readers;
}

/** Opens many silent connections, beside which honest requests must be served. Returns their count. */
async function servesBesideIdle(target: Target, wanted: number): Promise<number> {
  const crowd = Math.min(wanted, descriptorLimit() - OWN_DESCRIPTORS);
  const connections = await HttpConnection.openMany(target.port, crowd);
  const open = () => connections.filter(({ isClosed }) => !isClosed).length;
  await target.until((load) => load.connections >= open());
  await assertServes(target, crowd / 50);
  for (const connection of connections) connection.leave();
  await target.untilCalm();
  return crowd;
}

/** Requests that are refused at once, so that a flood can send them without waiting for replies. */
function refusals(target: Target): readonly (readonly [status: number, request: string])[] {
  return [
    [401, 'GET /v1/bytes HTTP/1.1\r\nHost: a\r\n\r\n'],
    [401, `GET /v1/bytes HTTP/1.1\r\nHost: a\r\nX-API-Key: ${target.key.slice(0, -1)}!\r\n\r\n`],
    [404, head(target, 'GET /v1/nothing')],
    // not a data request: uWebSockets.js closes a connection on which one waits for its turn and the next has come
    [400, head(target, 'GET /v1/certificate?id=x')],
    [405, head(target, `${'M'.repeat(20_000)} /v1/bytes`)],
  ];
}

/** What a client may repeat forever, behind what it sends before. Whatever is answered is answered at once. */
function endless(target: Target): readonly (readonly [first: string, again: string])[] {
  const live = 'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n';
  const chunked = head(target, 'POST /v1/batch', 'Transfer-Encoding: chunked');
  const unauthorized = `POST /v1/batch HTTP/1.1\r\nHost: a\r\nContent-Length: 65536\r\n\r\n${'b'.repeat(65_536)}`;
  return [
    // requests, large replies, heads, refusals, bodies without a key, answers
    ...[
      live,
      live.replace('/livez', '/openapi.json'),
      live.replace('GET', 'HEAD'),
      refusals(target)[3][1],
    ].map((request) => ['', request.repeat(1_000)] as const),
    ['', unauthorized],
    ['', head(target, 'GET /v1/usage').repeat(1_000)],
    // chunks of a byte, and longer ones
    [chunked, '1\r\nb\r\n'.repeat(20_000)],
    [chunked, `fa0\r\n${'b'.repeat(4_000)}\r\n`.repeat(20)],
    // fields, a target, empty lines
    ['GET /livez HTTP/1.1\r\n', 'A: b\r\n'.repeat(5_000)],
    ['GET /', 'a'.repeat(50_000)],
    ['', '\r\n'.repeat(20_000)],
  ];
}

/** Clients never stop sending and never read: each must be cut, and others served meanwhile. Returns their count. */
async function cutsEndless(target: Target, rounds: number): Promise<number> {
  const kinds = endless(target);
  for (let round = 0; round < rounds; round++) {
    for (const [first, again] of kinds) {
      const connection = await HttpConnection.open(target.port);
      connection.socket.pause();
      connection.send(first);
      const sending = sendUntilCut(connection, again);
      await assertServes(target, 3);
      await sending;
      connection.leave();
    }
  }
  await target.untilCalm();
  return rounds * kinds.length;
}

async function sendUntilCut({ socket, closed }: HttpConnection, bytes: string): Promise<void> {
  while (!socket.destroyed) {
    if (socket.write(bytes, 'latin1')) await new Promise((resolve) => setImmediate(resolve));
    else await Promise.race([once(socket, 'drain'), closed]).catch(() => {}); // it was cut while it waited
  }
}

/** Count of connections for each refusal. */
const FLOODERS = 25;

/**
 * Floods the service with each refusal over 25 connections, `groups` times on each. All must be answered and nothing
 * booked, and the log must have few, short lines and a count of the others.
 */
async function withstandsFlood(target: Target, groups: number, engine: EngineName): Promise<number> {
  const before = await target.books();
  const linesBefore = target.logLines('"msg":"request"').filter(isRefusal).length;
  const leftOutBefore = leftOut(target);
  // node:http closes behind a 400 and behind an unknown method
  const requests = refusals(target).filter(
    ([status]) => engine === 'uws' || status === 401 || status === 404,
  );
  const flooders = requests.flatMap((each) => Array.from({ length: FLOODERS }, () => each));
  await Promise.all(
    flooders.map(async ([status, request]) => {
      const connection = await HttpConnection.open(target.port);
      for (let group = 0; group < groups; group++) {
        assert.equal((await connection.ask(request)).status, status);
      }
      connection.leave();
    }),
  );
  assert.deepEqual(await target.books(), before, 'nothing was drawn, spent or counted');
  const refused = flooders.length * groups;
  const written = () => target.logLines('"msg":"request"').filter(isRefusal).slice(linesBefore);
  const told = () => written().length + leftOut(target) - leftOutBefore;
  // Each refusal has a line or is counted within ten seconds; earlier refusals may be in that count.
  while (told() < refused) await sleep(50);
  const lines = written();
  assert.ok(lines.length < refused / 2, `${lines.length} lines about ${refused} refusals`);
  for (const line of lines) assert.ok(line.length < 500, 'a line holds nothing long that a client sent');
  assertLinesBounded(lines);
  return refused;
}

function isRefusal(line: string): boolean {
  return line.includes('"error"');
}

function leftOut(target: Target): number {
  const told = target.logLines('"of":"request"');
  return told.reduce((sum, line) => sum + (JSON.parse(line) as { lines: number }).lines, 0);
}

/**
 * Five lines of each error when it begins (core/log.ts), and again after ten seconds without it: at most ten in any
 * such span.
 */
function assertLinesBounded(lines: readonly string[]): void {
  const facts = lines.map((line) => JSON.parse(line) as { time: string; error: string });
  for (const [error, each] of Map.groupBy(facts, (line) => line.error)) {
    const times = each.map(({ time }) => Date.parse(time));
    times.forEach((time, i) => {
      if (i >= 10) assert.ok(time - times[i - 10] >= 9_900, `more than 10 lines of ${error} in ten seconds`);
    });
  }
}

/**
 * Opens more connections than the service has file descriptors for. It must keep the descriptors that it needs, serve
 * the connected clients, log this in one line, and serve everyone when the crowd has gone. Returns how many were
 * turned away.
 */
export async function assertOutlivesCrowd(
  target: Target,
  descriptors: number,
  crowd: number,
): Promise<number> {
  const steady = await HttpConnection.open(target.port);
  const pure = head(target, 'GET /v1/bytes?entropy_mode=pure');
  steady.send(pure);
  await steady.received(1);
  const connections = await HttpConnection.openMany(target.port, crowd);
  const turnedAway = () => connections.filter(({ isClosed }) => isClosed).length;
  while (crowd - turnedAway() > descriptors) await sleep(10);
  const received = steady.receivedBytes;
  steady.send(pure);
  await steady.received(received + 1);
  assert.ok(steady.receivedBytes > received && !steady.isClosed, 'who is connected is served');
  while (target.logLines('connections at their limit').length === 0) {
    await sleep(20);
  }
  const away = turnedAway();
  for (const connection of [steady, ...connections]) connection.leave();
  await target.untilCalm();
  await assertServes(target, 20);
  assert.equal(target.logLines('connections at their limit').length, 1);
  return away;
}

/** What follows is of the long form alone: memory, processor time, and limits that take half a minute. */

const MEGABYTE = 1_000_000;

/** Runs an attack and returns by how many megabytes the service grew at most, measured ten times a second. */
export async function growthMb(target: Target, attack: () => Promise<void>): Promise<number> {
  const before = target.residentBytes();
  let largest = before;
  const watch = setInterval(() => {
    largest = Math.max(largest, target.residentBytes());
  }, 100);
  try {
    await attack();
  } finally {
    clearInterval(watch);
  }
  return (largest - before) / MEGABYTE;
}

/** Sends every case of one request again, cut into packets at random places, and asserts the same answer. */
export async function assertCutsChangeNothing(
  target: Target,
  rounds: number,
  random: () => number,
): Promise<void> {
  const runner = new CaseRunner(target);
  const cases = hostileCases(target.key).filter(
    ({ uws, dependsOnPackets }) => uws.connection !== 'waits' && !dependsOnPackets,
  );
  for (let round = 0; round < rounds; round++) {
    for (const hostile of cases) {
      const pieces = cut(hostile.bytes, 1 + Math.floor(random() * 5), random);
      try {
        await runner.assertAnswer(hostile, 'uws', pieces);
      } catch (error) {
        throw new Error(`${hostile.name}, cut at ${pieces.map(({ length }) => length).join(' + ')}`, {
          cause: error,
        });
      }
    }
  }
  await runner.assertUnchanged();
}

/** Announces a body on each of `count` connections and sends one byte of it. */
async function takesBodiesAsTheyCome(target: Target, count: number): Promise<number> {
  const connections = await HttpConnection.openMany(target.port, count);
  const head = 'POST /v1/batch HTTP/1.1\r\nHost: a\r\nContent-Length: 65536\r\n\r\n{';
  for (const connection of connections) connection.send(head);
  await target.until(({ waitingRequests }) => waitingRequests >= count);
  for (const connection of connections) connection.leave();
  await target.untilCalm();
  return count;
}

/**
 * Large enough that the send buffer of the service, up to 4 MB, is writable again within the 10 s after which
 * uWebSockets.js closes a connection without progress, and small enough that 30 MB take longer than the 30 s of a
 * reply.
 */
const TRICKLE_BYTES = 256 * 1024;
const TRICKLE_MS = 500;

/**
 * Readers of a large answer take 512 KB a second, and others one byte. Each must be cut by the deadline of a reply at
 * the latest, whatever its progress, and others served meanwhile.
 */
async function keepsReplyDeadline(target: Target, readers: number): Promise<number> {
  const connections = await restingReaders(target, readers, 150);
  const trickle = setInterval(() => {
    connections.forEach(({ socket }, i) => {
      socket.read(i % 2 === 0 ? TRICKLE_BYTES : 1);
    });
  }, TRICKLE_MS);
  const held = await target.until(({ sendingReplies }) => sendingReplies >= readers);
  assert.ok(held.heldBytes > readers * 10 * MEGABYTE, `${held.heldBytes} bytes are held`);
  await assertServes(target, 50);
  await target.until(({ sendingReplies, heldBytes }) => sendingReplies + heldBytes === 0);
  clearInterval(trickle);
  for (const connection of connections) connection.leave();
  const cutByDeadline = target.logLines('reply not taken in time').length;
  assert.ok(cutByDeadline >= Math.floor(readers / 2), `${cutByDeadline} readers were cut by the deadline`);
  await target.untilCalm();
  return readers;
}

/** Returns the share of one processor that the service uses while more clients than descriptors stay for `seconds`. */
export async function cpuShareBesideCrowd(target: Target, crowd: number, seconds: number): Promise<number> {
  const connections = await HttpConnection.openMany(target.port, crowd);
  const before = target.cpuSeconds();
  const end = process.hrtime.bigint() + BigInt(seconds * 1e9);
  while (process.hrtime.bigint() < end) {
    await sleep(250);
    const gone = connections.filter(({ isClosed }) => isClosed).length;
    connections.push(...(await HttpConnection.openMany(target.port, Math.min(50, gone)))); // they reconnect
  }
  const share = (target.cpuSeconds() - before) / seconds;
  for (const connection of connections) connection.leave();
  await target.untilCalm();
  return share;
}

/** An attack by a number of clients, requests or connections, which it returns. An error is a failure. */
interface Attack {
  readonly name: string;
  readonly attack: (target: Target, size: number, engine: EngineName) => Promise<number>;
  /** Size of the gating form (http.test.ts) and of the long one. */
  readonly short?: number;
  readonly long: number;
  /**
   * At least three times the growth of a long run; memory that grows with each attack, or by sizes that clients
   * announce, exceeds it by far.
   */
  readonly growthMbMax: number;
}

export const ATTACKS: readonly Attack[] = [
  { name: 'clients that leave', attack: survivesLeavers, short: 1, long: 20, growthMbMax: 300 },
  { name: 'a flood of refusals', attack: withstandsFlood, long: 200, growthMbMax: 150 },
  { name: 'bodies that do not come', attack: takesBodiesAsTheyCome, long: 4_000, growthMbMax: 80 },
  { name: 'clients that send without end', attack: cutsEndless, short: 1, long: 4, growthMbMax: 150 },
  { name: 'idle connections', attack: servesBesideIdle, short: 1_000, long: 10_000, growthMbMax: 80 },
  { name: 'slow clients', attack: cutsSlowClients, short: 4, long: 400, growthMbMax: 80 },
  // one account: replies beyond 128 MiB are refused to it (test/overload/stalled.test.ts)
  { name: 'readers that rest', attack: holdsForReaders, short: 2, long: 5, growthMbMax: 400 },
  { name: 'readers that trickle', attack: keepsReplyDeadline, long: 3, growthMbMax: 400 },
];

/** Audits the books after all attacks. */
export async function assertBooks(target: Target): Promise<void> {
  await target.untilCalm();
  const { answers } = await target.books();
  const audit = JSON.parse(await target.server.qrn('ledger', 'audit', '--json'));
  assert.deepEqual([audit.ok, audit.certificates], [true, answers]);
  assert.deepEqual(target.logLines('"level":50'), []);
}
