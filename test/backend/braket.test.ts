import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { suite, type TestContext, test } from 'node:test';
import { BackendError, type RawRead } from '../../src/backend/backend.ts';
import { braketBackend } from '../../src/backend/braket/braket.ts';
import { OptionError } from '../../src/backend/definition.ts';
import { ManualClock } from '../support/manual-clock.ts';
import type { Fault } from '../support/providers/http-server.ts';
import { onesShare, packed } from '../support/shots.ts';
import { MemoryNotes, type optionValues, sourceOf } from '../support/source-parts.ts';
import {
  assertRead,
  type JobFault,
  type JobSubject,
  jobBackendContract,
  runJob,
} from './backend-contract.ts';
import { BUCKET, braketError, LocalBraket, type ResultFault } from './providers/braket.ts';
import { gridDevice, type LocalDevice, simulatorDevice, trapDevice } from './providers/braket-device.ts';
import { s3Error } from './providers/s3.ts';

const NEVER = new AbortController().signal;
const KEY_ID = 'AKIAIOSFODNN7EXAMPLE';
const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const SESSION = 'IQoJb3JpZ2luX2VjEXAMPLETOKEN';

// The first stop of the default chain of credentials; the machine's own profile is out of reach.
Object.assign(process.env, {
  AWS_ACCESS_KEY_ID: KEY_ID,
  AWS_SECRET_ACCESS_KEY: SECRET,
  AWS_SESSION_TOKEN: SESSION,
  AWS_CONFIG_FILE: '/nonexistent/config',
  AWS_SHARED_CREDENTIALS_FILE: '/nonexistent/credentials',
  AWS_EC2_METADATA_DISABLED: 'true',
});

interface BraketSubject extends JobSubject {
  readonly local: LocalBraket;
  readonly notes: MemoryNotes;
  readonly clock: ManualClock;
}

const QUBITS = 8;
const SHOTS = 1100;
const BITS = QUBITS * SHOTS;
/** A Saturday. */
const NOW_MS = Date.UTC(2026, 10, 21, 10);

type Texts = Parameters<typeof optionValues<typeof braketBackend.options>>[1];

function makeBackend(texts: Texts, clock = new ManualClock(NOW_MS), memory = new MemoryNotes()) {
  return sourceOf('job', braketBackend, texts, { clock, memory });
}

async function makeSubject(t: TestContext, device = gridDevice(), texts: Texts = {}): Promise<BraketSubject> {
  const clock = new ManualClock(NOW_MS);
  const local = await new LocalBraket(device, clock).start(t);
  const notes = new MemoryNotes();
  const own: Texts = {
    device: device.arn,
    bucket: BUCKET,
    region: device.arn.split(':')[3] || 'us-east-1',
    endpoint: local.api.url,
    s3_endpoint: local.s3.server.url,
    qubits: String(QUBITS),
    shots: String(SHOTS),
    ...texts,
  };
  const make = (changed: Texts = {}) => makeBackend({ ...own, ...changed }, clock, notes);
  return {
    backend: make(),
    bits: BITS,
    secrets: [SECRET, SESSION, KEY_ID],
    otherDevice: { device: trapDevice([]).arn },
    local,
    notes,
    clock,
    restarted: make,
    jobsStarted: () => local.tasks,
    finishJobs: () => local.finish(),
    calls: () => local.api.requests.length + local.s3.server.requests.length,
    stall: () => Promise.race([local.api.inject('stall'), local.s3.server.inject('stall')]),
    sent: () => ({ verbatim: local.s3.read.splice(0), bits: packed(local.measured.rows) }),
  };
}

type BraketFault = JobFault<BraketSubject>;

const onBraket = (fault: Fault, on: string) => (subject: BraketSubject) =>
  void subject.local.api.inject(fault, on);
const onS3 = (fault: Fault) => (subject: BraketSubject) => void subject.local.s3.server.inject(fault);
const lasting = 'the result stays what it is';
const inResult = (fault: ResultFault) => (subject: BraketSubject) => {
  // The task ended well a moment ago: its result is made again, with the fault.
  subject.local.setStatus('CREATED');
  subject.local.fault = fault;
  subject.local.finish();
};

