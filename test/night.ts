// `npm run test:night [-- STEP...] [--minutes N] [--seed N] [--plant BUG]`: what explores, for as long as is given, with seeds that
// nobody chose. Each seed is printed at the start and, with the command that repeats it, at a failure; `--seed` repeats a whole
// night, and `--plant` puts a bug of test/adversary/sim/mutants.ts into the simulation, to see that a night can fail. A table of all
// steps ends it, and it exits with 1 when one failed, died, fell silent or ended without its last line.
import { randomInt } from 'node:crypto';
import { aligned, NOT_GIVEN, readOptions, say } from './adversary/program.ts';
import { Chance } from './support/chance.ts';
import { type Ended, runProcess } from './support/test-process.ts';

/** A step that has written nothing for so long never ends. */
const SILENCE_MS = 30 * 60_000;
const SEEDS = 2 ** 31;
const MUTANTS_A_ROOM = 20;
const CRASH_ROUNDS = 500;
/** Memory grows for a minute after a start; a shorter soak would count that. */
const SOAK_MINUTES_MIN = 8;

interface Step {
  readonly name: string;
  /** Share of the given minutes; a step without a share takes as long as its work does. */
  readonly share?: number;
  /** Runs again with another seed until its minutes are over. */
  readonly repeats?: true;
  readonly command: (seed: number, minutes: number) => readonly string[];
  /** The end of its output when it completed. */
  readonly ends: RegExp;
  /** The seed in the environment, for programs that take it from there. */
  readonly seedVariable?: string;
}

const program = (path: string, ...args: (string | number)[]) => [process.execPath, path, ...args.map(String)];
const simulation = (name: string, ...args: string[]): Step => ({
  name,
  share: 0.14,
  command: (seed, minutes) =>
    program(
      'test/adversary/sim/run.ts',
      ...['--seed', seed, '--minutes', minutes, ...args],
      ...(plant === undefined ? [] : ['--mutant', plant]),
    ),
  ends: /^\d+ seeds, \d+ broken$/m,
});
const CLUSTER_FAULTS = ['--kills', 200, '--failovers', 50, '--partitions', 50, '--pauses', 30];
/** Minutes bound the faults alone: a planted bug whose series had no time left would count as not found. */
const cluster = (name: string, ...args: string[]): Step => ({
  name,
  ...(args.length === 0 && { share: 0.14 }),
  command: (seed, minutes) =>
    program(
      'test/adversary/cluster/run.ts',
      ...['--seed', seed],
      ...(args.length > 0 ? args : [...CLUSTER_FAULTS, '--minutes', Math.max(minutes, 1)]),
    ),
  ends: /^(NOT )?as promised$/m,
});

const STEPS: readonly Step[] = [
  {
    name: 'properties',
    share: 0.1,
    repeats: true,
    command: () => program('test/run.ts', '--fast'),
    ends: /^\d+ passed, \d+ failed/m,
    seedVariable: 'QRN_TEST_SEED',
  },
  simulation('simulation'),
  simulation('simulation of two nodes', '--nodes', '2'),
  {
    name: 'fuzz',
    share: 0.14,
    repeats: true,
    command: () => program('test/run.ts', 'adversary/fuzz'),
    ends: /^\d+ passed, \d+ failed/m,
    seedVariable: 'QRN_TEST_SEED',
  },
  {
    name: 'crash',
    share: 0.1,
    command: (seed, minutes) =>
      program('test/adversary/crash/run.ts', CRASH_ROUNDS, '--seed', seed, '--minutes', minutes),
    ends: /^commit: \d+ rounds/m,
  },
  cluster('cluster'),
  cluster('cluster, scenarios', '--scenarios', 'yes'),
  cluster('cluster, planted bugs', '--planted', 'yes'),
  {
    name: 'soak',
    share: 0.1,
    command: (seed, minutes) =>
      program('test/adversary/soak/run.ts', '--minutes', Math.max(minutes, SOAK_MINUTES_MIN), '--seed', seed),
    ends: /^violations +\d+$/m,
  },
  { name: 'liars', command: () => program('test/adversary/liars/run.ts'), ends: /^lots\n.*s of CPU$/ms },
  {
    name: 'mutants',
    command: (seed) => program('test/mutants/run.ts', '--sample', MUTANTS_A_ROOM, '--seed', seed),
    ends: /mutants killed/,
  },
  {
    name: 'long',
    command: () => program('test/run.ts', '--long'),
    ends: /^\d+ passed, \d+ failed/m,
    seedVariable: 'QRN_TEST_SEED',
  },
];

