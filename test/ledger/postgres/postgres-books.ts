import type { TestContext } from 'node:test';
import { silentLog } from '../../../src/core/log.ts';
import { booksIn } from '../../../src/ledger/domain/books.ts';
import type { Books, LogStore } from '../../../src/ledger/ledger.ts';
import { SegmentCommits } from '../../../src/ledger/postgres/commit.ts';
import { Database } from '../../../src/ledger/postgres/connection.ts';
import { NodeIdentity } from '../../../src/ledger/postgres/node.ts';
import { PostgresStore } from '../../../src/ledger/postgres/postgres-store.ts';
import { NOON_MS } from '../../support/ledger-records.ts';
import { ManualClock } from '../../support/manual-clock.ts';

export interface TestNode {
  readonly node: NodeIdentity;
  readonly database: Database;
  readonly commits: SegmentCommits;
  readonly books: Books & LogStore;
  readonly clock: ManualClock;
  close(): Promise<void>;
}

interface TestNodeOptions {
  readonly name?: string;
  /** The database for commits; by default `url`. */
  readonly commitUrl?: string;
  /** See DatabaseOptions. */
  readonly patienceMs?: number;
}

/** The books of one node, as the service has them, over the real server. They are closed with the test. */
export async function openBooks(
  t: TestContext,
  url: string,
  { name = 'a', commitUrl = url, patienceMs }: TestNodeOptions = {},
): Promise<TestNode> {
  const clock = new ManualClock(NOON_MS);
  const database = new Database({ url, log: silentLog, ...(patienceMs === undefined ? {} : { patienceMs }) });
  const writes = new Database({ url: commitUrl, log: silentLog });
  const node = await NodeIdentity.start({ database, name, clock, log: silentLog });
  const commits = new SegmentCommits({ database: writes, node, log: silentLog });
  const inStore = booksIn(new PostgresStore(database, node), clock, node);
  const books = { ...inStore, commit: commits.commit.bind(commits) };
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
  return { node, database, commits, books, clock, close };
}
