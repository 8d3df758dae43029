import type { Chance } from '../../support/chance.ts';
import type { DiskFaults } from './disk.ts';
import type { SourceFaults } from './sources.ts';
import type { WireFaults } from './wire.ts';
import type { WorkerFaults } from './workers.ts';

/** The probability of each fault, from 0 to 1. */
interface Faults {
  readonly wire: WireFaults;
  readonly disk: DiskFaults;
  readonly source: SourceFaults;
  readonly workers: WorkerFaults;
}

/** Highest probability of a fault, or nothing would ever succeed. */
const FAULT_MAX = 0.6;

/**
 * The present probabilities of faults. Each run omits some of them altogether and has more of others, because faults
 * hide each other (swarm testing).
 */
export class Weather {
  readonly #usual: Faults;
  readonly #fair: Faults;
  readonly #random: Chance;
  now: Faults;

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
    this.#fair = changed(this.#usual, () => 0);
    this.now = this.#usual;
  }

  get isFair(): boolean {
    return this.now === this.#fair;
  }

  /** Ends all faults. */
  clear(): void {
    this.now = this.#fair;
  }

  usual(): void {
    this.now = this.#usual;
  }

  change(): void {
    const { wire, disk, source } = this.#usual;
    const full = { wire: { ...wire, full: FAULT_MAX }, disk: { ...disk, full: FAULT_MAX } };
    const kinds: Readonly<Record<string, Faults>> = {
      usual: this.#usual,
      fair: this.#fair,
      storm: changed(this.#usual, (rate) => Math.min(4 * rate, FAULT_MAX)),
      'disk full': { ...this.#usual, ...full },
      'ledger away': { ...this.#usual, wire: { ...wire, lostBefore: FAULT_MAX, slow: 0.1 } },
      'sources away': { ...this.#usual, source: { ...source, fails: 1 } },
    };
    const weights = Object.keys(kinds).map((kind) => [kind, kind === 'usual' ? 3 : 1]);
    this.now = kinds[this.#random.weighted(Object.fromEntries(weights))];
  }
}

function changed<T extends object>(faults: T, change: (rate: number) => number): T {
  const entries = Object.entries(faults).map(([name, each]: [string, number | object]) => [
    name,
    typeof each === 'number' ? change(each) : changed(each, change),
  ]);
  return Object.fromEntries(entries) as T;
}
