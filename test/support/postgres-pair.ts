import { execFile, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type pg from 'pg';
import { Link } from './link.ts';
import { administer } from './postgres.ts';
import { freePort } from './programs.ts';
import { until } from './server.ts';

/** PostgreSQL refuses to run as root; then it runs as `nobody`. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const DEBIAN = '/usr/lib/postgresql';
const USER = 'qrn';
const DATABASE = 'qrn';
const STANDBY = 'standby';
const STARTED_WITHIN_MS = 60_000;

/** The folder of Debian's server programs of the newest version; undefined where there are none. */
export function serverPrograms(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : [];
  return versions
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(DEBIAN, version, 'bin'))
    .find((folder) => existsSync(join(folder, 'pg_basebackup')));
}

interface PairOptions {
  readonly programs: string;
  /** False plants a fault: a commit is acknowledged before the standby has it. */
  readonly isSynchronous: boolean;
}

/** One of the two servers, with its data folder. */
interface PostgresServer {
  readonly data: string;
  readonly port: number;
}

/**
 * A primary and its synchronous standby, made with pg_basebackup. They speak over a link that can be cut. After a promotion
 * the loser is made anew, as the standby of the winner.
 */
export class PostgresPair {
  readonly folder: string;
  /** The link from the standby to its primary. */
  readonly link: Link;
  readonly #options: PairOptions;
  #primary: PostgresServer;
  #standby: PostgresServer | undefined;
  #servers = 0;

  private constructor(options: PairOptions, folder: string, link: Link, primary: PostgresServer) {
    this.#options = options;
    this.folder = folder;
    this.link = link;
    this.#primary = primary;
  }

