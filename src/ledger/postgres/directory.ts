import { type Clock, every } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { DirectoryFeed } from '../directory-feed.ts';
import type { Writer } from '../domain/books.ts';
import { changesSince, directoryIn, directoryVersion } from '../domain/directory.ts';
import type { Directory, DirectoryReader } from '../ledger.ts';
import type { Database } from './connection.ts';
import { PostgresStore } from './postgres-store.ts';

/** How often a node looks for what others have changed: whoever revokes a key waits for it. */
const LOOK_INTERVAL_MS = 250;

const APPLIED = {
  name: 'directory_applied',
  text: 'UPDATE qrn.node SET directory_version = $3 WHERE number = $1 AND epoch = $2',
};
const BEHIND = {
  name: 'directory_behind',
  text: "SELECT name FROM qrn.node WHERE state = 'live' AND directory_version < $1 ORDER BY name",
};

/** Names of the live nodes on which somebody serves by an older version of the directory than the newest. */
export async function nodesBehind(database: Database): Promise<string[]> {
  const version = await new PostgresStore(database, undefined).read(directoryVersion);
  const rows = await database.run<{ name: string }>(BEHIND, [version]);
  return rows.map(({ name }) => name);
}

/**
 * Accounts and keys, which every node and every command may write. A reader goes by their version, so no version is given
 * before a standby has it: after a failover another change might bear its number, and no reader would look for it.
 */
export function sharedDirectoryIn(store: PostgresStore): Directory {
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

/** Pushes to the readers of a node what any node or command has changed, and tells commands what all of them go by. */
export class NodeFeed extends DirectoryFeed {
  readonly #database: Database;
  readonly #node: Writer;
  readonly #timer: NodeJS.Timeout;
  /** The version that commands were told of. */
  #told: number | null | undefined;

  constructor({ directory, database, node, clock, log }: NodeFeedOptions) {
    super(directory.directoryChanges, clock);
    this.#database = database;
    this.#node = node;
    this.#timer = every(LOOK_INTERVAL_MS, log, () => this.#look());
  }

  /** A change from now on waits for what this node goes by. */
  override async follow(reader: DirectoryReader): Promise<void> {
    if (this.#told === undefined) await this.#tell(-1);
    await super.follow(reader);
  }

  /** No command waits for this node any more; nor for one whose former life ended without this: a start forgets its version. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#tell(null).catch(() => {}); // a database that is gone has no command waiting
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
