/**
 * What bench/README.md publishes: the suites that have aims, with the effort that each needs, then `peers` and `latency`.
 * After each suite the Markdown table of the aims so far is printed, so that a run which is cut short leaves one. Its
 * rounds add up to about 13 minutes; starting services and filling their reservoirs come on top and depend on the machine.
 *   npm run bench:aims [-- SUITE...] [--short]     --short: one round of a second each, to see that it works
 */

import { parseArgs } from 'node:util';
import { SUITES } from './suites.ts';
import { aimText, verdictOn } from './support/aims.ts';
import { chooseSuites, main } from './support/arguments.ts';
import { figure, say, talk } from './support/reporter.ts';
import { runSuites } from './support/run-suites.ts';
import type { Aim } from './support/suite.ts';

/** In the order of their worth, should the time not be enough for all. */
const EFFORTS = [
  { name: 'aims', rounds: 7, seconds: 3 },
  { name: 'start', rounds: 3, seconds: 1 },
  { name: 'targets', rounds: 3, seconds: 1 },
  { name: 'peers', rounds: 5, seconds: 1 },
  { name: 'latency', rounds: 5, seconds: 2 },
] as const;

/** The specification's targets are many and alike: one row tells the nearest to its limit. */
const SUMMED = 'targets';

const root = new URL('../', import.meta.url);

function rowOf(aim: Aim): string {
  const { what, measured, unit } = aim;
  const spread =
    measured && measured.rounds > 1 ? ` (${figure(measured.low)}..${figure(measured.high)})` : '';
  const told = measured === undefined ? 'not measured' : `${figure(measured.median)}${spread}`;
  return `| ${what}, ${unit} | ${aimText(aim)} | ${told} | ${verdictOn(aim)} |`;
}

function share({ measured, aim }: Aim): number {
  return measured === undefined ? Number.POSITIVE_INFINITY : measured.median / aim;
}

function nearest(aims: readonly Aim[]): Aim[] {
  return [1_000, 10_000].flatMap((limit) => {
    const [worst] = aims.filter(({ aim }) => aim === limit).toSorted((a, b) => share(b) - share(a));
    const missed = aims.filter((each) => each.aim === limit && verdictOn(each) === 'missed').length;
    return worst === undefined ? [] : [{ ...worst, what: `slowest kind (${missed} missed): ${worst.what}` }];
  });
}

await main(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { short: { type: 'boolean', default: false } },
  });
  const rows: string[] = [];
  let failures = 0;
  const chosen = positionals.length === 0 ? SUITES : chooseSuites(positionals, SUITES);
  const names = new Set(chosen.map(({ name }) => name));
  for (const { name, rounds, seconds } of EFFORTS.filter((each) => names.has(each.name))) {
    const effort = values.short ? { rounds: 1, seconds: 1 } : { rounds, seconds };
    const run = { subjects: [{ name: 'this', root }], ...effort, talk };
    failures += await runSuites(chooseSuites([name], SUITES), run, (suite, aims) => {
      rows.push(...(suite.name === SUMMED ? nearest(aims) : aims).map(rowOf));
      say(
        `\n| Aim | at most (ratios: at least) | measured | verdict |\n|---|---|---|---|\n${rows.join('\n')}`,
      );
    });
  }
  if (failures > 0) process.exitCode = 1;
});
