// `node test/adversary/crash/run.ts [ROUNDS] [--seed N] [--minutes N]`: kills the real service ROUNDS times in either durability, 50
// times when left out, and audits what each kill left. Both durabilities run side by side, since a round mostly waits.
// A folder serves for ROUNDS_EACH rounds, because its audit takes longer with every round. --minutes ends a run early.
import { randomInt } from 'node:crypto';
import { Chance } from '../../support/chance.ts';
import { readOptions, say } from '../program.ts';
import { type CrashRound, crashRounds } from './crash-rounds.ts';

const ROUNDS_EACH = 50;
const DURABILITIES = ['fsync', 'commit'] as const;
type Durability = (typeof DURABILITIES)[number];

const { seed, minutes, operands } = readOptions({ seed: randomInt(2 ** 31), minutes: 1_000_000 });
const asked = Number(operands[0] ?? ROUNDS_EACH);
if (!Number.isSafeInteger(asked) || asked < 1)
  throw new Error(`ROUNDS is a whole number from 1 on: ${asked}`);
const untilMs = performance.now() + minutes * 60_000;
const done: Record<Durability, CrashRound[]> = { fsync: [], commit: [] };
say(`seed ${seed}`);

async function runAll(durability: Durability): Promise<void> {
  const all = done[durability];
  const isOver = () => performance.now() > untilMs || all.length >= asked;
  for (let folder = 0; !isOver(); folder++) {
    const rounds = await crashRounds({
      rounds: Math.min(ROUNDS_EACH, asked - all.length),
      chance: new Chance(`crash ${seed} ${durability} ${folder}`),
      environment: { QRN_DURABILITY: durability },
      killsStarts: true,
      report: (line) => say(`${durability} ${line}`),
      onRound: (round) => all.push(round),
      isOver,
    });
    if (rounds.some(({ violations }) => violations.length > 0)) return;
  }
}

await Promise.all(DURABILITIES.map(runAll));

for (const durability of DURABILITIES) {
  const all = done[durability];
  const sum = (count: (round: CrashRound) => number) => all.reduce((total, round) => total + count(round), 0);
  const violations = all.flatMap((round) => round.violations);
  say(
    `${durability}: ${all.length} rounds, ${sum(({ acknowledged }) => acknowledged)} answers acknowledged in ${sum(({ acknowledged }) => Math.sign(acknowledged))} of them, ` +
      `${sum(({ recovered }) => recovered)} kills between journal and LMDB, ${sum(({ startsKilled }) => startsKilled)} starts killed, ` +
      `${violations.length} violations`,
  );
  for (const violation of violations.slice(0, 20)) say(`  ${violation}`);
  if (violations.length === 0) continue;
  say(`repeat: node test/adversary/crash/run.ts ${asked} --seed ${seed}`);
  process.exitCode = 1;
}