const REFUSALS = (
  [
    [400, 'ValidationException', "Caller doesn't have access to b or it doesn't exist", 'permanent'],
    [400, 'ValidationException', 'The estimated cost exceeds the spending limit', 'quota'],
    [402, 'ServiceQuotaExceededException', 'Too many tasks are queued', 'quota'],
    [403, 'AccessDeniedException', 'User is not authorized', 'auth'],
    [403, 'ExpiredTokenException', 'The security token is expired', 'auth'],
    [400, 'UnrecognizedClientException', 'The security token is invalid', 'auth'],
    [409, 'ConflictException', 'The token was used with other parameters', 'permanent'],
    [410, 'DeviceRetiredException', 'The device is retired', 'permanent'],
    [429, 'ThrottlingException', 'Rate exceeded', 'retryable'],
    [500, 'InternalServiceException', 'Internal', 'retryable'],
    [503, 'ServiceUnavailable', 'Busy', 'retryable'],
  ] as const
).map(([status, name, words, kind]): BraketFault => {
  const message = new RegExp(`127\\.0\\.0\\.1:\\d+: CreateQuantumTask: HTTP ${status} ${name}: ${words}`);
  return [
    'submit',
    `${status} ${name} (${words})`,
    kind,
    onBraket(braketError(status, name, words), 'POST'),
    { message },
  ];
});

const OFFLINE = braketError(424, 'DeviceOfflineException', 'offline');
const THROTTLED = braketError(429, 'ThrottlingException', 'Rate exceeded', { 'retry-after': '7' });
const BUSY = s3Error(503, 'SlowDown', 'Please reduce your request rate');
const BUSY_2_S = { ...BUSY, headers: { ...BUSY.headers, 'retry-after': '2' } };
const S3_DENIED = s3Error(403, 'AccessDenied', 'Access Denied');

const FAULTS: readonly BraketFault[] = [
  [
    'submit',
    '424 while the device is offline',
    'retryable',
    onBraket(OFFLINE, 'POST'),
    { retryAfterMs: 900_000 },
  ],
  ['submit', '429 with Retry-After', 'retryable', onBraket(THROTTLED, 'POST'), { retryAfterMs: 7_000 }],
  ['submit', 'a broken connection', 'retryable', onBraket('reset', 'POST')],
  ['submit', 'an answer that got lost', 'retryable', onBraket('cut', 'POST')],
  ['submit', 'broken JSON of the device', 'retryable', onBraket('broken-json', 'GET /device')],
  [
    'submit',
    'broken JSON',
    'retryable',
    onBraket('broken-json', 'POST'),
    { message: /a reply that cannot be read/ },
  ],
  ['poll', '500', 'retryable', onBraket(braketError(500, 'InternalServiceException', 'no'), 'GET')],
  ['poll', '403', 'auth', onBraket(braketError(403, 'AccessDeniedException', 'no'), 'GET')],
  [
    'fetch',
    'S3 403',
    'auth',
    onS3(S3_DENIED),
    { message: /GetObject: HTTP 403 AccessDenied: Access Denied/ },
  ],
  ['fetch', 'S3 503 with Retry-After', 'retryable', onS3(BUSY_2_S), { retryAfterMs: 2_000 }],
  ['fetch', 'no object yet', 'retryable', onS3(s3Error(404, 'NoSuchKey', 'no'))],
  ['fetch', 'no bucket', 'permanent', onS3(s3Error(404, 'NoSuchBucket', 'no'))],
  ['fetch', 'an object cut off', 'retryable', onS3('cut')],
  ['fetch', 'broken JSON', 'retryable', onS3('broken-json')],
  ['fetch', 'an object beyond all measure', 'permanent', onS3({ body: new Uint8Array(5 * 1024 * 1024) })],
  ['fetch', 'probabilities alone', 'no_raw_shots', inResult('histogram'), { lasting }],
  ['fetch', 'a shot too few', 'permanent', inResult('truncated'), { lasting }],
  ['fetch', 'a bit too few in a shot', 'permanent', inResult('short-row'), { lasting }],
  ['fetch', 'bits of other qubits', 'permanent', inResult('other-qubits'), { lasting }],
  ['fetch', 'the result of another task', 'permanent', inResult('of-another-task'), { lasting }],
  [
    'fetch',
    'fewer shots than asked, counted as successful',
    'retryable',
    inResult('fewer-successful'),
    { lasting, message: /gave 8720 of 8800 bits: 1090 successful shots of 1100/ },
  ],
];

