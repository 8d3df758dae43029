import { hammered, loaded } from './support/measured.ts';
import { alternate } from './support/rounds.ts';
import { startService, withServers } from './support/server.ts';
import type { BenchRun, Report, Row, Suite } from './support/suite.ts';
import { of, ratio, rowOf } from './support/tables.ts';
import { batchBody, TWO_KINDS } from './support/value-kinds.ts';

const ENGINES = ['uws', 'node'] as const;
const PATH = '/v1/integers?count=10';
const BATCH_COUNT = 100_000;
const BATCH_CONNECTIONS = 8;
/** Time of one engine in one round of batches. */
const BATCH_MS = 1_000;

/**
 * Measures what the engine without a binary package costs: the whole service runs with each engine and is otherwise the
 * same.
 */
export const engines: Suite = {
  name: 'engines',
  summary: 'the service with QRN_FRONT=uws and =node: small requests at 64 and 256 connections, batches',
  byDefault: false,
  run: (run): Promise<Report> =>
    withServers(async (keep) => {
      const [subject] = run.subjects;
      const services: { name: string; server: Awaited<ReturnType<typeof startService>> }[] = [];
      for (const engine of ENGINES) {
        run.talk(`starting the service with QRN_FRONT=${engine}`);
        services.push({ name: engine, server: keep(await startService(subject, { QRN_FRONT: engine })) });
      }
      const rows: Row[] = [];
      for (const connections of [64, 256]) {
        const load = { connections, seconds: run.seconds };
        const contenders = services.map(({ name, server }) => hammered(name, server, PATH, load));
        rows.push(...(await race(run, `GET ${PATH}, ${connections} connections`, contenders)));
      }
      for (const kind of TWO_KINDS) {
        const ask = { method: 'POST', path: '/v1/batch', body: batchBody(kind, BATCH_COUNT) } as const;
        const loop = { kind: 'closed', durationMs: BATCH_MS * run.seconds } as const;
        const contenders = services.map(({ name, server }) =>
          loaded(name, server, ask, BATCH_CONNECTIONS, loop),
        );
        const values = `${BATCH_COUNT.toLocaleString('en-US')} ${kind.name}, ${BATCH_CONNECTIONS} connections`;
        rows.push(...(await race(run, values, contenders)));
      }
      const title = 'The service with each engine, durability fsync';
      const note =
        'ratios: node against uws in the same round (lowest..highest round); CPU is that of all threads.';
      return { tables: [{ title, note, columns: COLUMNS, rows }] };
    }),
};

const COLUMNS = [
  of('uws requests/s', 'answersPerS', { name: 'uws' }),
  of('node requests/s', 'answersPerS', { name: 'node' }),
  ratio('requests/s', 'answersPerS', 'uws'),
  of('uws CPU µs', 'cpuUs', { name: 'uws' }),
  of('node CPU µs', 'cpuUs', { name: 'node' }),
  ratio('CPU a request', 'cpuUs', 'uws'),
  ratio('p99', 'p99Us', 'uws'),
];

async function race(
  run: BenchRun,
  label: string,
  contenders: Parameters<typeof alternate>[0],
): Promise<Row[]> {
  run.talk(label);
  return [rowOf(COLUMNS, await alternate(contenders, run.rounds), 'node', label)];
}
