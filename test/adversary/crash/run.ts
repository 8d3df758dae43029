// `node test/adversary/crash/run.ts [ROUNDS] [--seed N] [--out FILE] [--minutes N]`: kills the real service ROUNDS times in either durability, 50
// times when left out, and audits what each kill left. Both durabilities run side by side, since a round mostly waits.
// A folder serves for ROUNDS_EACH rounds, because its audit takes longer with every round. With --out each round is a
// line of FILE, and a later run with the same FILE makes only the rounds that are left; --minutes ends a run early.
import { randomInt } from 'node:crypto';
import { Chance } from '../../support/chance.ts';
import { NOT_GIVEN, ResultFile, readOptions, say } from '../program.ts';
import { type CrashRound, crashRounds } from './crash-rounds.ts';

const ROUNDS_EACH = 50;
const DURABILITIES = ['fsync', 'commit'] as const;
type Durability = (typeof DURABILITIES)[number];

const { seed, out, minutes, operands } = readOptions({
  seed: randomInt(2 ** 31),
  out: NOT_GIVEN,
  minutes: 1_000_000,
});
const asked = Number(operands[0] ?? ROUNDS_EACH);
if (!Number.isSafeInteger(asked) || asked < 1)
  throw new Error(`ROUNDS is a whole number from 1 on: ${asked}`);
const untilMs = performance.now() + minutes * 60_000;
const results = new ResultFile<CrashRound & { readonly durability: Durability }>(out);
say(`seed ${seed}`);

function roundsOf(durability: Durability) {
  return results.all.filter((round) => round.durability === durability);
}

async function runAll(durability: Durability): Promise<void> {
  const isOver = () => performance.now() > untilMs || roundsOf(durability).length >= asked;
  for (let folder = 0; !isOver(); folder++) {
    const rounds = await crashRounds({
      rounds: Math.min(ROUNDS_EACH, asked - roundsOf(durability).length),
      chance: new Chance(`crash ${seed} ${durability} ${folder}`),
      environment: { QRN_DURABILITY: durability },
      killsStarts: true,
      report: (line) => say(`${durability} ${line}`),
      onRound: (round) => results.add({ durability, ...round }),
      isOver,
    });
    if (rounds.some(({ violations }) => violations.length > 0)) return;
  }
}

await Promise.all(DURABILITIES.map(runAll));

for (const durability of DURABILITIES) {
  const done = roundsOf(durability);
  const sum = (count: (round: CrashRound) => number) =>
    done.reduce((total, round) => total + count(round), 0);
  const violations = done.flatMap((round) => round.violations);
  say(
    `${durability}: ${done.length} rounds, ${sum(({ acknowledged }) => acknowledged)} answers acknowledged in ${sum(({ acknowledged }) => Math.sign(acknowledged))} of them, ` +
      `${sum(({ recovered }) => recovered)} kills between journal and LMDB, ${sum(({ startsKilled }) => startsKilled)} starts killed, ` +
      `${violations.length} violations`,
  );
  for (const violation of violations.slice(0, 20)) say(`  ${violation}`);
  if (violations.length === 0) continue;
  say(`repeat: node test/adversary/crash/run.ts ${asked} --seed ${seed}`);
  process.exitCode = 1;
}
