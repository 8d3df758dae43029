import { ApiError } from '../../../src/core/errors.ts';
import { type DirectoryReader, type Ledger, LedgerError } from '../../../src/ledger/ledger.ts';
import type { SegmentRecord } from '../../../src/ledger/records.ts';
import type { Chance } from '../../support/chance.ts';
import type { SimMachine } from './machine.ts';
import { hold } from './oracle/violation.ts';

/** Probability of each fault of a call to the ledger, from 0 to 1; the other calls succeed. */
export interface WireFaults {
  /** The call is not made, and the caller is told. */
  lostBefore: number;
  /** Made, and told that it was not. */
  lostAfter: number;
  /** Made twice. */
  duplicate: number;
  /** The call takes up to SLOW_MAX_MS, in either direction. */
  slow: number;
  /** Commits only: refused in advance because the disk is full. */
  full: number;
  /** Commits only: the disk fails, before or after the write, and nothing more is written. */
  stop: number;
}

/** A call takes this long there and as long back, on average. */
const LATENCY_MS = 0.4;
const SLOW_MAX_MS = 4_000;

const WRITES: ReadonlySet<string> = new Set([
  'createAccount',
  'putAccount',
  'putKey',
  'addLot',
  'revokeLot',
  'claimBlocks',
  'putSourceNote',
  'charge',
  'openJob',
  'putJob',
  'commit',
  'saveRates',
  'expire',
  'leaseSequences',
  'nextSeedGeneration',
  'probe',
  'putLog',
  'askLimits',
  'claimKey',
  'releaseKey',
]);
/** Calls about what nodes share go over a connection, whose loss does not end the node. */
const SHARED_CALLS: ReadonlySet<string> = new Set(['askLimits', 'claimKey', 'releaseKey']);
const RECONNECT_MS = 250;

/** One run of a node of the service, from its start to its end. */
export interface Life {
  readonly number: number;
  /** The node, of those that share the books: 0 for a single one. */
  readonly node: number;
  pausedUntilMs: number;
  /** True time before which the node cannot reach the books. */
  cutOffUntilMs: number;
  /** True time until which a commit is slow on its way there or back. */
  slowUntilMs: number;
  /** The node was fenced or has started again: what it held is free. */
  isSettled: boolean;
  /** True once nothing that it asked for is done any more, and it is told nothing. */
  dead: boolean;
  /** Resolves when it is dead. */
  readonly ended: Promise<void>;
  readonly end: () => void;
  /** A commit failed: nothing more is written, and the service is to stop. */
  stopped: boolean;
}

/** A call that was made where the ledger is: told of before the caller hears, if it ever does. */
export interface AppliedCall {
  readonly method: string;
  readonly args: readonly unknown[];
  readonly result: unknown;
  /** True if the same call was made before: the caller gets its first result. */
  readonly again: boolean;
  /** True time at which the caller made it. */
  readonly calledAtMs: number;
}

export interface WireOptions {
  readonly machine: SimMachine;
  readonly random: Chance;
  readonly life: Life;
  /** Read at each call: the weather changes. */
  readonly faults: () => WireFaults;
  readonly applied: (call: AppliedCall) => void;
  /** Looks at a promise where nothing may be thrown. */
  readonly check: (look: () => void) => void;
  /** Called once when a commit failed for good. */
  readonly stopped: () => void;
  /** A call and its fate, for the trace. */
  readonly note: (what: string) => void;
}

type Methods = Record<string, (...args: unknown[]) => Promise<unknown>>;
type Fate = 'well' | 'lost before' | 'lost after' | 'duplicate' | 'full' | 'stop before' | 'stop after';

/**
 * The way from a process to its ledger, as message ports, threads and disks make it: calls take their time and overtake each
 * other, get lost, lose their answer, are made twice; and whoever waits for one may die meanwhile.
 */
export function wired(inner: Ledger, options: WireOptions): Ledger {
  return new Proxy({} as Ledger, {
    get(_target, method: string) {
      if (method === 'then') return undefined;
      if (method === 'follow')
        return (reader: DirectoryReader) => heard(inner.follow(overPort(reader, options)), options);
      return (...args: unknown[]) => call(inner as unknown as Methods, method, args, options);
    },
  });
}

/**
 * Gives the outcome to the process under its own name, and to nobody when it is dead, so that what it does then dies
 * with it.
 */
function heard(outcome: Promise<void>, { machine, life }: WireOptions): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  outcome.then(
    () => machine.after(0, resolve, life),
    (error: unknown) => machine.after(0, () => reject(error), life),
  );
  return promise;
}

/**
 * The reader in the process, which is told in order on a port that loses nothing. Whoever changes something waits for none of
 * this, since the course of the world stands still meanwhile.
 */
