// `npm run test:crash [-- ROUNDS]`: kills the real service again and again and audits what is left.
import { crashRounds } from './crash-rounds.ts';

const rounds = Number(process.argv[2] ?? 50);
for (const durability of ['fsync', 'commit']) {
  const environment = { QRN_DURABILITY: durability };
  const report = (line: string) => process.stdout.write(`${durability} ${line}\n`);
  const outcome = await crashRounds({ rounds, environment, killsStarts: true, report });
  process.stdout.write(
    `${durability}: ${outcome.rounds} rounds, ${outcome.acknowledged} answers acknowledged, ${outcome.recovered} kills between journal and LMDB, ${outcome.startsKilled} starts killed, ${outcome.violations.length} violations\n`,
  );
  for (const violation of outcome.violations.slice(0, 20)) process.stdout.write(`  ${violation}\n`);
  if (outcome.violations.length > 0) process.exitCode = 1;
}
