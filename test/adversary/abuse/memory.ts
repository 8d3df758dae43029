import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '../../../src/core/limits.ts';
import { HttpConnection } from '../../support/http.ts';
import { residentMemory } from '../../support/process-usage.ts';
import { Target } from '../../support/raw-http.ts';
import { shippedStart, type TestServer } from '../../support/server.ts';
import { type AbuseCase, type Finding, withServer } from './arena.ts';
import { growthMb } from './http-long.ts';

/** The largest uses of memory: the largest replies that ordinary accounts may request, and unfinished heads. */

/** 1,000 characters of four bytes each: the longest reply for its number of draws. */
const WIDE_ALPHABET = Array.from({ length: 1_000 }, (_, i) => String.fromCodePoint(0x2_0000 + i)).join('');
/** The request for a reply of 40 MB. */
const WIDE_STRINGS = {
  type: 'strings',
  count: 100_000,
  params: { length: 100, alphabet: WIDE_ALPHABET },
  entropy_mode: 'csprng',
};
const WIDE_BODY = Buffer.from(JSON.stringify(WIDE_STRINGS));

/**
 * Bound on the whole process, where the unit and the image allow 1,536; it took 453 to 577 in twelve runs on both
 * engines.
 */
const RESIDENT_MIB_MAX = 600;

/** The tiers of the attacking accounts, one of each, and the connections of each account. */
interface MemoryAttack {
  readonly tiers: readonly string[];
  readonly connections: number;
}

const ATTACK_MS = 60_000;
const REPLIED_WITHIN_MS = 30_000;

/** Attacks the server with wide strings for a minute, while another account requests a number repeatedly. */
async function attackMemory(server: TestServer, { tiers, connections }: MemoryAttack): Promise<Finding> {
  const counts: Record<number, number> = { 200: 0, 503: 0, 429: 0, 409: 0 };
  const keys = await Promise.all(tiers.map(async (tier) => (await server.account(tier)).key));
  const other = (await server.account('enterprise')).key;
  const endMs = performance.now() + ATTACK_MS;
  const asks = async (key: string, connection: number) => {
    for (let i = 0; performance.now() < endMs; i++) {
      // Every third reply is MessagePack, and every second connection retries a request of another one.
      const accept = i % 3 === 2 ? 'application/msgpack' : 'application/json';
      const fields = [`Authorization: Bearer ${key}`, `Accept: ${accept}`];
      if (i % 2 === 0) fields.push(`Idempotency-Key: ${connection % 2 === 0 ? 'all' : connection}-${i}`);
      const status = await statusOf(server.port, fields);
      if (counts[status] === undefined) throw new Error(`a batch of strings was answered ${status}`);
      counts[status]++;
      if (status !== 200) await sleep(status === 503 ? 50 : 500);
    }
  };
  let isOver = false;
  const others = { served: 0, asked: 0, slowestMs: 0 };
  const watching = (async () => {
    while (!isOver) {
      const startedMs = performance.now();
      others.asked++;
      const reply = await server.get('/integers?count=1', { authorization: `Bearer ${other}` });
      if (reply.status === 200) others.served++;
      others.slowestMs = Math.max(others.slowestMs, performance.now() - startedMs);
      await sleep(10);
    }
  })();
  try {
    await Promise.all(keys.flatMap((key) => Array.from({ length: connections }, (_, i) => asks(key, i))));
  } finally {
    isOver = true;
    await watching;
  }
  const memory = residentMemory(server.process.pid!);
  if (memory === undefined) throw new Error('the service has ended, or there is no /proc');
  const [peakMib, nowMib, slowestMs] = [memory.peakMib, memory.nowMib, others.slowestMs].map(Math.round);
  return {
    figure:
      `${peakMib} MiB at most, ${nowMib} in the end; ${counts[200]} answered, ${counts[503]} shed, ${counts[429] + counts[409]} limited; ` +
      `others: ${others.served} of ${others.asked}, ${slowestMs} ms at most`,
    isMet: peakMib <= RESIDENT_MIB_MAX && others.served === others.asked,
  };
}

/** Requests wide strings on a new connection, and reads the whole reply without keeping it. */
async function statusOf(port: number, fields: readonly string[]): Promise<number> {
  const connection = await HttpConnection.open(port, { countsOnly: true });
  const head = ['POST /v1/batch HTTP/1.1', 'Host: a', 'Connection: close', 'Content-Type: application/json'];
  connection.send([...head, ...fields, `Content-Length: ${WIDE_BODY.length}`, '', ''].join('\r\n'));
  return (await connection.ask(WIDE_BODY, { lostAfterMs: ATTACK_MS + REPLIED_WITHIN_MS })).status;
}

function attacked(who: string, attack: MemoryAttack): AbuseCase {
  return {
    name: `memory: strings of 40 MB for ${who}`,
    bound: `at most ${RESIDENT_MIB_MAX} MiB, every small request of others answered`,
    limitS: 300,
    run: ({ environment }) => withServer(environment, (server) => attackMemory(server, attack), shippedStart),
  };
}

/**
 * Count of heads, so many that the 60 to 80 MB by which a process grows at its first load do not decide: each head
 * takes about 64 KB more.
 */
const HEADS = 3_000;
/** The part of a head for whose end the engines wait. */
const PARTIAL_HEAD = `GET / HTTP/1.1\r\nHost: a\r\nA: ${'a'.repeat(65_000)}`;
/** Bytes of sockets and objects for each connection besides its head; spare memory of the process hides some of it. */
const BESIDE_BYTES = 40 * 1024;
const HEAD_BYTES_MAX = LIMITS.requestHeadBytesMax + LIMITS.requestHeadSpareBytes + BESIDE_BYTES;

/** The service accepts as many connections as fit into a quarter of its memory at that size (service/front-stack.ts). */
const UNFINISHED_HEADS: AbuseCase = {
  name: `memory: ${HEADS} unfinished heads`,
  bound: `at most ${HEAD_BYTES_MAX} bytes each, others are served`,
  run: ({ environment }) =>
    // One lot fills the reservoir, so that none is made while memory is measured.
    withServer({ ...environment, QRN_SOURCE_SIMULATOR_LOT_BITS: '900000' }, async (server) => {
      const target = new Target(server, server.key);
      await target.get('/integers');
      const grownMb = await growthMb(target, async () => {
        const open = await HttpConnection.openMany(target.port, HEADS);
        for (const connection of open) connection.send(PARTIAL_HEAD);
        await Promise.all(open.map(({ closed }) => closed)); // each is cut after 10 s
        for (const connection of open) connection.leave();
      });
      const eachBytes = Math.round((grownMb * 1_000_000) / HEADS);
      const { status } = await target.get('/integers');
      return {
        figure: `${eachBytes} bytes each, then ${status}`,
        isMet: eachBytes <= HEAD_BYTES_MAX && status === 200,
      };
    }),
};

export const MEMORY: readonly AbuseCase[] = [
  UNFINISHED_HEADS,
  attacked('one developer', { tiers: ['developer'], connections: 4 }),
  attacked('three developers', { tiers: ['developer', 'developer', 'developer'], connections: 8 }),
  attacked('six on Free', { tiers: Array<string>(6).fill('free'), connections: 4 }),
];
