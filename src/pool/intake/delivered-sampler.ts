import { wipe } from '../../core/bytes.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { AssessedBlock } from '../../ledger/records.ts';
import { ASSESSED_BITS, type Assessor } from './assessor.ts';
import { type AlarmState, LotAlarm } from './lot-alarm.ts';

export type DeliveredSample = AssessedBlock<'delivered'>;

/** A keystream that answers are drawn from now. */
export interface DeliveredStream {
  /** Its seed group. */
  readonly name: string;
  /** So many bytes of it, drawn as an answer would draw them; undefined when its seed has ended. */
  draw(size: number): Promise<Uint8Array<ArrayBuffer> | undefined>;
}

/** What is known of one stream. */
export interface DeliveredState {
  readonly name: string;
  readonly last: DeliveredSample;
  readonly sampledAtMs: number;
  readonly alarm: AlarmState;
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
  readonly #sampled = new Map<string, Omit<DeliveredState, 'name' | 'alarm'> & { history: LotAlarm }>();

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
    if (first === undefined || first.sp80022.verified) return;
    const { streams, log } = this.#options;
    log.warn({ stream: stream.name, ...first.sp80022 }, 'a delivered sample was rejected');
    const again = streams().find(({ name }) => name === stream.name); // its seed may have ended meanwhile
    if (again === undefined) return;
    const second = await this.#sample(again);
    if (second === undefined || second.sp80022.verified) return;
    log.error({ stream: stream.name, ...second.sp80022 }, 'two delivered samples in a row were rejected');
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
    this.#sampled.delete(name); // to the end of the order
    this.#sampled.set(name, { history, last, sampledAtMs: clock.wallMs() });
    return last;
  }
}
