/**
 * The bench: one command, which prints a table for each suite and writes JSON to bench/out.
 *   node bench/run.ts [NAME...] [--long] [--rounds N] [--seconds N]
 *   node bench/run.ts load --url URL --key KEY [--rate N] [--mix NAME=WEIGHT,...]
 */

import { LOAD_USAGE, load } from './load.ts';
import { SUITES } from './suites.ts';
import { chooseSuites, listOf, main, OPTIONS_HELP, readArguments } from './support/arguments.ts';
import { say, talk } from './support/reporter.ts';
import { runSuites } from './support/run-suites.ts';

const root = new URL('../', import.meta.url);

await main(async () => {
  if (process.argv[2] === 'load') {
    if ((await load(process.argv.slice(3))) > 0) process.exitCode = 1;
    return;
  }
  const { operands, effort, help } = readArguments(process.argv.slice(2));
  if (help) {
    say(`usage: npm run bench -- [NAME...] [options]\n\n${listOf(SUITES)}\n\n${OPTIONS_HELP}

${LOAD_USAGE}`);
    return;
  }
  const usual = SUITES.filter((suite) => suite.byDefault);
  const chosen = operands.length === 0 ? usual : chooseSuites(operands, SUITES);
  const failures = await runSuites(chosen, { subjects: [{ name: 'this', root }], ...effort, talk });
  if (failures > 0) process.exitCode = 1;
});
