import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { besideLookUps } from '../adversary/abuse/look-ups.ts';
import { TestServer } from '../support/server.ts';

/**
 * The aim is half of the rate and three times the time, and `npm run test:abuse` holds the service to it. Here the machine may be
 * busy with other tests. While answers still waited for the ledger's thread, and look-ups had no bound, the share was 0.004. That
 * one look-up a turn is run (test/service/ledger-link.test.ts), and one reply a turn sent (test/http/reply-turns.test.ts), is
 * tested without a clock.
 */
const RATE_SHARE_MIN = 1 / 8;

describe('requests without a key beside paid ones', () => {
  let server: TestServer;
  before(async () => {
    server = await TestServer.start({ QRN_ACCESS_LOG_SAMPLE: '0', QRN_RESERVOIR_BYTES: '65536' });
  });
  after(() => server.stop());

  it('leave those their rate', async (t) => {
    for (const measured of await besideLookUps(server, { rounds: 2, windowMs: 300 })) {
      t.diagnostic(JSON.stringify(measured));
      assert.ok(measured.answered > 0, `${measured.what} is answered too`);
      assert.ok(measured.rateShare > RATE_SHARE_MIN, `${measured.rateShare} of the rate is left`);
    }
  });
});
