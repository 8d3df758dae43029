import assert from 'node:assert/strict';
import type { EngineName } from '../../../src/http/engine.ts';
import type { HostileCase } from '../../support/hostile-requests.ts';
import { talk } from '../../support/http.ts';
import type { Books, Target } from '../../support/raw-http.ts';
import { until } from '../../support/server.ts';

/** Sends cases one after the other, and compares what they did to the books of the service. */
export class CaseRunner {
  readonly #target: Target;
  #books: Books | undefined;
  /** Refused cases since the books were read last. */
  #refused: string[] = [];

  constructor(target: Target) {
    this.#target = target;
  }

  /**
   * Sends one case and checks the reply. Each of `pieces` is sent in a packet of its own. The books must show what was served at
   * once, and nothing of what was refused once they are read again, at the latest by `assertUnchanged`.
   */
  async assertAnswer(hostile: HostileCase, engine: EngineName, pieces = [hostile.bytes]): Promise<void> {
    const { port, key } = this.#target;
    const { replies, connection, mayBeLost, booked } = hostile[engine];
    this.#books ??= await this.#target.books();
    if (booked > 0) await this.assertUnchanged();
    const stays = connection === 'stays';
    const probe = () => this.#target.get('/health');
    const due = { replies: replies.length };
    const talked = await talk(port, pieces, connection === 'waits' ? { ...due, probe } : stays ? due : {});
    const statuses = talked.replies.map(({ status }) => status);
    // Bytes after a refused head may be read before the refusal is sent: then the library answers with its own
    // refusal, or cuts.
    const isRefusal = pieces.length > 1 && !stays && replies[0] >= 400;
    const isLost = (mayBeLost || isRefusal) && statuses.length === 0;
    if (isRefusal)
      assert.ok(statuses.length <= 1 && statuses.every((status) => status >= 400), String(statuses));
    else if (!isLost) assert.deepEqual(statuses, replies, hostile.why);
    assert.equal(talked.closed, connection === 'closes', `the connection ${connection}`);
    for (const { body } of talked.replies) assert.ok(!body.includes(key), 'no reply shows the key');
    if (booked === 0) this.#refused.push(hostile.name);
    else await this.#assertBooked(booked);
  }

  /** The service answers an honest request, and cases that it refused have drawn, spent and counted nothing. */
  async assertUnchanged(): Promise<void> {
    const books = await this.#target.books();
    assert.deepEqual(books, this.#books, `one of these was booked: ${this.#refused.join('; ')}`);
    this.#books = books;
    this.#refused = [];
  }

  /** Waits for the books: an answer is booked once it is durable, which may be after its connection was cut. */
  async #assertBooked(booked: number): Promise<void> {
    const before = this.#books!;
    let after = before;
    await until('the books show it', async () => {
      after = await this.#target.books();
      return after.answers >= before.answers + booked;
    });
    assert.equal(after.requests - before.requests, booked, 'requests counted');
    assert.equal(after.answers - before.answers, booked, 'answers that left');
    this.#books = after;
  }
}

/**
 * Cuts the bytes of a case at places that `random` (below 1) chooses: half of them within the first bytes, where the
 * lines of heads and chunks end. Never after the method or the target, where the library takes the rest for a whole
 * request line (http/front.ts).
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
