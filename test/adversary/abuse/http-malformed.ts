import assert from 'node:assert/strict';
import type { HostileCase } from '../../support/hostile-requests.ts';
import { talk } from '../../support/http.ts';
import type { Books, Target } from '../../support/raw-http.ts';

/** Sends cases one after the other and compares the books of the service from each to the next. */
export class CaseRunner {
  readonly #target: Target;
  #books: Books | undefined;

  constructor(target: Target) {
    this.#target = target;
  }

  /**
   * Sends one case and checks what comes back; then the service answers an honest request, and its books show what was
   * served and nothing of what was refused. `pieces` are the bytes of the case, each sent in a packet of its own.
   */
  async assertAnswer(hostile: HostileCase, pieces: readonly string[] = [hostile.bytes]): Promise<void> {
    const { port, key } = this.#target;
    const before = this.#books ?? (await this.#target.books());
    const { replies, connection, mayBeLost, booked } = hostile;
    const stays = connection === 'stays open';
    const talked = await talk(port, pieces, stays ? { replies: replies.length } : {});
    const statuses = talked.replies.map(({ status }) => status);
    // bytes behind a refused head may be read before the refusal has left: the library then answers with its own, or cuts
    const isRefusal = pieces.length > 1 && !stays && replies[0] >= 400;
    const isLost = (mayBeLost || isRefusal) && statuses.length === 0;
    if (isRefusal)
      assert.ok(statuses.length <= 1 && statuses.every((status) => status >= 400), String(statuses));
    else if (!isLost) assert.deepEqual(statuses, replies, hostile.why);
    assert.equal(talked.closed, !stays, `the connection ${connection}`);
    for (const { body } of talked.replies) assert.ok(!body.includes(key), 'no reply shows the key');
    const after = await this.#settledBooks(before.answers + booked);
    this.#books = after;
    if (booked === 0)
      assert.deepEqual(after, before, 'a refused request has drawn, spent and counted nothing');
    assert.equal(after.requests - before.requests, booked, 'requests counted');
    assert.equal(after.answers - before.answers, booked, 'answers that left');
  }

  /**
   * The same where the table does not say what is answered, because another engine parses the case: whatever comes back, as many
   * answers are booked as were sent, and no fault is answered.
   */
  async assertBooked({ name, bytes }: HostileCase): Promise<void> {
    const { port, key } = this.#target;
    const before = this.#books ?? (await this.#target.books());
    const talked = await talk(port, [bytes], { silenceMs: ANSWERED_WITHIN_MS });
    for (const { status, body } of talked.replies) {
      assert.ok(status < 500 || status === 505, `${name}: ${status}`);
      assert.ok(!body.includes(key), `${name}: a reply shows the key`);
    }
    const answered = talked.replies.filter(({ body }) => body.includes('"certificate_id"')).length;
    const after = await this.#settledBooks(before.answers + answered);
    this.#books = after;
    assert.equal(after.requests - before.requests, answered, `${name}: requests counted`);
    assert.equal(after.answers - before.answers, answered, `${name}: answers that left`);
    if (answered === 0) assert.deepEqual(after, before, `${name}: nothing is drawn`);
  }

  /** An answer is booked when it is durable, which may be after its connection was cut. */
  async #settledBooks(answers: number): Promise<Books> {
    for (let tries = 0; ; tries++) {
      const books = await this.#target.books();
      if (books.answers >= answers || tries === 100) return books;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/**
 * The bytes of a case in pieces, cut at places that `random` (below 1) chooses: half of them within the first bytes,
 * where the lines of heads and chunks end. Never behind the method or the target, where the library mistakes what is
 * there for a whole request line (http/front.ts).
 */
export function cut(bytes: string, cuts: number, random: () => number): string[] {
  const lineEnd = bytes.indexOf('\r\n') + 2;
  const targetEnd = bytes.lastIndexOf(' ', lineEnd);
  const places = Array.from({ length: cuts }, (_, i) => {
    const span = i % 2 === 0 ? bytes.length : Math.min(bytes.length, 400);
    return Math.floor(random() * span);
  }).filter((at) => at > 0 && (at <= targetEnd || at >= lineEnd) && at !== bytes.indexOf(' ') + 1);
  const ends = [...new Set([...places, bytes.length])].sort((a, b) => a - b);
  return ends.map((end, i) => bytes.slice(i === 0 ? 0 : ends[i - 1], end));
}

/** What is not answered by then waits for more bytes. */
const ANSWERED_WITHIN_MS = 500;