  static async start(options: PairOptions): Promise<PostgresPair> {
    const folder = mkdtempSync(join(tmpdir(), 'qrn-cluster-'));
    if (NOBODY.uid !== undefined) chownSync(folder, NOBODY.uid, NOBODY.gid);
    const primary = { data: join(folder, '0'), port: await freePort() };
    const pair = new PostgresPair(options, folder, await Link.open(primary.port), primary);
    await pair.#run('initdb', [
      '-D',
      primary.data,
      '-U',
      USER,
      '-A',
      'trust',
      '-N',
      '-E',
      'UTF8',
      '--locale=C',
    ]);
    await pair.#launch(primary);
    await pair.query(`CREATE DATABASE ${DATABASE}`, 'postgres');
    await pair.addStandby();
    return pair;
  }

  /** The port of the present primary. */
  get port(): number {
    return this.#primary.port;
  }

  /** The connection string of the primary as it is now, or by way of a link to it. */
  url(port = this.port, database = DATABASE): string {
    return `postgres://${USER}@127.0.0.1:${port}/${database}`;
  }

  async query<R extends pg.QueryResultRow>(statement: string, database?: string): Promise<R[]> {
    return (await administer<R>(this.url(this.#primary.port, database), statement)).rows;
  }

  /** Makes a standby of the present primary, and makes commits wait for it. */
  async addStandby(): Promise<void> {
    const standby = { data: join(this.folder, String(++this.#servers)), port: await freePort() };
    this.link.retarget(this.#primary.port);
    const source = `host=127.0.0.1 port=${this.link.port} user=${USER} application_name=${STANDBY}`;
    await this.#run('pg_basebackup', [
      '-D',
      standby.data,
      '-d',
      source,
      '-R',
      '-X',
      'stream',
      '-c',
      'fast',
      '-N',
    ]);
    this.#standby = standby;
    await this.#launch(standby);
    if (this.#options.isSynchronous) await this.#waitForStandbys(`ANY 1 (${STANDBY})`);
    await until('the standby follows', () => this.standbyFollows(), STARTED_WITHIN_MS);
  }

  /** Whether the standby streams, as the primary sees it. */
  async standbyFollows(): Promise<boolean> {
    const wanted = this.#options.isSynchronous ? "sync_state IN ('sync', 'quorum')" : "state = 'streaming'";
    return (await this.query(`SELECT 1 FROM pg_stat_replication WHERE ${wanted}`)).length > 0;
  }

  /** The whole primary at once, as a machine dies: none of its processes may finish anything. */
  killPrimary(): void {
    kill(this.#primary);
  }

  /** Starts a primary that was killed again, as the machine comes back. */
  async restartPrimary(): Promise<void> {
    rmSync(join(this.#primary.data, 'postmaster.pid'), { force: true });
    await this.#launch(this.#primary);
  }

  /** The standby becomes the primary, and waits for no standby until it has one. The old primary must be dead. */
  async promote(): Promise<void> {
    const standby = this.#standby;
    if (standby === undefined) throw new Error('there is no standby to promote');
    await this.#run('pg_ctl', ['-D', standby.data, '-w', 'promote']);
    rmSync(this.#primary.data, { recursive: true, force: true });
    this.#primary = standby;
    this.#standby = undefined;
    await this.#waitForStandbys('');
  }

  /** A copy of the data folder, taken while the server is down. */
  copyPrimary(to: string): void {
    execFileSync('cp', ['-a', this.#primary.data, join(this.folder, to)]);
  }

  /** Puts the copy in the place of the primary, which is down, with a new standby. */
  async restoreCopy(from: string): Promise<void> {
    this.dropStandby();
    rmSync(this.#primary.data, { recursive: true, force: true });
    execFileSync('cp', ['-a', join(this.folder, from), this.#primary.data]);
    await this.restartPrimary();
    await this.addStandby();
  }

  dropStandby(): void {
    if (this.#standby === undefined) return;
    kill(this.#standby);
    rmSync(this.#standby.data, { recursive: true, force: true });
    this.#standby = undefined;
  }

  /** Cancels every statement that waits for the standby, as an impatient administrator does. Gives how many. */
  async cancelWaiting(): Promise<number> {
    const cancelled = await this.query(
      "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
    );
    return cancelled.length;
  }

  stop(): void {
    this.link.close();
    for (const server of [this.#primary, this.#standby]) if (server !== undefined) kill(server);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }

  async #waitForStandbys(names: string): Promise<void> {
    await this.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await this.query('SELECT pg_reload_conf()');
  }

  /** Runs a program without blocking this process, which forwards its traffic over the link. */
  async #run(program: string, arguments_: readonly string[]): Promise<void> {
    const options = { ...NOBODY, cwd: this.folder };
    await promisify(execFile)(join(this.#options.programs, program), arguments_, options);
  }

  async #launch({ data, port }: PostgresServer): Promise<void> {
    const settings = [
      'listen_addresses=127.0.0.1',
      'unix_socket_directories=',
      `port=${port}`,
      'shared_buffers=32MB',
      'max_connections=100',
      'max_wal_size=128MB',
      'min_wal_size=32MB',
      'wal_keep_size=64MB',
      'wal_receiver_timeout=5s',
      'wal_sender_timeout=5s',
      'wal_retrieve_retry_interval=100ms',
      'fsync=off', // the death of a process keeps what the kernel has
    ].flatMap((setting) => ['-c', setting]);
    const server = spawn(join(this.#options.programs, 'postgres'), ['-D', data, ...settings], {
      ...NOBODY,
      cwd: this.folder,
      stdio: 'ignore',
    });
    server.unref();
    const isAnswering = () =>
      administer(this.url(port, 'postgres'), 'SELECT 1').then(
        () => true,
        () => false,
      );
    await until('PostgreSQL answers', isAnswering, STARTED_WITHIN_MS);
  }
}

function kill({ data }: PostgresServer): void {
  const file = join(data, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  // a process id that a dead server left in its file may belong to somebody else by now
  if (told(`/proc/${pid}/comm`) !== 'postgres') return;
  const children = told(`/proc/${pid}/task/${pid}/children`)
    .split(' ')
    .filter((each) => each !== '');
  for (const each of [pid, ...children.map(Number)]) {
    try {
      process.kill(each, 'SIGKILL');
    } catch {
      // it has ended
    }
  }
}

/** Returns a file of /proc; empty when the process has ended. */
function told(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}
