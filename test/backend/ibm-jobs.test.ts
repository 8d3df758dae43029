import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { BackendError, BackendErrorKind, JobReference } from '../../src/backend/backend.ts';
import type { IbmBackend } from '../../src/backend/ibm/ibm.ts';
import { TEST_DEVICE } from '../support/providers/ibm-device.ts';
import { assertRead, failsWith, runJob } from './backend-contract.ts';
import { IbmSubject } from './ibm-fixtures.ts';

const NEVER = new AbortController().signal;
const RESULTS = 'GET /api/v1/jobs/d';
const LATE_MS = 300_001;

const submit = (subject: IbmSubject, key: string, backend = subject.backend): Promise<JobReference> =>
  backend.submit(subject.bits, key, NEVER);
const callsOf = ({ server }: IbmSubject, on: string) =>
  server.requests.filter(({ method, path }) => `${method} ${path}`.startsWith(on)).length;
async function finished(t: TestContext, texts = {}): Promise<{ subject: IbmSubject; job: JobReference }> {
  const subject = await IbmSubject.start(t, texts);
  const job = await submit(subject, 'key-1');
  subject.finishJobs();
  return { subject, job };
}

test('a token is used until a fifth of its life is left', async (t) => {
  const subject = await IbmSubject.start(t);
  await subject.backend.describe(NEVER);
  subject.clock.advance(0.8 * 3_600_000 - 1);
  await subject.backend.describe(NEVER);
  assert.equal(callsOf(subject, 'POST /identity'), 1);
  subject.clock.advance(1);
  await subject.backend.describe(NEVER);
  assert.equal(callsOf(subject, 'POST /identity'), 2);
});

test('a token that is refused is replaced once', async (t) => {
  const subject = await IbmSubject.start(t);
  const job = await submit(subject, 'key-1');
  subject.server.revokeTokens();
  assert.equal((await subject.backend.poll(job, NEVER)).state, 'queued');
  assert.equal(callsOf(subject, 'POST /identity'), 2);
  subject.server.inject({ status: 401 }, 'GET /api/v1/jobs');
  subject.server.inject({ status: 401 }, 'GET /api/v1/jobs');
  const calls = subject.calls();
  await assert.rejects(subject.backend.poll(job, NEVER), failsWith('auth'));
  assert.equal(subject.calls() - calls, 3, 'the call, a token, the call again');
});

test('a submission has the parameters that IBM expects', async (t) => {
  const { subject } = await finished(t, { max_seconds: '77' });
  const request = subject.server.requests.find(
    ({ method, path }) => `${method} ${path}` === 'POST /api/v1/jobs',
  )!;
  assert.equal(request.headers['service-crn'], subject.server.crn);
  assert.equal(request.headers['ibm-api-version'], '2026-04-15');
  const { params, ...job } = JSON.parse(request.body);
  assert.deepEqual(job, {
    program_id: 'sampler',
    backend: 'ibm_test',
    tags: ['qrn', 'qrn-key-1'],
    cost: 77,
    private: true,
  });
  assert.deepEqual(params.options, {
    dynamical_decoupling: { enable: false },
    twirling: { enable_gates: false, enable_measure: false },
    execution: { init_qubits: true, meas_type: 'classified' },
  });
  assert.deepEqual([params.version, params.support_qiskit, params.pubs.length], [2, false, 1]);
  assert.deepEqual(params.pubs[0].slice(1), [null, 375]); // 3,000 bits of 8 good qubits
});

for (const filtersTags of [true, false]) {
  test(`a submission whose answer got lost is found again; tags filtered: ${filtersTags}`, async (t) => {
    const subject = await IbmSubject.start(t);
    subject.server.filtersTags = filtersTags;
    await submit(subject, 'another');
    subject.server.inject('cut', 'POST /api/v1/jobs');
    await assert.rejects(submit(subject, 'key-1'), failsWith('retryable'));
    const job = await submit(subject, 'key-1', subject.restarted());
    assert.equal(subject.jobsStarted(), 2);
    assert.equal(job.jobId, subject.server.jobs[1].id);
    subject.finishJobs();
    const read = await subject.backend.fetch(job, NEVER);
    assert.ok(read.shots * read.width >= subject.bits);
  });
}

