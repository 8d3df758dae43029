import { assert } from '../core/assert.ts';
import type { Clock } from '../core/clock.ts';
import type { Books, SequenceLease } from './ledger.ts';

/** A front asks for the next lease when this many sequences are left. */
const LEASE_AHEAD = 2 ** 16;
/**
 * When retention drops a segment, no sequence up to that segment's may be stored any more. A lease used for very long would
 * fall below what retention dropped of other fronts. So a front asks for the next lease after an hour, and stops using the
 * old one after a day, the shortest retention that can be set.
 */
const LEASE_RENEWED_MS = 60 * 60 * 1000;
const LEASE_LASTS_MS = 24 * LEASE_RENEWED_MS;

interface Leased extends SequenceLease {
  readonly atMs: number;
}

/** Gives one front's segments their sequences, and leases them from the ledger before they are needed. */
export class Sequences {
  readonly #ledger: Pick<Books, 'leaseSequences'>;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #lease: Leased;
  #next: number;
  #following: Leased | undefined;
  #isLeasing = false;

  constructor(
    ledger: Pick<Books, 'leaseSequences'>,
    clock: Pick<Clock, 'monotonicMs'>,
    lease: SequenceLease,
  ) {
    this.#ledger = ledger;
    this.#clock = clock;
    this.#lease = { ...lease, atMs: clock.monotonicMs() };
    this.#next = lease.from;
  }

  /** Leases the first sequences. */
  static async open(
    ledger: Pick<Books, 'leaseSequences'>,
    clock: Pick<Clock, 'monotonicMs'>,
  ): Promise<Sequences> {
    return new Sequences(ledger, clock, await ledger.leaseSequences());
  }

  /** True when no sequence is left until the next lease comes, which this asks for. Nothing may be drawn meanwhile. */
  get isOut(): boolean {
    if (this.#following !== undefined && this.#isOlder(this.#following, LEASE_LASTS_MS))
      this.#following = undefined;
    const isOver = this.#next === this.#lease.before || this.#isOlder(this.#lease, LEASE_LASTS_MS);
    if (!isOver || this.#following !== undefined) return false;
    this.#leaseAhead();
    return true;
  }

  next(): number {
    const isDue = this.#isOlder(this.#lease, LEASE_RENEWED_MS);
    if (this.#next === this.#lease.before || (isDue && this.#following !== undefined)) this.#takeFollowing();
    else if (isDue || this.#lease.before - this.#next <= LEASE_AHEAD) this.#leaseAhead();
    return this.#next++;
  }

  #isOlder({ atMs }: Leased, ms: number): boolean {
    return this.#clock.monotonicMs() - atMs > ms;
  }

  /** Asks for the next lease. If that fails, the next answer asks again. */
  #leaseAhead(): void {
    if (this.#isLeasing || this.#following !== undefined) return;
    this.#isLeasing = true;
    const atMs = this.#clock.monotonicMs();
    this.#ledger
      .leaseSequences()
      .then(
        (lease) => (this.#following = { ...lease, atMs }),
        () => {},
      )
      .finally(() => (this.#isLeasing = false));
  }

  #takeFollowing(): void {
    assert(this.#following !== undefined, 'nothing is drawn for an answer while no sequence is left');
    this.#lease = this.#following;
    this.#next = this.#lease.from;
    this.#following = undefined;
  }
}
