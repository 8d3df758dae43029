// `node test/adversary/cluster/run.ts [--kills 200 --failovers 50 --partitions 50 --pauses 30 --nodes 3 --seed N --minutes 9]`: nodes on
// Debian's PostgreSQL with a synchronous standby, under load and under faults, each series of faults audited.
// After `--minutes`, and at SIGTERM or SIGINT, no further fault begins: the series under way is audited and counts.
// With `--planted yes` only the planted bugs are run, each of which must be found; with `--planted TEXT` those whose name has
// the text. With `--scenarios yes` the rest of what goes wrong with several nodes is run (see scenarios.ts), with
// `--scenarios TEXT` what has the text in its name. Needs the package `postgresql`, and runs its servers as nobody when root runs it.
import { randomInt } from 'node:crypto';
import { inspect } from 'node:util';
import { Chance } from '../../support/chance.ts';
import { PostgresPair, serverPrograms } from '../../support/postgres-pair.ts';
import { readOptions, say } from '../program.ts';
import type { Totals } from './cluster.ts';
import { type FaultName, faultsOf, GROUPS } from './faults.ts';
import { PLANTED, type Planted } from './planted.ts';
import { type SeriesOutcome, series } from './rounds.ts';
import { scenariosHere } from './scenarios.ts';

/** Count of faults in one cluster before its audit, which reads everything. */
const FAULTS_EACH = 30;
/** Totals that do not run dry; in every second series they do, about halfway. */
const AMPLE = { requests: 1_000_000, credits: 1_000_000 };
const SCARCE = { requests: 500, credits: 4_000 };
const CLIENTS = 3;
const PAUSE_MS = 500;

const values = readOptions({
  ...{ kills: 20, failovers: 5, partitions: 5, pauses: 5 },
  ...{ nodes: 3, minutes: 600, seed: randomInt(2 ** 31), planted: 'no', scenarios: 'no' },
});
const programs = serverPrograms();
if (programs === undefined) {
  say('There is no PostgreSQL server in /usr/lib/postgresql: install the package postgresql.');
  process.exit(1);
}
/** The choices and their times repeat with the seed; the interleaving of the processes does not. */
const chance = new Chance(`cluster ${values.seed}`);
say(`seed ${values.seed}`);
const endMs = performance.now() + values.minutes * 60_000;
let seriesCount = 0;
let isStopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => {
    isStopping = true;
    say(`${signal}: no further fault begins; the series under way is audited`);
  });
const mayGoOn = () => !isStopping && performance.now() < endMs;

async function withPair<T>(isSynchronous: boolean, use: (pair: PostgresPair) => Promise<T>): Promise<T> {
  const pair = await PostgresPair.start({ programs: programs!, isSynchronous });
  try {
    return await use(pair);
  } finally {
    pair.stop();
  }
}

function runSeries(
  faults: readonly FaultName[],
  { isSynchronous = true, environment }: Partial<Planted>,
  totals: Totals = AMPLE,
): Promise<SeriesOutcome> {
  return withPair(isSynchronous, (pair) =>
    series({
      pair,
      nodes: values.nodes,
      totals,
      ...(environment !== undefined && { environment }),
      faults,
      chance: chance.fork(`series ${seriesCount++}`),
      clients: CLIENTS,
      pauseMs: PAUSE_MS,
      report: say,
      mayGoOn,
    }),
  );
}

/** Returns as many faults of each group as requested, in random order. */
function faultsAsked(): FaultName[] {
  const left: FaultName[] = [];
  for (const group of GROUPS) {
    const names = faultsOf(group);
    const asked = values[group];
    for (const [at, name] of names.entries()) {
      const share = Math.floor(asked / names.length) + (at < asked % names.length ? 1 : 0);
      for (let i = 0; i < share; i++) left.push(name);
    }
  }
  return left
    .map((name) => ({ name, order: chance.uniform() }))
    .sort((a, b) => a.order - b.order)
    .map(({ name }) => name);
}

async function faultRuns(): Promise<boolean> {
  const audited: SeriesOutcome[] = [];
  let failed = 0;
  const left = faultsAsked();
  const isBroken = () => audited.some(({ violations }) => violations.length > 0);
  for (let at = 0; at < left.length && mayGoOn() && !isBroken(); at += FAULTS_EACH) {
    const faults = left.slice(at, at + FAULTS_EACH);
    try {
      const outcome = await runSeries(faults, {}, chance.chance(0.5) ? SCARCE : AMPLE);
      audited.push(outcome);
      for (const violation of outcome.violations) say(`  VIOLATION ${violation}`);
      if (isBroken()) say(outcome.output);
    } catch (error) {
      failed++; // the failed series counts for nothing else
      say(`  FAILED ${inspect(error)}`);
    }
  }
  const [faults, acknowledged] = (['faults', 'acknowledged'] as const).map((name) =>
    audited.reduce((sum, each) => sum + each[name], 0),
  );
  say(
    `${audited.length} series audited, ${failed} not: ${faults} faults, ${acknowledged} answers acknowledged`,
  );
  return failed === 0 && !isBroken();
}

async function plantedRuns(): Promise<boolean> {
  let areAllFound = true;
  for (const [name, plant] of Object.entries(PLANTED) as [string, Planted][]) {
    if (values.planted !== 'yes' && !name.includes(values.planted)) continue;
    const { violations } = await runSeries(plant.faults, plant);
    const isFound = violations.some((violation) => plant.finds.test(violation));
    if (!isFound) areAllFound = false;
    say(`planted: ${name}: ${isFound ? 'found' : 'NOT FOUND'}: ${violations.slice(0, 3).join('; ')}`);
  }
  return areAllFound;
}

async function scenarioRuns(): Promise<boolean> {
  let isGood = true;
  for (const [name, scenario] of scenariosHere(say)) {
    if (values.scenarios !== 'yes' && !name.includes(values.scenarios)) continue;
    const violations = await withPair(true, scenario);
    if (violations.length > 0) isGood = false;
    say(`${name}: ${violations.length === 0 ? 'as promised' : `VIOLATION ${violations.join('; ')}`}`);
  }
  return isGood;
}

const runs = values.planted !== 'no' ? plantedRuns : values.scenarios !== 'no' ? scenarioRuns : faultRuns;
const isGood = await runs();
say(isGood ? 'as promised' : 'NOT as promised');
if (!isGood)
  say(`repeat: node test/adversary/cluster/run.ts --seed ${values.seed}, with the options of this run`);
process.exit(isGood ? 0 : 1);