const asked = { minutes: 480, seed: randomInt(SEEDS), plant: NOT_GIVEN };
const { minutes, seed: nightSeed, plant, operands } = readOptions(asked);
if (!(minutes > 0) || !Number.isSafeInteger(nightSeed))
  throw new Error('--minutes is a number above 0, and --seed is a whole number');
const chosen = STEPS.filter(
  ({ name }) => operands.length === 0 || operands.some((text) => name.includes(text)),
);
if (chosen.length === 0)
  throw new Error(
    `no step is called ${operands.join(' or ')}; there are ${STEPS.map(({ name }) => name).join(', ')}`,
  );
const shares = chosen.reduce((sum, { share = 0 }) => sum + share, 0);
say(`night with seed ${nightSeed}, ${chosen.length} steps`);

interface Row {
  readonly name: string;
  readonly seeds: readonly number[];
  readonly tookMs: number;
  readonly failures: readonly string[];
  /** The last output of the step, by which its end is recognized. */
  readonly told: string;
}
const rows: Row[] = [];
for (const step of chosen) rows.push(await runStep(step));
say('');
for (const line of tableOf(rows)) say(line);
const failed = rows.filter(({ failures }) => failures.length > 0);
for (const { name, failures } of failed) for (const failure of failures) say(`${name}: ${failure}`);
say(`${rows.length - failed.length} passed, ${failed.length} failed`);
process.exitCode = failed.length === 0 ? 0 : 1;

async function runStep(step: Step): Promise<Row> {
  const { name, share = 0, repeats = false } = step;
  const chance = new Chance(`night ${nightSeed} ${name}`);
  const minutesOfStep = shares === 0 ? 0 : (minutes * share) / shares;
  const beganMs = performance.now();
  const seeds: number[] = [];
  const failures: string[] = [];
  let told = '';
  do {
    const seed = chance.below(SEEDS);
    seeds.push(seed);
    const command = step.command(seed, Number(minutesOfStep.toFixed(2)));
    const shown = `${step.seedVariable === undefined ? '' : `${step.seedVariable}=${seed} `}${command.map(quoted).join(' ')}`;
    say(`${name}: ${shown}`);
    const environment = step.seedVariable === undefined ? {} : { [step.seedVariable]: String(seed) };
    const run = await runProcess(command, SILENCE_MS, environment);
    process.stdout.write(run.output + run.errors);
    told = step.ends.exec(run.output)?.[0].split('\n').at(-1) ?? '';
    const failure = failureOf(run, step);
    if (failure !== undefined) failures.push(`${failure}; repeat: ${shown}`);
    if (failure !== undefined) say(`FAILED ${name}: ${failures.at(-1)}`);
  } while (repeats && performance.now() - beganMs < 60_000 * minutesOfStep);
  return { name, seeds, tookMs: performance.now() - beganMs, failures, told };
}

/** Quotes a word for a shell. */
function quoted(word: string): string {
  return word.includes(' ') ? `'${word}'` : word;
}

function failureOf(run: Ended, { ends }: Step): string | undefined {
  if (run.hung) return 'wrote nothing for half an hour and was ended';
  if (!run.hasPassed) return 'exited with a failure';
  return ends.test(run.output) ? undefined : 'ended without its last line';
}

function tableOf(all: readonly Row[]): string[] {
  const cells = [
    ['step', 'runs', 'first seed', 'minutes', 'result', 'ended with'],
    ...all.map(({ name, seeds, tookMs, failures, told }) => [
      name,
      String(seeds.length),
      String(seeds[0]),
      (tookMs / 60_000).toFixed(1),
      failures.length === 0 ? 'passed' : `FAILED ${failures.length}`,
      told,
    ]),
  ];
  return aligned(cells);
}
