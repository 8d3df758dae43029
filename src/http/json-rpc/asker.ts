import type { Answer, Asker } from '../../answer/answer.ts';
import type { FirstAnswer } from '../../answer/idempotency.ts';
import { InvariantError } from '../../core/assert.ts';
import type { EntropyMode } from '../../core/vocabulary.ts';
import type { Exchange } from '../exchange.ts';
import type { Field } from '../head.ts';
import type { RequestRecord } from '../request-record.ts';
import type { SignedFacts } from './signed.ts';

/** A signed answer as it is kept. */
export interface Kept {
  readonly facts: SignedFacts;
  /** The service's own answer, as JSON. */
  readonly body: Uint8Array;
}

/** All signed answers have it, so that one under a serial number is found whatever it was asked for. */
export const SIGNED_FINGERPRINT = 'json-rpc signed';

/** The Idempotency-Key under which a signed answer is kept. */
export function serialKey(serialNumber: number): string {
  return `json-rpc/${serialNumber}`;
}

/** Asks as an HTTP request would, and keeps a copy of the answer's body. */
export class RpcAsker implements Asker {
  readonly form = 'json';
  readonly octets = undefined;
  readonly ignored = '';
  readonly outcome: Promise<{ readonly body: Uint8Array; readonly isReplay: boolean }>;
  readonly #exchange: Exchange;
  readonly #record: RequestRecord;
  readonly #facts: SignedFacts | undefined;
  readonly #resolvers = Promise.withResolvers<{ readonly body: Uint8Array; readonly isReplay: boolean }>();

  constructor(exchange: Exchange, record: RequestRecord, facts: SignedFacts | undefined) {
    this.#exchange = exchange;
    this.#record = record;
    this.#facts = facts;
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

  get idempotencyKey(): string | undefined {
    return this.#facts && serialKey(this.#facts.serialNumber);
  }

  fingerprint(): string {
    return SIGNED_FINGERPRINT;
  }

  /** They are sealed with the answer, and sent to nobody as header fields. */
  keptFields(): Field[] {
    return [['X-JSON-RPC', JSON.stringify(this.#facts)]];
  }

  answered(answer: Answer): void {
    this.#record.answered(answer);
    this.#resolvers.resolve({ body: answer.body.slice(), isReplay: false });
    answer.release();
  }

  replayed({ body }: FirstAnswer): void {
    this.#resolvers.resolve({ body, isReplay: true });
  }

  refused(error: unknown): void {
    this.#resolvers.reject(error);
  }

  quoted(): never {
    throw new InvariantError('a JSON-RPC call is not a dry run');
  }
}
