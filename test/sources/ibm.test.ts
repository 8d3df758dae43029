import assert from 'node:assert/strict';
import { it } from 'node:test';
import { systemClock } from '../../src/core/clock.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { IbmServer } from '../support/providers/ibm.ts';
import { TestServer } from '../support/server.ts';
import { assertNamed, sha256Hex } from './certified-read.ts';

it('the service with IBM Quantum is killed while its job is queued, resumes it, and certifies what the one paid job gave', async (t) => {
  // IBM at the same hour as the service, which asks it over HTTP
  const ibm = await new IbmServer(new ManualClock(systemClock.wallMs())).start(t);
  // A lot costs 2 s + 32,768 shots · 0.1 ms = 5.28 seconds: a day's budget of 10 has room for one.
  const environment = {
    QRN_BACKEND: 'ibm',
    QRN_SOURCE_IBM_API_KEY: ibm.apiKey,
    QRN_SOURCE_IBM_CRN: ibm.crn,
    QRN_SOURCE_IBM_DEVICE: ibm.device.name,
    QRN_SOURCE_IBM_API_URL: `${ibm.url}/api/v1`,
    QRN_SOURCE_IBM_IAM_URL: ibm.url,
    QRN_SOURCE_IBM_QUBITS: '6',
    QRN_SOURCE_IBM_BITS_PER_JOB: '196608',
    QRN_SOURCE_IBM_PRICE_PER_SECOND: '1',
    QRN_SOURCE_IBM_CURRENCY: 'qpu-seconds',
    QRN_SOURCE_IBM_SECONDS_PER_SHOT: '0.0001',
    QRN_SOURCE_IBM_BUDGET_PER_DAY: '10',
  };
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
  const [{ id: jobId, pubs }] = ibm.jobs;
  const qubits = [0, 1, 6, 8, 9, 11]; // those of the least readout error
  const readout = qubits.map((qubit) => ibm.device.table[qubit]);
  await assertNamed(service, {
    source: 'ibm',
    origin: 'quantum-processor',
    quantumBackend: ibm.device.name,
    provider: 'IBM Quantum',
    device: ibm.device.name,
    jobId,
    circuit: 'superposition-6',
    circuitVersion: '1.0.0',
    circuitSha256: sha256Hex(pubs[0].program),
    qubits: 6,
    depth: 2,
    shots: 32_768,
    calibration: {
      id: 'cal-1',
      date: '2026-11-20T06:00:00-05:00',
      qubits,
      readout_e01: readout.map(({ e01 }) => e01),
      readout_e10: readout.map(({ e10 }) => e10),
    },
    evidence: 'calibrated',
    sent: ibm.sent,
  });
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
