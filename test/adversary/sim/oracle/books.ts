import { periodOf } from '../../../../src/core/clock.ts';
import type { AnswerEntry, SegmentRecord } from '../../../../src/ledger/records.ts';
import { readEntries } from '../../../../src/ledger/segment.ts';
import { mostAllowed, type SimClient } from '../clients.ts';
import type { SimMachine } from '../machine.ts';
import { type AnswerBody, bodyOf, isAnswer, isDeadline, type Sent } from '../sent.ts';
import { hold } from './violation.ts';

/**
 * Time for which a lifted or lowered limit may still decide about an answer: the age of a view and of a slow answer.
 */
const LIMITS_LAG_MS = 60_000;

interface Used {
  requests: number;
  credits: number;
  /** Credits of answers that came after their own month's end, which the meter charged to this month. */
  lateCredits: number;
}

/** Records every request and every entry of the ledger, and checks that they match. */
export class BookKeeper {
  /** By request id. */
  readonly sent = new Map<string, Sent>();
  readonly answered: Sent[] = [];
  readonly #machine: SimMachine;
  readonly #clients: () => readonly SimClient[];
  readonly #sequences = new Set<number>();
  readonly #used = new Map<string, Used>();

  constructor(machine: SimMachine, clients: () => readonly SimClient[]) {
    this.#machine = machine;
    this.#clients = clients;
  }

  get entries(): number {
    return [...this.#used.values()].reduce((sum, { requests }) => sum + requests, 0);
  }

  /** A front gave the request its name. */
  named(sent: Sent): void {
    hold(!this.sent.has(sent.requestId), 'credits and quota', `request id ${sent.requestId} came twice`);
    this.sent.set(sent.requestId, sent);
  }

  /** Segments became durable. */
  committed(segments: readonly SegmentRecord[]): void {
    for (const segment of segments) {
      if (this.#sequences.has(segment.sequence)) continue; // the same call again
      this.#sequences.add(segment.sequence);
      [...readEntries(segment.entries)].forEach((entry, index) => {
        this.#take(entry, segment, index);
      });
    }
  }

  #take(entry: AnswerEntry, segment: SegmentRecord, index: number): void {
    const requestId = Buffer.from(entry.requestId).toString('hex');
    const sent = this.sent.get(requestId);
    const { data } = sent?.plan ?? {};
    hold(sent !== undefined && data !== undefined, 'credits and quota', `nobody asked for ${requestId}`);
    const name = nameOf(sent);
    hold(sent.persisted === undefined, 'credits and quota', `${name} is in the ledger twice`);
    hold(
      entry.accountNumber === sent.client.account.number && entry.endpoint === data.endpoint && !data.dryRun,
      'credits and quota',
      `${name} is booked as another request`,
    );
    hold(entry.mode === sent.mode, 'mode', `${name} asked for ${sent.mode} and is booked as ${entry.mode}`);
    const price = entry.mode === 'pure' ? data.priceBytes : 0;
    hold(entry.credits === price, 'credits and quota', `${name}: ${entry.credits} credits for ${price}`);
    const isRefused = sent.reply !== undefined && !isDeadline(sent);
    hold(!isRefused, 'refused changes nothing', `${name} was answered before it was booked`);
    sent.persisted = {
      entry,
      source: segment.sources[entry.source],
      segment: segment.sequence,
      index,
      atMs: this.#machine.nowMs,
    };
    this.#spend(sent.client, entry, periodOf(entry.issuedAtMs));
  }

  /** A segment that was durable is gone with its disk: nothing of it was spent. */
  lost(sequence: number): void {
    for (const sent of this.sent.values()) {
      if (sent.persisted?.segment !== sequence) continue;
      const { accountNumber, credits, issuedAtMs } = sent.persisted.entry;
      const used = this.usedIn(accountNumber, periodOf(issuedAtMs));
      used.requests -= 1;
      used.credits -= credits;
      sent.persisted = undefined;
    }
  }

  #spend(client: SimClient, { accountNumber, credits }: AnswerEntry, period: number): void {
    const used = this.usedIn(accountNumber, period);
    used.requests += 1;
    used.credits += credits;
    const now = periodOf(this.#machine.wallMs());
    if (now > period) this.usedIn(accountNumber, now).lateCredits += credits;
    const allowed = mostAllowed(client, this.#machine.nowMs - LIMITS_LAG_MS);
    hold(
      used.requests <= allowed.quota && (credits === 0 || used.credits <= allowed.credits),
      'credits and quota',
      `${client.name} used ${used.requests} requests of ${allowed.quota} and ${used.credits} credits of ` +
        `${allowed.credits} in ${period}`,
    );
  }

  /** Returns the sums of the ledger's entries. */
  usedIn(accountNumber: number, period: number): Used {
    const key = `${accountNumber} ${period}`;
    let used = this.#used.get(key);
    if (used === undefined) this.#used.set(key, (used = { requests: 0, credits: 0, lateCredits: 0 }));
    return used;
  }

  /** A client has its reply. */
  replied(sent: Sent): void {
    const { reply, persisted } = sent;
    if (reply === undefined) return;
    const name = nameOf(sent);
    if (!isAnswer(sent)) {
      const isKnown = persisted === undefined || sent.life.stopped || isDeadline(sent);
      hold(isKnown, 'refused changes nothing', `${name} is booked and was answered ${reply.status}`);
      return;
    }
    if (this.#isReplay(sent)) return;
    hold(persisted !== undefined, 'durable before the reply', `${name} was answered and is in no ledger`);
    this.answered.push(sent);
    const body = bodyOf(reply) as AnswerBody | undefined;
    if (body === undefined) return;
    const { entry } = persisted;
    const consumed = body.metadata.entropy_consumed_bytes;
    hold(
      body.quantum_credits.used === entry.credits && consumed === entry.consumedBytes,
      'credits and quota',
      `${name} says another price or draw than its entry`,
    );
  }

  /** The answer is that of an earlier request: see idempotency.ts. */
  #isReplay({ idempotencyKey, requestId, reply }: Sent): boolean {
    if (idempotencyKey === '' || reply === undefined) return false;
    return (reply.headers['x-request-id'] ?? '').replaceAll('-', '') !== requestId;
  }

  /** Checks, when nothing is under way, that the meters count what the ledger holds. */
  compareMeters(used: (client: SimClient) => { period: number; requests: number; credits: number }): void {
    for (const client of this.#clients()) {
      const metered = used(client);
      const booked = this.usedIn(client.account.number, metered.period);
      const unbooked = metered.credits - booked.credits;
      hold(
        metered.requests === booked.requests && unbooked >= 0 && unbooked <= booked.lateCredits,
        'refused changes nothing',
        `${client.name}: the meter counts ${metered.requests} requests and ${metered.credits} credits, ` +
          `the ledger ${booked.requests} and ${booked.credits}, in ${metered.period}`,
      );
    }
  }
}

export function nameOf({ number, client, plan }: Sent): string {
  return `request ${number} of ${client.name} (${plan.method} ${plan.path}?${plan.query.slice(0, 80)})`;
}
