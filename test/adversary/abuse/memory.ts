import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '../../../src/core/limits.ts';
import { HttpConnection } from '../../support/http.ts';
import { residentMemory } from '../../support/process-usage.ts';
import { Target } from '../../support/raw-http.ts';
import { shippedStart, type TestServer } from '../../support/server.ts';
import { type AbuseCase, withServer } from './arena.ts';

/** What takes memory: the largest replies that ordinary accounts may ask for, and heads that are never finished. */

/** 1,000 characters of four bytes each: the longest reply for its number of draws. */
const WIDE_ALPHABET = Array.from({ length: 1_000 }, (_, i) => String.fromCodePoint(0x2_0000 + i)).join('');
/** A reply of 40 MB. */
const WIDE_STRINGS = {
  type: 'strings',
  count: 100_000,
  params: { length: 100, alphabet: WIDE_ALPHABET },
  entropy_mode: 'csprng',
};
const WIDE_BODY = Buffer.from(JSON.stringify(WIDE_STRINGS));

/** The aim for the whole process, where the unit and the image allow 1,536. */
const RESIDENT_MIB_MAX = 560;

interface MemoryAttack {
  /** An account of each of these tiers. */
  readonly tiers: readonly string[];
  /** Connections of each account. */
  readonly connections: number;
  /** Each connection asks so often, or until so much time has passed. */
  readonly requestsMax: number;
  readonly seconds: number;
  /** The form of every third request; the others are JSON, and every second one comes under an Idempotency-Key, new or used. */
  readonly accept: string;
}

interface MemoryFinding {
  readonly peakMib: number;
  readonly endMib: number;
  readonly answered: number;
  readonly shed: number;
  readonly limited: number;
  /** Small requests of another account: those that were answered, and all. */
  readonly othersServed: number;
  readonly othersAsked: number;
  readonly othersSlowestMs: number;
}

/** Attacks the server with wide strings while another account asks for a number again and again. */
async function attackMemory(server: TestServer, attack: MemoryAttack): Promise<MemoryFinding> {
  const { tiers, connections, seconds, requestsMax, accept } = attack;
  const counts = { answered: 0, shed: 0, limited: 0 };
  const keys = await Promise.all(tiers.map(async (tier) => (await server.account(tier)).key));
  const other = (await server.account('enterprise')).key;
  const endMs = performance.now() + seconds * 1_000;
  let isOver = false;
  const asks = async (key: string, connection: number) => {
    for (let i = 0; i < requestsMax && performance.now() < endMs; i++) {
      const fields = [`Authorization: Bearer ${key}`, `Accept: ${i % 3 === 2 ? accept : 'application/json'}`];
      // every second connection retries what another one has asked for
      const of = connection % 2 === 0 ? 'all' : connection;
      if (i % 2 === 0) fields.push(`Idempotency-Key: ${of}-${i}`);
      const status = await statusOf(server.port, fields, endMs + 30_000);
      if (status === 200) counts.answered++;
      else if (status === 503) counts.shed++;
      else if (status === 429 || status === 409) counts.limited++;
      else throw new Error(`a batch of strings was answered ${status}`);
      if (status !== 200) await sleep(status === 503 ? 50 : 500);
    }
  };
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
  return {
    peakMib: memory.peakMib,
    endMib: memory.nowMib,
    ...counts,
    othersServed: others.served,
    othersAsked: others.asked,
    othersSlowestMs: others.slowestMs,
  };
}

/** Asks for wide strings on a connection of its own, and reads the whole reply without keeping it. */
function statusOf(port: number, fields: readonly string[], deadlineMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const timer = setTimeout(() => socket.destroy(new Error('no reply')), deadlineMs - performance.now());
    let status = 0;
    socket.on('data', (chunk) => {
      status ||= Number(chunk.toString('latin1', 9, 12));
    });
    socket.on('close', () => clearTimeout(timer));
    socket.on('end', () => resolve(status));
    socket.on('error', reject);
    const head = [
      'POST /v1/batch HTTP/1.1',
      'Host: a',
      'Connection: close',
      'Content-Type: application/json',
    ];
    socket.write([...head, ...fields, `Content-Length: ${WIDE_BODY.length}`, '', ''].join('\r\n'));
    socket.write(WIDE_BODY);
  });
}

function attacked(who: string, attack: Pick<MemoryAttack, 'tiers' | 'connections'>): AbuseCase {
  return {
    name: `memory: strings of 40 MB for ${who}`,
    bound: `at most ${RESIDENT_MIB_MAX} MiB, every small request of others answered`,
    limitS: 300,
    run: ({ environment }) =>
      withServer(
        environment,
        async (server) => {
          const whole = {
            ...attack,
            requestsMax: Number.POSITIVE_INFINITY,
            seconds: 60,
            accept: 'application/msgpack',
          };
          const found = await attackMemory(server, whole);
          return {
            figure: memoryFigure(found),
            isMet: found.peakMib <= RESIDENT_MIB_MAX && found.othersServed === found.othersAsked,
          };
        },
        shippedStart,
      ),
  };
}

function memoryFigure(found: MemoryFinding): string {
  const { peakMib, endMib, answered, shed, limited, othersServed, othersAsked, othersSlowestMs } = found;
  return (
    `${Math.round(peakMib)} MiB at most, ${Math.round(endMib)} in the end; ${answered} answered, ${shed} shed, ${limited} limited; ` +
    `others: ${othersServed} of ${othersAsked}, ${Math.round(othersSlowestMs)} ms at most`
  );
}

const HEADS = 1_500;
/** As much of a head as the engines wait for. */
const PARTIAL_HEAD = `GET / HTTP/1.1\r\nHost: a\r\nA: ${'a'.repeat(65_000)}`;
/** Sockets and objects of each connection beside its head; memory that was spare before the connections came hides some of it. */
const BESIDE_BYTES = 40 * 1024;
const HEAD_BYTES_MAX = LIMITS.requestHeadBytesMax + LIMITS.requestHeadSpareBytes + BESIDE_BYTES;

/** The service accepts as many connections as fit into a quarter of its memory at that size (service/front-stack.ts). */
const UNFINISHED_HEADS: AbuseCase = {
  name: `memory: ${HEADS} unfinished heads`,
  bound: `at most ${HEAD_BYTES_MAX} bytes each, others are served`,
  run: ({ environment }) =>
    // one lot fills the reservoir, so that none is made while memory is measured
    withServer({ ...environment, QRN_SOURCE_SIMULATOR_LOT_BITS: '900000' }, async (server) => {
      const target = new Target(server, server.key);
      await target.get('/integers');
      const before = target.residentBytes();
      const open = await HttpConnection.openMany(target.port, HEADS);
      for (const connection of open) connection.send(PARTIAL_HEAD);
      let most = 0;
      const looking = setInterval(() => (most = Math.max(most, target.residentBytes())), 50);
      await Promise.all(open.map(({ closed }) => closed)); // each is cut after 10 s
      clearInterval(looking);
      for (const connection of open) connection.leave();
      const eachBytes = Math.round((most - before) / HEADS);
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
