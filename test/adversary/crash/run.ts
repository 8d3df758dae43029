// `npm run test:crash [-- ROUNDS] [--out FILE] [--minutes N]`: kills the real service ROUNDS times in either durability, 50
// times when left out, and audits what each kill left. Both durabilities run side by side, since a round mostly waits.
// A folder serves for ROUNDS_EACH rounds, because its audit takes longer with every round. With --out each round is a
// line of FILE, and a later run with the same FILE makes only the rounds that are left; --minutes ends a run early.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type CrashRound, crashRounds } from './crash-rounds.ts';

const ROUNDS_EACH = 50;
const DURABILITIES = ['fsync', 'commit'] as const;
type Durability = (typeof DURABILITIES)[number];

interface Line extends CrashRound {
  readonly durability: Durability;
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { out: { type: 'string' }, minutes: { type: 'string', default: '1000000' } },
});
const asked = Number(positionals[0] ?? ROUNDS_EACH);
const minutes = Number(values.minutes);
if (!Number.isSafeInteger(asked) || asked < 1)
  throw new Error(`ROUNDS is a whole number from 1 on: ${asked}`);
if (!(minutes > 0)) throw new Error(`--minutes is a number above 0: ${values.minutes}`);
const untilMs = performance.now() + minutes * 60_000;
const lines = values.out !== undefined && existsSync(values.out) ? readLines(values.out) : [];

function readLines(path: string): Line[] {
  const whole = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return whole.map((line) => JSON.parse(line) as Line);
}

function linesOf(durability: Durability): Line[] {
  return lines.filter((line) => line.durability === durability);
}

async function runAll(durability: Durability): Promise<void> {
  const isOver = () => performance.now() > untilMs || linesOf(durability).length >= asked;
  const onRound = (round: CrashRound) => {
    const line: Line = { durability, ...round };
    lines.push(line);
    if (values.out !== undefined) appendFileSync(values.out, `${JSON.stringify(line)}\n`);
  };
  const report = (line: string) => process.stdout.write(`${durability} ${line}\n`);
  const environment = { QRN_DURABILITY: durability };
  while (!isOver()) {
    const rounds = Math.min(ROUNDS_EACH, asked - linesOf(durability).length);
    const { violations } = await crashRounds({
      rounds,
      environment,
      killsStarts: true,
      report,
      onRound,
      isOver,
    });
    if (violations.length > 0) return;
  }
}

await Promise.all(DURABILITIES.map(runAll));

for (const durability of DURABILITIES) {
  const done = linesOf(durability);
  const sum = (count: (line: Line) => number) => done.reduce((total, line) => total + count(line), 0);
  const violations = done.flatMap((line) => line.violations);
  process.stdout.write(
    `${durability}: ${done.length} rounds, ${sum((line) => line.acknowledged)} answers acknowledged in ${sum((line) => Math.sign(line.acknowledged))} of them, ` +
      `${sum((line) => line.recovered)} kills between journal and LMDB, ${sum((line) => line.startsKilled)} starts killed, ` +
      `${violations.length} violations\n`,
  );
  for (const violation of violations.slice(0, 20)) process.stdout.write(`  ${violation}\n`);
  if (violations.length > 0) process.exitCode = 1;
}
