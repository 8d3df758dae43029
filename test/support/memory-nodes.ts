import { type Clock, periodOf } from '../../src/core/clock.ts';
import { LEDGER_CALLS, type Ledger, LedgerError } from '../../src/ledger/ledger.ts';
import { MemoryLedger, type Writer } from './memory-ledger.ts';
import { type LimitFaults, MemoryLimits } from './memory-limits.ts';
import { MemoryStore } from './memory-store.ts';

/** What may be broken, to show that the tests find it. */
export interface NodeFaults extends LimitFaults {
  /** A node that was fenced goes on. */
  readonly fencesNobody?: boolean;
  /** A step of the log is taken whatever state it begins from. */
  readonly stepsFromAnywhere?: boolean;
}

/** What a node may not do any more once it is fenced. */
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
]);

/**
 * Several nodes over one set of books, as src/ledger/postgres has them: the model that the contract suite holds it against.
 * Lots, sources, draws and the log are shared. The blocks of a lot, and the jobs that give lots, are of the node that stored
 * them. The clock is that of the books.
 */
export class MemoryNodes {
  readonly books: MemoryLedger;
  readonly limits: MemoryLimits;
  readonly #clock: Clock;
  readonly #faults: NodeFaults;
  readonly #live = new Map<string, Writer>();
  readonly #epochs = new Map<string, number>();
  readonly #claims = new Map<string, { readonly fingerprint: string; readonly writer: Writer }>();
  /** The folder of each node's blocks, in the order of their numbers. */
  readonly #folders = new Map<string, MemoryStore>();

  constructor(clock: Clock, faults: NodeFaults = {}) {
    this.#clock = clock;
    this.#faults = faults;
    this.books = new MemoryLedger(clock, { keepsPending: true });
    this.limits = new MemoryLimits(faults, (account, period) => this.books.charged(account, period));
  }

  /** A new run of the node. It fences the former one, and what that one did not use goes back. */
  start(node: string): Ledger {
    this.fence(node);
    const writer = { node, epoch: (this.#epochs.get(node) ?? 0) + 1 };
    this.#epochs.set(node, writer.epoch);
    this.#live.set(node, writer);
    return this.#ledgerOf(writer);
  }

  fence(node: string): void {
    const writer = this.#live.get(node);
    if (writer === undefined) return;
    this.#live.delete(node);
    this.limits.settle(node, (account, period) => this.books.charged(account, period, writer));
    for (const [key, claim] of this.#claims) if (claim.writer === writer) this.#claims.delete(key);
    if (this.#faults.fencesNobody) this.limits.node(node); // it may ask again
  }

  #ledgerOf(writer: Writer): Ledger {
    const { books } = this;
    const { node } = writer;
    const folder = this.#folders.get(node) ?? new MemoryStore();
    this.#folders.set(node, folder);
    const number = [...this.#folders.keys()].indexOf(node);
    const fenced = async () => {
      const names = [...this.#folders.keys()];
      return new Set([...names.keys()].filter((other) => !this.#live.has(names[other])));
    };
    const own: Partial<Ledger> = {
      ...this.limits.node(node),
      ...books.lotsOf(number, folder),
      ...books.sourcesOf({ node: number, fenced }),
      audit: () => books.audit(folder),
      commit: async (segments, answers) => {
        await books.commit(segments, answers, writer);
        for (const { keyDigest } of answers) this.#claims.delete(keyDigest);
      },
      saveRates: (rates) => books.saveRates(rates, writer),
      putLog: async (records, step, released) => {
        const isAnyStep = step !== undefined && this.#faults.stepsFromAnywhere === true;
        const taken = isAnyStep ? { ...step, expected: await books.getLog(step.key) } : step;
        await books.putLog(records, taken, released);
      },
      claimKey: async (keyDigest, fingerprint) => {
        const held = this.#claims.get(keyDigest);
        if (held === undefined || held.writer === writer) {
          this.#claims.set(keyDigest, { fingerprint, writer });
          return 'held';
        }
        return held.fingerprint === fingerprint ? 'same' : 'other';
      },
      releaseKey: async (keyDigest) => {
        if (this.#claims.get(keyDigest)?.writer === writer) this.#claims.delete(keyDigest);
      },
      close: async () => {},
    };
    const calls = [...Object.keys(LEDGER_CALLS), 'follow', 'close'].map((name) => {
      const of = (name in own ? own : books) as unknown as Record<string, (...args: unknown[]) => unknown>;
      const call = async (...args: unknown[]) => {
        if (FENCED_CALLS.has(name)) this.#requireLive(writer);
        if (name === 'askLimits') this.limits.period = periodOf(this.#clock.wallMs());
        return of[name](...args);
      };
      return [name, call];
    });
    return Object.fromEntries(calls) as Ledger;
  }

  #requireLive(writer: Writer): void {
    if (this.#live.get(writer.node) === writer || this.#faults.fencesNobody) return;
    throw new LedgerError('stopped', `the node "${writer.node}" was fenced`);
  }
}
