import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { suite, type TestContext, test } from 'node:test';
import { BackendError, type RawRead } from '../../src/backend/backend.ts';
import { OptionError } from '../../src/backend/definition.ts';
import { ionqBackend } from '../../src/backend/ionq/ionq.ts';
import { decodeShots } from '../../src/backend/ionq/shots.ts';
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
import { IONQ_KEY, ionqError, LocalIonq, type ResultFault } from './providers/ionq.ts';

const NEVER = new AbortController().signal;
const QUBITS = 9;
const SHOTS = 1200;
const BITS = QUBITS * SHOTS;
const NOW_MS = Date.UTC(2026, 10, 21, 10);
/** Longer than IonQ may still work on a request whose answer got lost. */
const SETTLED_MS = 180_000;

interface IonqSubject extends JobSubject {
  readonly local: LocalIonq;
  readonly clock: ManualClock;
}

type Texts = Parameters<typeof optionValues<typeof ionqBackend.options>>[1];

function makeBackend(texts: Texts, clock = new ManualClock(NOW_MS), memory = new MemoryNotes()) {
  return sourceOf('job', ionqBackend, texts, { clock, memory });
}

async function makeSubject(t: TestContext, texts: Texts = {}): Promise<IonqSubject> {
  const clock = new ManualClock(NOW_MS);
  const local = await new LocalIonq(clock).start(t);
  const notes = new MemoryNotes();
  const own: Texts = {
    api_key: IONQ_KEY,
    backend: 'qpu.forte-1',
    base_url: local.baseUrl,
    qubits: String(QUBITS),
    shots: String(SHOTS),
    ...texts,
  };
  const make = (changed: Texts = {}) => makeBackend({ ...own, ...changed }, clock, notes);
  return {
    backend: make(),
    bits: BITS,
    secrets: [IONQ_KEY],
    otherDevice: { backend: 'qpu.aria-1' },
    local,
    clock,
    restarted: make,
    jobsStarted: () => local.jobs,
    finishJobs: () => local.finish(),
    calls: () => local.server.requests.length,
    stall: () => local.server.inject('stall'),
    sent: () => ({ verbatim: local.read.splice(0), bits: packed(local.measured) }),
  };
}

function assertBits(actual: Uint8Array, rows: readonly (readonly number[])[]): void {
  assert.equal(Buffer.compare(actual, packed(rows)), 0, 'the bits that were measured');
}

/** A sound source in which a lost answer has had its time by the time when jobs have been listed. */
async function makeSettled(t: TestContext): Promise<IonqSubject> {
  const subject = await makeSubject(t);
  subject.local.listingTakesMs = SETTLED_MS;
  return subject;
}

type IonqFault = JobFault<IonqSubject>;

const inject = (fault: Fault, on: string) => (subject: IonqSubject) =>
  void subject.local.server.inject(fault, on);
/** The second request meets the fault: the first asks for the job, and this one for its shots. */
const inShots = (fault: Fault) => (subject: IonqSubject) =>
  void subject.local.server.inject('none').then(() => subject.local.server.inject(fault));
const lasting = 'the result stays what it is';
const inResult = (fault: ResultFault | undefined, form: LocalIonq['form']) => (subject: IonqSubject) => {
  // The job ended well a moment ago: its result is made again, with the fault.
  subject.local.setStatus('ready');
  subject.local.fault = fault;
  subject.local.form = form;
  subject.local.finish();
};

const REFUSALS = (
  [
    [400, 'permanent'],
    [401, 'auth'],
    [402, 'quota'],
    [403, 'auth'],
    [409, 'retryable'],
    [422, 'permanent'],
    [429, 'retryable'],
    [500, 'retryable'],
    [503, 'retryable'],
    [520, 'retryable'],
    [529, 'retryable'],
  ] as const
).map(([status, kind]): IonqFault => {
  const message = new RegExp(`127\\.0\\.0\\.1:\\d+: POST /jobs: HTTP ${status}: So it is`);
  return ['submit', String(status), kind, inject(ionqError(status, 'So it is'), 'POST'), { message }];
});

const TOO_MANY = ionqError(429, 'Too many', { 'retry-after': '3' });
const SPENT = { status: 400, body: { code: 'QuotaExhaustedError', message: 'No credit' } };
const UNKNOWN_KEY = { type: 'unauthorized', message: `no such key: ${IONQ_KEY}` };
const ELSEWHERE = { status: 302, headers: { location: 'https://ionq.example' } };