test('a submission that IBM never received is repeated unchanged, whatever the calibration is by then', async (t) => {
  const subject = await IbmSubject.start(t);
  subject.server.inject('reset', 'POST /api/v1/jobs');
  await assert.rejects(submit(subject, 'key-1'), failsWith('retryable'));
  const [, kept] = JSON.parse(subject.memory.notes.get('submissions')!).at(-1);
  subject.server.calibrate('2026-11-21', { ...TEST_DEVICE, table: [...TEST_DEVICE.table].reverse() });
  const job = await submit(subject, 'key-1', subject.restarted());
  assert.equal(job.memo, JSON.stringify(JSON.parse(kept).plan));
});

test('a job whose plan is lost is cancelled and fails', async (t) => {
  const subject = await IbmSubject.start(t);
  await submit(subject, 'key-1');
  subject.memory.notes.clear();
  const backend = subject.restarted();
  const job = await submit(subject, 'key-1', backend);
  assert.equal(subject.jobsStarted(), 1);
  assert.equal(subject.server.jobs[0].state.status, 'Cancelled');
  assert.equal((await backend.poll(job, NEVER)).state, 'failed');
  await assert.rejects(backend.fetch(job, NEVER), failsWith('permanent'));
});

test('IBM gets no more jobs a minute than it accepts', async (t) => {
  const subject = await IbmSubject.start(t);
  for (const key of ['1', '2', '3', '4', '5']) {
    await submit(subject, key);
    subject.clock.advance(10_000);
  }
  const submissions = callsOf(subject, 'POST /api/v1/jobs');
  await assert.rejects(submit(subject, '6'), (error: BackendError) => {
    return error.kind === 'retryable' && error.retryAfterMs === 10_000;
  });
  assert.equal(callsOf(subject, 'POST /api/v1/jobs'), submissions);
  // A restarted service does not know of them; IBM does.
  await assert.rejects(submit(subject, '6', subject.restarted()), (error: BackendError) => {
    return error.kind === 'retryable' && error.retryAfterMs === 30_000;
  });
  subject.clock.advance(10_000);
  await submit(subject, '6');
  assert.equal(subject.jobsStarted(), 6);
});

test('every state that IBM gives a job is understood', async (t) => {
  const subject = await IbmSubject.start(t);
  const job = await submit(subject, 'key-1');
  const [server] = subject.server.jobs;
  const state = async (words: object) => {
    server.state = words as typeof server.state;
    return subject.backend.poll(job, NEVER);
  };
  assert.deepEqual(await state({ status: 'Queued' }), { state: 'queued', retryAfterMs: 30_000 });
  assert.deepEqual(await state({ status: 'RUNNING' }), { state: 'running', retryAfterMs: 5_000 });
  assert.deepEqual(await state({ status: 'Resting' }), { state: 'running', retryAfterMs: 5_000 });
  assert.deepEqual(await state({ status: 'completed' }), { state: 'done' });
  const tooLong = { status: 'Cancelled - Ran too long', reason: 'Ran too long', reason_code: 1305 };
  assert.deepEqual(await state(tooLong), { state: 'cancelled', reason: '1305 Ran too long' });
  const notIsa = {
    status: 'Failed',
    reason_code: 1517,
    reason: 'not supported',
    reason_solution: 'Transpile.',
  };
  assert.deepEqual(await state(notIsa), { state: 'failed', reason: '1517 not supported Transpile.' });
  assert.deepEqual(await state({ status: 'Failed' }), { state: 'failed', reason: 'no reason given' });
  const long = await state({ status: 'Failed', reason: 'x'.repeat(1_000) });
  assert.ok('reason' in long && long.reason.length === 200);
  subject.server.jobs.length = 0;
  assert.equal((await subject.backend.poll(job, NEVER)).state, 'failed');
});

test('the results of a private job are read once, as the last step', async (t) => {
  const { subject, job } = await finished(t);
  const read = await subject.backend.fetch(job, NEVER);
  assertRead(read, subject.bits, subject.sent());
  assert.match(subject.server.requests.at(-1)!.path, /\/results$/);
  const calls = subject.calls();
  await subject.backend.forget(job, NEVER);
  assert.equal(subject.calls(), calls, 'IBM has nothing left to delete');
});

test('a job that is not private is deleted when it is forgotten', async (t) => {
  const { subject, job } = await finished(t, { private: 'false' });
  await subject.backend.fetch(job, NEVER);
  await subject.backend.forget(job, NEVER);
  assert.equal(subject.jobsStarted(), 0);
});

