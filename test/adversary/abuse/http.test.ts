import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { hostileCases } from '../../support/hostile-requests.ts';
import { Target } from '../../support/raw-http.ts';
import { TestServer } from '../../support/server.ts';
import {
  assertCutsEndless,
  assertHoldsForReaders,
  assertServesBesideIdle,
  assertSurvivesLeavers,
  SlowClients,
} from './http-clients.ts';
import { CaseRunner, SilentCases } from './http-malformed.ts';

/** The short form of `node test/adversary/abuse/run.ts`: the real service against clients that mean harm or know no better. */
let server: TestServer;
let target: Target;
let runner: CaseRunner;
/** They are cut by the library's limit of 10 s, so they wait beside the other tests. */
let silent: SilentCases;
let slow: SlowClients;

before(async () => {
  server = await TestServer.start({ QRN_ACCESS_LOG_SAMPLE: '0', QRN_RESERVOIR_BYTES: '65536' });
  const { key } = await server.account('enterprise', '--credits-per-month', '100000000');
  target = new Target(server, key);
  runner = new CaseRunner(target);
  const waiting = hostileCases(key).filter(({ connection }) => connection === 'waits');
  silent = await SilentCases.send(target, waiting);
  slow = await SlowClients.start(target, 4);
});
after(() => server.stop());

describe('a malformed or ambiguous request', () => {
  hostileCases('').forEach(({ name, connection }, i) => {
    if (connection === 'waits') return;
    it(name, () => runner.assertAnswer(hostileCases(target.key)[i]));
  });
});

describe('the service', () => {
  it('holds what slow readers have not taken, and serves the others', () => assertHoldsForReaders(target, 2));

  it('cuts what never becomes a request, unanswered', async () => {
    await Promise.all([silent.assertCut(), slow.assertCut()]);
    await target.untilCalm();
  });

  it('cuts clients that send without end, and serves the others', async () => {
    await assertCutsEndless(target, 1);
  });

  it('survives clients that leave in every phase of a request', async () => {
    await assertSurvivesLeavers(target, 1);
  });

  it('serves beside 1,000 idle connections', async (test) => {
    test.diagnostic(`${await assertServesBesideIdle(target, 1_000, 20)} idle connections`);
  });

  it('has a certificate for every answer in its books, and no other', async () => {
    const { answers } = await target.books();
    const audit = JSON.parse(await server.qrn('ledger', 'audit', '--json'));
    assert.deepEqual([audit.ok, audit.certificates], [true, answers]);
    assert.deepEqual(target.logLines('"level":50'), []);
  });
});