const FAULTS: readonly IonqFault[] = [
  ['submit', '429 with Retry-After', 'retryable', inject(TOO_MANY, 'POST'), { retryAfterMs: 3_000 }],
  ['submit', 'a spent quota, in the shape {code, message}', 'quota', inject(SPENT, 'POST')],
  [
    'submit',
    'an error that says the key, in the shape {error: {type, message}}',
    'auth',
    inject({ status: 401, body: { error: UNKNOWN_KEY } }, 'POST'),
    { message: /HTTP 401: no such key: \[secret\]/ },
  ],
  [
    'submit',
    'an error of 10,000 characters',
    'permanent',
    inject(ionqError(400, 'x'.repeat(10_000)), 'POST'),
  ],
  ['submit', 'a broken connection', 'retryable', inject('reset', 'POST')],
  ['submit', 'an answer that got lost', 'retryable', inject('cut', 'POST')],
  ['submit', 'an answer without an id', 'retryable', inject({ body: {} }, 'POST')],
  ['submit', 'broken JSON', 'retryable', inject('broken-json', 'POST')],
  ['submit', '503 of the system', 'retryable', inject(ionqError(503, 'x'), 'GET')],
  ['submit', 'a redirect, which would carry the key away', 'permanent', inject(ELSEWHERE, 'POST')],
  ['poll', '409 of the gateway', 'retryable', inject(ionqError(409, 'x'), 'GET')],
  ['poll', '401', 'auth', inject(ionqError(401, 'x'), 'GET')],
  ['poll', 'broken JSON', 'retryable', inject('broken-json', 'GET')],
  ['fetch', '502', 'retryable', inShots(ionqError(502, 'x'))],
  ['fetch', 'shots that are not JSON', 'retryable', inShots('broken-json')],
  ['fetch', 'shots cut off', 'retryable', inShots('cut')],
  ['fetch', 'a result that was deleted', 'permanent', inShots(ionqError(404, 'x'))],
  ['fetch', 'a histogram', 'no_raw_shots', inShots({ body: { '0': 0.5, '3': 0.5 } })],
  ...(
    [
      ['truncated', 'url-v1', /1259 shots of 1260/],
      ['truncated', 'artifact-v2', /1259 shots of 1260/],
      ['wide', 'artifact-v1', /more than 9 qubits/],
      ['not-a-number', 'url-v1', /not a number/],
      ['short-register', 'artifact-v2', /not 9 bits/],
      ['foreign-url', 'url-v1', /a URL of another place/],
      ['other-backend', 'url-v1', /ran on qpu\.aria-1/],
    ] as const
  ).map(([fault, form, message]): IonqFault => {
    return ['fetch', `${fault} (${form})`, 'permanent', inResult(fault, form), { message, lasting }];
  }),
  ['fetch', 'no shots among the results', 'no_raw_shots', inResult(undefined, 'none'), { lasting }],
  [
    'fetch',
    'more leaked shots than were spare',
    'retryable',
    inResult('leaking-much', 'artifact-v2'),
    { lasting, message: /gave 8505 of 10800 bits: an ion leaked in 315 shots/ },
  ],
];

jobBackendContract<IonqSubject>('ionq', makeSettled, [...REFUSALS, ...FAULTS]);

async function run(subject: IonqSubject): Promise<RawRead> {
  const { read } = await runJob(subject);
  assertRead(read, subject.bits, subject.sent());
  return read;
}

suite('ionq: results', () => {
  for (const form of ['url-v1', 'artifact-v1', 'artifact-v2', 'both'] as const) {
    test(`shots as ${form}`, async (t) => {
      const subject = await makeSubject(t);
      subject.local.form = form;
      const read = await run(subject);
      assert.deepEqual([read.width, read.shots], [QUBITS, 1260]);
      const path = subject.local.server.requests.at(-1)?.path ?? '';
      assert.match(
        path,
        form === 'url-v1' ? /^\/v0\.4\/jobs\/[^/]+\/results\/shots$/ : /\/artifacts\/shots-v[12]$/,
      );
      assert.ok(Math.abs(onesShare(read) - 0.498) < 0.03, '6 standard errors of 11,340 bits');
    });
  }

  test('numbers of more than 53 bits are exact, the least significant bit first', async () => {
    const shots = ['0', '1', '68719476735', '18014398509481985', '9007199254740993'];
    const document = new TextEncoder().encode(JSON.stringify(shots));
    const expected = { jobId: 'j', part: 'bits', qubits: 56, shots: 5 } as const;
    const { bits } = await decodeShots('v1', document, expected);
    const rows = shots.map((shot) =>
      Array.from({ length: 56 }, (_, qubit) => Number((BigInt(shot) >> BigInt(qubit)) & 1n)),
    );
    assertBits(bits, rows);
  });

  test('shots in which an ion leaked are dropped and counted', async (t) => {
    const subject = await makeSubject(t);
    subject.local.form = 'artifact-v2';
    subject.local.fault = 'leaking';
    const read = await run(subject);
    assert.equal(read.shots, 1260 - 26);
    assert.equal(read.provenance.calibration?.shots_leaked, 26);
  });
});

