import crypto from 'node:crypto';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import perfHooks from 'node:perf_hooks';
import timersPromises from 'node:timers/promises';
import type { Clock } from '../../../src/core/clock.ts';
import type { Chance } from '../../support/chance.ts';
import { isEntropyDevice } from '../../support/system-entropy.ts';

/**
 * The machine that a simulated service runs on: its time, its timers and its system entropy. While a machine is
 * powered on, it replaces the timers of this process, the generators of node:crypto and reads of /dev/urandom, so that
 * their results follow from the seed alone. It must be imported before the service, some of which copies a function of
 * node:crypto at load.
 */
let powered: SimMachine | undefined;

/** A process of the machine. */
interface Process {
  readonly dead: boolean;
  /** True time before which none of its tasks runs. */
  readonly pausedUntilMs: number;
}

/** The scheduler of a task: tasks of a process die with it, those of the world do not. */
type Owner = Process | 'world';

class Task {
  atMs: number;
  readonly tie: number;
  readonly owner: Owner;
  readonly run: () => void | Promise<void>;
  /** Period of an interval; undefined for a single run. */
  readonly everyMs: number | undefined;
  cancelled = false;

  constructor(
    atMs: number,
    tie: number,
    owner: Owner,
    run: () => void | Promise<void>,
    everyMs: number | undefined,
  ) {
    this.atMs = atMs;
    this.tie = tie;
    this.owner = owner;
    this.run = run;
    this.everyMs = everyMs;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }
}

const real = {
  setTimeout: globalThis.setTimeout,
  setInterval: globalThis.setInterval,
  setImmediate: globalThis.setImmediate,
  clearTimeout: globalThis.clearTimeout,
  clearInterval: globalThis.clearInterval,
  clearImmediate: globalThis.clearImmediate,
  sleep: timersPromises.setTimeout,
  nextTurn: timersPromises.setImmediate,
  randomFillSync: crypto.randomFillSync,
  randomFill: crypto.randomFill,
  randomBytes: crypto.randomBytes,
  randomUUID: crypto.randomUUID,
  readSync: fs.readSync,
  monitorEventLoopDelay: perfHooks.monitorEventLoopDelay,
  waitAsync: Atomics.waitAsync as (words: Int32Array, index: number, value: number, ms?: number) => unknown,
  notify: Atomics.notify as (words: Int32Array, index: number, count?: number) => number,
};

/** 2026-11-20T12:00:00Z */
const EPOCH_MS = Date.UTC(2026, 10, 20, 12);
/** Node's shortest timer. */
const TIMER_MIN_MS = 1;
/** Mean time between a thread's write to shared memory and the reaction of another thread. */
const WAKE_MS = 0.05;
/** A thread with real work waits for nothing more after this many turns of the real loop without an event. */
const IDLE_TURNS = 3;
/** Most time of a turn of the event loop: time passes even for a busy loop. */
const TURN_MAX_MS = 0.4;

type Woken = 'ok' | 'timed-out';

/** A thread that waits for a change of a word in shared memory. */
interface Sleeper {
  readonly words: ArrayBufferLike;
  readonly index: number;
  /** Ends the wait after `afterMs`. */
  readonly wake: (how: Woken, afterMs: number) => void;
}

export class SimMachine {
  /** True time, which only the simulation itself can see. */
  nowMs = 0;
  /** Offset of the wall clock from true time. */
  wallOffsetMs = 0;
  /** The most by which the clock of a process may differ, in either direction. */
  clocksDifferMs = 0;
  /** Immediates of work that needs the real loop. */
  readonly immediates = new Set<NodeJS.Immediate>();
  /** End of the last stall. */
  stalledUntilMs = Number.NEGATIVE_INFINITY;
  /** Tasks that were run. */
  tasks = 0;
  /** The owner of the code that runs now. */
  #owner: Owner = 'world';
  readonly #tasks: Task[] = [];
  readonly #sleepers = new Set<Sleeper>();
  readonly #order: Chance;
  readonly #entropy: Chance;
  #realDepth = 0;

  constructor(random: Chance) {
    this.#order = random.fork('order');
    this.#entropy = random.fork('entropy');
  }

  powerOn(): void {
    if (powered !== undefined) throw new Error('one machine at a time');
    powered = this;
  }

  powerOff(): void {
    powered = undefined;
    this.#tasks.length = 0;
    this.#sleepers.clear();
  }

  wallMs(): number {
    return EPOCH_MS + this.nowMs + this.wallOffsetMs;
  }

  get owner(): Owner {
    return this.#owner;
  }

