/**
 * An account's limits: each call of a meter alone on its cell, and one key authenticated again.
 *   node bench/meter.bench.ts    table of medians, JSON in bench/out/meter.json
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { Bench } from 'tinybench';
import { createCell, Meter } from '../src/account/meter.ts';
import { TIER_ALLOWANCES } from '../src/account/tiers.ts';
import { directoryOfOneKey } from './support/one-key.ts';

/** Calls in one measured run: the clock of the bench is coarser than one call. */
const CALLS = 1_000;
const PERIOD = 202_611;

const { directory, key } = await directoryOfOneKey('business');
// as a header gives it: a new string each time, whose hash is not known yet
const keyText = () => Buffer.from(key).toString('latin1');

const allowance = { ...TIER_ALLOWANCES.business, requestsPerMonth: 1e15, creditsPerMonth: 1e15 };
const meter = new Meter(createCell(allowance), allowance);
let nowMs = 1;

function thousand(call: () => unknown): () => void {
  return () => {
    for (let i = 0; i < CALLS; i++) call();
  };
}

const bench = new Bench({ time: 500 })
  .add(
    'admitted',
    thousand(() => meter.admit((nowMs += 30))),
  )
  .add(
    'refused',
    thousand(() => meter.admit(nowMs)),
  )
  .add(
    'data request',
    thousand(() => meter.enter((nowMs += 30), PERIOD)),
  )
  .add(
    'pure request, released',
    thousand(() => {
      const reservation = meter.enter((nowMs += 30), PERIOD);
      reservation.takeCredits(16);
      reservation.release();
    }),
  )
  .add(
    'a key again',
    thousand(() => directory.authenticate(key)),
  )
  .add(
    'a key again, new string',
    thousand(() => directory.authenticate(keyText())),
  );
await bench.run();

const rows = bench.tasks.map(({ name, result }) => {
  const { p50, p99 } = (result as { latency: { p50: number; p99: number } }).latency;
  return { call: name, median_ns: Math.round((p50 * 1e6) / CALLS), p99_ns: Math.round((p99 * 1e6) / CALLS) };
});
console.table(rows);
mkdirSync(new URL('out/', import.meta.url), { recursive: true });
writeFileSync(new URL('out/meter.json', import.meta.url), `${JSON.stringify(rows, null, 2)}\n`);
directory.close();
