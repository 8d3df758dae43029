import type { Account } from '../account/directory.ts';
import { base32Of, stampUuidV7, uuidText } from '../core/ids.ts';
import type { Exchange } from './exchange.ts';
import type { RateFacts } from './rate-fields.ts';

/** One request on its way through the pipeline: what was learnt of it so far. */
export class Call {
  readonly exchange: Exchange;
  /** 16 bytes: UUIDv7 layout. */
  readonly requestId: Uint8Array<ArrayBuffer>;
  /** Unix time at which the request came in; decides its month, and is its timestamp. */
  readonly atMs: number;
  readonly startedMonotonicMs: number;
  /** Known from authentication on. */
  account: Account | undefined;
  /** The API key's scopes allow this; known from authentication on. */
  scopes: readonly string[] = [];
  /** Where the account stands with its rate, known from admission on; every reply to this client tells it. */
  rate: RateFacts | undefined;

  /** `random` has 16 bytes of its own, which become the request id. */
  constructor(exchange: Exchange, random: Uint8Array<ArrayBuffer>, atMs: number, startedMonotonicMs: number) {
    this.exchange = exchange;
    this.requestId = random;
    stampUuidV7(random, atMs);
    this.atMs = atMs;
    this.startedMonotonicMs = startedMonotonicMs;
  }

  /** As `metadata.request_id` and error bodies print it. */
  get requestIdText(): string {
    return `req_${base32Of(this.requestId)}`;
  }

  /** The same bits as `X-Request-ID` and `meta.request_id` print them. */
  get requestUuid(): string {
    return uuidText(this.requestId);
  }
}
