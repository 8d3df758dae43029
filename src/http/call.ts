import type { Account } from '../account/directory.ts';
import type { ErrorCode } from '../core/errors.ts';
import { base32Of, stampUuidV7, uuidText } from '../core/ids.ts';
import type { EntropyMode } from '../core/vocabulary.ts';
import type { CorsPolicy } from './cors.ts';
import type { Exchange } from './exchange.ts';
import { type Field, hasField, statusOf, withFields } from './head.ts';
import type { RateFacts } from './rate-fields.ts';
import { endpointRow, type RequestRecord } from './request-record.ts';
import { parseTraceparent, type Trace, traceparentOf } from './trace.ts';

/** What the calls of one front share. */
export interface CallSurroundings {
  readonly record: RequestRecord;
  readonly cors: CorsPolicy;
}

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
  /** The endpoint that it is counted under; known from routing on. */
  endpoint = UNKNOWN;
  /** Known once a data request is about to be answered. */
  mode: EntropyMode | undefined;
  /** The code of the error that is answered. */
  error: ErrorCode | undefined;
  readonly #around: CallSurroundings;

  /** `random` has 16 bytes of its own, which become the request id. */
  constructor(
    exchange: Exchange,
    random: Uint8Array<ArrayBuffer>,
    atMs: number,
    startedMonotonicMs: number,
    around: CallSurroundings,
  ) {
    this.exchange = exchange;
    this.requestId = random;
    stampUuidV7(random, atMs);
    this.atMs = atMs;
    this.startedMonotonicMs = startedMonotonicMs;
    this.#around = around;
  }

  /** As `metadata.request_id` and error bodies print it. */
  get requestIdText(): string {
    return `req_${base32Of(this.requestId)}`;
  }

  /** The same bits as `X-Request-ID` and `meta.request_id` print them. */
  get requestUuid(): string {
    return uuidText(this.requestId);
  }

  /** The caller's trace, if it named one. */
  get trace(): Trace | undefined {
    const { traceparent } = this.exchange;
    return traceparent === '' ? undefined : parseTraceparent(traceparent);
  }

  /**
   * Answers the request, once; `head` and `body` as `Exchange.send` takes them. `atMonotonicMs` spares the clock where
   * the time is known; `sent` is called once when the body is not read any more.
   */
  send(head: Uint8Array, body: Uint8Array, atMonotonicMs?: number, sent?: () => void): void {
    const { exchange } = this;
    const { record } = this.#around;
    if (exchange.answered || exchange.aborted) {
      sent?.();
      if (!exchange.answered) record.aborted(); // else the front was faster: its deadline had passed
      return;
    }
    const plain = exchange.origin === '' && exchange.traceparent === '';
    exchange.send(plain ? head : withFields(head, this.#fieldsBeside(head)), body, sent);
    record.replied(this, statusOf(head), atMonotonicMs);
  }

  /** The fields that depend on who asks, not on what. A resource that is open to all origins says so itself. */
  #fieldsBeside(head: Uint8Array): Field[] {
    const { exchange, trace } = this;
    const open = hasField(head, 'Access-Control-Allow-Origin');
    const fields = open ? [] : [...this.#around.cors.fields(exchange.origin)];
    if (trace !== undefined) fields.push(['traceparent', traceparentOf(trace, this.requestId)]);
    return fields;
  }
}

const UNKNOWN = endpointRow('unknown');
