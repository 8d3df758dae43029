import { fork } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { wipe } from '../../core/bytes.ts';
import { BackendError } from '../backend.ts';
import type { Failure, Order, Report } from './reader-protocol.ts';

/** What is used of a child process. */
export interface ReaderProcess {
  readonly exitCode: number | null;
  readonly signalCode: string | null;
  send(order: Order): unknown;
  kill(signal: 'SIGKILL'): unknown;
  on(event: 'message', hear: (report: Report) => void): unknown;
  on(event: 'error', hear: (error: Error) => void): unknown;
  on(event: 'exit', hear: (code: number | null, signal: string | null) => void): unknown;
}

/** The environment stays behind, with whatever secrets it holds; stty is found on the system's own path. */
export function startReaderProcess(): ReaderProcess {
  return fork(new URL('./reader-process.ts', import.meta.url), [], {
    env: {},
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

/** A process that SIGKILL has not ended by then is held by its driver (uninterruptible sleep). */
const EXIT_GRACE_MS = 1_000;

/** Starting takes some 60 ms; more than 500 ms were seen under load (five busy processes on two cores). */
const START_TIMEOUT_MS = 20_000;

/** Reads a device in a process of its own, one at a time. */
export class DeviceReader {
  readonly #start: () => ReaderProcess;
  /** A process that outlived its SIGKILL. */
  #stuck: ReaderProcess | undefined;

  constructor(start: () => ReaderProcess = startReaderProcess) {
    this.#start = start;
  }

  /**
   * Exactly `order.bytes` bytes. Rejects with a BackendError, also when nothing comes for `stallMs`, or with
   * the signal's reason. A stall is `retryable` however often it comes: it gives no bits, a feeder that is
   * started again or a device that is plugged in heals it, and the pool asks ever more seldom.
   */
  async read(order: Order, stallMs: number, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    signal.throwIfAborted();
    if (this.#stuck !== undefined && !hasEnded(this.#stuck)) {
      // No second one: each try would leave a process behind.
      throw new BackendError('retryable', `${order.path}: an earlier read still hangs in the driver`);
    }
    const child = this.#start();
    try {
      return await receive(child, order, stallMs, signal);
    } finally {
      this.#stuck = (await end(child)) ? undefined : child;
    }
  }
}

function hasEnded({ exitCode, signalCode }: ReaderProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Kills the process; false when it lives on. */
async function end(child: ReaderProcess): Promise<boolean> {
  if (hasEnded(child)) return true;
  const patience = new AbortController();
  const ended = new Promise<boolean>((resolve) => child.on('exit', () => resolve(true)));
  child.kill('SIGKILL');
  const late = sleep(EXIT_GRACE_MS, false, { signal: patience.signal });
  late.catch(() => {}); // the process ended: nobody waits any more
  const hasGone = await Promise.race([ended, late]);
  patience.abort();
  return hasGone;
}

function receive(
  child: ReaderProcess,
  order: Order,
  stallMs: number,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
  const bytes = new Uint8Array(order.bytes);
  let size = 0;
  let hasWriter = true;
  // The device is not to blame for how long the process takes to start.
  const isLate = () => reject(new Error(`${order.path}: the process that is to read it did not start`));
  let watchdog = setTimeout(isLate, START_TIMEOUT_MS);
  const watch = () => {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => reject(stall(order, stallMs, size, hasWriter)), stallMs);
  };
  const stop = () => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  child.on('error', reject);
  child.on('exit', (code, killedBy) =>
    reject(new Error(`${order.path}: the process that reads it ended by itself (${killedBy ?? code})`)),
  );
  child.on('message', (report) => {
    if (report.type === 'failed') return reject(failureOf(order.path, report.failure, size));
    hasWriter = report.type !== 'no-writer';
    if (hasWriter) watch();
    if (report.type !== 'bytes') return;
    bytes.set(report.bytes, size);
    size += report.bytes.length;
    wipe(report.bytes);
    if (size === bytes.length) resolve(bytes);
  });
  child.send(order);
  return promise
    .catch((error: unknown) => {
      wipe(bytes);
      throw error;
    })
    .finally(() => {
      clearTimeout(watchdog);
      signal.removeEventListener('abort', stop);
    });
}

function stall({ path, bytes }: Order, stallMs: number, size: number, hasWriter: boolean): BackendError {
  const why = hasWriter ? 'nothing came' : 'nobody wrote to it';
  return new BackendError('retryable', `${path}: ${why} for ${stallMs} ms, after ${size} of ${bytes} bytes`);
}

/** The error that a failure means, with how far the read had come. */
function failureOf(path: string, failure: Failure, size: number): Error {
  switch (failure.step) {
    case 'call':
      return callError(path, failure.code, failure.words);
    case 'line':
      return new BackendError('permanent', `${path}: stty: ${failure.words.slice(0, WORDS_LENGTH_MAX)}`);
    case 'mode':
      return new BackendError('permanent', `${path} is a serial line: the option serial takes its speed`);
    case 'changed':
      return new BackendError('retryable', `${path}: another device took its place`);
    case 'ended':
      return new BackendError('retryable', `${path} ended after ${size} bytes: unplugged?`);
  }
}

const WORDS_LENGTH_MAX = 200;

/** What comes and goes with a plug or another program is worth another try; rights need the operator. */
const CALL_ERRORS: Readonly<Record<string, readonly ['retryable' | 'auth', string]>> = {
  ENOENT: ['retryable', 'does not exist: unplugged, or another path'],
  ENOTDIR: ['retryable', 'does not exist: unplugged, or another path'],
  ENODEV: ['retryable', 'has no device behind it: unplugged, or without its driver'],
  ENXIO: ['retryable', 'has no device behind it: unplugged, or without its driver'],
  EBUSY: ['retryable', 'is in use by another program'],
  EIO: ['retryable', 'failed (input/output error): unplugged?'],
  EACCES: ['auth', 'may not be read: permission denied'],
  EPERM: ['auth', 'may not be read: permission denied'],
};

/** The error that a failed system call on a device means; a fault where it means nothing that is known. */
export function callError(path: string, code: string, words: string): Error {
  const known = CALL_ERRORS[code];
  return known === undefined ? new Error(words) : new BackendError(known[0], `${path} ${known[1]} (${code})`);
}
