// `node test/adversary/soak/run.ts --minutes N [--rate R] [--seed S] [--durability fsync|commit] [--arenas N]`: a
// long mixed load, with restarts. `--arenas` bounds the heaps of glibc's malloc (MALLOC_ARENA_MAX).
import { aligned, NOT_GIVEN, readOptions, say } from '../program.ts';
import { type SoakOutcome, soak } from './soak.ts';
import type { Trend } from './trend.ts';

/** Growth of the fitted line over the last life after its warm-up; memory that is not collected yet is no growth. */
const MEMORY_GROWTH_MIB = 16;
const MEMORY_GROWTH_SHARE = 0.08;
/** Growth of the 99th percentile likewise, as a share: a shared machine affects it more. */
const P99_GROWTH_SHARE = 0.5;
/** A revoked key is refused within a second; the rest is for a machine that is busy. */
const REVOKED_SERVED_MS = 2_000;

const { minutes, rate, seed, durability, arenas } = readOptions({
  minutes: 10,
  rate: 0,
  seed: 1,
  durability: 'fsync',
  arenas: NOT_GIVEN,
});

const outcome = await soak({
  seconds: 60 * minutes,
  ratePerS: rate === 0 ? undefined : rate,
  seed,
  environment: { QRN_DURABILITY: durability, ...(arenas !== undefined && { MALLOC_ARENA_MAX: arenas }) },
  report: say,
});
const failures = [...outcome.ledger.violations, ...trendFailures(outcome)];
for (const line of aligned(rowsOf(outcome))) say(line);
for (const failure of failures) say(`FAILED ${failure}`);
process.exitCode = failures.length === 0 ? 0 : 1;

function trendFailures({ memory, p99, client: { revokedServedMs } }: SoakOutcome): string[] {
  const found: string[] = [];
  if (memory === undefined || p99 === undefined) found.push('the last life was too short to judge');
  else {
    const allowed = Math.max(MEMORY_GROWTH_MIB, MEMORY_GROWTH_SHARE * memory.median);
    if (memory.growth > allowed) found.push(`private memory grew by ${memory.growth.toFixed(1)} MiB`);
    if (p99.growth > P99_GROWTH_SHARE * p99.median) found.push(`p99 grew by ${p99.growth.toFixed(0)} µs`);
  }
  if (revokedServedMs > REVOKED_SERVED_MS)
    found.push(`a revoked key served for ${revokedServedMs.toFixed(0)} ms`);
  return found;
}

function rowsOf(outcome: SoakOutcome): string[][] {
  const { client, ledger, verified } = outcome;
  const trend = (each: Trend | undefined, unit: string) =>
    each === undefined
      ? 'too short'
      : `${each.median.toFixed(1)} ${unit}, ${each.perMinute.toFixed(2)} a minute, ${each.growth.toFixed(1)} over ${each.points} points`;
  const refused = [...client.refusals].map(([code, count]) => `${count} ${code}`).join(', ');
  return [
    ['rate', `${outcome.ratePerS} requests/s`],
    ['acknowledged', `${client.acknowledged.count} answers; ${client.unknown} outcomes unknown`],
    ['refused', refused === '' ? 'none' : refused],
    ['certificates verified', String(verified)],
    ['private memory', trend(outcome.memory, 'MiB')],
    ['p99 of small requests', trend(outcome.p99, 'µs')],
    ['violations', String(ledger.violations.length)],
  ];
}
