import type { TestContext } from 'node:test';
import { silentLog } from '../../src/core/log.ts';
import type { LogStore } from '../../src/ledger/ledger.ts';
import { PostgresBooks } from '../../src/ledger/postgres/books.ts';
import { SegmentCommits } from '../../src/ledger/postgres/commit.ts';
import { Database, type Session } from '../../src/ledger/postgres/connection.ts';
import { postgresLogStore } from '../../src/ledger/postgres/log-store.ts';
import { NodeIdentity } from '../../src/ledger/postgres/node.ts';
import { UnsealedTallies } from '../../src/ledger/postgres/unsealed.ts';
import { NOON_MS } from './ledger-records.ts';
import { ManualClock } from './manual-clock.ts';

export interface TestNode {
  readonly node: NodeIdentity;
  readonly database: Database;
  readonly commits: SegmentCommits;
  readonly books: PostgresBooks;
  readonly logStore: LogStore;
  readonly clock: ManualClock;
  close(): Promise<void>;
}

interface TestNodeOptions {
  readonly name?: string;
  /** Where commits go; by default to `url` too. */
  readonly commitUrl?: string;
  /** Plants a fault into the statements of commits. */
  readonly rewrite?: (text: string) => string;
  /** See DatabaseOptions. */
  readonly patienceMs?: number;
}

/** The books of one node, as the service has them, over the real server. They are closed with the test. */
export async function openBooks(
  t: TestContext,
  url: string,
  { name = 'a', commitUrl = url, rewrite = (text) => text, patienceMs }: TestNodeOptions = {},
): Promise<TestNode> {
  const clock = new ManualClock(NOON_MS);
  const database = new Database({ url, log: silentLog, ...(patienceMs === undefined ? {} : { patienceMs }) });
  const writes = new RewritingDatabase(commitUrl, rewrite);
  const node = await NodeIdentity.start({ database, name, clock, log: silentLog });
  const commits = new SegmentCommits({ database: writes, node, log: silentLog });
  const unsealed = new UnsealedTallies();
  const books = new PostgresBooks({ database, node, clock, commits, unsealed });
  const logStore = postgresLogStore({ database, node, unsealed });
  let isClosed = false;
  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    await commits.close();
    await node.close();
    await database.close();
    await writes.close();
  };
  t.after(close);
  return { node, database, commits, books, logStore, clock, close };
}

class RewritingDatabase extends Database {
  readonly #rewrite: (text: string) => string;

  constructor(url: string, rewrite: (text: string) => string) {
    super({ url, log: silentLog });
    this.#rewrite = rewrite;
  }

  override attempt<T>(body: (session: Session) => Promise<T>): Promise<T> {
    return super.attempt((session) => body(this.#rewritten(session)));
  }

  override settle<T>(body: (session: Session) => Promise<T>, isUnknown?: boolean): Promise<T> {
    return super.settle((session) => body(this.#rewritten(session)), isUnknown);
  }

  #rewritten(session: Session): Session {
    return {
      run: ({ name, text }, values) => session.run({ name, text: this.#rewrite(text) }, values),
    };
  }
}
