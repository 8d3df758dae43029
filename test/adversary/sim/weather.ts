import type { Chance } from '../../support/chance.ts';
import { type DiskFaults, SOUND_DISK } from './disk.ts';
import { SOUND, type SourceFaults } from './sources.ts';
import { CALM, type WireFaults } from './wire.ts';
import type { WorkerFaults } from './workers.ts';

interface Faults {
  readonly wire: WireFaults;
  readonly disk: DiskFaults;
  readonly source: SourceFaults;
  readonly workers: WorkerFaults;
}

const FAIR: Faults = { wire: CALM, disk: SOUND_DISK, source: SOUND, workers: { overloaded: 0, dies: 0 } };

/** Highest probability of a fault, or nothing would ever succeed. */
const FAULT_MAX = 0.6;

/**
 * The present probabilities of faults. Each run omits some of them altogether and has more of others, because faults
 * hide each other (swarm testing).
 */
export class Weather {
  readonly #usual: Faults;
  readonly #random: Chance;
  #now: Faults;

  constructor(random: Chance) {
    this.#random = random;
    const rate = (...rates: readonly number[]) => (random.chance(0.5) ? 0 : random.pick(rates));
    this.#usual = {
      wire: {
        lostBefore: rate(0.002, 0.01, 0.04),
        lostAfter: rate(0.002, 0.01, 0.04),
        duplicate: rate(0.002, 0.01, 0.04),
        slow: rate(0.002, 0.01, 0.05),
        full: rate(0.002, 0.02),
        stop: rate(0.001, 0.004),
      },
      disk: {
        slow: rate(0.002, 0.01, 0.05),
        fails: rate(0.001, 0.004),
        lies: rate(0.05, 0.3),
        full: rate(0.002, 0.02),
      },
      source: {
        fails: rate(0.02, 0.1, 0.3),
        lost: rate(0.02, 0.1),
        stalls: rate(0.01, 0.03),
        permanent: rate(0.003, 0.01),
        repeats: rate(0.02, 0.1),
        stuck: rate(0.01, 0.03),
        short: rate(0.01, 0.05),
        breaks: rate(0.05, 0.2),
      },
      workers: { overloaded: rate(0.01, 0.05), dies: rate(0.01, 0.05) },
    };
    this.#now = this.#usual;
  }

  readonly wire = (): WireFaults => this.#now.wire;
  readonly disk = (): DiskFaults => this.#now.disk;
  readonly source = (): SourceFaults => this.#now.source;
  readonly workers = (): WorkerFaults => this.#now.workers;

  get isFair(): boolean {
    return this.#now === FAIR;
  }

  /** Ends all faults. */
  clear(): void {
    this.#now = FAIR;
  }

  usual(): void {
    this.#now = this.#usual;
  }

  change(): void {
    const { wire, disk, source, workers } = this.#usual;
    const kinds: Readonly<Record<string, readonly [weight: number, faults: Faults]>> = {
      usual: [3, this.#usual],
      fair: [1, FAIR],
      storm: [
        1,
        {
          wire: stronger(wire),
          disk: stronger(disk),
          source: stronger(source),
          workers: stronger(workers),
        },
      ],
      'disk full': [
        1,
        { ...this.#usual, wire: { ...wire, full: FAULT_MAX }, disk: { ...disk, full: FAULT_MAX } },
      ],
      'ledger away': [1, { ...this.#usual, wire: { ...wire, lostBefore: FAULT_MAX, slow: 0.1 } }],
      'sources away': [1, { ...this.#usual, source: { ...source, fails: 1 } }],
    };
    const weights = Object.fromEntries(Object.entries(kinds).map(([kind, [weight]]) => [kind, weight]));
    [, this.#now] = kinds[this.#random.weighted(weights)];
  }
}

function stronger<T extends { [K in keyof T]: number }>(faults: T): T {
  const entries = Object.entries<number>(faults).map(([name, rate]) => [name, Math.min(4 * rate, FAULT_MAX)]);
  return Object.fromEntries(entries) as T;
}
