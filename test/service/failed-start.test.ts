import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { it } from 'node:test';
import { loadConfig } from '../../src/config/sources.ts';
import { silentLog } from '../../src/core/log.ts';
import { startService } from '../../src/service/service.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { withSmallPool } from '../support/server.ts';

async function listenOn(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

it('a start that fails behind its fronts leaves no socket open', async (t) => {
  const [taken, free] = await Promise.all([listenOn(0), listenOn(0)]);
  t.after(() => taken.close());
  const [metricsPort, port] = [taken, free].map((each) => String((each.address() as AddressInfo).port));
  free.close();
  await once(free, 'close');
  const settings = { QRN_DATA_DIR: scratchFolder(), QRN_PORT: port, QRN_METRICS_PORT: metricsPort };
  const message = new RegExp(`:${metricsPort}: the port is taken`);
  await assert.rejects(startService(loadConfig(withSmallPool(settings)), silentLog), message);
  (await listenOn(Number(port))).close();
});
