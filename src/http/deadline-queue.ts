/** Something that must be over by a time; a member of at most one queue. */
export interface Timed {
  /** On the monotonic clock. Written by the queue. */
  deadlineMs: number;
  previous: Timed | null;
  next: Timed | null;
}

/**
 * Things that all get the same time to finish, oldest first: a doubly linked list through the things
 * themselves, so that joining and leaving cost a few writes and one timer serves them all.
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

  /** `nowMs` never goes back from one call to the next: the order of joining is the order of deadlines. */
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

  /** The oldest thing when its deadline has passed, still a member. */
  overdue(nowMs: number): T | undefined {
    return this.#first !== null && this.#first.deadlineMs <= nowMs ? this.#first : undefined;
  }
}