jobBackendContract<BraketSubject>('braket', makeSubject, [...REFUSALS, ...FAULTS]);

/** Runs one job on `device`, and checks everything that its result must satisfy. */
async function run(subject: BraketSubject): Promise<RawRead> {
  const { read } = await runJob(subject);
  assertRead(read, subject.bits, subject.sent());
  return read;
}

suite('braket: what certificates state', () => {
  test('qubits, calibration, circuit and times of a task', async (t) => {
    const read = await run(await makeSubject(t));
    const { calibration, ...provenance } = read.provenance;
    assert.deepEqual(
      { ...provenance, jobId: '', circuitSha256: '' },
      {
        provider: 'amazon-braket',
        device: 'iqm/Garnet',
        jobId: '',
        circuit: 'superposition-8',
        circuitVersion: '1.0.0',
        circuitSha256: '',
        qubitsUsed: 8,
        circuitDepth: 2,
        shots: SHOTS,
        startedAtMs: NOW_MS,
        finishedAtMs: NOW_MS + 60_000,
      },
    );
    // Qubit 3 reads badly and 7 has no figure; the rest are equal, so the lowest are taken.
    const physical = [1, 2, 4, 5, 6, 8, 9, 10];
    const fidelity = 1 - (0.01 + 0.012) / 2;
    assert.deepEqual(calibration, {
      date: '2026-11-20T16:45:26.355472+00:00',
      physical_qubits: physical,
      readout_fidelity: physical.map(() => fidelity),
      readout_e01: physical.map(() => 0.01),
      readout_e10: physical.map(() => 0.012),
    });
    assert.ok(Math.abs(onesShare(read) - 0.499) < 0.035, '6.5 standard errors of 8,800 bits');
  });

  test('a figure that one of the qubits lacks is left out', async (t) => {
    const { provenance } = await run(await makeSubject(t, gridDevice(5)));
    assert.deepEqual(Object.keys(provenance.calibration ?? {}), [
      'date',
      'physical_qubits',
      'readout_fidelity',
    ]);
  });

  test('a device that publishes one figure for all qubits gives no lists', async (t) => {
    const device = trapDevice(['gpi', 'gpi2', 'zz']);
    const { provenance } = await run(await makeSubject(t, device));
    assert.deepEqual(provenance.calibration, {
      date: '2026-11-19T00:00:00+00:00',
      physical_qubits: [0, 1, 2, 3, 4, 5, 6, 7],
      readout_fidelity_mean: 0.9955,
    });
  });

  test('fewer successful shots than requested are used if they suffice, and reported', async (t) => {
    const subject = await makeSubject(t);
    const job = await subject.backend.submit(BITS, randomUUID(), NEVER);
    subject.local.fault = 'fewer-successful';
    subject.finishJobs();
    const read = await subject.backend.fetch({ ...job, bits: BITS - 8 * 10 }, NEVER);
    assert.equal(read.shots, SHOTS - 10);
    assert.equal(read.provenance.shots, SHOTS - 10);
    assert.equal(read.provenance.calibration?.shots_asked, SHOTS);
    assert.equal(read.provenance.calibration?.shots_successful, SHOTS - 10);
  });

  test('a simulator is simulated, with virtual qubits and no calibration', async (t) => {
    const subject = await makeSubject(t, simulatorDevice());
    assert.equal(subject.backend.origin, 'simulated');
    assert.equal(subject.backend.quantumBackend, 'braket-amazon-sv1');
    const { provenance } = await run(subject);
    assert.equal(provenance.calibration, null);
    assert.equal(provenance.circuitDepth, 2);
    const { source } = subject.local.measured;
    assert.match(source, /^OPENQASM 3\.0;\nbit\[8\] b;\nqubit\[8\] q;\nh q\[0\];\n/);
  });

  test('columns are assigned to the qubit that they measure', async (t) => {
    const subject = await makeSubject(t);
    subject.local.fault = 'all-qubits';
    await run(subject);
  });
});

