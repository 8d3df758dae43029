/** A thing with a deadline. It is a member of at most one queue. */
export interface Timed {
  /** Monotonic time, written by the queue. */
  deadlineMs: number;
  previous: Timed | null;
  next: Timed | null;
}

/**
 * Things that all have the same time to finish, oldest first. It is a doubly linked list through the things themselves, so
 * that joining and leaving cost a few writes, and one timer serves them all.
 */
export class DeadlineQueue<T extends Timed> {
  readonly #allowanceMs: number;
  #first: T | null = null;
  #last: T | null = null;
  #size = 0;

  constructor(allowanceMs: number) {
    this.#allowanceMs = allowanceMs;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds a thing at the end. `nowMs` must never decrease from call to call, so that the list stays ordered by deadline. */
  join(thing: T, nowMs: number): void {
    thing.deadlineMs = nowMs + this.#allowanceMs;
    thing.previous = this.#last;
    thing.next = null;
    if (this.#last === null) this.#first = thing;
    else this.#last.next = thing;
    this.#last = thing;
    this.#size++;
  }

  leave(thing: T): void {
    if (thing.previous === null) this.#first = thing.next as T | null;
    else thing.previous.next = thing.next;
    if (thing.next === null) this.#last = thing.previous as T | null;
    else thing.next.previous = thing.previous;
    thing.previous = null;
    thing.next = null;
    this.#size--;
  }

  /** Returns the oldest thing if its deadline has passed. It stays a member. */
  overdue(nowMs: number): T | undefined {
    return this.#first !== null && this.#first.deadlineMs <= nowMs ? this.#first : undefined;
  }
}
