import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetchWhole, HttpConnection, talk } from '../../support/http.ts';
import type { TestServer } from '../../support/server.ts';
import { type AbuseCase, type Arena, type Finding, withServer } from './arena.ts';
import { getOf } from './look-ups.ts';

/** Limits, keys and probes under many requests at once, on a service with two fronts. */

const AT_ONCE = 200;

function withFronts(
  { environment }: Arena,
  use: (server: TestServer) => Promise<Finding>,
  fronts = '2',
): Promise<Finding> {
  return withServer({ ...environment, QRN_FRONTS: fronts }, use);
}

/** Statuses of the same request on `AT_ONCE` connections, which are open before the first is sent. */
async function burst(server: TestServer, request: (i: number) => string, count = AT_ONCE): Promise<number[]> {
  const { port } = server;
  const connections = await HttpConnection.openMany(port, count);
  connections.forEach((connection, i) => {
    connection.send(request(i));
  });
  await Promise.all(connections.map((connection) => connection.received(1)));
  const statuses = connections.map(({ start }) => Number(start.slice(9, 12)));
  for (const connection of connections) connection.leave();
  return statuses;
}

async function usage(server: TestServer, key: string) {
  const ask = () => server.get('/usage', { authorization: `Bearer ${key}` });
  let reply = await ask();
  for (; reply.status === 429; reply = await ask()) await sleep(500);
  const { data } = (await reply.json()) as {
    data: { requests: { used: number }; credits: { used: number } };
  };
  return { requests: data.requests.used, credits: data.credits.used };
}

const counted = (statuses: readonly number[], wanted: number) =>
  statuses.filter((status) => status === wanted).length;

/** Rate, quota and credits under bursts of one key: exactly what the limit says is answered, and exactly that is charged. */
function keepsLimits(arena: Arena): Promise<Finding> {
  return withFronts(arena, async (server) => {
    const found: string[] = [];
    let isMet = true;
    const note = (what: string, answered: number, limit: number, charged: number) => {
      found.push(`${what} ${answered} of ${limit}, charged ${charged}`);
      isMet &&= answered === limit && charged === answered;
    };
    const free = await server.account('free');
    const rated = await burst(server, () => getOf('/v1/uuid', `X-API-Key: ${free.key}`));
    assert.deepEqual([...new Set(rated)].sort(), [200, 429]);
    note('rate', counted(rated, 200), 15, (await usage(server, free.key)).requests);
    const quota = await server.account('enterprise', '--requests-per-month', '70');
    const quoted = await burst(server, () =>
      getOf('/v1/uuid?entropy_mode=csprng', `X-API-Key: ${quota.key}`),
    );
    note('quota', counted(quoted, 200), 70, (await usage(server, quota.key)).requests);
    const credits = await server.account('enterprise', '--credits-per-month', '1000');
    const pure = getOf('/v1/bytes?count=16&entropy_mode=pure', `X-API-Key: ${credits.key}`);
    let paid = 0;
    for (let tries = 0; tries < 10; tries++) {
      const statuses = await burst(server, () => pure);
      assert.ok(
        statuses.every((status) => [200, 402, 503].includes(status)),
        String(new Set(statuses)),
      );
      paid += counted(statuses, 200);
      if (counted(statuses, 503) === 0) break; // the reservoir of a small pool is filled again
      await sleep(500);
    }
    note('credits', paid * 16, 992, (await usage(server, credits.key)).credits);
    return { figure: found.join('; '), isMet };
  });
}

