// `npm run test:cluster [-- --kills 200 --failovers 50 --partitions 50 --pauses 30 --nodes 3 --planted yes]`: nodes on Debian's
// PostgreSQL with a synchronous standby, under load and under faults, each series audited. With `--planted yes` only the planted
// bugs are run, each of which must be found; with `--planted TEXT` those whose name has the text. With
// `--scenarios yes` an older database is restored, and a clock is off by a day. Needs the package `postgresql`, and runs its servers as nobody when root runs it.
import { parseArgs } from 'node:util';
import type { Totals } from './cluster.ts';
import { FAULTS, type FaultName } from './faults.ts';
import { PLANTED, type Planted } from './planted.ts';
import { PostgresPair, serverPrograms } from './postgres-pair.ts';
import { type SeriesOutcome, series } from './rounds.ts';
import { clockLibrary, clockOff, olderDatabase } from './scenarios.ts';

/** A series ends with an audit, which reads everything. In every second one the totals run dry. */
const FAULTS_EACH = 10;
const AMPLE = { requests: 1_000_000, credits: 1_000_000 };
const SCARCE = { requests: 300, credits: 2_400 };
const CLIENTS = 12;
const PAUSE_MS = 800;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '20' },
    failovers: { type: 'string', default: '5' },
    partitions: { type: 'string', default: '5' },
    pauses: { type: 'string', default: '5' },
    nodes: { type: 'string', default: '3' },
    planted: { type: 'string', default: 'no' },
    scenarios: { type: 'string', default: 'no' },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);
const programs = serverPrograms();
if (programs === undefined) {
  say('There is no PostgreSQL server in /usr/lib/postgresql: install the package postgresql.');
  process.exit(1);
}

async function runSeries(
  faults: readonly FaultName[],
  { isSynchronous, environment }: Partial<Planted>,
  totals: Totals = AMPLE,
): Promise<SeriesOutcome> {
  const pair = await PostgresPair.start({ programs: programs!, isSynchronous: isSynchronous ?? true });
  try {
    return await series({
      pair,
      nodes: Number(values.nodes),
      database: pair.place,
      totals,
      ...(environment !== undefined && { environment }),
      faults,
      clients: CLIENTS,
      pauseMs: PAUSE_MS,
      report: say,
    });
  } finally {
    pair.stop();
  }
}

/** So many of each group, its faults in turn, in an order of chance. */
function faultsAsked(): FaultName[] {
  const asked: FaultName[] = [];
  for (const group of ['kills', 'failovers', 'partitions', 'pauses'] as const) {
    const names = (Object.keys(FAULTS) as FaultName[]).filter((name) => FAULTS[name].group === group);
    for (let i = 0; i < Number(values[group]); i++) asked.push(names[i % names.length]);
  }
  return asked
    .map((name) => ({ name, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ name }) => name);
}

async function faultRuns(): Promise<boolean> {
  const asked = faultsAsked();
  const runs = new Map<FaultName, number>();
  const violations: string[] = [];
  const answeredAfterMs: number[] = [];
  const sums = { acknowledged: 0, stored: 0, starts: 0, leaves: 0, checkpoints: 0 };
  for (let at = 0; at < asked.length && violations.length === 0; at += FAULTS_EACH) {
    const faults = asked.slice(at, at + FAULTS_EACH);
    const outcome = await runSeries(faults, {}, (at / FAULTS_EACH) % 2 === 0 ? SCARCE : AMPLE);
    for (const name of faults) runs.set(name, (runs.get(name) ?? 0) + 1);
    for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += outcome[name];
    violations.push(...outcome.violations);
    answeredAfterMs.push(...outcome.answeredAfterMs);
    say(
      `${at + faults.length} of ${asked.length} faults: ${JSON.stringify({ ...sums, outcomes: [...outcome.outcomes] })}`,
    );
    for (const violation of outcome.violations) say(`  VIOLATION ${violation}`);
    if (outcome.violations.length > 0) say(outcome.output);
  }
  for (const [name, count] of [...runs].sort()) say(`${String(count).padStart(5)}  ${name}`);
  const sorted = answeredAfterMs.toSorted((a, b) => a - b).map(Math.round);
  if (sorted.length > 0)
    say(`answers after a promotion: median ${sorted[sorted.length >> 1]} ms, longest ${sorted.at(-1)} ms`);
  say(`${JSON.stringify(sums)}, ${violations.length} violations`);
  return violations.length === 0;
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
  const library = clockLibrary();
  const scenarios: Record<string, (pair: PostgresPair) => Promise<string[]>> = {
    'an older database restored': olderDatabase,
    ...(library !== undefined && {
      'a clock a day ahead': (pair) => clockOff(pair, library, '+1d'),
      'a clock a day behind': (pair) => clockOff(pair, library, '-1d'),
    }),
  };
  if (library === undefined) say('clocks: not run, since the package libfaketime is missing');
  let isGood = true;
  for (const [name, scenario] of Object.entries(scenarios)) {
    const pair = await PostgresPair.start({ programs: programs!, isSynchronous: true });
    try {
      const violations = await scenario(pair);
      if (violations.length > 0) isGood = false;
      say(`${name}: ${violations.length === 0 ? 'as promised' : `VIOLATION ${violations.join('; ')}`}`);
    } finally {
      pair.stop();
    }
  }
  return isGood;
}

const runs = values.planted !== 'no' ? plantedRuns : values.scenarios === 'yes' ? scenarioRuns : faultRuns;
const isGood = await runs();
process.exit(isGood ? 0 : 1);
