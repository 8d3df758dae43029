import { residentMemory } from '../test/support/process-usage.ts';
import { type Ask, latenciesOf, loadOn, requireAnswers } from './support/measured.ts';
import { JSON_TWIN } from './support/peers.ts';
import { comparison, nameFor } from './support/revisions.ts';
import { alternate, type Contender } from './support/rounds.ts';
import { type Server, startService, withServers } from './support/server.ts';
import type { BenchRun, Report, Suite } from './support/suite.ts';
import { type Measure, of, rowsOf } from './support/tables.ts';
import { batchBody, TWO_KINDS, type ValueKind } from './support/value-kinds.ts';

const SMALL: Ask = { method: 'GET', path: '/v1/integers?count=10' };
/** Well below what a small server answers, so that the batches decide. */
const SMALL_PER_S = 1_000;
const SMALL_CONNECTIONS = 32;
const BATCH_CONNECTIONS = 4;
const BATCH_COUNT = 100_000;
const ALONE = 'alone';

/** What small requests feel of large ones. */
export const mixed: Suite = {
  name: 'mixed',
  summary: `${SMALL_PER_S} small requests/s, alone and beside ${BATCH_CONNECTIONS} connections of batches`,
  byDefault: true,
  run: (run): Promise<Report> =>
    withServers(async (keep) => {
      const servers: { name: string; server: Server }[] = [];
      for (const subject of run.subjects) {
        const name = nameFor(run, subject, 'service');
        run.talk(`starting ${name}`);
        servers.push({ name, server: keep(await startService(subject)) });
      }
      servers.push({ name: JSON_TWIN.name, server: keep(await JSON_TWIN.start()) });
      const contenders = servers.flatMap(({ name, server }) => [
        mixture(run, name, server, undefined),
        ...TWO_KINDS.map((kind) => mixture(run, name, server, kind)),
      ]);
      run.talk(`${contenders.length} mixtures, ${run.rounds} rounds of ${run.seconds} s`);
      const rounds = await alternate(contenders, run.rounds);
      const columns = [...MEASURES, ...comparison(run, 'p99', 'p99Us')];
      return { tables: [{ title: TITLE, note: NOTE, columns, rows: rowsOf(columns, rounds) }] };
    }),
};

const TITLE = `GET ${SMALL.path} at ${SMALL_PER_S}/s beside ${BATCH_CONNECTIONS} connections asking for ${BATCH_COUNT.toLocaleString('en-US')} values each`;
const NOTE =
  'Latencies are those of the small requests, from the moment each was due; x alone: against the same server without batches.';

/** A quantity divided by that of the same server without batches. */
const beyondAlone = (title: string, quantity: string): Measure => ({
  title,
  spread: true,
  cell: (rounds, name) => rounds.ratio(name, `${ALONE}: ${name.slice(name.indexOf(': ') + 2)}`, quantity),
});

const MEASURES: readonly Measure[] = [
  of('p50 µs', 'p50Us'),
  of('p90 µs', 'p90Us'),
  of('p99 µs', 'p99Us', { spread: true }),
  of('p99.9 µs', 'p999Us'),
  of('failed %', 'failedPercent'),
  of('batches/s', 'batchesPerS'),
  of('batch p50 ms', 'batchP50Ms'),
  of('peak MiB', 'peakMib'),
  beyondAlone('p50 x alone', 'p50Us'),
  beyondAlone('p99 x alone', 'p99Us'),
];

function mixture(run: BenchRun, server: string, on: Server, kind: ValueKind | undefined): Contender {
  const name = `${kind === undefined ? ALONE : kind.name}: ${server}`;
  const durationMs = 1_000 * run.seconds;
  return {
    name,
    async measure() {
      const loop = { kind: 'open', ratePerS: SMALL_PER_S, durationMs } as const;
      const steady = loadOn(on, SMALL, SMALL_CONNECTIONS, loop);
      const bulk = kind && loadOn(on, batchAsk(kind), BATCH_CONNECTIONS, { kind: 'closed', durationMs });
      const [small, batches] = await Promise.all([steady, bulk]);
      if (batches !== undefined) requireAnswers(name, batches);
      return {
        ...latenciesOf(small),
        batchesPerS: batches?.answersPerS,
        batchP50Ms: batches && batches.latency.quantile(0.5) / 1e3,
        peakMib: residentMemory(on.pid)?.peakMib,
      };
    },
  };
}

function batchAsk(kind: ValueKind): Ask {
  return { method: 'POST', path: '/v1/batch', body: batchBody(kind, BATCH_COUNT) };
}
