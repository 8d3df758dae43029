import { fork } from 'node:child_process';
import { wipe } from '../../core/bytes.ts';
import { within } from '../../core/clock.ts';
import { BackendError } from '../backend.ts';
import type { Failure, Order, Report } from './reader-protocol.ts';

/** The part of a child process that DeviceReader uses. */
export interface ReaderProcess {
  readonly exitCode: number | null;
  readonly signalCode: string | null;
  send(order: Order): unknown;
  kill(signal: 'SIGKILL'): unknown;
  on(event: 'message', hear: (report: Report) => void): unknown;
  on(event: 'error', hear: (error: Error) => void): unknown;
  on(event: 'exit', hear: (code: number | null, signal: string | null) => void): unknown;
}

/** Starts a process without our environment, which may hold secrets. stty is found on the default path. */
export function startReaderProcess(): ReaderProcess {
  return fork(new URL('./reader-process.ts', import.meta.url), [], {
    env: {},
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

/** If SIGKILL has not ended a process by then, its driver holds it (uninterruptible sleep). */
const EXIT_GRACE_MS = 1_000;

/** A start takes about 60 ms, and more than 500 ms with five busy processes on two cores. */
const START_TIMEOUT_MS = 20_000;

/** Reads a device in a process of its own, one at a time. */
export class DeviceReader {
  readonly #start: () => ReaderProcess;
  /** A process that SIGKILL did not end in time. */
  #stuck: ReaderProcess | undefined;

  constructor(start: () => ReaderProcess = startReaderProcess) {
    this.#start = start;
  }

  /**
   * Resolves to exactly `order.bytes` bytes. Rejects with a BackendError, or with the signal's reason. If nothing comes
   * for `stallMs`, the error is `retryable`, however often that happens: restarting the feeder or plugging in the
   * device helps, and the pool tries ever more rarely.
   */
  async read(order: Order, stallMs: number, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    signal.throwIfAborted();
    if (this.#stuck !== undefined && !hasEnded(this.#stuck)) {
      // Start no second process, since each try would leave one behind.
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

/** Kills the process. Resolves to false if it lives on. */
async function end(child: ReaderProcess): Promise<boolean> {
  if (hasEnded(child)) return true;
  const ended = new Promise<boolean>((resolve) => child.on('exit', () => resolve(true)));
  child.kill('SIGKILL');
  return within(EXIT_GRACE_MS, ended, () => false);
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
  // The start of the process has a limit of its own, since it says nothing about the device.
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

/** Returns the error that a failure means. `size` is how many bytes had come. */
function failureOf(path: string, failure: Failure, size: number): Error {
  switch (failure.step) {
    case 'call':
      return callError(path, failure.code, failure.words);
    case 'line':
      return new BackendError('permanent', `${path}: stty: ${failure.words.slice(0, WORDS_LENGTH_MAX)}`);
    case 'mode':
      return new BackendError('permanent', `${path} is a serial line: set the option serial to its speed`);
    case 'changed':
      return new BackendError('retryable', `${path}: the path now leads to a different device`);
    case 'ended':
      return new BackendError(
        'retryable',
        `${path} ended after ${size} bytes; the device may have been unplugged`,
      );
  }
}

const WORDS_LENGTH_MAX = 200;

/** Errors by code. Those that a plug or another program may cause are retryable; missing rights need the operator. */
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

/** Returns the error that a failed system call means: a BackendError for a known code, else a plain Error. */
export function callError(path: string, code: string, words: string): Error {
  const known = CALL_ERRORS[code];
  return known === undefined ? new Error(words) : new BackendError(known[0], `${path} ${known[1]} (${code})`);
}
