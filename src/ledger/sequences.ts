import { assert } from '../core/assert.ts';
import type { Clock } from '../core/clock.ts';
import type { Books, SequenceLease } from './ledger.ts';

/** The next lease is asked for when this many sequences of the last one are left. */
const LEASE_AHEAD = 2 ** 16;
/**
 * Retention drops the oldest certificates of all fronts, and from then on no sequence up to theirs may be stored. A lease that
 * were kept for as long as it lasts would one day lie below what other fronts dropped, so after an hour the next one is
 * asked for, and after a day, the shortest retention there is, the old one is used no more.
 */
const LEASE_RENEWED_MS = 60 * 60 * 1000;
const LEASE_LASTS_MS = 24 * LEASE_RENEWED_MS;

interface Leased extends SequenceLease {
  readonly atMs: number;
}

/** The sequences of one front's segments, which it leases from the ledger before it needs them. */
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

  /** Leases the first ones. */
  static async open(
    ledger: Pick<Books, 'leaseSequences'>,
    clock: Pick<Clock, 'monotonicMs'>,
  ): Promise<Sequences> {
    return new Sequences(ledger, clock, await ledger.leaseSequences());
  }

  /** None is left until the next lease comes, which is asked for: nothing may be drawn meanwhile. */
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

  /** Asks again with the next answer when it fails. */
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
