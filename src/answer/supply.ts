import { originOf } from '../certificate/derive.ts';
import type { Clock } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { EntropyMode, Origin } from '../core/vocabulary.ts';
import type { EntropyStore } from '../ledger/ledger.ts';
import { type DrawSource, type LotRecord, nistVerified, SEED_BLOCK_BYTES } from '../ledger/records.ts';
import { type RefillOrder, SeededKeystream, systemReader } from '../pool/supply/keystream.ts';
import { type LotShare, PureSupply } from '../pool/supply/pure.ts';
import { type SeedGroup, type SeedInForce, seedGroupName } from '../pool/supply/seeds.ts';
import type { EntropyReader } from '../values/entropy-reader.ts';
import type { DrawOrder } from './make.ts';

/** The facts about its source that an answer states. One object serves all answers of a seed generation or lot. */
export interface DrawnFrom extends DrawSource {
  readonly origin: Origin;
  readonly circuit: string;
  readonly circuitVersion: string;
  readonly quantumBackend: string;
  readonly nistVerified: boolean;
  /**
   * Unix time at which the last of the lots had ended and was released. No certificate has an earlier date, even if the clock
   * was set back since, or the request came in earlier and waited for the lot.
   */
  readonly availableAtMs: number;
}

/** A stream that answers can be drawn from now. */
interface StreamHeld {
  readonly from: DrawnFrom;
  /** The random bytes for answers that this thread makes. */
  readonly reader: EntropyReader;
  /** Returns the source of random bytes for an answer that a worker makes. */
  order(): DrawOrder;
}

const RETRY_AFTER_S = 5;

export interface EntropySupplyOptions {
  readonly store: EntropyStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Has a worker expand pieces of a keystream. */
  readonly expand: (order: RefillOrder) => Promise<Uint8Array<ArrayBuffer>[]>;
  /** Asks for a group's first seed, if one is available. */
  readonly askForSeed: (group: SeedGroup) => Promise<unknown>;
  /** Asks for the first sample of the csprng stream. Does not wait for the sample. */
  readonly askForSample: () => Promise<void>;
}

/** The entropy of one front: a keystream for each seed group, the system's stream, and the pure supply. */
export class EntropySupply {
  readonly pure: PureSupply;
  readonly system = systemReader();
  readonly #options: EntropySupplyOptions;
  readonly #seeded = new Map<
    string,
    StreamHeld & { readonly stream: SeededKeystream; readonly seed: SeedInForce }
  >();
  readonly #names = new WeakMap<SeedGroup, string>();
  /** Undefined until the first sample of the system's stream was tested; null after a sample failed. */
  #systemHeld: StreamHeld | null | undefined;
  readonly #systemSampled = Promise.withResolvers<void>();
  #lastPure: DrawnFrom | undefined;

  constructor(options: EntropySupplyOptions) {
    this.#options = options;
    this.pure = new PureSupply(options.store, options.log);
  }

  /** Takes a new seed for its group. The caller wipes `quantumSeed`. */
  installSeed(seed: SeedInForce, quantumSeed: Uint8Array, lot: LotRecord): void {
    const stream = this.#seeded.get(seed.group)?.stream ?? new SeededKeystream(this.#options.expand);
    stream.reseed(quantumSeed);
    const drawn = [{ lot: 0, offset: seed.index * SEED_BLOCK_BYTES, bytes: SEED_BLOCK_BYTES }];
    const from = { ...drawnFrom('quantum-seeded', [lot], seed.releasedAtMs), drawn };
    const { reader } = stream;
    const order = (): DrawOrder => ({ from: 'one-time-key', key: stream.oneTimeKey() });
    this.#seeded.set(seed.group, { stream, seed, from, reader, order });
  }

  /**
   * Installs the lot of a tested sample of the csprng stream, which certificates name. Null ends the mode until the next
   * sample.
   */
  installSystemLot(lot: LotRecord | null): void {
    this.#systemHeld = null;
    this.#systemSampled.resolve();
    if (lot === null) return;
    const none = { circuit: 'none', circuitVersion: 'none', quantumBackend: 'none' };
    const from = { ...drawnFrom('csprng', [lot], lot.finishedAtMs), ...none };
    this.#systemHeld = { from, reader: this.system, order: () => ({ from: 'system' }) };
  }

