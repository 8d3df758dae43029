import { EntropySupply } from '../../../src/answer/supply.ts';
import { ASSESSED_BITS } from '../../../src/pool/intake/assessor.ts';
import { SeededKeystream } from '../../../src/pool/supply/keystream.ts';
import { PureSupply } from '../../../src/pool/supply/pure.ts';
import { AssessmentThread, Workers } from '../../../src/workers/dispatch.ts';
import { replaced } from '../planting.ts';

/**
 * Measures what really leaves the entropy pool of the services in this process, where it leaves and not where answers
 * are booked: a draw that no answer reports shows as a difference. It must be attached before the service starts.
 */
export class DrawMeter {
  readonly #supplies = new Set<EntropySupply>();
  readonly #streams = new Set<SeededKeystream>();
  readonly #undo: (() => void)[] = [];
  #fromRings = 0;
  #byWorkers = 0;
  /** Bytes of the seeded streams and of the csprng stream that the service tests and discards. */
  #sampled = 0;

  constructor() {
    this.#watchSupplies();
    this.#watchPure();
    this.#watchWorkers();
  }

  /** Bytes drawn since the meter was attached. */
  get drawnBytes(): number {
    let bytes = this.#fromRings + this.#byWorkers - this.#sampled;
    for (const { system } of this.#supplies) bytes += system.consumedBytes;
    for (const { reader } of this.#streams) bytes += reader.consumedBytes;
    return bytes;
  }

  /** The supply of the only service. */
  get supply(): EntropySupply {
    const [supply] = this.#supplies;
    return supply;
  }

  detach(): void {
    for (const undo of this.#undo) undo();
  }

  #watchSupplies(): void {
    const meter = this;
    this.#wrap(EntropySupply.prototype, 'installSystemLot', (installed) => {
      return function (this: EntropySupply, lot) {
        meter.#supplies.add(this);
        installed.call(this, lot);
      };
    });
    this.#wrap(SeededKeystream.prototype, 'reseed', (reseed) => {
      return function (this: SeededKeystream, seed) {
        meter.#streams.add(this);
        reseed.call(this, seed);
      };
    });
  }

  #watchPure(): void {
    const meter = this;
    this.#wrap(PureSupply.prototype, 'tryDraw', (tryDraw) => {
      return function (this: PureSupply, bytesMax, use) {
        return tryDraw.call(this, bytesMax, (reader, first) => {
          const before = reader.consumedBytes;
          try {
            return use(reader, first);
          } finally {
            meter.#fromRings += reader.consumedBytes - before;
          }
        });
      } as typeof tryDraw;
    });
  }

  #watchWorkers(): void {
    const meter = this;
    this.#wrap(Workers.prototype, 'make', (make) => {
      return async function (this: Workers, order) {
        const made = await make.call(this, order);
        meter.#byWorkers += made.consumedBytes;
        return made;
      };
    });
    this.#wrap(AssessmentThread.prototype, 'testBits', (testBits) => {
      return function (this: AssessmentThread, of, bits, bitLength) {
        if (of === 'delivered') meter.#sampled += bitLength / 8;
        return testBits.call(this, of, bits, bitLength);
      } as typeof testBits;
    });
    this.#wrap(AssessmentThread.prototype, 'assessLot', (assessLot) => {
      return function (this: AssessmentThread, bits, width, shots) {
        // The sample of the system's stream is one window of one channel; the lots of this source are longer.
        if (width === 1 && shots === ASSESSED_BITS) meter.#sampled += shots / 8;
        return assessLot.call(this, bits, width, shots);
      };
    });
  }

  #wrap<T extends object, K extends keyof T>(owner: T, name: K, wrapped: (own: T[K]) => T[K]): void {
    this.#undo.push(replaced(owner, name, wrapped));
  }
}
