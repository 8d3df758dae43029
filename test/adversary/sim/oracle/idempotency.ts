import type { SimMachine } from '../machine.ts';
import { errorCode, isAnswer, type Sent } from '../sent.ts';
import { nameOf } from './books.ts';
import { hold } from './violation.ts';

/** An answer is kept this long: decisions on Idempotency-Key. */
const LIFETIME_MS = 24 * 3_600_000;

/** A claim that cannot be let go of is tried again. */
const LETTING_GO_MS = 60_000;

/** Checks that each key has one answer and one charge, however often and over whatever faults it is requested. */
export class KeyKeeper {
  readonly #machine: SimMachine;
  /** Several nodes share the books: a key is claimed there, and counts as under way until that claim is let go of. */
  readonly #hasClaims: boolean;
  /** The requests under each key of each account. */
  readonly #attempts = new Map<string, Sent[]>();
  /** The latest that the wall clock ever stood. */
  #latestWallMs = 0;

  constructor(machine: SimMachine, hasClaims: boolean) {
    this.#machine = machine;
    this.#hasClaims = hasClaims;
  }

  sent(sent: Sent): void {
    this.#latestWallMs = Math.max(this.#latestWallMs, this.#machine.wallMs());
    if (isKeyed(sent)) this.#of(sent).push(sent);
  }

  /** Its answer became durable. */
  persisted(sent: Sent): void {
    this.#latestWallMs = Math.max(this.#latestWallMs, this.#machine.wallMs());
    if (!isKeyed(sent)) return;
    const issuedAtMs = sent.persisted?.entry.issuedAtMs ?? 0;
    for (const other of this.#of(sent)) {
      if (other === sent || other.persisted === undefined) continue;
      const earlierMs = Math.min(other.persisted.entry.issuedAtMs, issuedAtMs);
      const hasEnded = this.#latestWallMs >= earlierMs + LIFETIME_MS;
      hold(hasEnded, 'idempotency', `${nameOf(sent)} was spent for twice, first as ${nameOf(other)}`);
    }
  }

  replied(sent: Sent): void {
    if (!isKeyed(sent) || sent.reply === undefined) return;
    this.#latestWallMs = Math.max(this.#latestWallMs, this.#machine.wallMs());
    const others = this.#of(sent).filter((each) => each !== sent);
    const code = errorCode(sent.reply);
    const name = nameOf(sent);
    if (code === 'idempotency_in_flight') {
      const isRunning = others.some((each) => isSame(each, sent) && this.#mayRun(each, sent));
      hold(isRunning, 'idempotency', `${name} is told that its first runs, and none does`);
    }
    if (code === 'idempotency_mismatch') {
      hold(
        others.some((each) => !isSame(each, sent)),
        'idempotency',
        `${name} matches every other`,
      );
    }
    if (isAnswer(sent)) this.#answered(sent, others);
  }

  #answered(sent: Sent, others: readonly Sent[]): void {
    const requestId = (sent.reply?.headers['x-request-id'] ?? '').replaceAll('-', '');
    if (requestId === sent.requestId) return;
    const name = nameOf(sent);
    const first = others.find((each) => each.requestId === requestId);
    hold(first?.persisted !== undefined, 'idempotency', `${name} was given an answer that nobody got`);
    hold(isSame(first, sent), 'idempotency', `${name} was given the answer of another request`);
    hold(sent.persisted === undefined, 'idempotency', `${name} was given an old answer and is booked`);
    if (first.reply?.status !== 200) return; // the first time, nobody heard it
    const same = Buffer.compare(first.reply.body, sent.reply?.body ?? new Uint8Array(0)) === 0;
    hold(same, 'idempotency', `${name} was not given the first answer byte for byte`);
  }

  /** Whether the other may still be under way: what a client gave up goes on. */
  #mayRun(other: Sent, { life, sentAtMs }: Sent): boolean {
    if (other.sentAtMs > this.#machine.nowMs) return false;
    const repliedAtMs = other.repliedAtMs ?? Number.POSITIVE_INFINITY;
    const mayBeClaimed = this.#hasClaims && repliedAtMs + LETTING_GO_MS >= sentAtMs;
    // what a node claimed stays its own until it is settled
    if (other.life.node !== life.node) return !other.life.isSettled && mayBeClaimed;
    if (other.life !== life) return false;
    const isOver = other.reply !== undefined && !other.hungUp && other.reply.status !== 503;
    return !isOver || repliedAtMs >= sentAtMs || mayBeClaimed;
  }

  #of({ client, idempotencyKey }: Sent): Sent[] {
    const key = `${client.name} ${idempotencyKey}`;
    let attempts = this.#attempts.get(key);
    if (attempts === undefined) this.#attempts.set(key, (attempts = []));
    return attempts;
  }
}

function isKeyed({ idempotencyKey, plan }: Sent): boolean {
  return idempotencyKey !== '' && plan.data?.dryRun === false;
}

function isSame(one: Sent, other: Sent): boolean {
  const { method, path, query, body, accept } = one.plan;
  const { plan } = other;
  return (
    method === plan.method &&
    path === plan.path &&
    query === plan.query &&
    accept === plan.accept &&
    Buffer.compare(body, plan.body) === 0
  );
}
