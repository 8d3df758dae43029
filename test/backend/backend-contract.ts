import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { suite, type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import {
  type Backend,
  BackendError,
  type BackendErrorKind,
  type JobBackend,
  type JobReference,
  MAX_READ_BITS,
  type RawRead,
  type StreamBackend,
} from '../../src/backend/backend.ts';
import { ORIGINS } from '../../src/core/vocabulary.ts';

/** The last read on the provider's side: what it sent, verbatim, and the bits in it. */
export interface Sent {
  /** The responses (or files) that held the bits, in order. */
  readonly verbatim: readonly Uint8Array[];
  /** Bits in the form of RawRead.bits, made by the provider's side and not by the backend's decoder. */
  readonly bits: Uint8Array;
}

interface Subject {
  /** Bits that one read or job of the test asks for. */
  readonly bits: number;
  /** Texts that no error, fact or print may hold. */
  readonly secrets: readonly string[];
  sent(): Sent;
  /** Calls of the provider, of any sort, so far. */
  calls(): number;
  /** The next call is never answered. Resolves when that call has begun. */
  stall(): Promise<void>;
}

export interface StreamSubject extends Subject {
  readonly backend: StreamBackend;
}

export interface JobSubject extends Subject {
  readonly backend: JobBackend;
  /** Options that name another device. */
  readonly otherDevice: Readonly<Record<string, string>>;
  /** Returns the same source after a restart of the service, with `changed` options: only its SourceMemory remains. */
  restarted(changed?: Readonly<Record<string, string>>): JobBackend;
  /** Jobs that the provider was paid for. */
  jobsStarted(): number;
  /** The provider runs what waits; a poll says `done` from now on. */
  finishJobs(): void;
}

interface FaultExpectation {
  /** The pause that the error requests; not checked when left out. */
  readonly retryAfterMs?: number;
  /** Matches the error's message. */
  readonly message?: RegExp;
  /** Why the source does not work again afterwards; when left out, it must. */
  readonly lasting?: string;
}

/** A fault, the kind of its error, what makes the next read meet it, and other expectations. */
export type StreamFault<S extends StreamSubject> = readonly [
  what: string,
  kind: BackendErrorKind,
  arrange: (subject: S) => void | Promise<void>,
  expected?: FaultExpectation,
];

/** A fault of a job: the call `on` meets it, and the calls before succeed. */
export type JobFault<S extends JobSubject> = readonly [
  on: 'submit' | 'poll' | 'fetch',
  ...fault: [
    what: string,
    kind: BackendErrorKind,
    arrange: (subject: S) => void | Promise<void>,
    expected?: FaultExpectation,
  ],
];

const NEVER = new AbortController().signal;

/** The promises of every source: `readOnce` reads from it, by a job if it has jobs. */
function commonContract<S extends Subject & { readonly backend: Backend }>(
  make: (t: TestContext) => Promise<S>,
  readOnce: (subject: S) => Promise<{ readonly read: RawRead; readonly job?: JobReference }>,
): void {
  test('describes itself without a call', async (t) => {
    const subject = await make(t);
    assertIdentity(subject.backend);
    assertEstimate(subject.backend, subject.bits);
    assert.equal(subject.calls(), 0);
  });

  test('returns exactly the bits that were sent with their hash, and new ones each time', async (t) => {
    const subject = await make(t);
    const reads: RawRead[] = [];
    for (const _ of [1, 2]) {
      const { read, job } = await readOnce(subject);
      assertRead(read, subject.bits, subject.sent());
      if (job !== undefined) assert.equal(read.provenance.jobId, job.jobId);
      reads.push(read);
    }
    assert.notEqual(reads[0].rawSha256, reads[1].rawSha256);
    assert.notDeepEqual(reads[0].bits, reads[1].bits);
  });

  test('shows no secret', async (t) => {
    const subject = await make(t);
    await assertPrintsNoSecret(subject.backend, subject.secrets);
    const { job } = await readOnce(subject);
    await assertPrintsNoSecret(subject.backend, subject.secrets);
    assertNoSecret(job, subject.secrets);
  });
}

/** The promises of every stream source. `make` returns a sound source and its provider, new for each test. */
export function streamBackendContract<S extends StreamSubject>(
  name: string,
  make: (t: TestContext) => Promise<S>,
  faults: readonly StreamFault<S>[],
): void {
  suite(`stream backend contract: ${name}`, () => {
    commonContract(make, async ({ backend, bits }) => ({ read: await backend.read(bits, NEVER) }));

    test('a signal that was aborted before makes no call', async (t) => {
      const subject = await make(t);
      const reason = new Error('stopped before');
      await assert.rejects(subject.backend.read(subject.bits, AbortSignal.abort(reason)), sameAs(reason));
      assert.equal(subject.calls(), 0);
    });

    test('a signal ends a read at once, and the next read is complete', async (t) => {
      const subject = await make(t);
      const stop = new AbortController();
      const reason = new Error('stopped midway');
      const reached = subject.stall();
      const reading = subject.backend.read(subject.bits, stop.signal);
      const rejected = assert.rejects(reading, sameAs(reason));
      await reached;
      stop.abort(reason);
      await rejected;
      const read = await subject.backend.read(subject.bits, NEVER);
      assertRead(read, subject.bits, subject.sent());
    });

    for (const [what, kind, arrange, expected = {}] of faults) {
      test(`${what}: ${kind}`, async (t) => {
        const subject = await make(t);
        await arrange(subject);
        const error = await rejection(subject.backend.read(subject.bits, NEVER));
        assertFault(error, kind, expected, subject.secrets);
        if (expected.lasting !== undefined) return;
        const read = await subject.backend.read(subject.bits, NEVER);
        assertRead(read, subject.bits, subject.sent());
      });
    }
  });
}

/** The promises of every source of jobs. `make` returns a sound source and its provider, new for each test. */
export function jobBackendContract<S extends JobSubject>(
  name: string,
  make: (t: TestContext) => Promise<S>,
  faults: readonly JobFault<S>[],
): void {
  suite(`job backend contract: ${name}`, () => {
    commonContract(make, runJob);

    test('a job that has not ended is queued or running', async (t) => {
      const subject = await make(t);
      const job = await subject.backend.submit(subject.bits, randomUUID(), NEVER);
      const state = await subject.backend.poll(job, NEVER);
      assert.ok(state.state === 'queued' || state.state === 'running', state.state);
    });

    test('one idempotency key makes one job, also after a restart', async (t) => {
      const subject = await make(t);
      const key = randomUUID();
      const first = await subject.backend.submit(subject.bits, key, NEVER);
      const again = await subject.backend.submit(subject.bits, key, NEVER);
      const later = await subject.restarted().submit(subject.bits, key, NEVER);
      assert.deepEqual([again.jobId, later.jobId], [first.jobId, first.jobId]);
      assert.equal(subject.jobsStarted(), 1);
      const other = await subject.backend.submit(subject.bits, randomUUID(), NEVER);
      assert.notEqual(other.jobId, first.jobId);
      assert.equal(subject.jobsStarted(), 2);
    });

    test('a restarted service fetches what an earlier one submitted', async (t) => {
      const subject = await make(t);
      const key = randomUUID();
      const job = await subject.backend.submit(subject.bits, key, NEVER);
      assert.equal(job.idempotencyKey, key);
      assert.equal(job.bits, subject.bits);
      assertNoSecret(job, subject.secrets);
      const kept: JobReference = JSON.parse(JSON.stringify(job));
      const backend = subject.restarted();
      subject.finishJobs();
      assert.deepEqual(await backend.poll(kept, NEVER), { state: 'done' });
      assertRead(await backend.fetch(kept, NEVER), subject.bits, subject.sent());
    });

    test('a job of another device or of a lower claim than the present options is not read', async (t) => {
      const subject = await make(t);
      const { job, read } = await runJob(subject);
      const claim = subject.backend.claimedMinEntropyPerBit;
      const calls = subject.calls();
      for (const changed of [{ min_entropy: (claim + 0.01).toFixed(2) }, subject.otherDevice]) {
        const backend = subject.restarted(changed);
        assert.equal((await backend.poll(job, NEVER)).state, 'failed');
        await assert.rejects(backend.fetch(job, NEVER), {
          kind: 'permanent',
          message: new RegExp(`under a claim of ${claim} bits: the options are others now$`),
        });
      }
      assert.equal(subject.calls(), calls);
      const modest = subject.restarted({ min_entropy: (claim - 0.1).toFixed(2) });
      assert.equal((await modest.fetch(job, NEVER)).rawSha256, read.rawSha256);
    });

    test('a job is cancelled, and a job that no longer exists may be deleted again', async (t) => {
      const subject = await make(t);
      const { backend } = subject;
      const job = await backend.submit(subject.bits, randomUUID(), NEVER);
      await backend.cancel(job, NEVER);
      assert.equal((await backend.poll(job, NEVER)).state, 'cancelled');
      await backend.cancel(job, NEVER); // a cancellation whose answer got lost is sent again
      const { job: done } = await runJob(subject);
      await backend.forget?.(done, NEVER);
      await backend.forget?.(done, NEVER);
    });

    for (const call of ['submit', 'poll', 'fetch'] as const) {
      test(`a signal ends ${call} at once`, async (t) => {
        const subject = await make(t);
        const perform = await prepared(subject, call);
        const stop = new AbortController();
        const reason = new Error('stopped midway');
        const reached = subject.stall();
        const rejected = assert.rejects(perform(stop.signal), sameAs(reason));
        await reached;
        stop.abort(reason);
        await rejected;
        const before = subject.calls();
        await assert.rejects(perform(AbortSignal.abort(reason)), sameAs(reason));
        assert.equal(subject.calls(), before);
      });
    }

    for (const [on, what, kind, arrange, expected = {}] of faults) {
      test(`${on}: ${what}: ${kind}`, async (t) => {
        const subject = await make(t);
        const perform = await prepared(subject, on);
        await arrange(subject);
        assertFault(await rejection(perform(NEVER)), kind, expected, subject.secrets);
        if (expected.lasting === undefined) await perform(NEVER);
      });
    }
  });
}

/** Runs one job from its submission to its result. */
export async function runJob(
  subject: JobSubject,
): Promise<{ readonly job: JobReference; readonly read: RawRead }> {
  const { backend, bits } = subject;
  const job = await backend.submit(bits, randomUUID(), NEVER);
  subject.finishJobs();
  assert.deepEqual(await backend.poll(job, NEVER), { state: 'done' });
  return { job, read: await backend.fetch(job, NEVER) };
}

/** The call by itself, with all that comes before it done; each performance is of the same job. */
async function prepared(
  subject: JobSubject,
  call: 'submit' | 'poll' | 'fetch',
): Promise<(signal: AbortSignal) => Promise<unknown>> {
  const { backend, bits } = subject;
  const key = randomUUID();
  if (call === 'submit') return (signal) => backend.submit(bits, key, signal);
  const job = await backend.submit(bits, key, NEVER);
  if (call === 'poll') return (signal) => backend.poll(job, signal);
  subject.finishJobs();
  assert.deepEqual(await backend.poll(job, NEVER), { state: 'done' });
  return (signal) => backend.fetch(job, signal);
}

function assertIdentity(backend: Backend): void {
  assert.ok(backend.name.length > 0);
  assert.ok(backend.quantumBackend.length > 0);
  assert.ok(ORIGINS.includes(backend.origin));
  const { claimedMinEntropyPerBit: claimed, lotRawBits = 1024 } = backend;
  assert.ok(claimed > 0 && claimed <= 1, `a claim of ${claimed} per bit`);
  // SP 800-90B §4.3: startup takes 1,024 samples; a lot below that could never be the first.
  assert.ok(Number.isInteger(lotRawBits) && lotRawBits >= 1024 && lotRawBits <= MAX_READ_BITS);
}

function assertEstimate(backend: Backend, bits: number): void {
  if (backend.estimate === undefined) return;
  const [one, ten] = [backend.estimate(bits), backend.estimate(10 * bits)];
  for (const { amount, currency, calls } of [one, ten]) {
    assert.ok(Number.isFinite(amount) && amount >= 0, `an amount of ${amount}`);
    assert.ok(currency.length > 0);
    assert.ok(Number.isInteger(calls) && calls >= 1, `${calls} calls`);
  }
  assert.ok(ten.amount >= one.amount && ten.calls >= one.calls, 'more bits cost no less');
}

/** The bits are those that were sent, to the last one, and the read says so truly. */
export function assertRead(read: RawRead, bits: number, sent: Sent): void {
  const got = read.width * read.shots;
  assert.ok(got >= bits, `${got} of ${bits} bits`);
  assert.equal(read.bits.length, Math.ceil(got / 8));
  if (got % 8 !== 0) assert.equal(read.bits.at(-1)! & (0xff >>> (got % 8)), 0, 'padded with zeros');
  assert.equal(Buffer.compare(read.bits, sent.bits), 0, 'the bits that were sent');
  const digest = createHash('sha256');
  for (const piece of sent.verbatim) digest.update(piece);
  assert.equal(read.rawSha256, digest.digest('hex'), 'the hash of what was sent');
  assertProvenance(read);
}

function assertProvenance({ provenance, shots, width }: RawRead): void {
  for (const text of ['provider', 'device', 'circuit', 'circuitVersion'] as const) {
    assert.ok(provenance[text].length > 0, text);
  }
  assert.notEqual(provenance.jobId, '');
  assert.equal(provenance.shots, shots);
  if (provenance.circuit === 'none') {
    assert.equal(provenance.circuitVersion, 'none');
    assert.equal(provenance.circuitSha256, null);
    assert.equal(provenance.circuitDepth, 0);
  } else {
    assert.match(provenance.circuitSha256 ?? '', /^[0-9a-f]{64}$/);
    assert.ok(Number.isInteger(provenance.circuitDepth) && provenance.circuitDepth >= 1);
    assert.ok(provenance.qubitsUsed >= width, `${width} channels of ${provenance.qubitsUsed} qubits`);
  }
  assert.ok(
    provenance.startedAtMs > 0 && provenance.startedAtMs <= provenance.finishedAtMs,
    'times in order',
  );
  for (const [name, value] of Object.entries(provenance.calibration ?? {})) {
    const isFigure = typeof value === 'number' || typeof value === 'string' || Array.isArray(value);
    assert.ok(isFigure, `calibration ${name}`);
    if (name.startsWith('readout_e')) assert.equal((value as readonly number[]).length, width, name);
  }
}

async function assertPrintsNoSecret(backend: Backend, secrets: readonly string[]): Promise<void> {
  assertNoSecret(backend, secrets);
  const facts = await backend.describe?.(NEVER);
  assertNoSecret(facts, secrets);
  for (const [name, fact] of Object.entries(facts ?? {})) {
    assert.ok(fact === null || ['string', 'number', 'boolean'].includes(typeof fact), name);
  }
}

/** Asserts that no form in which a log, an error page or a debugger would show the thing contains a secret. */
export function assertNoSecret(thing: unknown, secrets: readonly string[]): void {
  const forms = [inspect(thing, { depth: 12, showHidden: true, maxStringLength: null }), String(thing)];
  const json = JSON.stringify(thing);
  if (json !== undefined) forms.push(json);
  if (thing instanceof Error) forms.push(thing.stack ?? '', thing.message);
  for (const secret of secrets) {
    assert.ok(secret.length >= 8, 'a secret long enough to be looked for');
    for (const form of forms) assert.ok(!form.includes(secret), 'a secret is printed');
  }
}

/** Returns what assert.rejects and assert.throws compare an error of a backend with. */
export function failsWith(kind: BackendErrorKind, message = /./) {
  return { name: 'BackendError', kind, message };
}

function assertFault(
  error: unknown,
  kind: BackendErrorKind,
  { message, retryAfterMs }: FaultExpectation,
  secrets: readonly string[],
): void {
  assert.ok(error instanceof BackendError, inspect(error));
  assert.equal(error.kind, kind, error.message);
  if (message !== undefined) assert.match(error.message, message);
  if (retryAfterMs !== undefined) assert.equal(error.retryAfterMs, retryAfterMs);
  assert.ok(error.message.length <= 400, 'a message fit for a log');
  assertNoSecret(error, secrets);
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return assert.fail('what must fail was given');
}

function sameAs(reason: Error): (error: unknown) => true {
  return (error) => {
    assert.equal(error, reason);
    return true;
  };
}
