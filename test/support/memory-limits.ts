import type { LimitAnswer, LimitAsk, LimitGrant, Limits } from '../../src/ledger/sharing.ts';

interface Amounts {
  requests: number;
  credits: number;
}

/** What was spent of an account's month. */
type SpentIn = (accountNumber: number, period: number) => Readonly<Amounts>;

interface Month {
  readonly granted: Amounts;
}

interface Part {
  order: number;
  requests: number;
  credits: number;
}

/** What may be broken, to show that the tests find it. */
export interface LimitFaults {
  /** A node takes what it is granted twice. */
  readonly takesTwice?: boolean;
  /** What a dead node did not use is lost. */
  readonly settlesNothing?: boolean;
  /** Grants are made without looking at what is left. */
  readonly ignoresTotal?: boolean;
  /** Each node takes itself for the only one. */
  readonly countsOneNode?: boolean;
}

/**
 * The months that several nodes share, as plain maps: the model of PostgresLimits. Each node asks by a `node(name)` of its
 * own. The ledger's clock is `period`.
 */
export class MemoryLimits {
  period = 202_611;
  readonly #bookedIn: SpentIn;
  readonly #months = new Map<string, Month>();
  readonly #parts = new Map<string, Map<string, Part>>();
  readonly #faults: LimitFaults;

  /** `bookedIn` tells what a month begins with: what the books have of it already. */
  constructor(faults: LimitFaults = {}, bookedIn: SpentIn = () => ({ requests: 0, credits: 0 })) {
    this.#faults = faults;
    this.#bookedIn = bookedIn;
  }

  node(name: string): Limits {
    this.#parts.set(name, new Map());
    return {
      isShared: async () => true,
      askLimits: async (order, asks) => this.#ask(name, order, asks),
    };
  }

  /** A node died: what it was granted and did not spend goes back. */
  settle(name: string, spentIn: SpentIn): void {
    const parts = this.#parts.get(name) ?? new Map<string, Part>();
    this.#parts.delete(name);
    if (this.#faults.settlesNothing) return;
    for (const [key, part] of parts) {
      const [accountNumber, period] = key.split(' ').map(Number);
      const spent = spentIn(accountNumber, period);
      const { granted } = this.#month(key);
      granted.requests -= Math.max(0, part.requests - spent.requests);
      granted.credits -= Math.max(0, part.credits - spent.credits);
    }
  }

  /** What is granted of an account's month, to all nodes together. */
  granted(accountNumber: number, period: number): Amounts {
    return { ...this.#month(`${accountNumber} ${period}`).granted };
  }

  #ask(name: string, order: number, asks: readonly LimitAsk[]): LimitAnswer {
    const parts = this.#parts.get(name);
    if (parts === undefined) throw new Error('a settled node asks');
    const grants = asks.map((ask): LimitGrant => {
      const period = Math.max(ask.period, this.period);
      const held = ask.period === period;
      const key = `${ask.accountNumber} ${period}`;
      const month = this.#month(key);
      const had = parts.get(key) ?? { order: 0, requests: 0, credits: 0 };
      let part = had;
      if (had.order < order) {
        const heldRequests = held ? ask.requestsGranted : 0;
        const heldCredits = held ? ask.creditsGranted : 0;
        const left = this.#faults.ignoresTotal
          ? { requests: Number.POSITIVE_INFINITY, credits: Number.POSITIVE_INFINITY }
          : {
              requests: Math.max(
                0,
                ask.requestsTotal - (month.granted.requests - had.requests + heldRequests),
              ),
              credits: Math.max(0, ask.creditsTotal - (month.granted.credits - had.credits + heldCredits)),
            };
        const chunk = Math.min(1_024, Math.floor(left.requests / (8 * this.#parts.size)));
        const requests =
          ask.requestsWanted === 0 ? 0 : Math.min(left.requests, Math.max(ask.requestsWanted, chunk));
        const credits = Math.min(left.credits, ask.creditsWanted);
        part = { order, requests: heldRequests + requests, credits: heldCredits + credits };
        parts.set(key, part);
        month.granted.requests += part.requests - had.requests;
        month.granted.credits += part.credits - had.credits;
      }
      return {
        accountNumber: ask.accountNumber,
        period,
        requestsGranted: this.#faults.takesTwice ? 2 * part.requests - had.requests : part.requests,
        creditsGranted: part.credits,
        requestsLeft: Math.max(0, ask.requestsTotal - month.granted.requests),
        creditsLeft: Math.max(0, ask.creditsTotal - month.granted.credits),
        requestsUnused: Math.max(
          0,
          month.granted.requests - this.#bookedIn(ask.accountNumber, period).requests,
        ),
      };
    });
    return { period: this.period, nodes: this.#faults.countsOneNode ? 1 : this.#parts.size, grants };
  }

  #month(key: string): Month {
    let month = this.#months.get(key);
    if (month === undefined) {
      const [accountNumber, period] = key.split(' ').map(Number);
      month = { granted: { ...this.#bookedIn(accountNumber, period) } };
      this.#months.set(key, month);
    }
    return month;
  }
}
