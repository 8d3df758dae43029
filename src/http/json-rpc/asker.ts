import type { Answer } from '../../answer/answer.ts';
import type { FirstAnswer } from '../../answer/idempotency.ts';
import type { Exchange } from '../exchange.ts';
import { ExchangeAsker } from '../exchange-asker.ts';
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

/** What a signed answer is made of. */
interface RpcOutcome {
  readonly body: Uint8Array;
  readonly isReplay: boolean;
}

/** Asks as an HTTP request would, and keeps a copy of the answer's body. */
export class RpcAsker extends ExchangeAsker<RpcOutcome> {
  readonly #facts: SignedFacts | undefined;

  constructor(exchange: Exchange, record: RequestRecord, facts: SignedFacts | undefined) {
    super(exchange, record);
    this.#facts = facts;
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

  protected taken(answer: Answer): RpcOutcome {
    return { body: answer.body.slice(), isReplay: false };
  }

  replayed({ body }: FirstAnswer): void {
    this.resolve({ body, isReplay: true });
  }
}
