import { assert } from '../../core/assert.ts';
import { wipe } from '../../core/bytes.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { SeededTier } from '../../core/vocabulary.ts';
import { HASH_BYTES, seedHash } from '../../crypto/merkle.ts';
import type { EntropyStore } from '../../ledger/ledger.ts';
import {
  type ClaimedBlock,
  type LotCommitment,
  type LotRecord,
  SEED_BLOCK_BYTES,
} from '../../ledger/records.ts';

/**
 * The accounts that share a seed: those of one tier with one refresh interval. Enterprise accounts with an interval of
 * their own form a group of their own.
 */
export interface SeedGroup {
  readonly tier: SeededTier;
  readonly intervalMs: number;
}

export function seedGroupName(group: SeedGroup): string {
  return `${group.tier}/${group.intervalMs}`;
}

/** What a front knows of the seed in force. The 32 quantum bytes are wiped once all fronts have taken them. */
export interface SeedInForce extends Omit<ClaimedBlock, 'bytes'> {
  readonly group: string;
  readonly tier: SeededTier;
  /** Grows by one with every seed of the group, across restarts. */
  readonly generation: number;
  readonly seededAtMs: number;
  /** Monotonic time at which the seed's interval ends. */
  readonly dueAtMonotonicMs: number;
}

/** Called synchronously with each new seed and its lot. `quantumSeed` is wiped on return, so copy what must be kept. */
export type SeedListener = (seed: SeedInForce, quantumSeed: Uint8Array, lot: LotRecord) => void;

interface GroupState {
  readonly group: SeedGroup;
  current: SeedInForce | undefined;
  refreshing: Promise<boolean> | undefined;
}

/** A refresh begins this share of the interval before its end, so that no request finds the seed expired. */
const EARLY_FRACTION = 0.02;

/**
 * Gives every seed group a fresh 32-byte quantum seed at the intervals of the specification. A seed is claimed durably
 * before its use and never used twice. If the interval ends and there is no new seed, the group has none in force, and
 * the mode answers 503: no seed is used beyond its interval.
 */
export class SeedSchedule {
  readonly #store: EntropyStore;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #listeners: SeedListener[] = [];
  readonly #groups = new Map<string, GroupState>();
  /** Ids of withdrawn lots. A seed of them that is still being claimed is not used. */
  readonly #retired = new Set<string>();
  #open = true;

  constructor(store: EntropyStore, clock: Clock, log: Log) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
  }

  /** Adds a listener, which gets every seed taken from now on. */
  onSeed(listener: SeedListener): void {
    this.#listeners.push(listener);
  }

  /** Adds the group. It gets its first seed at the next `refresh`. */
  add(group: SeedGroup): string {
    const name = seedGroupName(group);
    if (!this.#groups.has(name)) this.#groups.set(name, { group, current: undefined, refreshing: undefined });
    return name;
  }

  /** Returns the seed in force; undefined if there is none or its interval has ended. */
  inForce(name: string): SeedInForce | undefined {
    const current = this.#groups.get(name)?.current;
    if (current === undefined || this.#clock.monotonicMs() >= current.dueAtMonotonicMs) return undefined;
    return current;
  }

  /** Returns all groups, each with the seed that it took last, for /v1/health. */
  states(): { name: string; intervalMs: number; current: SeedInForce | undefined }[] {
    return [...this.#groups].map(([name, state]) => ({
      name,
      intervalMs: state.group.intervalMs,
      current: state.current,
    }));
  }

  /** Takes a new seed for each group whose seed is missing or about to end. It is cheap if nothing is due. */
  async refresh(): Promise<void> {
    const due = [...this.#groups.values()].filter((state) => this.#isDue(state));
    await Promise.all(due.map((state) => this.#refreshGroup(state)));
  }

  /** Resolves to whether the group has a seed in force. Takes one if there is none. */
  async ensure(name: string): Promise<boolean> {
    const state = this.#groups.get(name);
    assert(state !== undefined, 'only a known seed group is asked for');
    if (this.inForce(name) !== undefined) return true;
    return this.#refreshGroup(state);
  }

  /** Stops the use of seeds of these withdrawn lots. The next `refresh` takes others. */
  retire(lotIds: ReadonlySet<string>): void {
    for (const id of lotIds) this.#retired.add(id);
    for (const state of this.#groups.values()) {
      if (state.current !== undefined && lotIds.has(state.current.lotId)) state.current = undefined;
    }
  }

  /** Stops taking seeds, when the sources are closed. Seeds in force serve until their interval ends. */
  close(): void {
    this.#open = false;
  }

  #isDue(state: GroupState): boolean {
    if (state.current === undefined) return true;
    const early = state.group.intervalMs * EARLY_FRACTION;
    return this.#clock.monotonicMs() >= state.current.dueAtMonotonicMs - early;
  }

  #refreshGroup(state: GroupState): Promise<boolean> {
    state.refreshing ??= this.#takeSeed(state).finally(() => {
      state.refreshing = undefined;
    });
    return state.refreshing;
  }

  /** Resolves to false if there is no seed, or the sources were closed or the lot withdrawn before it was given out. */
  async #takeSeed(state: GroupState): Promise<boolean> {
    // Look at the level first: requests ask often, and a claim costs a durable step even if it gets nothing.
    if (!this.#open || (await this.#store.blockLevels()).seed.blocks === 0) return false;
    if (!this.#open) return false;
    const [block] = await this.#store.claimBlocks('seed', 1);
    if (block === undefined) return false;
    try {
      return await this.#giveOut(state, block);
    } finally {
      wipe(block.bytes);
    }
  }

  async #giveOut(state: GroupState, { lotId, bytes, index, releasedAtMs }: ClaimedBlock): Promise<boolean> {
    assert(bytes.length === SEED_BLOCK_BYTES, 'a seed block holds one seed');
    const name = seedGroupName(state.group);
    // The number is durable before use. All intervals of a tier share one count.
    const generation = await this.#store.nextSeedGeneration(state.group.tier);
    const lot = await this.#store.lot(lotId);
    assert(lot !== undefined, `lot ${lotId} has blocks but no record`);
    const { commitment } = lot;
    if (!this.#open || this.#retired.has(lotId)) return false;
    if (commitment !== undefined && !isCommitted(commitment, index, bytes)) {
      this.#log.error(
        { lot: lotId, seed: index },
        'erased a seed that is not what its lot had committed to: run `qrn ledger audit`',
      );
      return false;
    }
    const seed: SeedInForce = {
      group: name,
      tier: state.group.tier,
      generation,
      lotId,
      index,
      releasedAtMs,
      seededAtMs: this.#clock.wallMs(),
      dueAtMonotonicMs: this.#clock.monotonicMs() + state.group.intervalMs,
    };
    for (const listener of this.#listeners) listener(seed, bytes, lot);
    state.current = seed; // in force only when every front has it
    this.#log.info({ group: name, generation, lot: lotId }, 'seed taken');
    return true;
  }
}

/** Returns whether the seed is the one that its lot committed to. */
function isCommitted({ seedHashes }: LotCommitment, index: number, seed: Uint8Array): boolean {
  const hashes = Buffer.from(seedHashes, 'base64').subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES);
  return hashes.equals(seedHash(seed));
}
