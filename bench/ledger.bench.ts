import { join } from 'node:path';
import { PostgresPair, serverPrograms } from '../test/support/postgres-pair.ts';
import { threadTimes } from '../test/support/process-usage.ts';
import { endWithUs } from './support/children.ts';
import { hammered } from './support/measured.ts';
import { comparison, nameFor } from './support/revisions.ts';
import { alternate, type Contender, type Sample } from './support/rounds.ts';
import { dataFolder, type Service, startService, withServers } from './support/server.ts';
import type { BenchRun, Report, Subject, Suite, Table } from './support/suite.ts';
import { of, ratio, rowsOf } from './support/tables.ts';

const LOTS = 24;
const LEAVES = 16_384;
const SEGMENTS = 16;
const CHANGES = 1_000;
const SMALL = '/v1/integers?count=10';
/** The commitment of a lot whose blocks nobody verifies. */
const NOTHING = { pureBytes: 0, blockRoots: '', seedHashes: '' };

/** Databases of one primary, one for each ledger. */
interface Databases {
  next(): Promise<string>;
}

/** Measures what the ledger costs in each store, and what a synchronous standby costs the answers. */
export const ledger: Suite = {
  name: 'ledger',
  summary: `a lot, ${LEAVES} leaves and ${CHANGES} changes of the directory in each store; answers with a standby; the ledger's thread`,
  byDefault: false,
  async run(run): Promise<Report> {
    const programs = serverPrograms();
    if (programs === undefined) throw new Error('the suite ledger needs the server programs of PostgreSQL');
    const pair = await PostgresPair.start({ programs, isSynchronous: true });
    let made = 0;
    const databases: Databases = {
      async next() {
        const name = `bench_${++made}`;
        await pair.query(`CREATE DATABASE ${name}`, 'postgres');
        return pair.url(pair.port, name);
      },
    };
    try {
      return { tables: [await books(run, databases), ...(await answers(run, databases))] };
    } finally {
      await pair.stop();
    }
  },
};

async function books(run: BenchRun, databases: Databases): Promise<Table> {
  const contenders = run.subjects.flatMap((subject): Contender[] =>
    (['LMDB', 'PostgreSQL with a synchronous standby'] as const).map((store) => ({
      name: nameFor(run, subject, store),
      measure: async () => measured(subject, store === 'LMDB' ? undefined : await databases.next()),
    })),
  );
  const columns = [
    of('addLot ms', 'lotMs', { spread: true }),
    of(`${LEAVES} leaves ms`, 'sealMs', { spread: true }),
    of(`${CHANGES} changes ms`, 'changesMs', { spread: true }),
    ...comparison(run, 'addLot', 'lotMs'),
    ...comparison(run, 'leaves', 'sealMs'),
    ...comparison(run, 'changes', 'changesMs'),
  ];
  return {
    title: 'The books',
    note:
      `addLot: the median of ${LOTS} lots of 25 pure blocks and 16 seeds. Leaves: the log seals ${SEGMENTS} committed segments. ` +
      'Changes: keys, one after the other.',
    columns,
    rows: rowsOf(columns, await alternate(contenders, run.rounds)),
  };
}