/** A quota that is used up, many retries at once, and every form and mode: one answer a key, and one charge. */
function repeatsAnswers(arena: Arena): Promise<Finding> {
  return withFronts(arena, async (server) => {
    const FORMS = [
      ['/uuid?entropy_mode=csprng', 'application/json'],
      ['/bytes?count=64&entropy_mode=pure', 'application/json'],
      ['/integers?count=9&entropy_mode=quantum-seeded', 'application/msgpack'],
      ['/bytes?count=64&entropy_mode=pure', 'application/octet-stream'],
      ['/floats?count=9', 'text/csv'],
      ['/integers?count=9&format=plain', 'text/plain'],
    ] as const;
    const RETRIES = 40;
    const { key } = await server.account('enterprise', '--requests-per-month', String(FORMS.length));
    const { port } = server;
    let first = 0;
    let conflicts = 0;
    for (const [i, [path, accept]] of FORMS.entries()) {
      const request = `GET /v1${path} HTTP/1.1\r\nHost: a\r\nAccept: ${accept}\r\nX-API-Key: ${key}\r\nIdempotency-Key: k${i}\r\nConnection: close\r\n\r\n`;
      const askAll = async () => {
        const talks = await Promise.all(Array.from({ length: RETRIES }, () => talk(port, request)));
        return talks.flatMap((each) => each.replies);
      };
      let replies = await askAll();
      // the reservoir of a small pool is filled again
      for (let tries = 0; tries < 20 && replies.some(({ status }) => status === 503); tries++)
        replies = await askAll();
      assert.equal(replies.length, RETRIES);
      const bodies = new Set(replies.filter(({ status }) => status === 200).map(({ body }) => body));
      assert.equal(bodies.size, 1, `${path}: ${bodies.size} different answers under one key`);
      conflicts += replies.filter(({ status }) => status === 409).length;
      // a retry that takes the last key while a twin has reserved the last request of the month is refused for the quota
      const others = first === FORMS.length - 1 ? [409, 429] : [409];
      assert.ok(
        replies.every(({ status }) => status === 200 || others.includes(status)),
        String(replies.map(({ status }) => status)),
      );
      first++;
      const retried = await askAll();
      assert.ok(
        retried.every(({ status, body }) => status === 200 && bodies.has(body)),
        `${path}: a retry of a finished key is answered ${retried.map(({ status }) => status)}`,
      );
    }
    assert.equal((await usage(server, key)).requests, FORMS.length);
    const headers = { authorization: `Bearer ${key}` };
    assert.equal((await server.get('/uuid', headers)).status, 429, 'the quota is used up');
    const replay = await server.get(FORMS[0][0], { ...headers, 'idempotency-key': 'k0' });
    assert.equal(replay.status, 200, 'a replay needs no quota');
    assert.equal((await server.get('/uuid?dry_run=true', headers)).status, 200, 'a quote needs no quota');
    const other = await server.get('/uuid?count=2', { ...headers, 'idempotency-key': 'k0' });
    assert.equal(other.status, 422);
    const fresh = await server.get('/uuid', { ...headers, 'idempotency-key': 'new' });
    assert.equal(fresh.status, 429, 'a new key needs quota');
    assert.equal((await usage(server, key)).requests, FORMS.length);
    return { figure: `${first} keys, ${conflicts} conflicts, ${FORMS.length} charged`, isMet: true };
  });
}

/** Keys that are made and revoked while others ask with keys that are not there. */
function followsKeys(arena: Arena): Promise<Finding> {
  return withFronts(arena, async (server) => {
    const { account_id: account, key: base } = await server.account('enterprise');
    let isOver = false;
    const guessing = Promise.all(
      Array.from({ length: 16 }, async (_, i) => {
        for (let n = 0; !isOver; n++) {
          const headers = {
            authorization: `Bearer ${base.slice(0, -12)}${(i * 1e6 + n).toString(36).padStart(12, '0')}`,
          };
          await fetchWhole(`${server.baseUrl}/uuid`, { headers });
        }
      }),
    );
    const late: string[] = [];
    const ROUNDS = 25;
    for (let round = 0; round < ROUNDS; round++) {
      const made = JSON.parse(await server.qrn('keys', 'create', '--account', account, '--json'));
      const headers = { authorization: `Bearer ${made.key}` };
      const asked = () =>
        Promise.all(Array.from({ length: 4 }, () => server.get('/uuid?entropy_mode=csprng', headers)));
      for (const { status } of await asked()) if (status !== 200) late.push(`made: ${status}`);
      await server.qrn('keys', 'revoke', made.key_id);
      for (const { status } of await asked()) if (status !== 401) late.push(`revoked: ${status}`);
    }
    isOver = true;
    await guessing;
    return { figure: `${ROUNDS} keys, ${late.length} late ${late.join(' ')}`, isMet: late.length === 0 };
  });
}

