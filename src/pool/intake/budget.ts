import { randomUUID } from 'node:crypto';
import { type Backend, BackendError, type Spend } from '../../backend/backend.ts';
import { type Clock, dayOf } from '../../core/clock.ts';
import type { SourceStore } from '../../ledger/ledger.ts';
import type { JobRecord, SourceSpend, SpendLimits } from '../../ledger/records.ts';

export const UNLIMITED: SpendLimits = Object.freeze({ amountPerDay: null, callsPerDay: null });

const DAY_MS = 86_400_000;

/** What a source may take of its provider on one UTC day: charged, durably, before anything is asked for. */
export class Budget {
  readonly #source: string;
  readonly #store: SourceStore;
  readonly #limits: SpendLimits;
  readonly #clock: Clock;

  constructor(source: string, store: SourceStore, limits: SpendLimits, clock: Clock) {
    this.#source = source;
    this.#store = store;
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Charges one read of a stream. Rejects with a BackendError of kind `quota` when the day has no room for all of it. */
  async charge(spend: Spend): Promise<void> {
    const charged = this.#today(spend);
    if (await this.#store.charge(randomUUID(), charged, this.#limits)) return;
    throw await this.#refusal(charged);
  }

  /** A new job in state `intended`, written down and charged; rejects as `charge` does. */
  async open(bits: number, spend: Spend): Promise<JobRecord> {
    const charged = this.#today(spend);
    const job: JobRecord = {
      key: randomUUID(),
      state: 'intended',
      bits,
      jobId: null,
      memo: '',
      ...charged,
      intendedAtMs: this.#clock.wallMs(),
      submittedAtMs: null,
      failure: '',
    };
    if (await this.#store.openJob(job, this.#limits)) return job;
    throw await this.#refusal(charged);
  }

  #today({ amount, currency, calls }: Spend): SourceSpend {
    return { source: this.#source, day: dayOf(this.#clock.wallMs()), amount, currency, calls };
  }

  async #refusal({ source, day, amount, currency, calls }: SourceSpend): Promise<BackendError> {
    const spent = await this.#store.spent(source, day);
    const { amountPerDay, callsPerDay } = this.#limits;
    const bounds = [
      ...(amountPerDay === null ? [] : [`${spent.amount} of ${amountPerDay} ${currency}`]),
      ...(callsPerDay === null ? [] : [`${spent.calls} of ${callsPerDay} calls`]),
    ];
    const isOtherMoney = spent.amount > 0 && amount > 0 && spent.currency !== currency;
    const why = isOtherMoney
      ? `${spent.amount} ${spent.currency} were spent today, and no other currency is until the next day`
      : `${bounds.join(' and ')} are spent today, and a read takes ${amount} ${currency} and ${calls} calls`;
    const untilNextDayMs = (day + 1) * DAY_MS - this.#clock.wallMs();
    return new BackendError('quota', `budget of ${source}: ${why}`, Math.max(untilNextDayMs, 1));
  }
}

/** What reading so many bits costs; undefined for a stream that costs nothing. A job always takes one call at least. */
export function estimateOf(backend: Backend, bits: number): Spend | undefined {
  const free = backend.kind === 'job' ? { amount: 0, currency: 'none', calls: 1 } : undefined;
  return backend.estimate?.(bits) ?? free;
}
