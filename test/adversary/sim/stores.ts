import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../../src/core/clock.ts';
import { DirectoryFeed } from '../../../src/ledger/directory-feed.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { openTestLedger } from '../../support/ledger-folder.ts';
import { memoryLedger } from '../../support/memory-ledger.ts';
import { MemoryNodes, type NodeFaults } from '../../support/memory-nodes.ts';
import type { SimMachine } from './machine.ts';

/** What outlives a process: the ledger, from where it was left. */
export interface SimStore {
  /** As it is stored. */
  readonly ledger: Ledger;
  /** Undefined where one node has the ledger to itself. */
  readonly nodes?: MemoryNodes;
  /** A process is gone and the next one opens the ledger. */
  reopen(): Promise<void>;
  close(): Promise<void>;
}

export const STORE_KINDS = ['memory', 'lmdb'] as const;
export type StoreKind = (typeof STORE_KINDS)[number];

/** `faults` are planted into what several nodes share. */
export async function openStore(
  kind: StoreKind,
  machine: SimMachine,
  isShared: boolean,
  faults: NodeFaults,
): Promise<SimStore> {
  if (isShared) {
    const nodes = new MemoryNodes(machine.clock(), faults);
    return { ledger: nodes.books, nodes, reopen: async () => {}, close: async () => {} };
  }
  if (kind === 'lmdb') return LmdbStore.open(machine);
  const ledger = memoryLedger(machine.clock(), { keepsPending: true });
  return { ledger, reopen: async () => {}, close: async () => {} };
}

/** The real one, in a folder of its own. What was acknowledged is what a reopened one has: test/adversary/crash kills it for that. */
class LmdbStore implements SimStore {
  readonly ledger: Ledger;
  readonly #machine: SimMachine;
  readonly #clock: Clock;
  readonly #folder = mkdtempSync(join(tmpdir(), 'qrn-sim-'));
  #open: Ledger | undefined;

  private constructor(machine: SimMachine) {
    this.#machine = machine;
    this.#clock = machine.clock();
    const call = (name: keyof Ledger, args: unknown[]) =>
      machine.really(() => (this.#open![name] as (...args: unknown[]) => Promise<unknown>)(...args));
    const ledger = new Proxy({} as Ledger, {
      get: (_target, name) =>
        name === 'then' ? undefined : (...args: unknown[]) => call(name as keyof Ledger, args),
    });
    // readers are told in the time of the simulation
    const feed = new DirectoryFeed((since) => ledger.directoryChanges(since), this.#clock);
    const told = feed.over(ledger);
    this.ledger = new Proxy(ledger, {
      get: (_target, name) => told[name as 'follow'] ?? ledger[name as 'follow'],
    });
  }

  static async open(machine: SimMachine): Promise<LmdbStore> {
    const store = new LmdbStore(machine);
    await store.#openFolder();
    return store;
  }

  async reopen(): Promise<void> {
    await this.#machine.really(async () => this.#open?.close());
    await this.#openFolder();
  }

  async close(): Promise<void> {
    await this.#machine.really(async () => this.#open?.close());
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #openFolder(): Promise<void> {
    const path = join(this.#folder, 'ledger');
    this.#open = await this.#machine.really(() => openTestLedger(path, { clock: this.#clock }));
  }
}