  /** Attributes to this process what the caller does, and what follows from it until time passes. */
  enter(owner: Owner): void {
    this.#owner = owner;
  }

  /**
   * The clocks that a process sees that starts now; where its monotonic clock stands says nothing of the last one's. Its wall
   * clock is off by so much more.
   */
  clock(offsetMs = 0): Clock {
    const base = 1_000 + this.#order.between(0, 1_000_000) - this.nowMs;
    return {
      wallMs: () => Math.floor(this.wallMs() + offsetMs),
      monotonicMs: () => base + this.nowMs,
      jumpMs: () => 0,
    };
  }

  /** Runs `run` after so long. Tasks that are due at one time run in an order that the seed decides. */
  after(ms: number, run: () => void | Promise<void>, owner = this.#owner, everyMs?: number): Task {
    const task = new Task(this.nowMs + ms, this.#order.u32(), owner, run, everyMs);
    this.#push(task);
    return task;
  }

  /** Runs `run` in one of the next turns of the event loop. */
  soon(run: () => void): Task {
    return this.after(TURN_MAX_MS * this.#order.uniform(), run);
  }

  /** Lets `ms` pass, with everything that is due meanwhile. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.nowMs + ms;
    await this.#settled();
    this.#owner = 'world';
    for (;;) {
      const next = this.#tasks.at(0);
      if (next === undefined || next.atMs > untilMs) break;
      this.#tasks.shift();
      const { owner } = next;
      if (next.cancelled || (owner !== 'world' && owner.dead)) continue;
      if (owner !== 'world' && owner.pausedUntilMs > Math.max(this.nowMs, next.atMs)) {
        next.atMs = owner.pausedUntilMs;
        this.#push(next);
        continue;
      }
      this.nowMs = Math.max(this.nowMs, next.atMs); // it may be overdue: see stall
      this.tasks++;
      this.#owner = owner;
      await next.run();
      await this.#settled();
      this.#owner = 'world';
      if (next.everyMs === undefined || next.cancelled) continue;
      next.atMs = this.nowMs + next.everyMs;
      this.#push(next);
    }
    this.nowMs = Math.max(this.nowMs, untilMs);
  }

  /** Stops everything for `ms`, as if the machine were paused. Everything that came due is overdue afterwards. */
  stall(ms: number): void {
    this.nowMs += ms;
    this.stalledUntilMs = this.nowMs;
  }

  /** Work that needs the real timers, such as those of a real database; nothing of the simulation goes on meanwhile. */
  async really<T>(work: () => Promise<T>): Promise<T> {
    this.#realDepth++;
    try {
      const result = await work();
      for (let idle = 0; idle < IDLE_TURNS; idle = this.immediates.size === 0 ? idle + 1 : 0) await turn();
      return result;
    } finally {
      this.#realDepth--;
    }
  }

  /** Implements Atomics.waitAsync for a thread with real work, such as the ledger's, in the machine's time. */
  sleep(words: ArrayBufferLike, index: number, timeoutMs = Number.POSITIVE_INFINITY): Promise<Woken> {
    const { promise, resolve } = Promise.withResolvers<Woken>();
    const owner = this.#owner;
    const wake = (how: Woken, afterMs: number) => {
      const run = async () => {
        if (this.#sleepers.delete(sleeper)) await this.really(async () => resolve(how));
      };
      this.after(afterMs, run, owner);
    };
    const sleeper = { words, index, wake };
    this.#sleepers.add(sleeper);
    if (timeoutMs < Number.POSITIVE_INFINITY) wake('timed-out', timeoutMs);
    return promise;
  }

  wakeSleepers(words: ArrayBufferLike, index: number): void {
    for (const each of this.#sleepers)
      if (each.words === words && each.index === index) each.wake('ok', this.#order.gap(WAKE_MS));
  }

  get isReal(): boolean {
    return this.#realDepth > 0;
  }

  random<T extends Uint8Array>(target: T): T {
    return this.#entropy.fill(target);
  }

  /** Resolves when all pending promises have run, and no thread does real work. */
  async #settled(): Promise<void> {
    do await turn();
    while (this.isReal);
  }

  /** Into its place among the tasks, the next one first. */
  #push(task: Task): void {
    const later = this.#tasks.findIndex((other) => isBefore(task, other));
    this.#tasks.splice(later < 0 ? this.#tasks.length : later, 0, task);
  }
}

function isBefore(one: Task, other: Task): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.tie < other.tie);
}

/** Runs one turn of the real event loop, which runs all pending promises. */
function turn(): Promise<void> {
  return new Promise((resolve) => real.setImmediate(resolve));
}

/** The machine that stands in the place of the real one now. */
function inPlace(): SimMachine | undefined {
  return powered === undefined || powered.isReal ? undefined : powered;
}

function cancel(timer: unknown, really: (timer: never) => void): void {
  if (timer instanceof Task) timer.cancelled = true;
  else really(timer as never);
}

type Callback = (...args: unknown[]) => void;

function sleep(ms = TIMER_MIN_MS, value?: unknown, options: { signal?: AbortSignal } = {}): Promise<unknown> {
  const machine = inPlace();
  if (machine === undefined) return real.sleep(ms, value, options);
  const { signal } = options;
  if (signal?.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const stop = () => {
      task.cancelled = true;
      reject(signal?.reason);
    };
    const task = machine.after(Math.max(ms, TIMER_MIN_MS), () => {
      signal?.removeEventListener('abort', stop);
      resolve(value);
    });
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Replaces the measurement of the event loop's delay: nothing is ever late on this machine. */
const STILL_LOOP = { enable() {}, disable() {}, reset() {}, percentile: () => 0, count: 0, max: 0 };

Object.assign(globalThis, {
  setTimeout: (run: Callback, ms = TIMER_MIN_MS, ...args: unknown[]) => {
    const machine = inPlace();
    if (machine === undefined) return real.setTimeout(run, ms, ...args);
    return machine.after(Math.max(ms, TIMER_MIN_MS), () => void run(...args));
  },
  setInterval: (run: Callback, ms = TIMER_MIN_MS, ...args: unknown[]) => {
    // also of the ledger's thread, which works for real when it has its turn
    const machine = powered;
    if (machine === undefined) return real.setInterval(run, ms, ...args);
    return machine.after(ms, () => void run(...args), undefined, ms);
  },
  setImmediate: (run: Callback, ...args: unknown[]) => {
    const machine = inPlace();
    if (machine !== undefined) return machine.soon(() => void run(...args));
    const waiting = powered?.immediates;
    const immediate = real.setImmediate(() => {
      waiting?.delete(immediate);
      run(...args);
    });
    waiting?.add(immediate);
    return immediate;
  },
  clearTimeout: (timer: unknown) => cancel(timer, real.clearTimeout),
  clearInterval: (timer: unknown) => cancel(timer, real.clearInterval),
  clearImmediate: (timer: unknown) => {
    powered?.immediates.delete(timer as NodeJS.Immediate);
    cancel(timer, real.clearImmediate);
  },
});

Object.assign(timersPromises, {
  setTimeout: sleep,
  setImmediate: (value?: unknown) => {
    const machine = inPlace();
    if (machine === undefined) return real.nextTurn(value);
    return new Promise((resolve) => machine.soon(() => resolve(value)));
  },
});

Object.assign(Atomics, {
  waitAsync: (words: Int32Array, index: number, value: number, timeoutMs?: number) => {
    if (powered === undefined) return real.waitAsync(words, index, value, timeoutMs);
    if (Atomics.load(words, index) !== value) return { async: false, value: 'not-equal' };
    return { async: true, value: powered.sleep(words.buffer, index, timeoutMs) };
  },
  notify: (words: Int32Array, index: number, count?: number) => {
    powered?.wakeSleepers(words.buffer, index);
    return real.notify(words, index, count);
  },
});

Object.assign(crypto, {
  randomFillSync: (target: Uint8Array) => inPlace()?.random(target) ?? real.randomFillSync(target),
  randomFill: (target: Uint8Array, done: (error: Error | null, target: Uint8Array) => void) => {
    const machine = inPlace();
    if (machine === undefined) real.randomFill(target, done);
    else queueMicrotask(() => done(null, machine.random(target)));
  },
  randomBytes: (size: number) => inPlace()?.random(Buffer.alloc(size)) ?? real.randomBytes(size),
  randomUUID: () => {
    const machine = inPlace();
    if (machine === undefined) return real.randomUUID();
    const hex = Buffer.from(machine.random(new Uint8Array(16))).toString('hex');
    return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');
  },
});

Object.assign(fs, {
  readSync: (fd: number, target: Uint8Array, offset: number, length: number, position: number | null) => {
    const machine = inPlace();
    if (machine === undefined || !isEntropyDevice(fd)) {
      return real.readSync(fd, target, offset, length, position);
    }
    machine.random(new Uint8Array(target.buffer, target.byteOffset + offset, length));
    return length;
  },
});

Object.assign(perfHooks, {
  monitorEventLoopDelay: (options: object) =>
    powered === undefined ? real.monitorEventLoopDelay(options) : STILL_LOOP,
});

syncBuiltinESMExports();
