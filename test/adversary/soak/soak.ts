import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Chance } from '../../support/chance.ts';
import { residentMemory } from '../../support/process-usage.ts';
import { TestServer } from '../../support/server.ts';
import { Clients, clientKey, WINDOW_S } from '../clients/clients.ts';
import { type BookFindings, checkLedger } from '../clients/ledger-check.ts';
import { type SourceState, SwitchedSource } from './source.ts';
import { type Point, type Trend, trendOf } from './trend.ts';
import { Verifier } from './verifier.ts';

export interface SoakPlan {
  readonly seconds: number;
  /** Requests a second; measured and taken at 70 % when left out. */
  readonly ratePerS?: number | undefined;
  /** Seed of the requests. */
  readonly simSeed: number;
  /** More settings of the service. */
  readonly environment: Readonly<Record<string, string>>;
  readonly report: (line: string) => void;
}

/** The measurements of one second of the run. */
interface SoakSample {
  readonly atS: number;
  /** Number of the service's start, from 1 on. */
  readonly life: number;
  /** Private memory, without mapped files. */
  readonly privateMib: number;
}

export interface SoakOutcome {
  readonly client: Clients;
  readonly ledger: BookFindings;
  readonly ratePerS: number;
  readonly verified: number;
  /** Trend over the last life after its warm-up; undefined when that was too short. */
  readonly memory: Trend | undefined;
  /** 99th percentile of small requests, µs, by window of the same time. */
  readonly p99: Trend | undefined;
}

/** Events and their times, as shares of the run. The last life is the longest, and its memory is judged. */
const EVENTS: readonly TimedEvent[] = [
  [0.08, 'revoke a key'],
  [0.14, 'source down'],
  [0.22, 'source sound'],
  [0.28, 'source stuck'],
  [0.34, 'SIGTERM'],
  [0.4, 'SIGKILL'],
  [0.44, 'SIGKILL'],
  // before what is judged begins: while no lots come the process is smaller by the memory of their tests
  [0.48, 'source down'],
  [0.54, 'source sound'],
  [0.6, 'revoke a key'],
];
type TimedEvent = readonly [share: number, event: SoakEvent];
type SoakEvent = 'revoke a key' | `source ${SourceState}` | 'SIGTERM' | 'SIGKILL';

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

const SETTINGS = { QRN_RESERVOIR_BYTES: '262144', QRN_LOG_LEVEL: 'error' };

/** The real service under a mixed load, with everything happening to it that happens to services. */
export async function soak(plan: SoakPlan): Promise<SoakOutcome> {
  const source = new SwitchedSource();
  const settings = { ...SETTINGS, ...(await source.start()), ...plan.environment };
  const run = await SoakRun.start(plan, source, settings);
  try {
    return await run.whole();
  } finally {
    await run.end();
    source.stop();
  }
}

class SoakRun {
  readonly #plan: SoakPlan;
  readonly #source: SwitchedSource;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #client: Clients;
  readonly #verifier: Verifier;
  readonly #accountId: string;
  readonly #samples: SoakSample[] = [];
  #server: TestServer;
  #isUp = true;
  #life = 1;
  #lifeFromS = 0;