test('ionq: certificates state system, characterization, circuit and times of a job', async (t) => {
  const read = await run(await makeSubject(t));
  assert.deepEqual(
    { ...read.provenance, jobId: '', circuitSha256: '' },
    {
      provider: 'ionq',
      device: 'qpu.forte-1',
      jobId: '',
      circuit: 'superposition-9',
      circuitVersion: '1.0.0',
      circuitSha256: '',
      qubitsUsed: 9,
      circuitDepth: 2,
      shots: 1260,
      startedAtMs: NOW_MS + 58_000,
      finishedAtMs: NOW_MS + 60_000,
      calibration: { id: 'char-1', date: '2026-11-19T00:00:00Z', spam_fidelity_median: 0.9962 },
    },
  );
});

suite('ionq: one key, one job', () => {
  test('a job whose answer got lost is found among the others, page by page', async (t) => {
    const subject = await makeSubject(t);
    subject.local.addForeignJobs(60);
    const others = subject.local.jobs;
    const key = randomUUID();
    subject.local.server.inject('cut', 'POST');
    await assert.rejects(subject.backend.submit(BITS, key, NEVER), { kind: 'retryable' });
    const job = await subject.restarted().submit(BITS, key, NEVER);
    assert.equal(subject.local.jobs, others + 1);
    assert.equal(subject.local.ids.at(-1), job.jobId);
    const listings = subject.local.server.requests.filter(
      ({ method, path }) => method === 'GET' && path.endsWith('/jobs'),
    );
    assert.equal(listings.length, 3);
  });

  test('a submission that IonQ may still accept is not repeated until it cannot be accepted any more', async (t) => {
    const subject = await makeSubject(t);
    const key = randomUUID();
    subject.local.server.inject('reset', 'POST');
    await assert.rejects(subject.backend.submit(BITS, key, NEVER), { kind: 'retryable' });
    subject.clock.advance(100_000);
    await assert.rejects(subject.restarted().submit(BITS, key, NEVER), {
      kind: 'retryable',
      retryAfterMs: 20_000,
      message: /not sent again while it may still be made/,
    });
    assert.equal(subject.local.jobs, 0);
    subject.clock.advance(20_000);
    await subject.backend.submit(BITS, key, NEVER);
    assert.equal(subject.local.jobs, 1);
  });

  test('nothing is submitted while the jobs cannot be listed', async (t) => {
    const subject = await makeSubject(t);
    const key = randomUUID();
    subject.local.server.inject('reset', 'POST');
    await assert.rejects(subject.backend.submit(BITS, key, NEVER), BackendError);
    subject.clock.advance(SETTLED_MS);
    subject.local.server.inject(ionqError(503, 'x'), 'GET /v0.4/jobs');
    await assert.rejects(subject.backend.submit(BITS, key, NEVER), { kind: 'retryable' });
    subject.local.addForeignJobs(1001);
    await assert.rejects(subject.backend.submit(BITS, key, NEVER), /too many jobs to know/);
    assert.equal(subject.local.server.requests.filter(({ method }) => method === 'POST').length, 1);
  });

  test('a refused submission is repeated without a search', async (t) => {
    const subject = await makeSubject(t);
    const key = randomUUID();
    subject.local.server.inject(ionqError(429, 'Too many'), 'POST');
    await assert.rejects(subject.backend.submit(BITS, key, NEVER), { kind: 'retryable' });
    const before = subject.calls();
    await subject.backend.submit(BITS, key, NEVER);
    assert.equal(subject.calls(), before + 1);
  });
});

