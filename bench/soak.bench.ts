import { loadOn, withCosts } from './support/measured.ts';
import { residentMemory } from './support/process-usage.ts';
import { nameFor } from './support/revisions.ts';
import { startService } from './support/server.ts';
import { summarize } from './support/statistics.ts';
import type { BenchRun, Report, Row, Subject, Suite } from './support/suite.ts';
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
    const rows: Row[] = [];
    for (const subject of run.subjects) rows.push(...(await soaked(run, subject)));
    return {
      tables: [
        {
          title: 'Steady load, slice by slice',
          note: 'Private memory must level off, latency stay, failures be none. RSS holds pages of the ledger file besides.',
          columns: [
            { title: 'RSS MiB' },
            { title: 'private MiB' },
            { title: 'p50 µs' },
            { title: 'p99 µs' },
            { title: 'CPU µs/small request' },
            { title: 'batches/s' },
            { title: 'failed' },
          ],
          rows,
        },
      ],
    };
  },
};

async function soaked(run: BenchRun, subject: Subject): Promise<Row[]> {
  run.talk(`starting ${nameFor(run, subject, 'service')}`);
  const service = await startService(subject);
  const durationMs = 1_000 * SLICE_SECONDS * run.seconds;
  const body = batchBody(VALUE_KINDS[0], 100_000);
  const rows: Row[] = [];
  try {
    for (let slice = 1; slice <= SLICES; slice++) {
      run.talk(`slice ${slice} of ${SLICES}`);
      const bulk = loadOn(service, { method: 'POST', path: '/v1/batch', body }, 1, {
        kind: 'closed',
        durationMs,
      });
      const ask = { method: 'GET' as const, path: '/v1/integers?count=10' };
      const loop = { kind: 'open' as const, ratePerS: SMALL_PER_S, durationMs };
      const { result, costs } = await withCosts(service, () => loadOn(service, ask, 64, loop));
      const batches = await bulk;
      const memory = residentMemory(service.pid);
      const cells = [
        memory?.nowMib,
        memory?.privateMib,
        result.latency.quantile(0.5),
        result.latency.quantile(0.99),
        costs['cpuUs'],
        batches.answersPerS,
        result.failures + batches.failures,
      ];
      rows.push({
        label: nameFor(run, subject, `${(slice * durationMs) / 1_000} s`),
        cells: cells.map((value) => summarize([value])),
      });
    }
  } finally {
    await service.stop();
  }
  return rows;
}
