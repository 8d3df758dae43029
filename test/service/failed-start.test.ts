import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { it } from 'node:test';
import { loadConfig } from '../../src/config/sources.ts';
import { silentLog } from '../../src/core/log.ts';
import { openFront } from '../../src/service/front-thread.ts';
import { startLedgerThread } from '../../src/service/ledger-thread.ts';
import { type ServicePorts, startService } from '../../src/service/service.ts';
import { AssessmentThread } from '../../src/workers/dispatch.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { withSmallPool } from '../support/server.ts';

async function listenOn(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

it('a start that fails after its fronts have begun leaves no socket open', async (t) => {
  const [taken, free] = await Promise.all([listenOn(0), listenOn(0)]);
  t.after(() => taken.close());
  const [metricsPort, port] = [taken, free].map((each) => String((each.address() as AddressInfo).port));
  free.close();
  await once(free, 'close');
  const settings = { QRN_DATA_DIR: scratchFolder(), QRN_PORT: port, QRN_METRICS_PORT: metricsPort };
  const message = new RegExp(
    `127\\.0\\.0\\.1:${metricsPort}: another program .* Set QRN_METRICS_PORT to a free port`,
  );
  await assert.rejects(startService(loadConfig(withSmallPool(settings)), silentLog), message);
  (await listenOn(Number(port))).close();
});

it('a failed start gives the reason and stops the other parts, even if one part does not stop', async (t) => {
  const taken = await listenOn(0);
  t.after(() => taken.close());
  const metricsPort = String((taken.address() as AddressInfo).port);
  const stopped: string[] = [];
  const ports: Partial<ServicePorts> = {
    startLedger: async (...given) => {
      const thread = await startLedgerThread(...given);
      const stop = () => thread.stop().then(() => void stopped.push('ledger'));
      return { ...thread, stop };
    },
    startFront: async (_place, data, { mainThread, clock, log }) => {
      const front = await openFront(data, mainThread, clock, log);
      const drain = () => Promise.reject(new Error('does not drain'));
      const end = () => front.end().then(() => void stopped.push('front'));
      t.after(() => front.commands.drain(0));
      return { ...front, commands: { ...front.commands, drain }, end };
    },
    startAssessor: (log) => {
      const thread = new AssessmentThread(log);
      t.after(() => thread.close());
      return {
        testBits: (...given) => thread.testBits(...given),
        assessLot: (...given) => thread.assessLot(...given),
        close: () => Promise.reject(new Error('does not stop')),
      };
    },
  };
  const settings = { QRN_DATA_DIR: scratchFolder(), QRN_PORT: '0', QRN_METRICS_PORT: metricsPort };
  const message = new RegExp(
    `127\\.0\\.0\\.1:${metricsPort}: another program .* Set QRN_METRICS_PORT to a free port`,
  );
  await assert.rejects(startService(loadConfig(withSmallPool(settings)), silentLog, ports), message);
  assert.deepEqual(stopped, ['front', 'ledger']);
});