suite('ionq: the life of a job', () => {
  test('a queued job is polled at the predicted wait, and every state is understood', async (t) => {
    const subject = await makeSubject(t);
    const job = await subject.backend.submit(BITS, randomUUID(), NEVER);
    for (const [word, expected] of [
      ['submitted', { state: 'queued', retryAfterMs: 60_000 }],
      ['ready', { state: 'queued', retryAfterMs: 60_000 }],
      ['started', { state: 'running', retryAfterMs: 5_000 }],
      ['completed', { state: 'done' }],
      ['canceled', { state: 'cancelled', reason: 'no reason is given' }],
      ['a new word', { state: 'running', retryAfterMs: 5_000 }],
    ] as const) {
      subject.local.setStatus(word);
      assert.deepEqual(await subject.backend.poll(job, NEVER), expected, word);
    }
  });

  test('a failed job gives its reason, in the form of both API versions', async (t) => {
    const subject = await makeSubject(t);
    const job = await subject.backend.submit(BITS, randomUUID(), NEVER);
    for (const failure of [
      { code: 'TooManyShots', message: 'At most 10' },
      { code: 'TooManyShots', error: 'At most 10' },
    ]) {
      subject.local.setStatus('failed', failure);
      const state = await subject.backend.poll(job, NEVER);
      assert.deepEqual(state, { state: 'failed', reason: 'TooManyShots: At most 10' });
    }
    assert.equal((await subject.backend.poll({ ...job, jobId: 'none' }, NEVER)).state, 'failed');
  });

  test('a forgotten job is deleted, and no other', async (t) => {
    const subject = await makeSubject(t);
    const { job } = await runJob(subject);
    await runJob(subject);
    assert.equal(subject.local.ids.length, 2);
    await subject.backend.forget?.(job, NEVER);
    assert.equal(subject.local.ids.length, 1);
    assert.ok(!subject.local.ids.includes(job.jobId));
  });
});

suite('ionq: what is refused before a job is paid for', () => {
  const cases: readonly [what: string, kind: string, message: RegExp, Partial<LocalIonq>, texts?: Texts][] = [
    [
      'a system that prepares and reads badly',
      'retryable',
      /is 0\.94, and 0\.95 is required/,
      { spamFidelity: 0.94 },
    ],
    ['a system that says nothing of it', 'retryable', /is not published/, { spamFidelity: null }],
    ['a retired system', 'permanent', /is retired/, { backendStatus: 'retired' }],
    [
      'a higher price than the budget counts with',
      'permanent',
      /IonQ asks 20 USD, the configured prices come to 14\.91/,
      { estimatedCost: 20 },
    ],
    ['more qubits than there are', 'permanent', /has 36 qubits, and 37 are required/, {}, { qubits: '37' }],
  ];
  for (const [what, kind, message, change, texts] of cases) {
    test(`refuses ${what}`, async (t) => {
      const subject = await makeSubject(t, texts);
      Object.assign(subject.local, change);
      await assert.rejects(subject.backend.submit(BITS, randomUUID(), NEVER), { kind, message });
      assert.equal(subject.local.jobs, 0);
    });
  }

  test('an unknown backend is refused', () => {
    const make = (texts: Texts) => () => makeBackend({ api_key: IONQ_KEY, backend: 'qpu.forte-1', ...texts });
    for (const backend of ['forte', 'simulator']) assert.throws(make({ backend }), OptionError);
  });
});

suite('ionq: cost and facts', () => {
  test('a circuit costs its minimum price, or its gates by the shot', () => {
    const plain = makeBackend({ api_key: IONQ_KEY, backend: 'qpu.forte-1' });
    assert.equal(plain.lotRawBits, 50_000);
    assert.equal(plain.claimedMinEntropyPerBit, 0.85);
    assert.deepEqual(plain.estimate?.(50_000), {
      amount: 12.42 + 2100 * 25 * 0.00022,
      currency: 'USD',
      calls: 1,
    });
  });

  test('describe reports what is published, and what the organisation would pay', async (t) => {
    const subject = await makeSubject(t);
    assert.deepEqual(await subject.backend.describe?.(NEVER), {
      backend: 'qpu.forte-1',
      status: 'available',
      degraded: false,
      location: 'Loopback',
      qubits: 36,
      average_queue_time: 1_181_215,
      characterization: 'char-1',
      characterized_at: '2026-11-19T00:00:00Z',
      spam_fidelity: 0.9962,
      estimated_cost_per_circuit: 10,
      estimated_cost_unit: 'usd',
    });
    const published = subject.local.server.requests.filter(({ path }) => path.includes('/backends/'));
    assert.equal(published.length, 2);
    for (const { headers } of published) assert.equal(headers.authorization, undefined);
  });
});