test('private results that a crashed service had read are lost, which is reported once it is certain', async (t) => {
  const { subject, job } = await finished(t);
  await subject.backend.fetch(job, NEVER);
  const later = subject.restarted();
  await assert.rejects(later.fetch(job, NEVER), failsWith('retryable', /not available yet/));
  subject.clock.advance(LATE_MS);
  await assert.rejects(later.fetch(job, NEVER), failsWith('permanent', /only once/));
});

test('private results that broke off during the transfer are lost; unsent ones are not', async (t) => {
  const { subject, job } = await finished(t);
  const at = `${RESULTS.slice(0, -1)}${job.jobId}/results`;
  subject.server.inject('reset', at);
  await assert.rejects(subject.backend.fetch(job, NEVER), failsWith('retryable'));
  subject.clock.advance(LATE_MS);
  const other = await submit(subject, 'key-2');
  subject.finishJobs();
  assert.equal((await subject.backend.fetch(job, NEVER)).provenance.jobId, job.jobId);
  subject.server.inject('cut', at.replace(job.jobId, other.jobId));
  await assert.rejects(subject.backend.fetch(other, NEVER), failsWith('retryable'));
  subject.clock.advance(LATE_MS);
  await assert.rejects(subject.backend.fetch(other, NEVER), failsWith('permanent', /only once/));
});

test('private results that are late are waited for', async (t) => {
  const { subject, job } = await finished(t);
  subject.clock.advance(LATE_MS);
  for (let times = 0; times < 3; times++) {
    subject.server.inject({ status: 204 }, `${RESULTS.slice(0, -1)}${job.jobId}/results`);
    await assert.rejects(subject.backend.fetch(job, NEVER), failsWith('retryable', /not available yet/));
  }
  assert.equal((await subject.backend.fetch(job, NEVER)).provenance.jobId, job.jobId);
});

test('results may come as JSON in a JSON text', async (t) => {
  const { subject, job } = await finished(t);
  subject.server.respoil('text');
  const { verbatim, bits } = {
    verbatim: [Buffer.from(subject.server.jobs[0].results!)],
    bits: subject.sent().bits,
  };
  assertRead(await subject.backend.fetch(job, NEVER), subject.bits, { verbatim, bits });
});

const WAYS_NOT_TO_START: readonly [
  string,
  object,
  (subject: IbmSubject) => void,
  RegExp,
  BackendErrorKind,
][] = [
  ['a paused device', {}, ({ server }) => void (server.status = 'paused'), /ibm_test is paused/, 'retryable'],
  ['another device', { device: 'ibm_other' }, () => {}, /has no ibm_other; it has: ibm_test/, 'permanent'],
  ['no qubit good enough', { max_readout_error: '0.001' }, () => {}, /no qubit meets/, 'retryable'],
  ['a job too long', { seconds_per_shot: '1' }, () => {}, /more than max_seconds 60/, 'retryable'],
  [
    'a device without sx',
    {},
    ({ server }) => server.calibrate('2026-11-21', { ...TEST_DEVICE, basisGates: ['ecr', 'rz', 'x'] }),
    /has no sx: the program does not run there/,
    'permanent',
  ],
  [
    'a configuration without qubits',
    {},
    ({ server }) => void server.inject({ body: { n_qubits: 1.5 } }, 'GET /api/v1/backends/ibm_test/conf'),
    /its configuration names no qubits/,
    'permanent',
  ],
];

for (const [what, texts, arrange, message, kind] of WAYS_NOT_TO_START) {
  test(`no job starts with ${what}`, async (t) => {
    const subject = await IbmSubject.start(t, texts);
    arrange(subject);
    await assert.rejects(submit(subject, 'key-1'), failsWith(kind, message));
    assert.equal(callsOf(subject, 'POST /api/v1/jobs'), 0);
  });
}

test('a device that IBM calls a simulator makes simulated lots, also after a restart', async (t) => {
  const subject = await IbmSubject.start(t);
  subject.server.calibrate('2026-11-21', { ...TEST_DEVICE, isSimulator: true });
  const { job } = await runJob(subject);
  assert.equal(subject.backend.origin, 'simulated');
  const later: IbmBackend = subject.restarted();
  subject.server.finishJobs();
  await later.poll(job, NEVER);
  assert.equal(later.origin, 'simulated');
});
