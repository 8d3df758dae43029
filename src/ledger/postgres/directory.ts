import { type Clock, every } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { DirectoryFeed } from '../directory-feed.ts';
import type { Writer } from '../domain/books.ts';
import { changesSince, directoryIn, directoryVersion } from '../domain/directory.ts';
import type { Directory, DirectoryReader } from '../ledger.ts';
import type { Database } from './connection.ts';
import { PostgresStore } from './postgres-store.ts';

/** How often a node looks for changes by other nodes and commands. A command that revokes a key waits for this. */
const LOOK_INTERVAL_MS = 250;

const APPLIED = {
  name: 'directory_applied',
  text: 'UPDATE qrn.node SET directory_version = $3 WHERE number = $1 AND epoch = $2',
};
const BEHIND = {
  name: 'directory_behind',
  text: "SELECT name FROM qrn.node WHERE state = 'live' AND directory_version < $1 ORDER BY name",
};

/** Returns the names of live nodes that still serve by an older version of the directory than the newest. */
export async function nodesBehind(database: Database): Promise<string[]> {
  const version = await new PostgresStore(database, undefined).read(directoryVersion);
  const rows = await database.run<{ name: string }>(BEHIND, [version]);
  return rows.map(({ name }) => name);
}

/**
 * Accounts and keys, which every node and every command may write. Readers ask for changes since a version, so a version is
 * returned only when a standby has it. Otherwise a failover could give its number to another change, which readers would
 * then miss.
 */
export function sharedDirectoryIn(store: PostgresStore): Directory {
  /** The last version that was read with `store.kept`. */
  let kept: number | undefined;
  return {
    ...directoryIn(store),
    async directoryChanges(since) {
      const isKnown = since === kept && (await store.read(directoryVersion)) === since;
      if (since !== undefined && isKnown)
        return { version: since, isWhole: false, accounts: [], keys: [], revoked: [] };
      const changes = await store.kept(() => changesSince(since));
      kept = changes.version;
      return changes;
    },
  };
}

export interface NodeFeedOptions {
  readonly directory: Directory;
  readonly database: Database;
  readonly node: Writer;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Pushes the changes of all nodes and commands to the readers of this node. Writes to `qrn.node` the version that the readers
 * have, for commands that wait for it.
 */
export class NodeFeed extends DirectoryFeed {
  readonly #database: Database;
  readonly #node: Writer;
  readonly #timer: NodeJS.Timeout;
  /** The version that was last written to `qrn.node`; undefined before the first reader follows. */
  #told: number | null | undefined;

  constructor({ directory, database, node, clock, log }: NodeFeedOptions) {
    super(directory.directoryChanges, clock);
    this.#database = database;
    this.#node = node;
    this.#timer = every(LOOK_INTERVAL_MS, log, 'read changes of accounts and keys', () => this.#look());
  }

  /** See Ledger.follow. From then on, commands that change the directory wait for this node too. */
  override async follow(reader: DirectoryReader): Promise<void> {
    if (this.#told === undefined) await this.#tell(-1);
    await super.follow(reader);
  }

  /** Lets commands wait for this node no longer. After a crash, the next start of the node does this (BEGIN_EPOCH). */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#tell(null).catch(() => {}); // no command waits on a database that is away
  }

  async #look(): Promise<void> {
    if (this.#told === undefined || !(await this.push())) return;
    const { version } = this;
    if (version !== undefined && version !== this.#told) await this.#tell(version);
  }

  async #tell(version: number | null): Promise<void> {
    const { number, epoch } = this.#node;
    await this.#database.run(APPLIED, [number, epoch, version]);
    this.#told = version;
  }
}
