import { randomFillSync } from 'node:crypto';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Chance } from '../../support/chance.ts';
import { residentMemory } from '../../support/process-usage.ts';
import { served } from '../../support/served.ts';
import { TestServer } from '../../support/server.ts';
import { Clients, clientKey, WINDOW_S } from '../clients/clients.ts';
import { type BookFindings, checkLedger } from '../clients/ledger-check.ts';
import { type Point, type Trend, trendOf } from './trend.ts';
import { Verifier } from './verifier.ts';

export interface SoakPlan {
  readonly seconds: number;
  /** Requests a second; measured and taken at 70 % when left out. */
  readonly ratePerS?: number | undefined;
  readonly seed: number;
  /** More settings of the service. */
  readonly environment: Readonly<Record<string, string>>;
  readonly report: (line: string) => void;
}

export interface SoakOutcome {
  readonly client: Clients;
  readonly ledger: BookFindings;
  readonly ratePerS: number;
  readonly verified: number;
  /** Trend of the private memory, in MiB without mapped files, over the last life after its warm-up; undefined when that was too short. */
  readonly memory: Trend | undefined;
  /** 99th percentile of small requests, µs, by window of the same time. */
  readonly p99: Trend | undefined;
}

type Signal = 'SIGTERM' | 'SIGKILL';

/** Events and their times, as shares of the run. The last life is the longest, and its memory is judged. */
const EVENTS = [
  [0.08, 'revoke a key'],
  [0.14, 'down'],
  [0.22, 'sound'],
  [0.28, 'stuck'],
  [0.34, 'SIGTERM'],
  [0.4, 'SIGKILL'],
  [0.44, 'SIGKILL'],
  // before what is judged begins: while no lots come the process is smaller by the memory of their tests
  [0.48, 'down'],
  [0.54, 'sound'],
  [0.6, 'revoke a key'],
] as const;

const CAPACITY_SHARE = 0.7;
const WARM_UP_MS = 4_000;
const CAPACITY_MS = 6_000;
const CAPACITY_CONNECTIONS = 64;
/** Share of the last life that is warm-up: code is compiled, rings and chunks reach their size. */
const WARM_UP_SHARE = 0.25;
const CREDITS = 2_000_000_000;
const SEED_INTERVAL_MS = 2_000;
/** A revoked key is asked with this long, then left. */
const REVOKED_FOR_MS = 4_000;
const SETTLE_MS = 20_000;
/**
 * Size of one lot: enough conditioned output for two SP 800-22 sequences, as the collector requests from any source.
 */
const LOT_BYTES = 512 * 1024;

