import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { BackendError } from '../../src/backend/backend.ts';
import { type ProviderReply, ProviderServer } from '../support/providers/http-server.ts';
import {
  ANU_KEY,
  anuServer,
  lfdServer,
  OUTSHIFT_KEY,
  outshiftServer,
  QUANDELA_TOKEN,
  quandelaServer,
} from '../support/providers/qrng-services.ts';
import { assertRead, failsWith } from './backend-contract.ts';
import { CALLS, Pace, QrngSubject, source } from './qrng-http-fixtures.ts';

const NEVER = new AbortController().signal;

async function anu(t: TestContext): Promise<QrngSubject> {
  const pace = new Pace();
  const server = await anuServer(pace.clock).start(t);
  return new QrngSubject(server, pace, { preset: 'anu', api_key: ANU_KEY });
}

async function lfd(t: TestContext, texts: Readonly<Record<string, string>> = {}): Promise<QrngSubject> {
  return new QrngSubject(await lfdServer().start(t), new Pace(), { preset: 'lfd', ...texts });
}

test('a read makes as many calls as it needs, at the pace of the service', async (t) => {
  const { backend, bits, server, pace } = await anu(t);
  const read = await backend.read(bits, NEVER);
  assert.deepEqual(
    server.requests.map(({ query }) => query.get('length')),
    ['1024', '1024', '512'],
  );
  assert.equal(read.shots, bits);
  assert.deepEqual(pace.waited, [1_000, 1_000]); // from the end of a call to the next; the first waits for nothing
  await backend.read(8 * 20, NEVER);
  assert.equal(server.requests.at(-1)!.query.get('length'), '2'); // two items are 40 bytes, the fewest above 32
});

test('the lot of each preset fits its plan and its pace', () => {
  const shapes = ['anu', 'outshift', 'qrypt', 'lfd', 'quandela'].map((preset) => {
    const texts = preset === 'lfd' ? { preset } : { preset, api_key: 'some-key-of-it' };
    const { lotRawBits, claimedMinEntropyPerBit, readTimeoutMs, estimate } = source(texts);
    assert.ok(estimate !== undefined);
    return [preset, lotRawBits, claimedMinEntropyPerBit, readTimeoutMs];
  });
  assert.deepEqual(shapes, [
    ['anu', 1_638_400, 0.8, 140_000],
    ['outshift', 96_000, 0.8, 150_000],
    ['qrypt', 4_194_304, 0.8, 40_000],
    ['lfd', 262_144, 0.8, 118_000],
    ['quandela', 262_144, 0.25, 350_000],
  ]);
});

test('a call that fails occasionally is retried, with growing pauses', async (t) => {
  const subject = await lfd(t, { interval_ms: '0' });
  for (const fault of ['none', { status: 500 }, { status: 502 }, 'reset'] as const)
    subject.server.inject(fault);
  const read = await subject.backend.read(subject.bits, NEVER);
  assertRead(read, subject.bits, subject.sent());
  assert.equal(subject.calls(), CALLS + 3);
  assert.deepEqual(subject.pace.waited, [1_000, 2_000, 4_000]);
});

test('a read waits for a short Retry-After', async (t) => {
  const subject = await lfd(t, { interval_ms: '0' });
  subject.server.inject({ status: 503, headers: { 'retry-after': '7' } });
  await subject.backend.read(subject.bits, NEVER);
  assert.deepEqual(subject.pace.waited, [7_000]);
});

test('bytes that came before a failure begin the next read', async (t) => {
  const subject = await lfd(t);
  for (const fault of ['none', 'none', { status: 402 }] as const) subject.server.inject(fault);
  await assert.rejects(subject.backend.read(subject.bits, NEVER), failsWith('quota'));
  assert.equal((await subject.backend.describe()).bytes_left_of_a_failed_read, 2 * 4096);
  assert.equal(subject.calls(), 3);
  const startedAtMs = subject.pace.clock.wallMs();
  subject.pace.clock.advance(3_600_000);
  const read = await subject.backend.read(subject.bits, NEVER);
  assert.equal(subject.calls(), 4);
  assertRead(read, subject.bits, subject.sent());
  assert.ok(read.provenance.startedAtMs < startedAtMs, 'the read began with the first call that it holds');
  assert.equal((await subject.backend.describe()).bytes_left_of_a_failed_read, 0);
  assertRead(await subject.backend.read(subject.bits, NEVER), subject.bits, subject.sent());
});

test('a smaller read after a failure makes no call, and returns the bytes that were left', async (t) => {
  const subject = await lfd(t);
  for (const fault of ['none', 'none', { status: 402 }] as const) subject.server.inject(fault);
  await assert.rejects(subject.backend.read(subject.bits, NEVER), failsWith('quota'));
  const read = await subject.backend.read(8, NEVER);
  assert.equal(subject.calls(), 3);
  assertRead(read, 8, subject.server.lastSent(2));
});

test('a read that was aborted before it began takes none of the bytes left', async (t) => {
  const subject = await lfd(t);
  for (const fault of ['none', { status: 402 }] as const) subject.server.inject(fault);
  await assert.rejects(subject.backend.read(subject.bits, NEVER), failsWith('quota'));
  await assert.rejects(subject.backend.read(8, AbortSignal.abort(new Error('before'))), /before/);
  assertRead(await subject.backend.read(subject.bits, NEVER), subject.bits, subject.sent());
  assert.equal(subject.calls(), CALLS + 1);
});

