import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TestServer } from '../support/server.ts';
import { assertNamed } from './certified-read.ts';
import { ibmEnvironment, ibmRead, localIbm } from './ibm-source.ts';

describe('the service with IBM Quantum', () => {
  it('is killed while its job is queued, resumes it, and certifies what the one paid job gave', async (t) => {
    const ibm = await localIbm().start(t);
    // A lot costs 2 s + 32,768 shots · 0.1 ms = 5.28 seconds: a day's budget of 10 has room for one.
    const environment = ibmEnvironment(ibm, {
      QRN_SOURCE_IBM_QUBITS: '6',
      QRN_SOURCE_IBM_BITS_PER_JOB: '196608',
      QRN_SOURCE_IBM_PRICE_PER_SECOND: '1',
      QRN_SOURCE_IBM_CURRENCY: 'qpu-seconds',
      QRN_SOURCE_IBM_SECONDS_PER_SHOT: '0.0001',
      QRN_SOURCE_IBM_BUDGET_PER_DAY: '10',
    });
    const killed = TestServer.spawnFor(t, environment);
    await killed.until('the job is polled', () => {
      return ibm.jobs.some(({ id }) => ibm.requests.some(({ path }) => path === `/api/v1/jobs/${id}`));
    });
    await killed.kill('SIGKILL');
    assert.deepEqual(
      ibm.jobs.map(({ state }) => state.status),
      ['Queued'],
    );
    ibm.finishJobs();

    const service = TestServer.spawnFor(t, environment, killed.dataDir);
    await service.ready();
    await service.until('the budget of the day is spent', async () => {
      const [state] = (await service.checks())['source:state'];
      return /^budget of ibm: 5\.2768 of 10 qpu-seconds are spent today/.test(state.output ?? '');
    });
    const [spend] = (await service.checks())['source:spend'];
    assert.deepEqual([spend.observedValue, spend.observedUnit], [5.2768, 'qpu-seconds']);
    const submitted = ibm.requests.filter(({ method, path }) => method === 'POST' && path === '/api/v1/jobs');
    assert.equal(submitted.length, 1, 'one paid job');
    const read = ibmRead(ibm, { circuit: 'superposition-6', evidence: 'calibrated' });
    await assertNamed(service, read);
    assert.deepEqual(
      ibm.jobs.map(({ results }) => results),
      [null],
      'a private job gave its results once',
    );
    const secrets = [ibm.apiKey, ...ibm.tokens.keys()];
    assert.ok(secrets.length >= 3, 'either process took a token');
    killed.assertDiscreet(secrets);
    service.assertDiscreet(secrets);
  });
});