const PROBE_PAUSE_MS = 100;
const PROBES = 40;
/** The image counts as unhealthy when a probe takes 3 s. */
const PROBE_MAX_MS = 3_000;

/** Slowest of `PROBES` requests on connections of their own, in ms; one that is cut or refused has missed the bound. */
async function slowestProbe(port: number, request: string, statusWanted: number): Promise<number> {
  let slowest = 0;
  for (let i = 0; i < PROBES; i++) {
    const startedMs = performance.now();
    const connection = new HttpConnection(port);
    const reply = await connection.ask(request).catch(() => undefined);
    connection.leave();
    const isAnswered = reply?.status === statusWanted;
    slowest = Math.max(slowest, isAnswered ? performance.now() - startedMs : Number.POSITIVE_INFINITY);
    await sleep(PROBE_PAUSE_MS);
  }
  return slowest;
}

/** Connections without a key that ask again at once, from elsewhere or from this machine, beside payers. */
function probesBeside(flooders: number, from: 'elsewhere' | 'this machine'): AbuseCase {
  return {
    name: `probes beside ${flooders} keyless connections from ${from}`,
    bound: `all but probes from where the flood comes within ${PROBE_MAX_MS / 1000} s`,
    limitS: 400, // those from where the flood comes take seconds each
    run: (arena) =>
      withFronts(
        arena,
        async (server) => {
          const { port } = server;
          const { key } = await server.account('enterprise');
          const forwarded = 'X-Forwarded-For: 10.0.0.9';
          const paid = getOf('/v1/integers?count=1&entropy_mode=csprng', `X-API-Key: ${key}`);
          const unpaid = from === 'elsewhere' ? getOf('/nothing', forwarded) : getOf('/nothing');
          const connections = await HttpConnection.openMany(port, flooders + 8);
          let isOver = false;
          connections.forEach(({ socket }, i) => {
            const request = i < 8 ? paid : unpaid;
            socket.on('data', (chunk: Buffer) => {
              if (!isOver && chunk.toString('latin1', 0, 9) === 'HTTP/1.1 ') socket.write(request);
            });
            socket.write(request);
          });
          const probes = [
            ['/livez here', getOf('/livez'), 200],
            ['/livez elsewhere', getOf('/livez', forwarded), 200],
            ['a refusal of an account', getOf('/v1/integers?count=0', `X-API-Key: ${key}`), 400],
            ['values', getOf('/v1/integers?count=1', `X-API-Key: ${key}`), 200],
          ] as const;
          const floodedFrom = from === 'elsewhere' ? 'elsewhere' : 'here';
          const slowest = await Promise.all(
            probes.map(([, request, status]) => slowestProbe(port, request, status)),
          );
          isOver = true;
          for (const connection of connections) connection.leave();
          return {
            figure: probes.map(([what], i) => `${what} ${Math.round(slowest[i])} ms`).join(', '),
            isMet: slowest.every((ms, i) => ms < PROBE_MAX_MS || probes[i][0] === `/livez ${floodedFrom}`),
          };
        },
        '1',
      ),
  };
}

export const TENANTS: readonly AbuseCase[] = [
  { name: 'bursts of one key', bound: 'answered = limit = charged', run: keepsLimits },
  {
    name: 'retries of one key',
    bound: 'one answer and one charge a key, replays and quotes without quota',
    run: repeatsAnswers,
  },
  { name: 'keys beside guesses', bound: 'served at once, refused at once', run: followsKeys },
  probesBeside(1_100, 'elsewhere'),
  probesBeside(1_100, 'this machine'),
  probesBeside(3_000, 'elsewhere'),
];
