import { after, before, describe, it } from 'node:test';
import { hostileCases } from '../../support/hostile-requests.ts';
import { Target } from '../../support/raw-http.ts';
import { TestServer } from '../../support/server.ts';
import { ATTACKS, assertBooks } from './attacks.ts';
import { CaseRunner } from './http-malformed.ts';

/** The short form of test/adversary/abuse/long/abuse.ts: the real service against malicious and careless clients. */
for (const engine of ['uws', 'node'] as const)
  describe(`on ${engine}`, () => {
    let server: TestServer;
    let target: Target;
    let runner: CaseRunner;

    before(async () => {
      const environment = { QRN_ACCESS_LOG_SAMPLE: '0', QRN_RESERVOIR_BYTES: '65536', QRN_FRONT: engine };
      server = await TestServer.start(environment);
      const { key } = await server.account('enterprise', '--credits-per-month', '100000000');
      target = new Target(server, key);
      runner = new CaseRunner(target);
    });
    after(() => server.stop());

    describe('a malformed or ambiguous request', () => {
      hostileCases('').forEach((each, i) => {
        if (each[engine].connection === 'waits') return; // it is among the slow clients
        it(each.name, () => runner.assertAnswer(hostileCases(target.key)[i], engine));
      });
      it('has drawn, spent and counted nothing when it was refused', () => runner.assertUnchanged());
    });

    // The other engine is attacked like this only in the long form.
    if (engine === 'uws')
      describe('the service withstands', () => {
        for (const { name, attack, short } of ATTACKS)
          if (short !== undefined)
            it(name, async (test) => test.diagnostic(`${await attack(target, short, engine)} of them`));
      });

    it('has a certificate for every answer in its books, and no other', () => assertBooks(target));
  });
