import { wipe } from '../../core/bytes.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { AssessedBlock } from '../../ledger/records.ts';
import type { Autocorrelation } from '../../stats/autocorrelation.ts';
import { type UniformityVerdict, uniformityOf } from '../../stats/sp800-22/uniformity.ts';
import { type RejectionVerdict, verdictOnRejections } from '../../stats/sp800-22/verdict.ts';
import type { EntropyReader } from '../../values/entropy-reader.ts';

/**
 * The seam to whoever runs the statistical tests: a worker in the service, the same code in place in tests.
 * Bits are packed most significant bit first, and copied before the promise is returned: the caller may wipe
 * them meanwhile.
 */
export interface Assessor {
  /** SP 800-22 over the first `bitLength` bits, with the verdict rule of docs/evidence.md. */
  testBits<Of extends string>(of: Of, bits: Uint8Array, bitLength: number): Promise<AssessedBlock<Of>>;
  /** Every bit of a lot through both, in windows and in both orders (assess-lot.ts). */
  assessLot(bits: Uint8Array, width: number, shots: number): Promise<LotAssessment>;
}

/** One window of a lot, assessed by itself. */
export interface AssessedWindow extends AssessedBlock<'raw'> {
  readonly order: 'shots' | 'channels';
  readonly firstBit: number;
  /** SP 800-90B 6.3, the least of the non-IID estimates; null with fewer than SCREENED_BITS bits. */
  readonly minEntropyPerBit: number | null;
  /** The ten of them by name; absent where there are none. */
  readonly estimators?: Readonly<Record<string, number>>;
  /**
   * The row of SP 800-22 with the least p-value, of those that are one for any share of ones. Runs is not: its value is 0
   * wherever the share is four deviations from half, and what it looks for shows in the autocorrelation at lag 1.
   */
  readonly leastRow: { readonly test: string; readonly pValue: number };
}

export interface LotAssessment {
  readonly windows: readonly AssessedWindow[];
  /**
   * The least estimate of all windows, or what the autocorrelation leaves where that is less, bits per bit; null for a
   * lot that is too short for any.
   */
  readonly minEntropyPerBit: number | null;
  readonly autocorrelation: Autocorrelation;
}

/**
 * The length that SP 800-22 asks of one sequence for all of its tests, and SP 800-90B §3.1.1 of a data set.
 */
export const ASSESSED_BITS = 1_000_000;

/**
 * The estimators run on so many bits and more: the least lot that an operator can configure. An ideal source
 * scores 0.56 here, 0.42 at worst in 12,000 trials, and what has a period, 0 (`node
 * test/adversary/liars/run.ts scores`).
 */
export const SCREENED_BITS = 8192;

/**
 * Blocks that are looked at together: of the order of 1 / 0.01, as SP 800-22 §4.2.1 asks, and a day of a busy
 * source.
 */
export const HISTORY_BLOCKS = 100;

/**
 * SP 800-22 across the last blocks of one kind. The rule for one block lets one good block of 500 fail; a
 * source that goes on failing now and then, and never often enough in a row, shows here. Blocks are
 * independent, so the chance of so many rejections is exactly binomial, which a sum of failed rows would not
 * be.
 */
export class BlockHistory {
  readonly #rejections: boolean[] = [];
  readonly #deciles: string[] = [];

