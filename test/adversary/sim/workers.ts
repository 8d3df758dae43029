import { type DrawOrder, makeValues, type WorkerOrder } from '../../../src/answer/make.ts';
import { ApiError } from '../../../src/core/errors.ts';
import { sha256Hex } from '../../../src/crypto/digest.ts';
import type { Assessor } from '../../../src/pool/intake/assessor.ts';
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

/**
 * The pools of threads, in this one: tasks are copied when they begin, as a message would be, and take their time.
 * `entropyOf` scores a lot; the least that may serve is 0.3.
 */
export function simWorkers(
  machine: SimMachine,
  random: Chance,
  faults: () => WorkerFaults,
  entropyOf: (bits: Uint8Array) => number,
): Workers & Assessor {
  let deaths = 0;
  const wait = (meanMs: number) =>
    new Promise<void>((resolve) => machine.after(random.gap(meanMs), () => resolve()));
  const task = async <T>(work: () => T): Promise<T> => {
    const { overloaded, dies } = faults();
    if (random.chance(overloaded)) throw new ApiError('overloaded', { retryAfterS: 1 });
    workers.queueLength++;
    await wait(TASK_MS);
    workers.queueLength--;
    if (random.chance(dies)) throw new Error(`injected: worker death ${++deaths}`);
    return work();
  };
  const testBits = async <Of extends string>(of: Of, bits: Uint8Array, bitLength: number) => {
    const sha256 = sha256Hex(bits.subarray(0, Math.ceil(bitLength / 8)));
    await wait(TEST_MS);
    // by its own bits, so that the same block is told the same each time
    const verified = Number.parseInt(sha256.slice(0, 2), 16) >= 8;
    const reason = verified ? 'as the simulation says' : 'the simulation refused it';
    const passed = verified ? 188 : 187;
    const sp80022 = { passed, total: 188, smallestP: 0.01, verified, reason, deciles: '' };
    return { of, bits: bitLength, firstBit: 0, sha256, sp80022 };
  };
  const workers = {
    queueLength: 0,
    threads: 1,
    testBits,
    expand: (order: RefillOrder) => task(() => expandPieces({ ...order, key: order.key.slice() })),
    async make(order: WorkerOrder) {
      try {
        const made = await task(() => makeValues({ ...order, draw: copyOf(order.draw) }));
        return { ...made, busyMs: random.gap(TASK_MS) };
      } finally {
        for (const secret of secretsOf(order.draw)) secret.fill(0);
      }
    },
    async assessLot(bits: Uint8Array, width: number, shots: number) {
      const minEntropyPerBit = entropyOf(bits);
      const ones = onesPerChannel(bits, width, shots);
      await wait(TEST_MS);
      const block = await testBits('raw', bits, width * shots);
      const leastRow = { test: 'Serial', pValue: 0.01 };
      const window = { ...block, order: 'shots', minEntropyPerBit, leastRow } as const;
      const autocorrelation = { lag: 0, correlation: 0, bound: 1 };
      return { windows: [window], minEntropyPerBit, autocorrelation, ones };
    },
    async close() {},
  };
  return workers as unknown as Workers & Assessor; // the fields of the real workers are private
}

function copyOf(draw: DrawOrder): DrawOrder {
  if (draw.from === 'system') return draw;
  if (draw.from === 'pieces') return { ...draw, pieces: draw.pieces.map((piece) => piece.slice()) };
  return { ...draw, key: draw.key.slice() };
}

function secretsOf(draw: DrawOrder): readonly Uint8Array[] {
  if (draw.from === 'system') return [];
  return draw.from === 'pieces' ? draw.pieces : [draw.key];
}
