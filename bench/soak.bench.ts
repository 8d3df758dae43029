import { residentMemory } from '../test/support/process-usage.ts';
import { type Ask, latenciesOf, loadOn, withCosts } from './support/measured.ts';
import { nameFor } from './support/revisions.ts';
import { Rounds } from './support/rounds.ts';
import { startService } from './support/server.ts';
import type { BenchRun, Report, Subject, Suite } from './support/suite.ts';
import { of, rowsOf } from './support/tables.ts';
import { batchBody, VALUE_KINDS } from './support/value-kinds.ts';

/** Slices of the run that are told apart. */
const SLICES = 10;
const SLICE_SECONDS = 6;
const SMALL_PER_S = 2_000;

/** A steady load for a long while: what grows, slows down or fails only then. */
export const soak: Suite = {
  name: 'soak',
  summary: `${SMALL_PER_S} small requests/s and one connection of batches, ${SLICES} slices of ${SLICE_SECONDS} s times --seconds`,
  byDefault: false,
  async run(run): Promise<Report> {
    const rounds = new Rounds();
    for (const subject of run.subjects) await slices(run, subject, rounds);
    return {
      tables: [
        {
          title: 'Steady load, slice by slice',
          note: 'Private memory must level off, latency stay, failures be none. RSS holds pages of the ledger file besides.',
          columns: MEASURES,
          rows: rowsOf(MEASURES, rounds),
        },
      ],
    };
  },
};

const MEASURES = [
  of('RSS MiB', 'nowMib'),
  of('private MiB', 'privateMib'),
  of('p50 µs', 'p50Us'),
  of('p99 µs', 'p99Us'),
  of('CPU µs/small request', 'cpuUs'),
  of('batches/s', 'batchesPerS'),
  of('failed', 'failures'),
];

/** Each slice is a contender of one round. */
async function slices(run: BenchRun, subject: Subject, rounds: Rounds): Promise<void> {
  run.talk(`starting ${nameFor(run, subject, 'service')}`);
  const service = await startService(subject);
  const durationMs = 1_000 * SLICE_SECONDS * run.seconds;
  const large: Ask = { method: 'POST', path: '/v1/batch', body: batchBody(VALUE_KINDS[0], 100_000) };
  const small: Ask = { method: 'GET', path: '/v1/integers?count=10' };
  try {
    for (let slice = 1; slice <= SLICES; slice++) {
      run.talk(`slice ${slice} of ${SLICES}`);
      const bulk = loadOn(service, large, 1, { kind: 'closed', durationMs });
      const loop = { kind: 'open', ratePerS: SMALL_PER_S, durationMs } as const;
      const { result, costs } = await withCosts(service, () => loadOn(service, small, 64, loop));
      const batches = await bulk;
      rounds.add(nameFor(run, subject, `${(slice * durationMs) / 1_000} s`), {
        ...residentMemory(service.pid),
        ...latenciesOf(result),
        ...costs,
        batchesPerS: batches.answersPerS,
        failures: result.failures + batches.failures,
      });
    }
  } finally {
    await service.stop();
  }
}
