import './machine.ts'; // first: it takes its place before anything of the service is loaded

import { NOT_GIVEN, readOptions, say } from '../program.ts';
import { runCourse } from './course.ts';
import { MUTANTS } from './mutants.ts';

// `node test/adversary/sim/run.ts --seed N --steps M`: one world; `--seeds K` runs the K seeds from N on, `--minutes T` as many as fit;
// `--mutant NAME` plants a bug, `--nodes 2` runs two nodes over one set of books, `--trace` tells everything that happens.
const asked = { steps: 1_000, nodes: 1, mutant: NOT_GIVEN };
const values = readOptions({ ...asked, seed: 1, seeds: 1, minutes: 0, trace: false });
const { seed: first, steps, nodes, seeds, minutes } = values;
const endsAtMs = Date.now() + 60_000 * minutes;
const mutant = MUTANTS.find(({ name }) => name === values.mutant);
if (values.mutant !== undefined && mutant === undefined)
  throw new Error(`there is no mutant ${values.mutant}`);
const how = (Object.keys(asked) as (keyof typeof asked)[])
  .filter((name) => values[name] !== undefined)
  .map((name) => ` --${name} '${values[name]}'`)
  .join('');
const totals: Record<string, number> = {};
let runs = 0;
let broken = 0;
for (let seed = first; minutes === 0 ? seed < first + seeds : Date.now() < endsAtMs; seed++) {
  const progressed = (step: number) => say(`seed ${seed}: step ${step}`);
  const outcome = await runCourse({
    seed,
    steps,
    ...(mutant && { mutant }),
    nodes,
    progressed,
    ...(values.trace && { tell: say }),
  });
  runs++;
  for (const [name, count] of Object.entries(outcome.counts)) totals[name] = (totals[name] ?? 0) + count;
  totals['steps'] = (totals['steps'] ?? 0) + outcome.steps;
  if (outcome.broken === undefined) {
    say(
      `seed ${seed}: ${outcome.steps} steps, ${outcome.counts['answers acknowledged']} answers, ${outcome.trace.slice(0, 16)}`,
    );
    continue;
  }
  broken++;
  process.exitCode = 1;
  say(`seed ${seed}: BROKEN after ${outcome.steps} steps`);
  for (const line of outcome.recent.slice(-40)) say(`  ${line}`);
  say(`${outcome.broken.stack}`);
  say(`repeat: node test/adversary/sim/run.ts --seed ${seed}${how}`);
}
say(`${runs} seeds, ${broken} broken`);
for (const [name, count] of Object.entries(totals).sort()) say(`  ${name}: ${count}`);