  /**
   * Returns the keystream of the group's seed, or without a group the system's stream. Returns undefined when the seed or the first
   * sample of the system's stream is missing: `comes` waits for it. Throws 503 `entropy_unavailable` when the sample failed.
   */
  held(group: SeedGroup | undefined, nowMs = this.#options.clock.monotonicMs()): StreamHeld | undefined {
    if (group === undefined) {
      if (this.#systemHeld === null) throw unavailable('csprng');
      return this.#systemHeld;
    }
    const held = this.#seeded.get(this.#nameOf(group));
    if (held === undefined || !held.stream.seeded) return undefined;
    if (nowMs < held.seed.dueAtMonotonicMs) return held;
    held.stream.erase(); // a seed is not used beyond its interval, even if no new seed came
    return undefined;
  }

  /**
   * Waits for what `held` lacks: a seed, or the first sample of the system's stream, which takes a second or two. Throws 503
   * when it is not available, or the supply is closed: a request may wait for the ledger for longer than a stopping service
   * waits for its requests.
   */
  async waitUntilAvailable(group: SeedGroup | undefined): Promise<void> {
    const { askForSeed, askForSample } = this.#options;
    if (group === undefined) {
      askForSample().catch(() => {}); // it fails only when the service stops, and `close` then ends the wait
      await this.#systemSampled.promise;
    } else await askForSeed(group);
    if (this.held(group) === undefined) throw unavailable(group === undefined ? 'csprng' : 'quantum-seeded');
  }

  #nameOf(group: SeedGroup): string {
    let name = this.#names.get(group);
    if (name === undefined) this.#names.set(group, (name = seedGroupName(group)));
    return name;
  }

  /** Erases the seeds and the pure bytes that came from withdrawn lots. */
  withdraw(lotIds: ReadonlySet<string>): void {
    this.pure.withdraw(lotIds);
    for (const [name, { stream, from }] of this.#seeded) {
      if (!from.lotIds.some((id) => lotIds.has(id))) continue;
      stream.close();
      this.#seeded.delete(name);
    }
  }

  /** Returns the source of a pure draw from these lots. */
  pureFrom(shares: readonly LotShare[]): DrawnFrom {
    const last = this.#lastPure;
    const isOfLast = ({ lot }: LotShare) => lot.id === last?.lotIds[0];
    if (last !== undefined && last.lotIds.length === 1 && shares.every(isOfLast)) return last;
    const releasedAtMs = Math.max(...shares.map((share) => share.releasedAtMs));
    const lots = new Map(shares.map(({ lot }) => [lot.id, lot]));
    const from = drawnFrom('pure', [...lots.values()], releasedAtMs);
    this.#lastPure = from;
    return from;
  }

  /**
   * Returns bytes for a test of a stream, drawn as for an answer but delivered to nobody: of the group's keystream, or without a
   * group of the system's stream. Undefined while the group has no seed.
   */
  sample(group: SeedGroup | undefined, size: number): Uint8Array<ArrayBuffer> | undefined {
    const reader = group === undefined ? this.system : this.held(group)?.reader;
    if (reader === undefined) return undefined;
    const bytes = new Uint8Array(size);
    reader.fill(bytes);
    reader.erase();
    return bytes;
  }

  close(): void {
    this.#systemSampled.resolve(); // `comes` then refuses the requests that wait
    this.pure.close();
    this.system.discard();
    for (const { stream } of this.#seeded.values()) stream.close();
  }
}

export function unavailable(mode: EntropyMode): ApiError {
  return new ApiError('entropy_unavailable', {
    message: `The service cannot serve the entropy mode ${mode} now, and it never replaces it by another. Retry after the number of seconds in Retry-After.`,
    details: { entropy_mode: mode },
    retryAfterS: RETRY_AFTER_S,
  });
}

/** Of several lots the first gives circuit and backend. `nistVerified` holds only if all lots passed. */
function drawnFrom(mode: EntropyMode, lots: readonly LotRecord[], releasedAtMs: number): DrawnFrom {
  const [first] = lots;
  return {
    mode,
    lotIds: lots.map((lot) => lot.id),
    drawn: [],
    origin: originOf(lots),
    circuit: first.circuit,
    circuitVersion: first.circuitVersion,
    quantumBackend: first.quantumBackend,
    nistVerified: lots.every(nistVerified),
    availableAtMs: Math.max(releasedAtMs, ...lots.map((lot) => lot.finishedAtMs)),
  };
}
