import { type DrawOrder, type MadeByWorker, makeValues, type WorkerOrder } from '../../../src/answer/make.ts';
import { ApiError } from '../../../src/core/errors.ts';
import { sha256Hex } from '../../../src/crypto/digest.ts';
import type { AssessedBlock } from '../../../src/ledger/records.ts';
import type { Assessor, LotAssessment } from '../../../src/pool/intake/assessor.ts';
import { expandPieces, type RefillOrder } from '../../../src/pool/supply/keystream.ts';
import { onesPerChannel } from '../../../src/stats/autocorrelation.ts';
import type { Workers } from '../../../src/workers/dispatch.ts';
import type { Chance } from '../../support/chance.ts';
import type { SimMachine } from './machine.ts';

/** Probability that a worker's task fails, from 0 to 1. */
export interface WorkerFaults {
  /** The queue is full. */
  overloaded: number;
  /** A thread dies over its task. */
  dies: number;
}

const TASK_MS = 2;
const TEST_MS = 40;

/** The pools of threads, in this one: tasks are copied when they begin, as a message would be, and take their time. */
export class SimWorkers implements Assessor {
  readonly #machine: SimMachine;
  readonly #random: Chance;
  readonly #faults: () => WorkerFaults;
  /** Returns the score of a lot; the least that may serve is 0.3. */
  readonly #entropyOf: (bits: Uint8Array) => number;
  /** Receives the pieces of pure entropy that a large answer was made of, and what was not read of them. */
  readonly #worked: (pieces: readonly Uint8Array[], left: readonly Uint8Array[]) => void;
  #deaths = 0;
  queueLength = 0;
  readonly threads = 1;

  constructor(
    machine: SimMachine,
    random: Chance,
    faults: () => WorkerFaults,
    entropyOf: (bits: Uint8Array) => number,
    worked: (pieces: readonly Uint8Array[], left: readonly Uint8Array[]) => void,
  ) {
    this.#machine = machine;
    this.#random = random;
    this.#faults = faults;
    this.#entropyOf = entropyOf;
    this.#worked = worked;
  }

  /** Returns these as the real workers, whose fields are private. */
  asWorkers(): Workers {
    return this as unknown as Workers;
  }

  async close(): Promise<void> {}

  async expand(order: RefillOrder): Promise<Uint8Array<ArrayBuffer>[]> {
    return this.#task(() => expandPieces({ ...order, key: order.key.slice() }));
  }

  async make(order: WorkerOrder): Promise<MadeByWorker> {
    try {
      const work = () => makeValues({ ...order, draw: copyOf(order.draw) });
      const made = await this.#task(work);
      if (order.draw.from === 'pieces') this.#worked(order.draw.pieces, made.left);
      return { ...made, busyMs: this.#random.gap(TASK_MS) };
    } finally {
      for (const secret of secretsOf(order.draw)) secret.fill(0);
    }
  }

  async testBits<Of extends string>(of: Of, bits: Uint8Array, bitLength: number): Promise<AssessedBlock<Of>> {
    const sha256 = sha256Hex(bits.subarray(0, Math.ceil(bitLength / 8)));
    await this.#wait(TEST_MS);
    // by its own bits, so that the same block is told the same each time
    const verified = Number.parseInt(sha256.slice(0, 2), 16) >= 8;
    const reason = verified ? 'as the simulation says' : 'the simulation refused it';
    return {
      of,
      bits: bitLength,
      firstBit: 0,
      sha256,
      sp80022: { passed: verified ? 188 : 187, total: 188, smallestP: 0.01, verified, reason, deciles: '' },
    };
  }

  async assessLot(bits: Uint8Array, width: number, shots: number): Promise<LotAssessment> {
    const minEntropyPerBit = this.#entropyOf(bits);
    const ones = onesPerChannel(bits, width, shots);
    await this.#wait(TEST_MS);
    const block = await this.testBits('raw', bits, width * shots);
    const leastRow = { test: 'Serial', pValue: 0.01 };
    const window = { ...block, order: 'shots', minEntropyPerBit, leastRow } as const;
    const autocorrelation = { lag: 0, correlation: 0, bound: 1 };
    return { windows: [window], minEntropyPerBit, autocorrelation, ones };
  }

  async #task<T>(work: () => T): Promise<T> {
    const { overloaded, dies } = this.#faults();
    if (this.#random.chance(overloaded)) throw new ApiError('overloaded', { retryAfterS: 1 });
    this.queueLength++;
    await this.#wait(TASK_MS);
    this.queueLength--;
    if (this.#random.chance(dies)) throw new Error(`injected: worker death ${++this.#deaths}`);
    return work();
  }

  #wait(meanMs: number): Promise<void> {
    return new Promise((resolve) => this.#machine.after(this.#random.gap(meanMs), resolve));
  }
}

function copyOf(draw: DrawOrder): DrawOrder {
  switch (draw.from) {
    case 'one-time-key':
      return { from: draw.from, key: draw.key.slice() };
    case 'system':
      return draw;
    case 'pieces':
      return { from: draw.from, pieces: draw.pieces.map((piece) => piece.slice()) };
  }
}

function secretsOf(draw: DrawOrder): readonly Uint8Array[] {
  if (draw.from === 'system') return [];
  return draw.from === 'pieces' ? draw.pieces : [draw.key];
}