/** Measures one new ledger by a subject's own source, in a folder or in the database at `url`. */
async function measured({ root }: Subject, url: string | undefined): Promise<Sample> {
  const load = async <T>(path: string) => (await import(new URL(path, root).href)) as T;
  const folders = await load<typeof import('../test/support/ledger-folder.ts')>(
    'test/support/ledger-folder.ts',
  );
  const records = await load<typeof import('../test/support/ledger-records.ts')>(
    'test/support/ledger-records.ts',
  );
  const clocks = await load<typeof import('../test/support/manual-clock.ts')>('test/support/manual-clock.ts');
  const logs = await load<typeof import('../src/core/log.ts')>('src/core/log.ts');
  const certificates = await load<typeof import('../src/certificate/open.ts')>('src/certificate/open.ts');
  const postgres = await load<typeof import('../src/ledger/postgres/postgres-ledger.ts')>(
    'src/ledger/postgres/postgres-ledger.ts',
  );
  const folder = dataFolder();
  const [path, keysPath, logName] = [join(folder, 'ledger'), join(folder, 'keys'), 'bench/log'];
  const clock = new clocks.ManualClock(records.NOON_MS);
  const options = { path, clock, durability: 'fsync', freeBytesMin: 0 } as const;
  const ledger = await (url === undefined
    ? folders.openTestLedger(path, options)
    : postgres.openPostgresLedger({ ...options, url, node: 'bench', log: logs.silentLog, role: 'server' }));
  try {
    const pure = Array.from({ length: 25 }, () => records.block('pure', 1, 4_096));
    const blocks = [...pure, ...Array.from({ length: 16 }, () => records.block('seed', 1))];
    const lotMs: number[] = [];
    for (let n = 1; n <= LOTS; n++) {
      lotMs.push(await timed(() => ledger.addLot(records.lot(n, { commitment: NOTHING }), blocks)));
    }
    const { log } = await certificates.openCertificates({
      ledger,
      ledgerPath: path,
      keysPath,
      logName,
      clock,
    });
    await log?.sealAll(); // seals the leaves of the lots, which the measurement leaves out
    const { from } = await ledger.leaseSequences();
    for (let i = 0; i < SEGMENTS; i++)
      await ledger.commit(
        [records.filledSegment(from + i, LEAVES / SEGMENTS, {}, [records.source('csprng', [1])])],
        [],
      );
    const sealMs = await timed(async () => log?.sealAll());
    const { id } = await ledger.createAccount(records.account(1));
    const changesMs = await timed(async () => {
      for (let n = 1; n <= CHANGES; n++) await ledger.putKey(records.key(n, id));
    });
    return { lotMs: lotMs.sort((a, b) => a - b)[LOTS >> 1], sealMs, changesMs };
  } finally {
    await ledger.close();
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

function answers(run: BenchRun, databases: Databases): Promise<Table[]> {
  return withServers(async (keep) => {
    const services: [string, Service][] = [];
    for (const subject of run.subjects) {
      services.push([nameFor(run, subject, 'LMDB'), keep(await startService(subject))]);
      const cluster = { QRN_LEDGER: await databases.next(), QRN_NODE: 'bench' };
      const far = keep(await startService(subject, cluster));
      endWithUs(far.server.process);
      services.push([nameFor(run, subject, 'PostgreSQL with a synchronous standby'), far]);
    }
    const tables: Table[] = [];
    for (const connections of [64, 256]) {
      const load = { connections, seconds: run.seconds };
      const contenders = services.map(([name, service]) =>
        withLedgerThread(hammered(name, service, SMALL, load), service),
      );
      const columns = [
        of('answers/s', 'answersPerS'),
        ratio('of LMDB', 'answersPerS', services[0][0]),
        of('p99 µs', 'p99Us'),
        of("ledger's thread µs an answer", 'ledgerUs', { spread: true }),
        ...comparison(run, "ledger's thread", 'ledgerUs'),
      ];
      tables.push({
        title: `GET ${SMALL}, ${connections} connections`,
        note: "The ledger's thread: the busiest one but the front.",
        columns,
        rows: rowsOf(columns, await alternate(contenders, run.rounds)),
      });
    }
    return tables;
  });
}

/** Adds the CPU that the busiest thread except the main one takes for each answer. */
function withLedgerThread(contender: Contender, { pid }: Service): Contender {
  return {
    name: contender.name,
    async measure(phase) {
      const before = threadTimes(pid);
      const startedMs = performance.now();
      const sample = await contender.measure(phase);
      const answered = ((sample['answersPerS'] ?? Number.NaN) * (performance.now() - startedMs)) / 1_000;
      const spent = [...threadTimes(pid)].map(([thread, ns]) =>
        thread === pid ? 0 : ns - (before.get(thread) ?? 0),
      );
      return { ...sample, ledgerUs: Math.max(...spent) / 1e3 / answered };
    },
  };
}
