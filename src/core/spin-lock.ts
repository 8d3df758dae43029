import { assert, InvariantError } from './assert.ts';

/**
 * A lock word in shared memory. Without contention it costs two atomic operations. A waiter spins, then sleeps. The three
 * states are those of mutex 2 in Drepper, "Futexes Are Tricky".
 */
const FREE = 0;
const HELD = 1;
const HELD_WITH_SLEEPERS = 2;

/** A meter's guarded lines take less than 0.1 µs. After more than that the holder was descheduled. */
const SPINS = 200;
/** No holder of a meter takes this long unless its thread died inside. */
const DEADLINE_MS = 2_000;

/** Throws an InvariantError when no holder releases the lock for this long. */
export function lock(words: Int32Array, index: number, deadlineMs = DEADLINE_MS): void {
  for (let i = 0; i < SPINS; i++) {
    if (Atomics.compareExchange(words, index, FREE, HELD) === FREE) return;
  }
  while (Atomics.exchange(words, index, HELD_WITH_SLEEPERS) !== FREE) {
    if (Atomics.wait(words, index, HELD_WITH_SLEEPERS, deadlineMs) === 'timed-out') {
      throw new InvariantError('a lock in shared memory was never released: its holder died');
    }
  }
}

export function unlock(words: Int32Array, index: number): void {
  const was = Atomics.exchange(words, index, FREE);
  assert(was !== FREE, 'a lock that is let go of was held');
  if (was === HELD_WITH_SLEEPERS) Atomics.notify(words, index, 1);
}
