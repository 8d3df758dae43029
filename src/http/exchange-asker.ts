import type { Answer, Asker } from '../answer/answer.ts';
import type { FirstAnswer } from '../answer/idempotency.ts';
import { InvariantError } from '../core/assert.ts';
import type { EntropyMode } from '../core/vocabulary.ts';
import type { Exchange } from './exchange.ts';
import type { RequestRecord } from './request-record.ts';

/** Asks for a JSON answer in the name of a request whose reply is made of that answer, and is not the answer itself. */
export abstract class ExchangeAsker<T> implements Asker {
  readonly form = 'json';
  readonly octets = undefined;
  readonly ignored = '';
  abstract readonly idempotencyKey: string | undefined;
  /** Resolves with what the reply is made of, when the answer is durable; rejects with the reason of a refusal. */
  readonly outcome: Promise<T>;
  readonly #exchange: Exchange;
  readonly #record: RequestRecord;
  readonly #resolvers = Promise.withResolvers<T>();

  constructor(exchange: Exchange, record: RequestRecord) {
    this.#exchange = exchange;
    this.#record = record;
    this.outcome = this.#resolvers.promise;
  }

  get requestId(): Uint8Array<ArrayBuffer> {
    return this.#exchange.requestId;
  }

  get atMs(): number {
    return this.#exchange.atMs;
  }

  get startedMonotonicMs(): number {
    return this.#exchange.startedMonotonicMs;
  }

  get isGone(): boolean {
    return this.#exchange.isGone;
  }

  drawing(): void {
    this.#exchange.drawing();
  }

  spend(work: () => void): void {
    this.#exchange.spend(work);
  }

  get isAnswered(): boolean {
    return this.#exchange.isAnswered;
  }

  get mode(): EntropyMode | undefined {
    return this.#exchange.mode;
  }

  set mode(mode: EntropyMode | undefined) {
    this.#exchange.mode = mode;
  }

  abstract fingerprint(): string;
  abstract keptFields(): FirstAnswer['fields'];
  abstract replayed(first: FirstAnswer): void;

  /** What the reply needs of an answer, which is released and erased then. */
  protected abstract taken(answer: Answer): T;

  answered(answer: Answer): void {
    this.#record.answered(answer);
    this.resolve(this.taken(answer));
    answer.release();
  }

  protected resolve(outcome: T): void {
    this.#resolvers.resolve(outcome);
  }

  refused(error: unknown): void {
    this.#resolvers.reject(error);
  }

  quoted(): never {
    throw new InvariantError('only a plain request of the API can be a dry run');
  }
}
