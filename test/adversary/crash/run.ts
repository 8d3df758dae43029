// `npm run test:crash [-- ROUNDS]`: kills the real service ROUNDS times in either durability, 50 times when left out, and
// audits what each kill left. A folder serves for ROUNDS_EACH rounds, since its audit takes longer with every round.
import { type CrashOutcome, crashRounds } from './crash-rounds.ts';

const ROUNDS_EACH = 50;
const asked = Number(process.argv[2] ?? ROUNDS_EACH);

for (const durability of ['fsync', 'commit']) {
  const environment = { QRN_DURABILITY: durability };
  const report = (line: string) => process.stdout.write(`${durability} ${line}\n`);
  const sums = { rounds: 0, acknowledged: 0, recovered: 0, startsKilled: 0 };
  const violations: string[] = [];
  while (sums.rounds < asked && violations.length === 0) {
    const rounds = Math.min(ROUNDS_EACH, asked - sums.rounds);
    const outcome: CrashOutcome = await crashRounds({ rounds, environment, killsStarts: true, report });
    for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += outcome[name];
    violations.push(...outcome.violations);
  }
  process.stdout.write(
    `${durability}: ${sums.rounds} rounds, ${sums.acknowledged} answers acknowledged, ${sums.recovered} kills between journal and LMDB, ${sums.startsKilled} starts killed, ${violations.length} violations\n`,
  );
  for (const violation of violations.slice(0, 20)) process.stdout.write(`  ${violation}\n`);
  if (violations.length > 0) process.exitCode = 1;
}
