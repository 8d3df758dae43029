import { EntropySupply } from '../../../src/answer/supply.ts';
import { ASSESSED_BITS } from '../../../src/pool/intake/assessor.ts';
import { SeededKeystream } from '../../../src/pool/supply/keystream.ts';
import { PureSupply } from '../../../src/pool/supply/pure.ts';
import { AssessmentThread, Workers } from '../../../src/workers/dispatch.ts';
import { around } from '../planting.ts';

/**
 * Measures what really leaves the entropy pool of the services in this process, where it leaves and not where answers
 * are booked: a draw that no answer reports shows as a difference. It must be attached before the service starts.
 */
export class DrawMeter {
  readonly #supplies = new Set<EntropySupply>();
  readonly #streams = new Set<SeededKeystream>();
  #fromRings = 0;
  #byWorkers = 0;
  /** Bytes of the seeded streams and of the csprng stream that the service tests and discards. */
  #sampled = 0;
  readonly #undo: readonly (() => void)[] = [
    around(EntropySupply.prototype, 'installSystemLot', (install, supply, lot) => {
      this.#supplies.add(supply);
      install(lot);
    }),
    around(SeededKeystream.prototype, 'reseed', (reseed, stream, seed) => {
      this.#streams.add(stream);
      reseed(seed);
    }),
    around(PureSupply.prototype, 'tryDraw', (tryDraw, _supply, bytesMax, use) =>
      tryDraw(bytesMax, (reader, first) => {
        const before = reader.consumedBytes;
        try {
          return use(reader, first);
        } finally {
          this.#fromRings += reader.consumedBytes - before;
        }
      }),
    ),
    around(Workers.prototype, 'make', async (make, _workers, order) => {
      const made = await make(order);
      this.#byWorkers += made.consumedBytes;
      return made;
    }),
    around(AssessmentThread.prototype, 'testBits', (testBits, _thread, of, bits, bitLength) => {
      if (of === 'delivered') this.#sampled += bitLength / 8;
      return testBits(of, bits, bitLength);
    }),
    around(AssessmentThread.prototype, 'assessLot', (assessLot, _thread, bits, width, shots) => {
      // The sample of the system's stream is one window of one channel; the lots of this source are longer.
      if (width === 1 && shots === ASSESSED_BITS) this.#sampled += shots / 8;
      return assessLot(bits, width, shots);
    }),
  ];

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
}
