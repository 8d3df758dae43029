import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../../src/core/log.ts';
import { Database } from '../../../src/ledger/postgres/connection.ts';
import { migrate } from '../../../src/ledger/postgres/migrate.ts';
import { administer, emptyDatabase, freshDatabase } from '../../support/postgres.ts';

test('two nodes that start at once on an empty database make one schema', async (t) => {
  const url = await emptyDatabase();
  const nodes = [1, 2].map(() => new Database({ url, log: silentLog }));
  t.after(() => Promise.all(nodes.map((node) => node.close())));
  await Promise.all(nodes.map(migrate));
  const { rows } = await administer(url, 'SELECT format, oldest_format FROM qrn.meta');
  assert.deepEqual(rows, [{ format: 1, oldest_format: 1 }]);
});

test('a schema that a newer program changed beyond this one is refused and left as it is', async (t) => {
  const url = await freshDatabase();
  const database = new Database({ url, log: silentLog });
  t.after(() => database.close());
  await administer(url, 'UPDATE qrn.meta SET format = 90, oldest_format = 1');
  await migrate(database); // the newer one can live with this program
  await administer(url, 'UPDATE qrn.meta SET oldest_format = 89');
  await assert.rejects(migrate(database), { reason: 'unusable', message: /format 90.*89 and later/ });
  const { rows } = await administer(url, 'SELECT format FROM qrn.meta');
  assert.deepEqual(rows, [{ format: 90 }]);
});
