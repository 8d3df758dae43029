import type { TestContext } from 'node:test';
import { open } from 'lmdb';
import { silentLog } from '../../../src/core/log.ts';
import { GroupWriter } from '../../../src/ledger/lmdb/group-writer.ts';
import { LmdbStore } from '../../../src/ledger/lmdb/lmdb-store.ts';
import type { RawDatabase, RawStore } from '../../../src/ledger/lmdb/table.ts';
import { openTables } from '../../../src/ledger/lmdb/tables.ts';
import { temporaryFolder } from '../../support/ledger-folder.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { storeContract } from './store.contract.ts';

storeContract('memory', async () => new MemoryStore());

storeContract('LMDB', async (t: TestContext) => {
  const root = open({
    path: temporaryFolder(t),
    noSubdir: false,
    encoding: 'binary',
    overlappingSync: false,
    maxDbs: 64,
  });
  t.after(() => root.close());
  const raw: RawStore = {
    openDatabase: (name) => root.openDB({ name, encoding: 'binary' }) as unknown as RawDatabase,
    transact: (body) => root.transactionSync(body),
    snapshot: () => root.useReadTransaction(),
    copyTo: () => Promise.reject(new Error('no copy is made here')),
    close: () => root.close(),
  };
  const writer = new GroupWriter(raw, silentLog, () => {});
  return new LmdbStore(openTables(raw, writer, true), writer);
});