  private constructor(
    plan: SoakPlan,
    source: SwitchedSource,
    settings: Readonly<Record<string, string>>,
    server: TestServer,
    account: Awaited<ReturnType<TestServer['account']>>,
  ) {
    this.#plan = plan;
    this.#source = source;
    this.#settings = settings;
    this.#server = server;
    this.#accountId = account.account_id;
    const place = () => (this.#isUp ? this.#server.port : undefined);
    this.#client = new Clients([clientKey(account)], new Chance(plan.simSeed), place);
    this.#verifier = new Verifier(this.#client, account.key);
  }

  static async start(
    plan: SoakPlan,
    source: SwitchedSource,
    settings: Readonly<Record<string, string>>,
  ): Promise<SoakRun> {
    const server = await TestServer.start(settings);
    const limits = ['--credits-per-month', String(CREDITS), '--seed-interval-ms', String(SEED_INTERVAL_MS)];
    const account = await server.account('enterprise', ...limits);
    const run = new SoakRun(plan, source, settings, server, account);
    await run.#addKey();
    return run;
  }

  async whole(): Promise<SoakOutcome> {
    const { seconds, report } = this.#plan;
    const client = this.#client;
    let ratePerS = this.#plan.ratePerS;
    if (ratePerS === undefined) {
      await client.capacity(CAPACITY_CONNECTIONS, WARM_UP_MS);
      const capacityPerS = await client.capacity(CAPACITY_CONNECTIONS, CAPACITY_MS);
      ratePerS = Math.round(CAPACITY_SHARE * capacityPerS);
      report(`${capacityPerS.toFixed(0)} requests/s when there is always one; from now on ${ratePerS}`);
    }
    const startS = client.nowS;
    this.#lifeFromS = startS;
    const watching = setInterval(() => this.#sample(report), 1_000);
    client.start(ratePerS);
    for (const [share, event] of EVENTS) {
      await this.#until(startS + share * seconds);
      report(`${(client.nowS - startS).toFixed(0)} s: ${event}`);
      await this.#happen(event);
    }
    await this.#until(startS + seconds);
    await client.stop();
    clearInterval(watching);
    await client.settleRetries(SETTLE_MS);
    if (client.openRetries > 0) client.violate(`${client.openRetries} retries got no answer in the end`);
    await sleep(1_000); // what was kept last is logged by then
    await this.#verifier.verifyAll(this.#server);
    await this.#stop('SIGTERM');
    return this.#outcome(ratePerS);
  }

  async end(): Promise<void> {
    await this.#server.kill('SIGKILL');
    rmSync(this.#server.dataDir, { recursive: true, force: true });
  }

  async #until(atS: number): Promise<void> {
    while (this.#client.nowS < atS) {
      await sleep(Math.min(250, 1_000 * Math.max(0, atS - this.#client.nowS)));
      await this.#verifier.verifyDue(this.#server);
    }
  }

  async #happen(event: SoakEvent): Promise<void> {
    if (event === 'SIGTERM' || event === 'SIGKILL') return this.#restart(event);
    if (event === 'revoke a key') return this.#revoke();
    this.#source.state = event.slice('source '.length) as SourceState;
  }

  /** Restarts with a sound source: the restart opens a source that was closed for good. */
  async #restart(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#source.state = 'sound';
    await this.#stop(signal);
    this.#server = await TestServer.start(this.#settings, this.#server.dataDir);
    this.#isUp = true;
    this.#life++;
    this.#lifeFromS = this.#client.nowS;
  }

  async #stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const client = this.#client;
    const code = await this.#server.kill(signal);
    this.#isUp = false;
    const expected = signal === 'SIGTERM' ? 0 : 'SIGKILL';
    if (code !== expected)
      client.violate(`ended by ${signal} with ${code}: ${this.#server.output().slice(-500)}`);
    const faults = this.#server.output().match(/"msg":"(fault|request failed)"/g)?.length ?? 0;
    if (faults > 0) client.violate(`${faults} faults in the log: ${this.#server.output().slice(-500)}`);
  }

  async #addKey(): Promise<void> {
    const made = JSON.parse(await this.#server.qrn('keys', 'create', '--account', this.#accountId, '--json'));
    await this.#server.knows(made.key);
    this.#client.keys.push(clientKey(made));
  }

  /** The newest key; another takes its place. */
  async #revoke(): Promise<void> {
    const { keys } = this.#client;
    await this.#addKey();
    const key = keys[keys.length - 2];
    key.isRevoking = true;
    await this.#server.qrn('keys', 'revoke', key.id);
    key.revokedAtMs = performance.now();
    setTimeout(() => keys.splice(keys.indexOf(key), 1), REVOKED_FOR_MS);
  }

  #sample(report: (line: string) => void): void {
    const memory = this.#isUp ? residentMemory(this.#server.process.pid!) : undefined;
    if (memory === undefined) return;
    const { nowS: atS, acknowledged } = this.#client;
    const { privateMib } = memory;
    this.#samples.push({ atS, life: this.#life, privateMib });
    if (this.#samples.length % 30 === 0) {
      report(`${atS.toFixed(0)} s: ${acknowledged.count} answers, ${privateMib.toFixed(0)} MiB private`);
    }
  }

  async #outcome(ratePerS: number): Promise<SoakOutcome> {
    const client = this.#client;
    const { dataDir } = this.#server;
    const ledger = await checkLedger(dataDir, [
      { accountId: this.#accountId, clients: client, creditsMax: CREDITS },
    ]);
    const fromS = this.#lifeFromS + WARM_UP_SHARE * (client.nowS - this.#lifeFromS);
    const points: Point[] = this.#samples
      .filter(({ life, atS }) => life === this.#life && atS >= fromS)
      .map(({ atS, privateMib }) => ({ atS, value: privateMib }));
    const latencies = [...client.windows]
      .map(([window, latency]) => ({ atS: window * WINDOW_S, value: latency.percentile(99) }))
      .filter(({ atS }) => atS >= fromS);
    return {
      ...{ client, ledger, ratePerS, verified: this.#verifier.verified },
      memory: trendOf(points),
      p99: trendOf(latencies),
    };
  }
}
