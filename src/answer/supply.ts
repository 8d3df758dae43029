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

/**
 * What an answer says of where it came from. Made once per seed generation or lot, then shared by its
 * answers.
 */
export interface DrawnFrom extends DrawSource {
  readonly origin: Origin;
  readonly circuit: string;
  readonly circuitVersion: string;
  readonly quantumBackend: string;
  readonly nistVerified: boolean;
  /**
   * When the last of the lots had ended and was released: no certificate is dated before it, even if the clock was set
   * back since, or the request came in earlier and waited for the lot.
   */
  readonly availableAtMs: number;
}

/** What the answers of a mode are drawn from now. */
export interface StreamHeld {
  readonly from: DrawnFrom;
  /** For an answer that this thread makes. */
  readonly reader: EntropyReader;
  /** For one that a worker makes. */
  order(): DrawOrder;
}

interface SeedHeld extends StreamHeld {
  readonly stream: SeededKeystream;
  readonly seed: SeedInForce;
}

const RETRY_AFTER_S = 5;

export interface EntropySupplyOptions {
  readonly store: EntropyStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Has a worker expand pieces of a keystream. */
  readonly expand: (order: RefillOrder) => Promise<Uint8Array<ArrayBuffer>[]>;
  /** Has a group's first seed taken, where one is to be had. */
  readonly askForSeed: (group: SeedGroup) => Promise<unknown>;
  /** Has the csprng stream sampled, if it was not yet; does not wait for the sample. */
  readonly askForSample: () => Promise<void>;
}

/** One front's entropy: a keystream per seed group, the system stream, and the pure supply. */
export class EntropySupply {
  readonly pure: PureSupply;
  readonly system = systemReader();
  readonly #options: EntropySupplyOptions;
  readonly #seeded = new Map<string, SeedHeld>();
  readonly #names = new WeakMap<SeedGroup, string>();
  /** Undefined until the first sample of the stream is tested, null when the stream failed. */
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

  /** The tested sample of the csprng stream, by which answers are certified; null ends the mode until the next. */
  installSystemLot(lot: LotRecord | null): void {
    this.#systemHeld = null;
    this.#systemSampled.resolve();
    if (lot === null) return;
    const none = { circuit: 'none', circuitVersion: 'none', quantumBackend: 'none' };
    const from = { ...drawnFrom('csprng', [lot], lot.finishedAtMs), ...none };
    this.#systemHeld = { from, reader: this.system, order: () => ({ from: 'system' }) };
  }

  /**
   * The keystream of the group's seed, or without a group that of the system; undefined when the seed, or the first sample of
   * the system's stream, must be waited for (`comes`). Throws 503 `entropy_unavailable` when the sample was rejected.
   */
  held(group: SeedGroup | undefined, nowMs = this.#options.clock.monotonicMs()): StreamHeld | undefined {
    if (group === undefined) {
      if (this.#systemHeld === null) throw unavailable('csprng');
      return this.#systemHeld;
    }
    const held = this.#seeded.get(this.#nameOf(group));
    if (held === undefined || !held.stream.seeded) return undefined;
    if (nowMs < held.seed.dueAtMonotonicMs) return held;
    held.stream.erase(); // the interval ended and no new seed came: an old seed is never stretched
    return undefined;
  }

  /**
   * Has what `held` lacks made ready: a seed taken, or a sample of the system's stream, which takes a second or two. 503 when it
   * is not to be had, or the supply is closed: a request may wait for the ledger for longer than the service waits for requests
   * when it stops.
   */
  async comes(group: SeedGroup | undefined): Promise<void> {
    const { askForSeed, askForSample } = this.#options;
    if (group === undefined) {
      askForSample().catch(() => {}); // the service stops, and `close` refuses whoever waits
      await this.#systemSampled.promise;
    } else await askForSeed(group);
    if (this.held(group) === undefined) throw unavailable(group === undefined ? 'csprng' : 'quantum-seeded');
  }

  #nameOf(group: SeedGroup): string {
    let name = this.#names.get(group);
    if (name === undefined) this.#names.set(group, (name = seedGroupName(group)));
    return name;
  }

  /** Ends the use of withdrawn lots: seeds from them and pure bytes of them are erased. */
  withdraw(lotIds: ReadonlySet<string>): void {
    this.pure.withdraw(lotIds);
    for (const [name, { stream, from }] of this.#seeded) {
      if (!from.lotIds.some((id) => lotIds.has(id))) continue;
      stream.close();
      this.#seeded.delete(name);
    }
  }

  /** What a pure draw over these lots says of its source. */
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
   * Bytes for a test of a stream, drawn as an answer would draw them and delivered to nobody: of the group's keystream, or
   * without a group of the system's. Undefined while the group has no seed.
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
    this.#systemSampled.resolve(); // whoever waits is refused
    this.pure.close();
    this.system.discard();
    for (const { stream } of this.#seeded.values()) stream.close();
  }
}

export function unavailable(mode: EntropyMode): ApiError {
  return new ApiError('entropy_unavailable', {
    message: `Entropy mode ${mode} cannot be served now and is never replaced by another; retry after Retry-After.`,
    details: { entropy_mode: mode },
    retryAfterS: RETRY_AFTER_S,
  });
}

/**
 * With several lots the first names circuit and backend; every one must have passed for the answer to say so.
 */
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