suite('braket: the life of a task', () => {
  test('a queued task is polled according to its position, a running one as the device asks', async (t) => {
    const subject = await makeSubject(t, trapDevice(['gpi', 'gpi2', 'zz']));
    const job = await subject.backend.submit(BITS, randomUUID(), NEVER);
    assert.deepEqual(await subject.backend.poll(job, NEVER), { state: 'queued', retryAfterMs: 45_000 });
    subject.local.queuePosition = '>2000';
    assert.deepEqual(await subject.backend.poll(job, NEVER), { state: 'queued', retryAfterMs: 300_000 });
    subject.local.queuePosition = 'None';
    assert.deepEqual(await subject.backend.poll(job, NEVER), { state: 'queued', retryAfterMs: 15_000 });
    subject.local.setStatus('RUNNING');
    assert.deepEqual(await subject.backend.poll(job, NEVER), { state: 'running', retryAfterMs: 200 });
    subject.local.setStatus('CANCELLING');
    assert.equal((await subject.backend.poll(job, NEVER)).state, 'running');
  });

  test('a failed task gives its reason', async (t) => {
    const subject = await makeSubject(t);
    const job = await subject.backend.submit(BITS, randomUUID(), NEVER);
    subject.local.outcome = 'FAILED';
    subject.finishJobs();
    const failed = { state: 'failed', reason: 'The device lost its qubits' };
    assert.deepEqual(await subject.backend.poll(job, NEVER), failed);
    await assert.rejects(subject.backend.fetch(job, NEVER), /is FAILED: it has no results yet/);
    const gone = { ...job, jobId: 'arn:aws:braket:eu-north-1:123456789012:quantum-task/none' };
    assert.equal((await subject.backend.poll(gone, NEVER)).state, 'failed');
  });

  test('a submission is repeated byte for byte, although the device was calibrated in between', async (t) => {
    const device = gridDevice();
    const subject = await makeSubject(t, device);
    const key = randomUUID();
    subject.local.api.inject('cut', 'POST');
    await assert.rejects(subject.backend.submit(BITS, key, NEVER), BackendError);
    const { oneQubitProperties } = device.capabilities.standardized as { oneQubitProperties: object };
    Object.assign(oneQubitProperties, { 1: { oneQubitFidelity: [] } });
    const job = await subject.restarted().submit(BITS, key, NEVER);
    assert.equal(subject.jobsStarted(), 1);
    const [first, second] = subject.local.api.requests.filter(({ method }) => method === 'POST');
    assert.equal(first.body, second.body);
    assert.ok(JSON.parse(job.memo).qubits.includes(1));
    const other = await subject.backend.submit(BITS, randomUUID(), NEVER);
    assert.ok(!JSON.parse(other.memo).qubits.includes(1));
  });

  test('a forgotten task is deleted from the bucket, and nothing else is', async (t) => {
    const subject = await makeSubject(t);
    const { job } = await runJob(subject);
    const kept = await runJob(subject);
    const before = subject.local.s3.keys();
    assert.equal(before.length, 2);
    await subject.backend.forget?.(job, NEVER);
    const folder = before.find((key) => key.endsWith('results.json'))!.split('/')[1];
    assert.deepEqual(
      subject.local.s3.keys(),
      before.filter((key) => !key.includes(folder)),
    );
    await subject.backend.fetch(kept.job, NEVER);
  });
});

