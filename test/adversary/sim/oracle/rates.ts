import type { RateRecord } from '../../../../src/ledger/records.ts';
import { mostAllowed, type SimClient } from '../clients.ts';
import type { SimMachine } from '../machine.ts';
import type { Sent } from '../sent.ts';
import type { Life } from '../wire.ts';
import { nameOf } from './books.ts';
import { hold } from './violation.ts';

const WINDOW_MS = 60_000;
/** A changed limit is in force at the latest after the age of a view. */
const LIMITS_LAG_MS = 6_000;

interface Admission {
  readonly sent: Sent;
  readonly atMs: number;
  /** Written down, as an answer or within a limiter's state, when the last process ended. */
  isRemembered: boolean;
}

/** Never more requests than the burst in any 60 seconds, restarts included, as far as what was admitted is on record. */
export class RateKeeper {
  readonly #machine: SimMachine;
  readonly #admissions = new Map<SimClient, Admission[]>();
  /** True time of the newest durable limiter state, by node and account number. */
  readonly #savedAtMs = new Map<string, number>();
  /** When each call of saveRates was made, by its records. */
  #wallForwardAtMs = Number.NEGATIVE_INFINITY;

  constructor(machine: SimMachine) {
    this.#machine = machine;
  }

  /** A limiter's states, taken at this true time, became durable. */
  saved(life: Life, rates: readonly RateRecord[], takenAtMs: number): void {
    for (const { accountNumber } of rates) this.#savedAtMs.set(`${life.node} ${accountNumber}`, takenAtMs);
  }

  /** The wall clock leapt forward: what a restart reads is older than it is. */
  wallLeapt(): void {
    this.#wallForwardAtMs = this.#machine.nowMs;
  }

  /** A process begins: it knows of those before it what is on record. */
  began(life: Life): void {
    for (const [client, admissions] of this.#admissions) {
      const savedAtMs =
        this.#savedAtMs.get(`${life.node} ${client.account.number}`) ?? Number.NEGATIVE_INFINITY;
      for (const each of admissions) {
        if (each.sent.life === life || each.sent.life.node !== life.node) continue;
        const isRecorded = each.sent.persisted !== undefined || each.atMs <= savedAtMs;
        each.isRemembered &&= isRecorded && each.atMs > this.#wallForwardAtMs;
      }
    }
  }

  /**
   * Whether the node of this life counts the admission still. An admission of an earlier life is on record by the wall clock of that
   * life, and the clocks of two lives differ where there are several nodes.
   */
  #countsFor({ sent, atMs }: Admission, life: Life): boolean {
    if (sent.life === life) return true;
    const knownForMs = WINDOW_MS - 2 * this.#machine.clocksDifferMs;
    return sent.life.node === life.node && this.#machine.nowMs - atMs < knownForMs;
  }

  #isSingle(admissions: readonly Admission[]): boolean {
    return new Set(admissions.map((each) => each.sent.life.node)).size < 2;
  }

  admitted(sent: Sent): void {
    const nowMs = this.#machine.nowMs;
    const { client } = sent;
    const before = this.#admissions.get(client) ?? [];
    const recent = before.filter(({ atMs }) => nowMs - atMs < WINDOW_MS);
    recent.push({ sent, atMs: nowMs, isRemembered: true });
    this.#admissions.set(client, recent);
    const remembered = recent.filter(({ isRemembered }) => isRemembered);
    const counted = remembered.filter((each) => this.#countsFor(each, sent.life)).length;
    const { burst } = mostAllowed(client, nowMs - WINDOW_MS - LIMITS_LAG_MS);
    hold(
      counted <= burst,
      'rate limit',
      `${nameOf(sent)} at ${nowMs.toFixed(3)} is number ${counted} in 60 seconds, the burst is ${burst}; ` +
        `the oldest is request ${recent[0].sent.number} at ${recent[0].atMs.toFixed(3)}`,
    );
    // each node has an equal part: together they are one bucket, full at first, and filled at its rate for a minute
    const most = burst + burst / 1.5 + 1;
    hold(
      remembered.length <= most || this.#isSingle(remembered),
      'rate limit',
      `${nameOf(sent)} is number ${remembered.length} in 60 seconds over all nodes, of ${most}`,
    );
  }
}
