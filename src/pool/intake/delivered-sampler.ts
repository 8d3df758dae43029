import { wipe } from '../../core/bytes.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { AssessedBlock } from '../../ledger/records.ts';
import { ASSESSED_BITS, type Assessor } from './assessor.ts';
import { type AlarmState, LotAlarm } from './lot-alarm.ts';

export type DeliveredSample = AssessedBlock<'delivered'>;

/** A keystream that answers draw from at present. */
export interface DeliveredStream {
  /** The name of its seed group. */
  readonly name: string;
  /** Draws `size` bytes like an answer; resolves to undefined if the seed has ended. */
  draw(size: number): Promise<Uint8Array<ArrayBuffer> | undefined>;
}

/** The results of one stream's samples. */
export interface DeliveredState {
  readonly name: string;
  readonly last: DeliveredSample;
  readonly sampledAtMs: number;
  readonly alarm: AlarmState;
}

export interface DeliveredSamplerOptions {
  /** Returns the streams that are in use now. */
  readonly streams: () => readonly DeliveredStream[];
  readonly assessor: Pick<Assessor, 'testBits'>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Samples the streams of the seeded mode in turn, and keeps the results. A sample is 10^6 bits, drawn like an answer,
 * tested and erased. They are never delivered, so no client's bytes are looked at. The other modes need no such
 * samples: the csprng stream has lots of its own (system-sample.ts), and pure mode delivers the conditioned blocks of
 * lots, which are tested already.
 */
export class DeliveredSampler {
  readonly #options: DeliveredSamplerOptions;
  /** By name of the stream. The stream that was sampled the longest ago comes first. */
  readonly #sampled = new Map<string, Omit<DeliveredState, 'name' | 'alarm'> & { history: LotAlarm }>();

  constructor(options: DeliveredSamplerOptions) {
    this.#options = options;
  }

  /**
   * Samples the next stream. If the sample is rejected, takes another of the bits that follow, and never tests the same
   * bits twice (SP 800-22 §4.2, §4.3). Rejects if the assessor does.
   */
  async sampleNext(): Promise<void> {
    const stream = this.#nextStream();
    if (stream === undefined) return;
    const first = await this.#sample(stream);
    if (first === undefined || first.sp80022.verified) return;
    const { streams, log } = this.#options;
    log.warn(
      { stream: stream.name, ...first.sp80022 },
      'a sample of a seeded stream failed its tests, which happens by chance; testing another',
    );
    const again = streams().find(({ name }) => name === stream.name); // its seed may have ended meanwhile
    if (again === undefined) return;
    const second = await this.#sample(again);
    if (second === undefined || second.sp80022.verified) return;
    log.error(
      { stream: stream.name, ...second.sp80022 },
      'two samples of a seeded stream in a row failed their tests: if this happens again, the stream may be broken',
    );
  }

  states(): DeliveredState[] {
    return [...this.#sampled].map(([name, { last, sampledAtMs, history }]) => {
      return { name, last, sampledAtMs, alarm: history.state() };
    });
  }

  #nextStream(): DeliveredStream | undefined {
    const streams = this.#options.streams();
    const fresh = streams.find(({ name }) => !this.#sampled.has(name));
    if (fresh !== undefined) return fresh;
    const next = [...this.#sampled.keys()].find((name) => streams.some((each) => each.name === name));
    return streams.find(({ name }) => name === next);
  }

  async #sample({ name, draw }: DeliveredStream): Promise<DeliveredSample | undefined> {
    const { assessor, clock } = this.#options;
    const bits = await draw(ASSESSED_BITS / 8);
    if (bits === undefined) return undefined;
    let last: DeliveredSample;
    try {
      last = await assessor.testBits('delivered', bits, ASSESSED_BITS);
    } finally {
      wipe(bits);
    }
    const history = this.#sampled.get(name)?.history ?? new LotAlarm();
    history.addBlocks([last]);
    this.#sampled.delete(name); // so that `set` puts it last
    this.#sampled.set(name, { history, last, sampledAtMs: clock.wallMs() });
    return last;
  }
}
