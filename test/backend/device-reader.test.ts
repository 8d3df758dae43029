import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { suite, type TestContext, test } from 'node:test';
import { BackendError } from '../../src/backend/backend.ts';
import { DeviceReader, type ReaderProcess } from '../../src/backend/local-device/reader.ts';
import type { Failure, Order, Report } from '../../src/backend/local-device/reader-protocol.ts';
import { makeFifo } from './providers/device-fifo.ts';

const NEVER = new AbortController().signal;
const ORDER: Order = {
  path: '/dev/rng',
  identity: 'device 1',
  isFifo: false,
  baud: null,
  discardBytes: 0,
  bytes: 4,
};
const PATIENT_MS = 60_000;

/** A process that reports what it is told to, and dies of SIGKILL when it can. */
class ProcessDouble extends EventEmitter implements ReaderProcess {
  exitCode: number | null = null;
  signalCode: string | null = null;
  readonly #script: readonly Report[];
  readonly #isKillable: boolean;

  constructor(script: readonly Report[], isKillable = true) {
    super();
    this.#script = script;
    this.#isKillable = isKillable;
  }

  send(): void {
    queueMicrotask(() => {
      for (const report of this.#script) this.emit('message', report);
      this.emit('told');
    });
  }

  kill(): void {
    if (this.#isKillable) this.end(null, 'SIGKILL');
  }

  end(code: number | null, signal: string | null): void {
    this.exitCode = code;
    this.signalCode = signal;
    this.emit('exit', code, signal);
  }
}

const bytes = (...values: number[]): Report => ({ type: 'bytes', bytes: Uint8Array.from(values) });

function readerOf(script: readonly Report[]): DeviceReader {
  return new DeviceReader(() => new ProcessDouble(script));
}

async function errorOf(failure: Failure): Promise<unknown> {
  const reader = readerOf([bytes(1, 2), { type: 'failed', failure }]);
  return reader.read(ORDER, PATIENT_MS, NEVER).then(
    () => assert.fail('what must fail was given'),
    (error: unknown) => error,
  );
}

suite('the reading of a device', () => {
  test('joins the pieces and erases the received ones', async () => {
    const pieces = [bytes(1), { type: 'discarded' } as const, bytes(2, 3), bytes(4)];
    assert.deepEqual([...(await readerOf(pieces).read(ORDER, PATIENT_MS, NEVER))], [1, 2, 3, 4]);
    const left = pieces.flatMap((piece) => ('bytes' in piece ? [...piece.bytes] : []));
    assert.deepEqual(left, [0, 0, 0, 0]);
  });

  const errors: [Failure, BackendError['kind'], RegExp][] = [
    ...['ENOENT', 'ENODEV', 'ENXIO', 'EBUSY', 'EIO'].map((code): [Failure, BackendError['kind'], RegExp] => [
      { step: 'call', code, words: 'words' },
      'retryable',
      new RegExp(`^/dev/rng .*\\(${code}\\)$`),
    ]),
    [{ step: 'call', code: 'EACCES', words: '' }, 'auth', /permission denied/],
    [{ step: 'call', code: 'EPERM', words: '' }, 'auth', /permission denied/],
    [{ step: 'ended' }, 'retryable', /ended after 2 bytes/],
    [{ step: 'changed' }, 'retryable', /different device/],
    [{ step: 'mode' }, 'permanent', /serial line/],
    [{ step: 'line', words: 'x'.repeat(1000) }, 'permanent', /^\/dev\/rng: stty: x{200}$/],
  ];
  for (const [failure, kind, message] of errors) {
    test(`${'code' in failure ? failure.code : failure.step} is ${kind}`, async () => {
      const error = await errorOf(failure);
      assert.ok(error instanceof BackendError);
      assert.equal(error.kind, kind);
      assert.match(error.message, message);
    });
  }

  test('reports a system call that fails for an unknown reason as a fault', async () => {
    const error = await errorOf({ step: 'call', code: 'EMFILE', words: 'EMFILE: too many open files' });
    assert.ok(error instanceof Error && !(error instanceof BackendError));
    assert.match(error.message, /EMFILE/);
  });

  test('reports a process that exits as a fault', async () => {
    const child = new ProcessDouble([bytes(1)]);
    const reading = new DeviceReader(() => child).read(ORDER, PATIENT_MS, NEVER);
    await once(child, 'told');
    child.end(1, null);
    await assert.rejects(reading, /^Error: \/dev\/rng: the process that reads it ended by itself \(1\)$/);
  });

  test('reports a process that cannot be started as a fault', async () => {
    const child = new ProcessDouble([]);
    const reading = new DeviceReader(() => child).read(ORDER, PATIENT_MS, NEVER);
    child.emit('error', new Error('spawn EAGAIN'));
    await assert.rejects(reading, /^Error: spawn EAGAIN$/);
  });

  /** A read under way whose time passes only when told to. */
  function watched(t: TestContext, stallMs: number) {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const child = new ProcessDouble([]);
    let error: unknown;
    new DeviceReader(() => child).read(ORDER, stallMs, NEVER).catch((reason: unknown) => {
      error = reason;
    });
    return {
      child,
      /** Returns the read's error when the time is over. */
      async after(ms: number): Promise<unknown> {
        t.mock.timers.tick(ms);
        await new Promise((resume) => setImmediate(resume));
        return error;
      },
    };
  }

  test('is given up when no bytes come; each message restarts the timeout', async (t) => {
    const { child, after } = watched(t, 400);
    for (const type of ['opening', 'opened', 'discarded'] as const) {
      child.emit('message', { type });
      assert.equal(await after(399), undefined, type);
    }
    child.emit('message', bytes(1));
    assert.equal(await after(399), undefined);
    assert.match(String(await after(1)), /nothing came for 400 ms, after 1 of 4 bytes/);
    assert.equal(child.signalCode, 'SIGKILL');
  });

  test('is not kept alive by a FIFO that reports that nobody writes to it', async (t) => {
    const { child, after } = watched(t, 400);
    child.emit('message', { type: 'opened' });
    for (let said = 0; said < 39; said++) {
      assert.equal(await after(10), undefined);
      child.emit('message', { type: 'no-writer' });
    }
    assert.match(String(await after(10)), /nobody wrote to it for 400 ms, after 0 of 4 bytes/);
  });

  test('does not count a slow start of the process as silence of the device', async (t) => {
    const { after } = watched(t, 400);
    assert.equal(await after(19_999), undefined);
    assert.match(String(await after(1)), /the process that is to read it did not start/);
  });

  test('waits for a process that its driver holds beyond SIGKILL before it starts the next', async () => {
    const children = [
      new ProcessDouble([{ type: 'opening' }], false),
      new ProcessDouble([bytes(1, 2, 3, 4)]),
    ];
    let started = 0;
    const reader = new DeviceReader(() => children[started++]);
    await assert.rejects(reader.read(ORDER, 50, NEVER), /nothing came/);
    await assert.rejects(reader.read(ORDER, 50, NEVER), (error) => {
      assert.ok(error instanceof BackendError);
      assert.equal(error.kind, 'retryable');
      assert.match(error.message, /still hangs in the driver/);
      return true;
    });
    assert.equal(started, 1);
    children[0].end(null, 'SIGKILL');
    assert.deepEqual([...(await reader.read(ORDER, 50, NEVER))], [1, 2, 3, 4]);
  });

  test('does not read a device that is replaced between the check and the opening', async () => {
    const path = makeFifo();
    const order = { ...ORDER, path, isFifo: true };
    await assert.rejects(
      new DeviceReader().read(order, PATIENT_MS, NEVER),
      /now leads to a different device/,
    );
  });
});
