import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LIMITS } from '../../src/core/limits.ts';
import { HttpConnection } from '../support/http.ts';
import { noProc, Target } from '../support/raw-http.ts';
import { TestServer } from '../support/server.ts';

/*
 * What connections that never finish their heads take of the service's memory. The service accepts as many as fit into a
 * quarter of its memory at 66 KiB each (service/front-stack.ts), so each must not take more than that.
 *
 * What requests without a key leave of the rate of paid ones is measured by `npm run test:night -- abuse`. What it rests on is tested
 * without a clock: one look-up a turn is run (test/service/ledger-link.test.ts), and accounts keep half of the loop
 * (test/fair/fair.test.ts).
 */

const CONNECTIONS = 1_500;
const HEAD_BYTES_MAX = LIMITS.requestHeadBytesMax + LIMITS.requestHeadSpareBytes;
/** As much of a head as the engines wait for. */
const PARTIAL = `GET / HTTP/1.1\r\nHost: a\r\nA: ${'a'.repeat(65_000)}`;
/**
 * Sockets and objects of each connection beside its head. It was 24 KiB until large memory was given back to the system at
 * once: the memory before the connections came is less by what was spare then.
 */
const BESIDE_BYTES = 40 * 1024;
const MIB = 1024 * 1024;
/** One lot fills the reservoir, so that none is made while memory is measured. */
const ONE_LOT = { QRN_SOURCE_SIMULATOR_LOT_BITS: '900000' };

// Both at once: each waits ten seconds for its front to cut the heads.
describe('a front with unfinished heads', { skip: noProc, concurrency: true }, () => {
  for (const engine of ['uws', 'node'] as const) {
    describe(`on ${engine}`, () => {
      let server: TestServer;
      let target: Target;
      const open: HttpConnection[] = [];
      before(async () => {
        server = await TestServer.start({ ...ONE_LOT, QRN_FRONT: engine, QRN_ACCESS_LOG_SAMPLE: '0' });
        target = new Target(server, server.key);
      });
      after(async () => {
        for (const connection of open) connection.leave();
        await server?.stop();
      });

      it(`holds no more than 66 KiB for each of ${CONNECTIONS} unfinished heads, and serves others`, async (t) => {
        await target.get('/integers');
        const before = target.residentBytes();
        open.push(...(await HttpConnection.openMany(target.port, CONNECTIONS)));
        for (const connection of open) connection.send(PARTIAL);
        let most = 0;
        const look = () => {
          most = Math.max(most, target.residentBytes());
        };
        const looking = setInterval(look, 50);
        await Promise.all(open.map(({ closed }) => closed)); // each is cut after 10 s
        clearInterval(looking);
        const eachBytes = (most - before) / CONNECTIONS;
        t.diagnostic(`${Math.round((most - before) / MIB)} MiB, ${Math.round(eachBytes / 1024)} KiB each`);
        assert.ok(eachBytes <= HEAD_BYTES_MAX + BESIDE_BYTES, `${eachBytes} bytes for each`);
        const served = await target.get('/integers');
        assert.equal(served.status, 200);
      });
    });
  }
});
