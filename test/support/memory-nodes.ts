import { type Clock, periodOf } from '../../src/core/clock.ts';
import { DirectoryFeed } from '../../src/ledger/directory-feed.ts';
import type { Writer } from '../../src/ledger/domain/books.ts';
import { claimsIn, dropClaims } from '../../src/ledger/domain/claims.ts';
import { directoryIn } from '../../src/ledger/domain/directory.ts';
import { ONLY_OWNER } from '../../src/ledger/domain/sources.ts';
import { type Ledger, type LedgerCalls, LedgerError } from '../../src/ledger/ledger.ts';
import { memoryCalls } from './memory-ledger.ts';
import { type LimitFaults, MemoryLimits } from './memory-limits.ts';
import { MemoryStore } from './memory-store.ts';

/** Faults that can be planted, to show that the tests find them. */
export interface NodeFaults extends LimitFaults {
  /** A node that was fenced goes on. */
  readonly fencesNobody?: boolean;
  /** A step of the log is taken whatever state it begins from. */
  readonly stepsFromAnywhere?: boolean;
}

/** The calls that a fenced node may not make any more. */
const FENCED_CALLS: ReadonlySet<string> = new Set([
  'commit',
  'putLog',
  'askLimits',
  'claimKey',
  'addLot',
  'charge',
  'putSourceNote',
  'openJob',
  'putJob',
  'openJobs',
  'openDraw',
  'putDraw',
  'dropDraw',
  'drawLeavesLogged',
]);

/**
 * Several nodes over one set of books, as src/ledger/postgres has them. Lots, sources, draws and the log are shared. The blocks
 * of a lot, and the jobs that give lots, are of the node that stored them. The clock is that of the books.
 */
export class MemoryNodes {
  /** The books that all nodes share, for readers. */
  readonly books: Ledger;
  readonly limits: MemoryLimits;
  readonly #clock: Clock;
  readonly #faults: NodeFaults;
  readonly #store = new MemoryStore();
  readonly #feed: DirectoryFeed;
  /** The nodes that were not fenced, by name. */
  readonly #live = new Map<string, Writer>();
  readonly #epochs = new Map<string, number>();
  /** The folder of each node's blocks, in the order of their numbers. */
  readonly #folders = new Map<string, MemoryStore>();

  constructor(clock: Clock, faults: NodeFaults = {}) {
    this.#clock = clock;
    this.#faults = faults;
    this.#feed = new DirectoryFeed(directoryIn(this.#store).directoryChanges, clock);
    this.limits = new MemoryLimits(faults, this.#store);
    const calls = memoryCalls({
      ...{ books: this.#store, folder: new MemoryStore(), clock, jobs: ONLY_OWNER },
      writer: { number: -1, epoch: 0 },
    });
    this.books = this.#ledgerOver(calls, () => {});
  }

  /** A new run of the node. It fences the former one, and what that one did not use goes back. */
  start(node: string): Ledger {
    this.fence(node);
    const folder = this.#folders.get(node) ?? new MemoryStore();
    this.#folders.set(node, folder);
    const epoch = (this.#epochs.get(node) ?? 0) + 1;
    this.#epochs.set(node, epoch);
    const writer = { number: [...this.#folders.keys()].indexOf(node), epoch };
    this.#live.set(node, writer);
    const calls = memoryCalls({
      ...{ books: this.#store, folder, clock: this.#clock, writer },
      jobs: { node: writer.number, fenced: async () => this.#fencedNumbers() },
    });
    return this.#ledgerOver(this.#shared(calls, node, writer), (name) => {
      if (FENCED_CALLS.has(name)) this.#requireLive(node, writer);
    });
  }

  fence(node: string): void {
    const writer = this.#live.get(node);
    if (writer === undefined) return;
    this.#live.delete(node);
    this.limits.settle(node);
    this.#store.within(dropClaims({ ...writer, epoch: writer.epoch + 1 }));
    if (this.#faults.fencesNobody) this.limits.node(node, writer); // it may ask again
  }

  /** Returns the calls for what nodes share besides the books, with the planted faults. */
  #shared(calls: LedgerCalls, node: string, writer: Writer): LedgerCalls {
    const limits = this.limits.node(node, writer);
    return {
      ...calls,
      ...limits,
      ...claimsIn(this.#store, writer),
      askLimits: (order, asks) => {
        this.limits.period = periodOf(this.#clock.wallMs());
        return limits.askLimits(order, asks);
      },
      putLog: async (records, step, released) => {
        const isAnyStep = step !== undefined && this.#faults.stepsFromAnywhere === true;
        const taken = isAnyStep ? { ...step, expected: await calls.getLog(step.key) } : step;
        await calls.putLog(records, taken, released);
      },
    };
  }

  #ledgerOver(calls: LedgerCalls, guard: (call: string) => void): Ledger {
    const guarded = Object.entries<(...args: never[]) => unknown>({ ...calls }).map(([name, made]) => {
      const call = async (...args: never[]) => {
        guard(name);
        return made(...args);
      };
      return [name, call];
    });
    return { ...this.#feed.over(Object.fromEntries(guarded) as LedgerCalls), close: async () => {} };
  }

  #fencedNumbers(): Set<number> {
    const names = [...this.#folders.keys()];
    return new Set([...names.keys()].filter((number) => !this.#live.has(names[number])));
  }

  #requireLive(node: string, writer: Writer): void {
    if (this.#live.get(node) === writer || this.#faults.fencesNobody) return;
    throw new LedgerError('stopped', `the node "${node}" was fenced`);
  }
}
