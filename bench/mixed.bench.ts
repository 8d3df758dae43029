import type { LoadResult } from './support/load.ts';
import { type Ask, loadOn, requireAnswers } from './support/measured.ts';
import { JSON_TWIN } from './support/peers.ts';
import { residentMemory } from './support/process-usage.ts';
import { comparisonCell, comparisonColumn, nameFor } from './support/revisions.ts';
import { alternate, type Contender } from './support/rounds.ts';
import { type Server, startService, stopAll } from './support/server.ts';
import type { BenchRun, Report, Row, Suite } from './support/suite.ts';
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
  async run(run): Promise<Report> {
    const servers: { name: string; server: Server }[] = [];
    try {
      for (const subject of run.subjects) {
        const name = nameFor(run, subject, 'service');
        run.talk(`starting ${name}`);
        servers.push({ name, server: await startService(subject) });
      }
      servers.push({ name: JSON_TWIN.name, server: await JSON_TWIN.start() });
      const contenders = servers.flatMap(({ name, server }) => [
        mixture(run, name, server, undefined),
        ...TWO_KINDS.map((kind) => mixture(run, name, server, kind)),
      ]);
      run.talk(`${contenders.length} mixtures, ${run.rounds} rounds of ${run.seconds} s`);
      const rounds = await alternate(contenders, run.rounds);
      const rows = rounds.names.map((label): Row => {
        const alone = `${ALONE}: ${label.slice(label.indexOf(': ') + 2)}`;
        return {
          label,
          cells: [
            ...COLUMNS.map(({ quantity }) => rounds.of(label, quantity)),
            rounds.ratio(label, alone, 'p50Us'),
            rounds.ratio(label, alone, 'p99Us'),
            ...comparisonCell(run, rounds, label, 'p99Us'),
          ],
        };
      });
      return { tables: [{ title: TITLE, note: NOTE, columns: columns(run), rows }] };
    } finally {
      await stopAll(servers.map(({ server }) => server));
    }
  },
};

const TITLE = `GET ${SMALL.path} at ${SMALL_PER_S}/s beside ${BATCH_CONNECTIONS} connections asking for ${BATCH_COUNT.toLocaleString('en-US')} values each`;
const NOTE =
  'Latencies are those of the small requests, from the moment each was due; x alone: against the same server without batches.';

const COLUMNS = [
  { title: 'p50 µs', quantity: 'p50Us' },
  { title: 'p90 µs', quantity: 'p90Us' },
  { title: 'p99 µs', quantity: 'p99Us', spread: true },
  { title: 'p99.9 µs', quantity: 'p999Us' },
  { title: 'failed %', quantity: 'failedPercent' },
  { title: 'batches/s', quantity: 'batchesPerS' },
  { title: 'batch p50 ms', quantity: 'batchP50Ms' },
  { title: 'peak MiB', quantity: 'peakMib' },
];

function columns(run: BenchRun) {
  return [
    ...COLUMNS,
    { title: 'p50 x alone', spread: true },
    { title: 'p99 x alone', spread: true },
    ...comparisonColumn(run, 'p99'),
  ];
}

function mixture(run: BenchRun, server: string, on: Server, kind: ValueKind | undefined): Contender {
  const name = `${kind === undefined ? ALONE : kind.name}: ${server}`;
  const durationMs = 1_000 * run.seconds;
  return {
    name,
    async measure() {
      const steady = loadOn(on, SMALL, SMALL_CONNECTIONS, {
        kind: 'open',
        ratePerS: SMALL_PER_S,
        durationMs,
      });
      const bulk = kind && loadOn(on, batchAsk(kind), BATCH_CONNECTIONS, { kind: 'closed', durationMs });
      const [small, batches] = await Promise.all([steady, bulk]);
      if (batches !== undefined) requireAnswers(name, batches);
      return {
        ...smallQuantities(small),
        ...batchQuantities(batches),
        peakMib: residentMemory(on.pid)?.peakMib,
      };
    },
  };
}

function batchAsk(kind: ValueKind): Ask {
  return { method: 'POST', path: '/v1/batch', body: batchBody(kind, BATCH_COUNT) };
}

function smallQuantities({ latency, answers, failures }: LoadResult) {
  return {
    p50Us: latency.quantile(0.5),
    p90Us: latency.quantile(0.9),
    p99Us: latency.quantile(0.99),
    p999Us: latency.quantile(0.999),
    failedPercent: (100 * failures) / (answers + failures),
  };
}

function batchQuantities(batches: LoadResult | undefined) {
  if (batches === undefined) return {};
  return { batchesPerS: batches.answersPerS, batchP50Ms: batches.latency.quantile(0.5) / 1e3 };
}