test('an aborted read keeps the bytes that had come', async (t) => {
  const subject = await lfd(t);
  const stop = new AbortController();
  subject.server.inject('none');
  const stalled = subject.stall();
  const reading = assert.rejects(subject.backend.read(subject.bits, stop.signal), /enough/);
  await stalled;
  stop.abort(new Error('enough'));
  await reading;
  const read = await subject.backend.read(subject.bits, NEVER);
  assertRead(read, subject.bits, subject.sent());
  assert.equal(subject.calls(), CALLS + 1);
});

test('two concurrent reads share no bit', async (t) => {
  const subject = await lfd(t);
  const [one, two] = await Promise.all([
    subject.backend.read(subject.bits, NEVER),
    subject.backend.read(subject.bits, NEVER),
  ]);
  const calls = [one, two].flatMap(({ bits }) => [bits.subarray(0, 4096), bits.subarray(4096, 8192)]);
  assert.equal(new Set(calls.map((bytes) => Buffer.from(bytes).toString('hex'))).size, 4);
});

test('a call that stalls is given up and retried', async (t) => {
  const subject = await lfd(t, { call_timeout_ms: '600' });
  for (let tries = 0; tries < 4; tries++) subject.server.inject('stall');
  await assert.rejects(subject.backend.read(subject.bits, NEVER), (error: unknown) => {
    assert.ok(error instanceof BackendError);
    assert.equal(error.kind, 'retryable');
    assert.match(error.message, /^127\.0\.0\.1:\d+: no answer within 0\.6 s$/);
    return true;
  });
  assert.equal(subject.calls(), 4);
});

test('a repeated response is recognized, also after a restart and in another envelope', async (t) => {
  let reply: ProviderReply = {};
  const server = await new ProviderServer(() => reply).start(t);
  const subject = new QrngSubject(server as QrngSubject['server'], new Pace(), { preset: 'lfd' });
  const qrn = Buffer.alloc(100, 'abcdefg').toString('hex');
  reply = { body: { qrn, length: 100 } };
  await subject.backend.read(800, NEVER);
  reply = { body: { length: 100, qrn: qrn.toUpperCase(), at: 'another time' } };
  await assert.rejects(subject.backend.read(800, NEVER), /delivered before/);
  await assert.rejects(subject.restarted().read(800, NEVER), /delivered before/);
  reply = { body: { qrn: qrn.replace('61', '62'), length: 100 } };
  await subject.restarted().read(800, NEVER);
});

test('a note that cannot be stored gives no bits, and loses none', async (t) => {
  const subject = await lfd(t);
  const { memory } = subject;
  const keep = memory.keep.bind(memory);
  memory.keep = async () => {
    throw new Error('the disk is full');
  };
  await assert.rejects(subject.backend.read(subject.bits, NEVER), /disk is full/);
  memory.keep = keep;
  assertRead(await subject.backend.read(subject.bits, NEVER), subject.bits, subject.sent());
  assert.equal(subject.calls(), CALLS);
});

test('every draw of Quandela is read with its certificate', async (t) => {
  const server = await quandelaServer().start(t);
  const subject = new QrngSubject(server, new Pace(), { preset: 'quandela', api_key: QUANDELA_TOKEN });
  const { provenance } = await subject.backend.read(8 * 1500, NEVER); // jobs of 600, 424 and 476 bytes
  assert.deepEqual(provenance.calibration, {
    draws: [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}`).join(' '),
    chsh: [2.515625, 2.53125, 2.546875],
    min_entropy: [0.265625, 0.28125, 0.296875],
  });
  assert.equal(provenance.jobId, null);
  const single = await subject.backend.read(8 * 64, NEVER);
  assert.equal(single.provenance.jobId, '00000000-0000-4000-8000-000000000004');
});

test('the numbers of Outshift are read from text, one byte each', async (t) => {
  const server = await outshiftServer().start(t);
  const subject = new QrngSubject(server, new Pace(), { preset: 'outshift', api_key: OUTSHIFT_KEY });
  const read = await subject.backend.read(8 * 100, NEVER);
  assert.deepEqual(JSON.parse(server.requests[0].body), {
    encoding: 'raw',
    format: 'all',
    bits_per_block: 8,
    number_of_blocks: 100,
  });
  const reply = JSON.parse(server.sent[0].toString());
  const decimals = reply.random_numbers.map(({ decimal }: { decimal: string }) => Number(decimal));
  assert.deepEqual([...read.bits], decimals);
});

test('a read costs its calls at the price that the operator set', () => {
  const backend = source({
    preset: 'anu',
    api_key: 'some-key-of-it',
    price_per_call: '0.005',
    currency: 'AUD',
  });
  assert.deepEqual(backend.estimate(backend.lotRawBits), { amount: 0.05, currency: 'AUD', calls: 10 });
  assert.deepEqual(backend.estimate(1), { amount: 0.005, currency: 'AUD', calls: 1 });
  assert.deepEqual(source({ preset: 'lfd' }).estimate(4096 * 8 + 1), {
    amount: 0,
    currency: 'EUR',
    calls: 2,
  });
});

test('messages of a service are cut to one short line', async (t) => {
  const subject = await lfd(t);
  subject.server.inject({
    status: 400,
    body: { error: { message: `wrong\r\n\u001b[31m${'x'.repeat(500)}` } },
  });
  await assert.rejects(subject.backend.read(subject.bits, NEVER), (error: unknown) => {
    assert.ok(error instanceof BackendError);
    assert.match(error.message, /^127\.0\.0\.1:\d+: HTTP 400: wrong \[31mx{190,194}$/);
    return true;
  });
});
