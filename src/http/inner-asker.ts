import type { Answer, Asker } from '../answer/answer.ts';
import type { FirstAnswer } from '../answer/idempotency.ts';
import { InvariantError } from '../core/assert.ts';
import type { EntropyMode } from '../core/vocabulary.ts';
import { MEDIA_TYPES } from './representation.ts';
import type { RequestRecord } from './request-record.ts';

/** The request in whose name an answer is asked for. An Exchange is one. */
type Requester = Pick<
  Asker,
  'requestId' | 'atMs' | 'startedMonotonicMs' | 'mode' | 'isGone' | 'isAnswered' | 'spend'
>;

/** The answer is kept, as that to an Idempotency-Key is. */
interface Keeping {
  readonly idempotencyKey: string;
  readonly fingerprint: string;
  /** They are sealed with the answer, and sent to nobody as header fields. */
  readonly fields: FirstAnswer['fields'];
  readonly keptUntilMs?: number;
}

/** What a reply is made of. */
interface InnerAnswer {
  readonly body: Uint8Array<ArrayBuffer>;
  /** It was kept before, under the same key. */
  readonly isReplay: boolean;
}

/** Asks for a JSON answer that the reply is made of, and that is not the reply itself. */
export class InnerAsker implements Asker {
  readonly form = 'json';
  readonly mediaType = MEDIA_TYPES.json;
  readonly octets = undefined;
  readonly ignored = '';
  /** Resolves when the answer is durable; rejects with the reason of a refusal. */
  readonly outcome: Promise<InnerAnswer>;
  readonly #requester: Requester;
  readonly #record: RequestRecord;
  readonly #keeping: Keeping | undefined;
  readonly #bodyOf: (answer: Answer) => Uint8Array<ArrayBuffer>;
  readonly #resolvers = Promise.withResolvers<InnerAnswer>();

  /** `bodyOf` copies what is needed of the answer, which is then erased: all of its body when nothing else is said. */
  constructor(
    requester: Requester,
    record: RequestRecord,
    keeping?: Keeping,
    bodyOf = ({ body }: Answer) => body.slice(),
  ) {
    this.#requester = requester;
    this.#record = record;
    this.#keeping = keeping;
    this.#bodyOf = bodyOf;
    this.outcome = this.#resolvers.promise;
  }

  get requestId(): Uint8Array<ArrayBuffer> {
    return this.#requester.requestId;
  }

  get atMs(): number {
    return this.#requester.atMs;
  }

  get startedMonotonicMs(): number {
    return this.#requester.startedMonotonicMs;
  }

  get isGone(): boolean {
    return this.#requester.isGone;
  }

  get isAnswered(): boolean {
    return this.#requester.isAnswered;
  }

  get mode(): EntropyMode | undefined {
    return this.#requester.mode;
  }

  set mode(mode: EntropyMode | undefined) {
    this.#requester.mode = mode;
  }

  get idempotencyKey(): string | undefined {
    return this.#keeping?.idempotencyKey;
  }

  get keptUntilMs(): number | undefined {
    return this.#keeping?.keptUntilMs;
  }

  spend(work: () => void): void {
    if (this.#requester.spend === undefined) work();
    else this.#requester.spend(work);
  }

  fingerprint(): string {
    return this.#keeping!.fingerprint;
  }

  get keptFields(): FirstAnswer['fields'] {
    return this.#keeping?.fields ?? [];
  }

  answered(answer: Answer): void {
    this.#record.answered(answer);
    this.#resolvers.resolve({ body: this.#bodyOf(answer), isReplay: false });
    answer.release();
  }

  replayed({ body }: FirstAnswer): void {
    this.#resolvers.resolve({ body, isReplay: true });
  }

  refused(error: unknown): void {
    this.#resolvers.reject(error);
  }

  quoted(): never {
    throw new InvariantError('only a plain request of the API can be a dry run');
  }
}