  /**
   * Blocks too short for a verdict say nothing and are left out, as are windows that reach back into the one
   * before.
   */
  add(block: AssessedBlock<string>): void {
    if (block.bits < ASSESSED_BITS || (block.firstBit ?? 0) % ASSESSED_BITS !== 0) return;
    this.#rejections.push(!block.sp80022.verified);
    if (this.#rejections.length > HISTORY_BLOCKS) this.#rejections.shift();
    if (block.sp80022.deciles === undefined) return;
    this.#deciles.push(block.sp80022.deciles);
    if (this.#deciles.length > HISTORY_BLOCKS) this.#deciles.shift();
  }

  /** Whether the p-values of the blocks are uniform, row by row. */
  uniformity(): UniformityVerdict {
    return uniformityOf(this.#deciles);
  }

  verdict(): RejectionVerdict {
    const rejected = this.#rejections.filter((each) => each).length;
    return verdictOnRejections(this.#rejections.length, rejected);
  }
}

export type DeliveredSample = AssessedBlock<'delivered'>;

/** A keystream that answers are drawn from now. */
export interface DeliveredStream {
  /** Its seed group. */
  readonly name: string;
  readonly reader: EntropyReader;
}

/** What is known of one stream. */
export interface DeliveredState {
  readonly name: string;
  readonly last: DeliveredSample;
  readonly sampledAtMs: number;
  readonly across: RejectionVerdict;
}

export interface DeliveredSamplerOptions {
  /** The streams in use; asked for anew each time. */
  readonly streams: () => readonly DeliveredStream[];
  readonly assessor: Pick<Assessor, 'testBits'>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Samples the streams in turn, and remembers what was found. A sample is 10^6 bits, drawn as any answer would draw them,
 * tested and erased: bytes that were never delivered, so that no client's are kept. It is for the seeded mode. A csprng
 * answer is fresh output of the operating system's generator, and the system source's lot is such a sample; in pure mode
 * the conditioned block of each lot is what is delivered, and a sample would spend quantum bytes to say the same again.
 */
export class DeliveredSampler {
  readonly #options: DeliveredSamplerOptions;
  /** By name; the stream sampled longest ago first. */
  readonly #sampled = new Map<string, Omit<DeliveredState, 'name' | 'across'> & { history: BlockHistory }>();

  constructor(options: DeliveredSamplerOptions) {
    this.#options = options;
  }

  /**
   * Samples the stream whose turn it is; a sample that is rejected is followed by one of the next bits, never
   * by a second look at the same (SP 800-22 §4.2, §4.3). Rejects as the assessor does.
   */
  async sampleNext(): Promise<void> {
    const stream = this.#nextStream();
    if (stream === undefined) return;
    const first = await this.#sample(stream);
    if (first.sp80022.verified) return;
    const { streams, log } = this.#options;
    log.warn({ stream: stream.name, ...first.sp80022 }, 'a delivered sample was rejected');
    const again = streams().find(({ name }) => name === stream.name); // its seed may have ended meanwhile
    if (again === undefined) return;
    const second = await this.#sample(again);
    if (second.sp80022.verified) return;
    log.error({ stream: stream.name, ...second.sp80022 }, 'two delivered samples in a row were rejected');
  }

  states(): DeliveredState[] {
    return [...this.#sampled].map(([name, { last, sampledAtMs, history }]) => {
      return { name, last, sampledAtMs, across: history.verdict() };
    });
  }

  #nextStream(): DeliveredStream | undefined {
    const streams = this.#options.streams();
    const fresh = streams.find(({ name }) => !this.#sampled.has(name));
    if (fresh !== undefined) return fresh;
    const next = [...this.#sampled.keys()].find((name) => streams.some((each) => each.name === name));
    return streams.find(({ name }) => name === next);
  }

  async #sample({ name, reader }: DeliveredStream): Promise<DeliveredSample> {
    const { assessor, clock } = this.#options;
    const bits = new Uint8Array(ASSESSED_BITS / 8);
    let last: DeliveredSample;
    try {
      reader.fill(bits);
      reader.erase();
      last = await assessor.testBits('delivered', bits, ASSESSED_BITS);
    } finally {
      wipe(bits);
    }
    const history = this.#sampled.get(name)?.history ?? new BlockHistory();
    history.add(last);
    this.#sampled.delete(name); // to the end of the order
    this.#sampled.set(name, { history, last, sampledAtMs: clock.wallMs() });
    return last;
  }
}
