import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { OptionError } from '../../src/backend/definition.ts';
import { ibmBackend } from '../../src/backend/ibm/ibm.ts';
import { apiUrlOf } from '../../src/backend/ibm/options.ts';
import { TEST_DEVICE } from '../support/providers/ibm-device.ts';
import { sourceOf } from '../support/source-parts.ts';
import { runJob } from './backend-contract.ts';
import { IbmSubject } from './ibm-fixtures.ts';

const NEVER = new AbortController().signal;

async function started(t: TestContext, texts: object, bits: number): Promise<IbmSubject> {
  const subject = await IbmSubject.start(t, texts);
  return Object.assign(subject, { bits });
}

test('a read states where it came from', async (t) => {
  const subject = await started(t, {}, 3_000);
  const job = await subject.backend.submit(3_000, 'key-1', NEVER);
  subject.server.calibrate('2026-11-21', { ...TEST_DEVICE, table: [...TEST_DEVICE.table].reverse() });
  subject.clock.advance(60_000);
  subject.finishJobs();
  const { provenance } = await subject.backend.fetch(job, NEVER);
  const { pubs, runningMs, finishedMs } = subject.server.jobs[0];
  const good = [0, 1, 2, 4, 6, 8, 9, 11];
  assert.deepEqual(provenance, {
    provider: 'IBM Quantum',
    device: 'ibm_test',
    jobId: job.jobId,
    circuit: 'superposition-8',
    circuitVersion: '1.0.0',
    circuitSha256: hash('sha256', pubs[0].program, 'hex'),
    qubitsUsed: 8,
    circuitDepth: 2,
    shots: 375,
    startedAtMs: runningMs,
    finishedAtMs: finishedMs,
    calibration: {
      id: 'cal-1',
      date: '2026-11-20T06:00:00-05:00',
      qubits: good,
      readout_e01: good.map((qubit) => TEST_DEVICE.table[qubit].e01),
      readout_e10: good.map((qubit) => TEST_DEVICE.table[qubit].e10),
    },
  });
  assert.equal(subject.backend.origin, 'quantum-processor');
  assert.equal(subject.backend.quantumBackend, 'ibm_test');
});

test('a calibration that IBM no longer serves has no id, but keeps its figures', async (t) => {
  const subject = await started(t, {}, 3_000);
  const job = await subject.backend.submit(3_000, 'key-1', NEVER);
  subject.finishJobs();
  subject.server.forgetCalibration('cal-1');
  const { calibration } = (await subject.restarted().fetch(job, NEVER)).provenance;
  assert.equal(calibration?.id, undefined);
  assert.equal(calibration?.date, '2026-11-20T06:00:00-05:00');
  const e01 = calibration?.readout_e01;
  assert.ok(Array.isArray(e01) && e01[0] === TEST_DEVICE.table[0].e01);
});

const create = (texts: object) => {
  const crn = 'crn:v1:bluemix:public:quantum-computing:us-east:a/0123:4567::';
  const given = { api_key: 'secret-of-a-test', crn, device: 'ibm_fez', ...texts };
  return sourceOf('job', ibmBackend, given, { name: 'ibm', clock: new IbmSubject().clock });
};

test("a job costs what IBM's formula says, and never more than its cap", () => {
  // 4,194,304 bits of 100 qubits: 41,944 shots; 2 s + 14.68 s at 1.60.
  assert.deepEqual(create({}).estimate?.(4_194_304), { amount: 16.6804 * 1.6, currency: 'USD', calls: 1 });
  const minutes = create({ price_per_second: '1', currency: 'qpu-seconds', max_seconds: '10' });
  assert.deepEqual(minutes.estimate?.(4_194_304), { amount: 10, currency: 'qpu-seconds', calls: 1 });
  assert.equal(create({ bits_per_job: '1048576' }).lotRawBits, 1_048_576);
});

test('the qubits of the last job are those of the next estimate', async (t) => {
  const subject = await started(t, { price_per_second: '1' }, 4_000);
  const before = subject.backend.estimate(4_000).amount;
  await runJob(subject);
  assert.equal(before, 2 + 0.00035 * 40);
  assert.equal(subject.backend.estimate(4_000).amount, 2 + 0.00035 * 500);
});

test('the claim is at most that of the worst qubit that the options admit', () => {
  assert.equal(create({}).claimedMinEntropyPerBit, 0.8);
  assert.equal(create({ min_entropy: '0.9' }).claimedMinEntropyPerBit, 0.9);
  const wrong: readonly [object, RegExp][] = [
    [{ min_entropy: '0.95' }, /must be at most 0.929 if max_readout_error/],
    [{ max_readout_error: '0.5' }, /at most 0.415/],
    [{ min_entropy: '0' }, /from 0.01 to 1/],
    [{ crn: 'crn:v1:bluemix:public:quantum-computing:evil.example/:a/0:0::' }, /the CRN of an instance/],
    [{ device: '../jobs' }, /the name of a processor/],
    [{ private: 'yes' }, /true or false/],
    [{ api_version: 'latest' }, /a date/],
    [{ currency: '$' }, /ISO 4217/],
  ];
  for (const [texts, message] of wrong) {
    assert.throws(
      () => create(texts),
      (error) => error instanceof OptionError && message.test(error.message),
    );
  }
});

test('each region has its own address', () => {
  const crn = (region: string) => `crn:v1:bluemix:public:quantum-computing:${region}:a/0123:4567::`;
  assert.equal(apiUrlOf(crn('us-east')), 'https://quantum.cloud.ibm.com/api/v1');
  assert.equal(apiUrlOf(crn('eu-de')), 'https://eu-de.quantum.cloud.ibm.com/api/v1');
});

test('describe shows what the device reports of itself', async (t) => {
  const subject = await started(t, {}, 3_000);
  await subject.backend.submit(3_000, 'key-1', NEVER);
  assert.deepEqual(await subject.backend.describe(NEVER), {
    device: 'ibm_test',
    state: 'online',
    queue: 1,
    wait_seconds: null,
    processor: 'Heron r2',
    simulator: false,
    qubits: 12,
    qubits_used: 8,
    calibration: '2026-11-20T06:00:00-05:00',
    usage_consumed_seconds: 12,
    usage_remaining_seconds: 588,
  });
});
