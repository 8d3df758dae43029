/**
 * Whether assessing a lot delays requests: latency of small requests with and without a running assessment, in turns,
 * on one real service.
 *   node bench/assessment-interference.bench.ts [--rate 500] [--rounds 5] [--seconds 4]
 * Requests are sent at a fixed rate, whether or not earlier ones are answered, so a stall is seen by every request
 * that falls into it. Tables on stdout, JSON in bench/out/assessment-interference.json.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { availableParallelism, cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { systemClock } from '../src/core/clock.ts';
import { TestServer } from '../test/support/server.ts';

const PATH = '/integers?count=10';
const WARM_UP_S = 2;
const nowMs = () => systemClock.monotonicMs();

interface Client {
  readonly url: string;
  readonly key: string;
  readonly agent: Agent;
}

function request({ url, key, agent }: Client): Promise<number> {
  return new Promise((resolve, reject) => {
    const sentMs = nowMs();
    get(url, { agent, headers: { authorization: `Bearer ${key}` } }, (response) => {
      response.resume();
      response.once('end', () => {
        if (response.statusCode === 200) resolve(nowMs() - sentMs);
        else reject(new Error(`status ${response.statusCode}`));
      });
    }).once('error', reject);
  });
}

/** Latencies in milliseconds, from each request's sending to its whole answer. */
async function load(client: Client, rate: number, seconds: number): Promise<number[]> {
  const startMs = nowMs();
  const answers: Promise<number>[] = [];
  while (answers.length < rate * seconds) {
    const due = Math.min(rate * seconds, Math.floor(((nowMs() - startMs) * rate) / 1000));
    while (answers.length < due) answers.push(request(client));
    await sleep(1);
  }
  return Promise.all(answers);
}

function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}

function median(values: readonly number[]): number {
  return quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  );
}

interface Round {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

function roundOf(latencies: readonly number[]): Round {
  const sorted = [...latencies].sort((a, b) => a - b);
  return {
    p50: quantile(sorted, 0.5),
    p90: quantile(sorted, 0.9),
    p99: quantile(sorted, 0.99),
    max: sorted[sorted.length - 1],
  };
}

/** The median over the rounds of each figure; of p99 its least and greatest as well. */
function rowOf(rounds: readonly Round[]): Record<string, number> {
  const of = (name: keyof Round) => Number(median(rounds.map((round) => round[name])).toFixed(3));
  const p99s = rounds.map(({ p99 }) => Number(p99.toFixed(3)));
  return {
    'p50 ms': of('p50'),
    'p90 ms': of('p90'),
    'p99 ms': of('p99'),
    'p99 least': Math.min(...p99s),
    'p99 greatest': Math.max(...p99s),
    'max ms': of('max'),
  };
}

/** Turns the assessments on or off. Gives what the service had written before. */
function toggle(server: TestServer): string {
  const before = server.output();
  server.process.kill('SIGUSR2');
  return before;
}

/** Ends the assessments, and gives how many lots were assessed. */
async function endAssessments(server: TestServer): Promise<number> {
  const before = toggle(server);
  for (;;) {
    const told = /^assessed (\d+) lots$/m.exec(server.output().slice(before.length));
    if (told !== null) return Number(told[1]);
    await sleep(20);
  }
}

async function measure(server: TestServer, rate: number, rounds: number, seconds: number) {
  const { key } = await server.account('enterprise');
  const client = { url: `${server.baseUrl}${PATH}`, key, agent: new Agent({ keepAlive: true }) };
  await load(client, rate, WARM_UP_S);
  const without: Round[] = [];
  const during: Round[] = [];
  let lots = 0;
  for (let round = 0; round < rounds; round++) {
    without.push(roundOf(await load(client, rate, seconds)));
    toggle(server);
    during.push(roundOf(await load(client, rate, seconds)));
    lots += await endAssessments(server);
  }
  client.agent.destroy();
  return { without, during, lots };
}

const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
  },
});
const [rate, rounds, seconds] = [values.rate, values.rounds, values.seconds].map(Number);
const hook = new URL('support/endless-assessment.ts', import.meta.url).href;
// a reservoir that one lot of the default size fills: no other assessments than those of the bench
const server = await TestServer.start({
  NODE_OPTIONS: `--import ${hook}`,
  QRN_RESERVOIR_BYTES: '65536',
  QRN_SOURCE_SIMULATOR_LOT_BITS: undefined,
});
try {
  const { without, during, lots } = await measure(server, rate, rounds, seconds);
  const rows = { 'no assessment': rowOf(without), 'running assessment': rowOf(during) };
  console.log(`${rate} requests/s of GET /v1${PATH}, medians of ${rounds} rounds of ${seconds} s in turns`);
  console.table(rows);
  const ratio = median(during.map(({ p99 }, i) => p99 / without[i].p99));
  console.log(`p99 with / without: ${ratio.toFixed(2)}; ${lots} lots assessed in ${rounds * seconds} s`);
  const machine = `${availableParallelism()} x ${cpus()[0].model}, Node ${process.version}`;
  console.log(machine);
  mkdirSync(new URL('out/', import.meta.url), { recursive: true });
  const report = { rate, rounds, seconds, machine, lots, ratioOfP99: ratio, rows, without, during };
  const file = new URL('out/assessment-interference.json', import.meta.url);
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
} finally {
  await server.stop();
}