suite('braket: what is refused before a task is paid for', () => {
  const cases: readonly [what: string, device: LocalDevice, texts: Texts, bits: number, message: RegExp][] = [
    [
      'more shots than the device takes',
      trapDevice(['gpi2', 'zz']),
      {},
      48_000,
      /takes 100 to 5000 shots of a program, 6000 are asked/,
    ],
    [
      'more qubits than read well',
      gridDevice(),
      { qubits: '19' },
      BITS,
      /19 asked, 18 have a readout fidelity of 0.9 or more/,
    ],
    [
      'a higher price than the budget counts with',
      gridDevice(),
      { price_per_shot: '0.001' },
      BITS,
      /costs 0.00145 USD a shot, price_per_shot is 0.001/,
    ],
    [
      'native gates that are not known',
      trapDevice(['u3', 'cz']),
      {},
      BITS,
      /no native gates that this service writes/,
    ],
    [
      'a simulator behind the ARN of a QPU',
      { ...gridDevice(), type: 'SIMULATOR' },
      {},
      BITS,
      /is a simulator, which its ARN does not say/,
    ],
  ];
  for (const [what, device, texts, bits, message] of cases) {
    test(`refuses ${what}`, async (t) => {
      const subject = await makeSubject(t, device, texts);
      await assert.rejects(subject.backend.submit(bits, randomUUID(), NEVER), {
        name: 'BackendError',
        message,
      });
      assert.equal(subject.jobsStarted(), 0);
    });
  }

  test('contradictory options are refused', () => {
    const device = gridDevice().arn;
    const make = (texts: Texts) => () => makeBackend({ device, bucket: BUCKET, ...texts });
    assert.throws(make({ device: simulatorDevice().arn }), /region must be set/);
    assert.throws(make({ device: device.replace('Garnet', 'Emerald') }), /price_per_shot must be set/);
    assert.throws(make({ device: 'arn:aws:s3:::bucket' }), OptionError);
    assert.throws(make({ bucket: 'No Bucket' }), OptionError);
    assert.throws(make({ prefix: '/a' }), OptionError);
  });
});

suite('braket: cost and facts', () => {
  test('a task costs its fee and the price of every shot', () => {
    const device = gridDevice().arn;
    const plain = makeBackend({ device, bucket: BUCKET });
    assert.equal(plain.lotRawBits, 32_000);
    assert.equal(plain.claimedMinEntropyPerBit, 0.7);
    assert.deepEqual(plain.estimate?.(32_000), { amount: 0.3 + 2000 * 0.00145, currency: 'USD', calls: 1 });
  });

  test('describe reports what the device publishes', async (t) => {
    const subject = await makeSubject(t);
    const facts = await subject.backend.describe?.(NEVER);
    assert.deepEqual(facts, {
      device: 'IQM Garnet',
      arn: gridDevice().arn,
      type: 'QPU',
      status: 'ONLINE',
      location: 'Loopback',
      qubits: 20,
      native_gates: 'prx',
      shots_per_program: '1 to 20000',
      price_per_shot_usd: 0.00145,
      queue: 'QUANTUM_TASKS_QUEUE Normal: 7',
      execution_windows: 'Everyday 09:00:00-17:59:59 UTC',
      calibrated_at: '2026-11-20T16:45:26.355472+00:00',
      readout_fidelity_best: 0.989,
      readout_fidelity_worst: 0.8,
    });
  });

  test('missing credentials are an authorization error', async (t) => {
    const subject = await makeSubject(t);
    const { AWS_ACCESS_KEY_ID: id } = process.env;
    delete process.env.AWS_ACCESS_KEY_ID;
    t.after(() => Object.assign(process.env, { AWS_ACCESS_KEY_ID: id }));
    await assert.rejects(subject.backend.submit(BITS, randomUUID(), NEVER), { kind: 'auth' });
  });

  test('an aborted signal ends a download midway', async (t) => {
    const subject = await makeSubject(t);
    const { job } = await runJob(subject);
    const stop = new AbortController();
    const reason = new Error('stopped midway');
    const reached = subject.local.s3.server.inject('stall');
    const fetching = assert.rejects(subject.backend.fetch(job, stop.signal), (error) => error === reason);
    await reached;
    stop.abort(reason);
    await fetching;
  });
});