function overPort(reader: DirectoryReader, { machine, random, life }: WireOptions): DirectoryReader {
  let lastAtMs = 0;
  const deliver = (...[changes, readAtMs]: Parameters<DirectoryReader['directoryChanged']>) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const copy = structuredClone(changes);
    lastAtMs = Math.max(machine.nowMs + random.gap(LATENCY_MS), lastAtMs + 1e-3);
    const run = () => void reader.directoryChanged(copy, readAtMs).then(resolve, reject);
    life.ended.then(() => reject(new Error('the thread is gone'))); // as a port that closes says it
    machine.after(lastAtMs - machine.nowMs, run, life);
    return promise;
  };
  return {
    async directoryChanged(changes, readAtMs) {
      if (life.dead) throw new Error('the thread is gone');
      const delivered = deliver(changes, readAtMs);
      if (changes.isWhole) await delivered;
      else delivered.catch(() => {});
    },
  };
}

function call(inner: Methods, method: string, args: unknown[], options: WireOptions): Promise<unknown> {
  const { machine, life } = options;
  const isOwn = machine.owner === life;
  options.check(() =>
    hold(isOwn, 'no fault of its own', `life ${life.number} calls ${method} in the name of another`),
  );
  // A copy, as between threads; what the entries of a commit lay in is gone here afterwards (service/ledger-link.ts).
  const sent = structuredClone(args, { transfer: method === 'commit' ? buffersOf(args) : [] });
  const fate = fateOf(method, options);
  const calledAtMs = machine.nowMs;
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const isCutOff = () => life.cutOffUntilMs > machine.nowMs;
  const away = () =>
    reject(new ApiError('storage_unavailable', { message: 'injected: the books are away', retryAfterS: 1 }));
  // what a commit came to is asked for until it is known; other calls fail
  const back = (settle: () => void) =>
    machine.after(
      delayMs(method, options),
      () => {
        if (!isCutOff()) settle();
        else if (method === 'commit') machine.after(RECONNECT_MS, () => void back(settle), life);
        else away();
      },
      life,
    );
  const there = async (): Promise<void> => {
    if (isCutOff()) {
      if (method === 'commit') machine.after(RECONNECT_MS, there, life);
      else away();
      return;
    }
    options.note(`${method} ${fate}`);
    try {
      const result = await apply(inner, { method, args: sent, calledAtMs }, fate, options);
      back(() => resolve(result));
    } catch (error) {
      back(() => reject(error as Error));
    }
  };
  machine.after(delayMs(method, options), there, life);
  return promise;
}

async function apply(
  inner: Methods,
  call: { readonly method: string; readonly args: unknown[]; readonly calledAtMs: number },
  fate: Fate,
  { machine, life, applied, check, stopped }: WireOptions,
): Promise<unknown> {
  const { method, args } = call;
  const isWrite = WRITES.has(method);
  if (life.stopped && isWrite) throw stoppedError();
  // as over a port to a ledger's thread that is gone: the caller cannot tell whether it was made
  const lost = (what: string) =>
    SHARED_CALLS.has(method)
      ? new ApiError('storage_unavailable', { message: what, retryAfterS: 1 })
      : new LedgerError('stopped', what);
  if (fate === 'lost before') throw lost(`${method}: lost before it was made`);
  if (fate === 'full') throw new ApiError('storage_unavailable', { retryAfterS: 5 });
  const fail = () => {
    stopped();
    return stoppedError();
  };
  if (fate === 'stop before') throw fail();
  const make = async (own: unknown[]) => {
    try {
      return await machine.really(() => inner[method](...own));
    } catch (error) {
      if (error instanceof LedgerError && error.reason === 'stopped') fail(); // it was fenced
      throw error;
    }
  };
  const result = await make(fate === 'duplicate' ? structuredClone(args) : args);
  check(() => applied({ ...call, result, again: false }));
  if (fate === 'duplicate') {
    const again = await make(args);
    check(() => applied({ ...call, result: again, again: true }));
  }
  if (fate === 'lost after') throw lost(`${method}: made, and its answer lost`);
  if (fate === 'stop after') throw fail();
  return result;
}

function fateOf(method: string, { random, faults, life }: WireOptions): Fate {
  const { lostBefore, lostAfter, duplicate, full, stop } = faults();
  const drawn = random.uniform();
  const other = random.uniform();
  if (method === 'commit') {
    if (drawn < full) return 'full';
    if (drawn < full + stop && !life.stopped) return other < 0.5 ? 'stop before' : 'stop after';
    return other < duplicate ? 'duplicate' : 'well';
  }
  if (drawn < lostBefore) return 'lost before';
  if (drawn < lostBefore + lostAfter) return 'lost after';
  return drawn < lostBefore + lostAfter + duplicate ? 'duplicate' : 'well';
}

function delayMs(method: string, { machine, random, faults, life }: WireOptions): number {
  if (!random.chance(faults().slow)) return random.gap(LATENCY_MS);
  const ms = random.uniform() * SLOW_MAX_MS;
  if (method === 'commit') life.slowUntilMs = Math.max(life.slowUntilMs, machine.nowMs + ms);
  return ms;
}

function stoppedError(): LedgerError {
  return new LedgerError('stopped', 'injected: a commit failed, nothing more is written');
}

function buffersOf([segments]: readonly unknown[]): ArrayBuffer[] {
  return (segments as readonly SegmentRecord[])
    .map(({ entries }) => entries)
    .filter((entries) => entries.byteLength > 0 && entries.byteLength === entries.buffer.byteLength)
    .map(({ buffer }) => buffer);
}