/** The real service under a mixed load, with everything happening to it that happens to services. */
export async function soak({ seconds, seed, environment, report, ...plan }: SoakPlan): Promise<SoakOutcome> {
  /** The state of its source: sound bits, no bits, or bits with one channel in eight stuck. */
  let source: 'sound' | 'down' | 'stuck' = 'sound';
  const sourceUrl = await served((_request, response) => {
    const bits = randomFillSync(Buffer.alloc(LOT_BYTES));
    if (source === 'stuck') for (let i = 0; i < bits.length; i++) bits[i] &= 0xfe;
    response
      .writeHead(source === 'down' ? 503 : 200, { 'content-type': 'application/octet-stream' })
      .end(bits);
  });
  const settings = {
    ...{ QRN_RESERVOIR_BYTES: '262144', QRN_LOG_LEVEL: 'error', QRN_BACKEND: 'switched' },
    QRN_SOURCE_SWITCHED_TYPE: 'qrng-http',
    QRN_SOURCE_SWITCHED_URL: `${sourceUrl}/`,
    QRN_SOURCE_SWITCHED_DECODER: 'bytes',
    QRN_SOURCE_SWITCHED_ITEMS_PER_CALL: String(LOT_BYTES),
    QRN_SOURCE_SWITCHED_INTERVAL_MS: '0',
    QRN_SOURCE_SWITCHED_MIN_ENTROPY: '0.9',
    QRN_SOURCE_SWITCHED_ORIGIN: 'simulated',
    ...environment,
  };
  let server = await TestServer.start(settings);
  const limits = ['--credits-per-month', String(CREDITS), '--seed-interval-ms', String(SEED_INTERVAL_MS)];
  const account = await server.account('enterprise', ...limits);
  let isUp = true;
  const place = () => (isUp ? server.port : undefined);
  const client = new Clients([clientKey(account)], new Chance(seed), place);
  const { keys } = client;
  const verifier = new Verifier(client, account.key);
  /** The private memory in the present life of the service, each second. */
  let samples: Point[] = [];
  let lifeFromS = 0;

  const addKey = async () => {
    const made = JSON.parse(await server.qrn('keys', 'create', '--account', account.account_id, '--json'));
    await server.knows(made.key);
    keys.push(clientKey(made));
  };
  /** The newest key; another takes its place. */
  const revoke = async () => {
    await addKey();
    const key = keys[keys.length - 2];
    key.isRevoking = true;
    await server.qrn('keys', 'revoke', key.id);
    key.revokedAtMs = performance.now();
    setTimeout(() => keys.splice(keys.indexOf(key), 1), REVOKED_FOR_MS);
  };
  const stop = async (signal: Signal) => {
    const code = await server.kill(signal);
    isUp = false;
    const last = server.output().slice(-500);
    if (code !== (signal === 'SIGTERM' ? 0 : signal))
      client.violate(`ended by ${signal} with ${code}: ${last}`);
    const faults = server.output().match(/"msg":"(fault|request failed)"/g)?.length ?? 0;
    if (faults > 0) client.violate(`${faults} faults in the log: ${last}`);
  };
  /** With a sound source: the restart opens a source that was closed for good. */
  const restart = async (signal: Signal) => {
    source = 'sound';
    await stop(signal);
    server = await TestServer.start(settings, server.dataDir);
    isUp = true;
    samples = [];
    lifeFromS = client.nowS;
  };
  const sample = () => {
    const memory = isUp ? residentMemory(server.process.pid!) : undefined;
    if (memory === undefined) return;
    const atS = client.nowS;
    if (samples.push({ atS, value: memory.privateMib }) % 30 > 0) return;
    report(
      `${atS.toFixed(0)} s: ${client.acknowledged.count} answers, ${memory.privateMib.toFixed(0)} MiB private`,
    );
  };
  const until = async (atS: number) => {
    while (client.nowS < atS) {
      await sleep(Math.min(250, 1_000 * Math.max(0, atS - client.nowS)));
      await verifier.verifyDue(server);
    }
  };
  const capacity = async () => {
    await client.capacity(CAPACITY_CONNECTIONS, WARM_UP_MS);
    const perS = await client.capacity(CAPACITY_CONNECTIONS, CAPACITY_MS);
    report(`${perS.toFixed(0)} requests/s when there is always one`);
    return Math.round(CAPACITY_SHARE * perS);
  };

  try {
    await addKey();
    const ratePerS = plan.ratePerS ?? (await capacity());
    const startS = client.nowS;
    lifeFromS = startS;
    const watching = setInterval(sample, 1_000);
    client.start(ratePerS);
    for (const [share, event] of EVENTS) {
      await until(startS + share * seconds);
      report(`${(client.nowS - startS).toFixed(0)} s: ${event}`);
      if (event === 'revoke a key') await revoke();
      else if (event === 'SIGTERM' || event === 'SIGKILL') await restart(event);
      else source = event;
    }
    await until(startS + seconds);
    await client.stop();
    clearInterval(watching);
    await client.settleRetries(SETTLE_MS);
    if (client.openRetries > 0) client.violate(`${client.openRetries} retries got no answer in the end`);
    await sleep(1_000); // what was kept last is logged by then
    await verifier.verifyAll(server);
    await stop('SIGTERM');
    const known = { accountId: account.account_id, clients: client, creditsMax: CREDITS };
    const ledger = await checkLedger(server.dataDir, [known]);
    const fromS = lifeFromS + WARM_UP_SHARE * (client.nowS - lifeFromS);
    const isJudged = ({ atS }: Point) => atS >= fromS;
    const latencies = [...client.windows].map(([window, latency]) => ({
      atS: window * WINDOW_S,
      value: latency.percentile(99),
    }));
    return {
      ...{ client, ledger, ratePerS, verified: verifier.verified },
      memory: trendOf(samples.filter(isJudged)),
      p99: trendOf(latencies.filter(isJudged)),
    };
  } finally {
    await server.kill('SIGKILL');
    rmSync(server.dataDir, { recursive: true, force: true });
  }
}
