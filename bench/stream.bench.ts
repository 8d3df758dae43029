import { createCipheriv, hash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { HttpConnection, requestBytes } from '../test/support/http.ts';
import { NO_AIM } from './support/aims.ts';
import { cpuTime, residentMemory } from './support/process-usage.ts';
import { alternate, type Contender, type Rounds } from './support/rounds.ts';
import { type Service, startService } from './support/server.ts';
import type { Report, Suite, Table } from './support/suite.ts';
import { of, ratio, rowsOf } from './support/tables.ts';

const TOTAL = 10_000_000;
const BLOCK = 100_000;
const STREAM_AIM_MS = 150;
const GROWN_AIM_MIB = 64;
const BATCH_BODY = JSON.stringify({ type: 'floats', count: BLOCK });
const STREAM = 'GET /v1/stream';
const ONE = 'POST /v1/batch, one connection';
const TWO = 'POST /v1/batch, two connections';
const CIPHER = 'ChaCha20 of 80 MB, one call a block';
const DIGEST = 'SHA-256 of 80 MB, one call a block';

/** Ten million floats as octets, as one stream and as a hundred batches. */
export const stream: Suite = {
  name: 'stream',
  summary: `GET /v1/stream: time, CPU and memory of 10^7 floats as octets, beside the same by batches`,
  byDefault: false,
  async run(run): Promise<Report> {
    run.talk('starting the service');
    const service = await startService(run.subjects[0]);
    try {
      const contenders = [
        contender(service, STREAM, () => readStream(service)),
        contender(service, ONE, () => readBatches(service, 1)),
        contender(service, TWO, () => readBatches(service, 2)),
        bare(CIPHER, encryptBlock),
        bare(DIGEST, (block) => hash('sha256', block, 'buffer')),
      ];
      const rounds = await alternate(contenders, run.rounds);
      const ofStream = (quantity: string) => rounds.of(STREAM, quantity);
      return {
        aims: [
          { what: '10^7 float64 by one stream', unit: 'ms', measured: ofStream('ms'), aim: STREAM_AIM_MS },
          { what: '10^7 float64 by one stream: CPU', unit: 'ms', measured: ofStream('cpuMs'), aim: NO_AIM },
          {
            what: '10^7 float64 by one stream: memory grown',
            unit: 'MiB',
            measured: ofStream('grownMib'),
            aim: GROWN_AIM_MIB,
          },
        ],
        tables: [tableOf(rounds)],
      };
    } finally {
      await service.stop();
    }
  },
};

function contender(service: Service, name: string, read: () => Promise<void>): Contender {
  return {
    name,
    async measure() {
      forgetPeak(service.pid);
      const beforeMib = residentMemory(service.pid)?.nowMib;
      const before = cpuTime(service.pid);
      const clientBefore = process.cpuUsage();
      const startedMs = performance.now();
      await read();
      const ms = performance.now() - startedMs;
      const after = cpuTime(service.pid);
      const client = process.cpuUsage(clientBefore);
      const peak = residentMemory(service.pid);
      return {
        ms,
        cpuMs: before && after && (after.allNs - before.allNs) / 1e6,
        frontMs: before && after && (after.mainNs - before.mainNs) / 1e6,
        clientMs: (client.user + client.system) / 1e3,
        grownMib: peak && beforeMib && peak.peakMib - beforeMib,
        peakMib: peak?.peakMib,
      };
    },
  };
}

/** What the octets of a stream cost OpenSSL in this process, and nothing else: the measure of the service's CPU. */
function bare(name: string, work: (block: Uint8Array) => void): Contender {
  const block = new Uint8Array(8 * BLOCK);
  return {
    name,
    measure() {
      const startedMs = performance.now();
      const before = process.cpuUsage();
      for (let made = 0; made < TOTAL; made += BLOCK) work(block);
      const used = process.cpuUsage(before);
      return Promise.resolve({ ms: performance.now() - startedMs, cpuMs: (used.user + used.system) / 1e3 });
    },
  };
}

function encryptBlock(block: Uint8Array): void {
  const cipher = createCipheriv('chacha20', new Uint8Array(32), new Uint8Array(16));
  cipher.update(block);
  cipher.final();
}

/** Sets the highest resident set back to what is resident now, where /proc allows it (Linux). */
function forgetPeak(pid: number): void {
  const path = `/proc/${pid}/clear_refs`;
  if (existsSync(path)) writeFileSync(path, '5');
}

/** Asks the same `times` over on one connection; of each reply it keeps nothing but the number of its bytes. */
async function exchange({ server }: Service, request: Buffer, times: number, bytes: number): Promise<void> {
  const connection = await HttpConnection.open(server.port, { countsOnly: true });
  for (let i = 0; i < times; i++) {
    const { status, head, bodyBytes } = await connection.ask(request);
    if (status !== 200 || bodyBytes < bytes) throw new Error(`${bodyBytes} bytes behind ${head}`);
  }
  connection.leave();
}

/** The stream comes in chunks, whose end is that of the connection. */
function readStream(service: Service): Promise<void> {
  const target = `/v1/stream?type=floats&total=${TOTAL}`;
  const headers = [...headersOf(service), ['Connection', 'close']] as const;
  return exchange(service, requestBytes({ method: 'GET', target, headers }), 1, 8 * TOTAL);
}

async function readBatches(service: Service, connections: number): Promise<void> {
  const headers = [...headersOf(service), ['Content-Type', 'application/json']] as const;
  const request = requestBytes({ method: 'POST', target: '/v1/batch', headers, body: BATCH_BODY });
  const times = TOTAL / BLOCK / connections;
  const reading = () => exchange(service, request, times, 8 * BLOCK);
  await Promise.all(Array.from({ length: connections }, reading));
}

const headersOf = (service: Service) =>
  Object.entries({ ...service.headers, Accept: 'application/octet-stream' });

function tableOf(rounds: Rounds): Table {
  const columns = [
    of('ms', 'ms', { spread: true }),
    ratio('x one connection', 'ms', ONE),
    of('CPU ms', 'cpuMs'),
    of('front ms', 'frontMs'),
    of('client CPU ms', 'clientMs'),
    of('grown MiB', 'grownMib'),
    of('peak MiB', 'peakMib'),
  ];
  return {
    title: '10^7 float64 as octets in blocks of 100,000, durability fsync',
    note:
      'ms: from the first request to the last byte. x one connection: time against the batches one after the other, in ' +
      'the same round.\ngrown MiB: the highest memory of the service while it answers, less what it had before.\nThe service draws two ChaCha20 streams of 70 MB (the seed and the kernel) and one SHA-256 of 80 MB.',
    columns,
    rows: rowsOf(columns, rounds),
  };
}
