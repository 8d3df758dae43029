import { join } from 'node:path';
import { CertificateIds } from '../src/certificate/ids.ts';
import { BATCH_LEAVES, CertificateLog, REMOTE_BATCH_LEAVES } from '../src/certificate/log.ts';
import { systemClock } from '../src/core/clock.ts';
import { silentLog } from '../src/core/log.ts';
import type { Ledger } from '../src/ledger/ledger.ts';
import { openLmdbLedger } from '../src/ledger/lmdb/lmdb.ts';
import { openPostgresLedger } from '../src/ledger/postgres/postgres-ledger.ts';
import { PostgresPair, serverPrograms } from '../test/adversary/cluster/postgres-pair.ts';
import { logKeys } from '../test/certificate/log-world.ts';
import { lot, lotId } from '../test/support/ledger-records.ts';
import { durableDatabase } from '../test/support/postgres.ts';
import { alternate, type Contender, type Rounds } from './support/rounds.ts';
import { SegmentSource, timedCommits } from './support/segments.ts';
import { dataFolder } from './support/server.ts';
import type { Report, Row, Suite, Table } from './support/suite.ts';
import { of, ratio, rowOf, rowsOf } from './support/tables.ts';

/** Certificates of one commit, and commits that wait at the same time. */
const LOADS = [
  { certificates: 64, inFlight: 1 },
  { certificates: 64, inFlight: 4 },
  { certificates: 256, inFlight: 1 },
  { certificates: 256, inFlight: 4 },
] as const;
/** Turns are short, and there are many: what the machine does meanwhile meets all contenders alike. */
const TURN_MS = 100;
const TURNS_PER_ROUND_SECOND = 3;
const LMDB = 'LMDB';
const ALONE = 'PostgreSQL';
const WITH_STANDBY = 'PostgreSQL with a synchronous standby';
const SEGMENTS_SEALED = 100;
const CERTIFICATES_SEALED = 256;

/** The books on PostgreSQL, alone and with a synchronous standby, beside those on LMDB: all with fsync, on one disk. */
export const cluster: Suite = {
  name: 'cluster',
  summary: 'a commit and the sealing of the log on PostgreSQL, alone and with a standby, beside LMDB',
  byDefault: false,
  async run(run): Promise<Report> {
    const folder = dataFolder();
    const url = await durableDatabase(folder);
    const common = { clock: systemClock, log: silentLog, role: 'server', durability: 'fsync' } as const;
    const programs = serverPrograms();
    const pair =
      programs === undefined
        ? undefined
        : await PostgresPair.start({ programs, isSynchronous: true, isTimed: true });
    if (pair === undefined) run.talk('without a standby: install the package postgresql');
    const onPostgres = async (name: string, database: string, path: string) => {
      const options = { ...common, url: database, node: 'bench', path: join(folder, path) };
      return new MeasuredBooks(name, await openPostgresLedger(options), REMOTE_BATCH_LEAVES);
    };
    const books = [
      new MeasuredBooks(LMDB, await openLmdbLedger({ ...common, path: join(folder, 'lmdb') })),
      await onPostgres(ALONE, url, 'node'),
      ...(pair === undefined ? [] : [await onPostgres(WITH_STANDBY, pair.place.url, 'node-of-pair')]),
    ];
    try {
      for (const each of books) await each.open();
      const commits: Row[] = [];
      for (const load of LOADS) {
        const what = `${load.certificates} certificates a commit, ${load.inFlight} at a time`;
        run.talk(what);
        const rounds = await alternate(
          books.map((each) => each.committing(load)),
          run.rounds * run.seconds * TURNS_PER_ROUND_SECOND,
        );
        commits.push(...rounds.names.map((name) => rowOf(COMMIT_COLUMNS, rounds, name, `${what}  ${name}`)));
        for (const each of books) await each.sealAll();
      }
      run.talk('sealing');
      const sealing = await alternate(
        books.map((each) => each.sealing()),
        run.rounds,
      );
      return { tables: tablesOf(commits, sealing) };
    } finally {
      for (const each of books) await each.close();
      pair?.stop();
    }
  },
};

class MeasuredBooks {
  readonly #name: string;
  readonly #ledger: Ledger;
  readonly #batchLeaves: number;
  readonly #segments = new SegmentSource([lotId(1)]);
  #log: CertificateLog | undefined;
  #sequence = 0;

  constructor(name: string, ledger: Ledger, batchLeaves = BATCH_LEAVES) {
    this.#name = name;
    this.#ledger = ledger;
    this.#batchLeaves = batchLeaves;
  }

  async open(): Promise<void> {
    this.#sequence = (await this.#ledger.leaseSequences()).from;
    await this.#ledger.addLot(lot(1), []);
    this.#log = await CertificateLog.open({
      store: this.#ledger,
      ids: new CertificateIds(new Uint8Array(32).fill(9)),
      keys: logKeys(1),
      clock: systemClock,
      batchLeaves: this.#batchLeaves,
    });
  }

  committing({ certificates, inFlight }: (typeof LOADS)[number]): Contender {
    const load = { certificates, inFlight, durationMs: TURN_MS };
    return { name: this.#name, measure: () => timedCommits(() => this.#commit(certificates), load) };
  }

  /** Leaves per second from committed segments to a signed checkpoint, the counters with them on PostgreSQL. */
  sealing(): Contender {
    const measure = async () => {
      for (let i = 0; i < SEGMENTS_SEALED; i++) await this.#commit(CERTIFICATES_SEALED);
      const begunMs = systemClock.monotonicMs();
      const cpu = process.cpuUsage();
      await this.sealAll();
      const { user, system } = process.cpuUsage(cpu);
      const leaves = SEGMENTS_SEALED * CERTIFICATES_SEALED;
      return {
        perS: (leaves / (systemClock.monotonicMs() - begunMs)) * 1e3,
        cpuUs: (user + system) / leaves,
      };
    };
    return { name: this.#name, measure };
  }

  async sealAll(): Promise<void> {
    await this.#log?.sealAll();
  }

  close(): Promise<void> {
    return this.#ledger.close();
  }

  #commit(certificates: number): Promise<void> {
    return this.#ledger.commit([this.#segments.make(this.#sequence++, certificates)], []);
  }
}

const COMMIT_COLUMNS = [
  of('p50 µs', 'us'),
  ratio('of LMDB', 'us', LMDB),
  of('p99 µs', 'p99Us'),
  of('certificates/s', 'perS'),
];
const SEAL_COLUMNS = [
  of('leaves/s', 'perS', { spread: true }),
  ratio('of LMDB', 'perS', LMDB),
  of('CPU µs a leaf', 'cpuUs'),
];

function tablesOf(commits: readonly Row[], sealing: Rounds): Table[] {
  return [
    {
      title: 'a commit on PostgreSQL',
      note: 'All wait for the disk, and take turns of 100 ms. The aim is a median of at most 1.2 times that of LMDB with 64 certificates, and of 2 times with a standby.',
      columns: COMMIT_COLUMNS,
      rows: commits,
    },
    {
      title: 'the sequencer',
      note: 'From committed segments to a signed checkpoint. The aim is 100,000 leaves/s on PostgreSQL.',
      columns: SEAL_COLUMNS,
      rows: rowsOf(SEAL_COLUMNS, sealing),
    },
  ];
}
