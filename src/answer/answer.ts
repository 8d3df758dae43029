import type { Account } from '../account/directory.ts';
import type { Reservation } from '../account/reservation.ts';
import { assert } from '../core/assert.ts';
import { withinPeriod } from '../core/clock.ts';
import type { BareType, DataEndpoint, EntropyMode } from '../core/vocabulary.ts';
import type { Hold } from '../fair/budget.ts';
import type { AnswerLabel } from '../ledger/label-records.ts';
import { UnknownOutcome } from '../ledger/linked-sink.ts';
import type { DrawSource } from '../ledger/records.ts';
import type { ValueRequest } from '../values/value-request.ts';
import type { ReplyBuffer, ReplyMemory } from './buffer.ts';
import type { PrintedAnswer } from './fields.ts';
import { type FirstAnswer, type FirstUse, STORED_HEAD_BYTES_MAX } from './idempotency.ts';
import {
  AT_CERTIFICATE_ID,
  AT_REQUEST_ID,
  DATA_START,
  type DataTemplate,
  type Making,
  RECORD_BYTES_MAX,
} from './make.ts';
import type { AnswerForm, AnswerSize, Plan, Written } from './request.ts';
import type { DrawnFrom } from './supply.ts';
import { OPENING_BYTES, type ReplyTemplate } from './template.ts';
import { withMore } from './text.ts';

/** The request that an answer is made for. An HTTP exchange implements it. */
export interface Requester {
  /** The entropy mode, set once it is known, for the counters of requests. */
  mode: EntropyMode | undefined;
  /** True when the request waited for its turn of the loop for longer than `largeQueueMs`: an expensive answer is then shed. */
  readonly isLate?: boolean;
  /** True when the client has disconnected. */
  readonly isGone: boolean;
  /** True when a reply was sent already, such as the 503 of the deadline. */
  readonly isAnswered: boolean;
  /** Set once an answer is drawn: it is charged, so the request must not be refused any more. */
  isDrawn?: boolean;
}

/** Everything about a request except its values. */
export interface Ask {
  /** 16 bytes. */
  readonly requestId: Uint8Array<ArrayBuffer>;
  /** Unix time at which the request came in. */
  readonly atMs: number;
  readonly startedMonotonicMs: number;
  readonly offer: Written;
  /** The value of X-Ignored-Parameters: the names of parameters that were ignored, or ''. */
  readonly ignored: string;
  /** How the answer is kept for retries; undefined without an Idempotency-Key. */
  readonly keeping: Keeping | undefined;
  readonly by: Requester;
}

/** How an answer is kept for retries. */
export interface Keeping {
  /** The value of Idempotency-Key. */
  readonly key: string;
  /** Identifies the request: a retry has the same fingerprint. */
  readonly fingerprint: string;
  /** Sealed with the answer in place of its header fields, by callers that send no header fields. */
  readonly fields?: FirstAnswer['fields'];
  /** When the kept answer expires (Unix ms); by default 24 hours after the request. */
  readonly untilMs?: number;
}

/** Receives the outcome of an ask. Exactly one of these methods is called, once. */
export interface Listener {
  /** The answer is durable. The listener must release it when nobody reads its body any more. */
  answered(answer: Answer, atMonotonicMs?: number): void;
  /** The request is a retry; `first` is the first answer to the same Idempotency-Key. */
  replayed(first: FirstAnswer): void;
  refused(error: unknown): void;
}

/** The JSON body of an answer, for a caller that formats it itself. */
export interface Drawn {
  readonly body: Uint8Array<ArrayBuffer>;
  /** True when the body is the first answer to the same Idempotency-Key. */
  readonly isReplay: boolean;
  /** Erases the body. Must be called once, when nobody reads the body any more. */
  release(): void;
}

/** What a request would cost: the answer to `dry_run`. */
export interface Quote {
  readonly mode: EntropyMode;
  readonly requiredBytes: number;
  readonly creditsRemaining: number;
  readonly creditsTotal: number;
  readonly durationMs: number;
}

const NO_BYTES = new Uint8Array();

/**
 * The record of one answer on its way from the request to the reply: the request, the source and the bytes of the values, the entry
 * for the ledger, and everything that must be given back if the answer fails. answers.ts runs its steps.
 */
export class Answer implements Making {
  readonly ask: Ask;
  readonly listener: Listener;
  readonly account: Account;
  readonly reservation: Reservation;
  readonly plan: Plan;
  readonly size: AnswerSize;
  /** The use of its Idempotency-Key, until the outcome is known; undefined without a key. */
  first: FirstUse | undefined = undefined;
  /** True once its reservation holds the credits that it costs. */
  isPaid = false;
  /** Its part of the work that waits for the workers, in microseconds, until it is made; of an answer that a worker makes. */
  queued: Hold | undefined = undefined;
  /** Its part of the budget of memory, until its reader has taken the reply; of an answer that a worker makes. */
  heldMemory: Hold | undefined = undefined;
  /** True when nobody knows yet whether its commit succeeded (`UnknownOutcome`). */
  #isUndecided = false;
  readonly #memory: ReplyMemory;
  #buffer: ReplyBuffer | undefined = undefined;

  // how and where it is made
  readonly values: ValueRequest;
  readonly form: AnswerForm;
  readonly octets: BareType | undefined;
  template!: DataTemplate;
  bytes: Uint8Array<ArrayBuffer> = NO_BYTES;
  start!: number;
  end!: number;
  dataEnd!: number;
  packedStart!: number;
  packedEnd!: number;

  // where it was drawn from
  from!: DrawnFrom;
  /** In pure mode: the lots of `from`, and where in them the bytes lay. */
  drawSource: DrawSource | undefined = undefined;

  // the entry for the ledger
  readonly requestId: Uint8Array<ArrayBuffer>;
  readonly accountNumber: number;
  readonly endpoint: DataEndpoint;
  readonly mode: EntropyMode;
  readonly valueCount: number;
  issuedAtMs!: number;
  /** Index of its source among the sources of the open segment. */
  source!: number;
  /** The commitment. Answers made in this thread share one buffer for it, so it must be read before the next one is made. */
  delivered: Uint8Array<ArrayBuffer> = NO_BYTES;
  deliveredBytes!: number;
  consumedBytes!: number;
  /** The caller's label (label.ts) as the ledger keeps it. */
  label: AnswerLabel | undefined = undefined;

  // the reply
  durationMs!: number;
  /**
   * The members that only some bodies have, and no template prints, as JSON that follows other members: the caller's label, and in
   * pure mode the opening, which proves that the bytes are those that the lots' leaves commit to.
   */
  more = '';
  /** The header fields that a retry gets again; undefined when a template prints the head (JSON, nothing ignored). */
  fields: FirstAnswer['fields'] | undefined = undefined;
  /** The body, if it is made before the reply is sent: MessagePack, bare values, and answers that are kept. */
  body: Uint8Array<ArrayBuffer> | undefined = undefined;

  constructor(
    ask: Ask,
    listener: Listener,
    account: Account,
    reservation: Reservation,
    plan: Plan,
    mode: EntropyMode,
    memory: ReplyMemory,
  ) {
    this.#memory = memory;
    this.ask = ask;
    this.listener = listener;
    this.account = account;
    this.reservation = reservation;
    this.plan = plan;
    this.mode = mode;
    const { request, valueCount } = plan;
    this.size = plan.sizeAs(ask.offer);
    this.values = request.values;
    this.form = ask.offer.form;
    this.octets = ask.offer.octets;
    this.requestId = ask.requestId;
    this.accountNumber = account.record.number;
    this.endpoint = request.endpoint;
    this.valueCount = valueCount;
  }

  /** Upper bound on the bytes of memory that it holds. Sealing an answer that is kept makes a second copy of its body. */
  get memoryBytesMax(): number {
    const { madeBytesMax, bodyBytesMax } = this.size;
    return madeBytesMax + (this.first === undefined ? 0 : bodyBytesMax + STORED_HEAD_BYTES_MAX);
  }

  /** Credits that it spends. */
  get credits(): number {
    return this.reservation.credits;
  }

  get creditsRemaining(): number {
    return this.reservation.creditsRemaining;
  }

  get creditsTotal(): number {
    return this.account.allowance.creditsPerMonth;
  }

  /** Makes `buffer` the answer's memory, and releases the memory that it had before. */
  hold(buffer: ReplyBuffer): void {
    this.#buffer?.release();
    this.#buffer = buffer;
    this.bytes = buffer.bytes;
    this.start = buffer.start;
    this.end = buffer.start + buffer.size;
  }

  /**
   * Sets the certificate id and the date: the time of the request, or the time at which its last lot was released if that is later.
   * The date lies in the month in which the meter counts the request. The meter's clock never goes back over the end of a month.
   */
  issue(certificateId: Uint8Array, durationMs: number): void {
    const { ask, reservation, from, bytes, start } = this;
    bytes.set(ask.requestId, start + AT_REQUEST_ID);
    bytes.set(certificateId, start + AT_CERTIFICATE_ID);
    this.issuedAtMs = Math.max(withinPeriod(ask.atMs, reservation.period), from.availableAtMs);
    this.deliveredBytes = this.dataEnd - start - DATA_START;
    this.durationMs = durationMs;
    ask.by.isDrawn = true;
  }

  /** Prints the reply in JSON and returns the body, which is valid until `template.forget` is called. */
  print<B>(template: ReplyTemplate<PrintedAnswer, B>, beside: B): Uint8Array<ArrayBuffer> {
    const { bytes, start, dataEnd, end } = this;
    const isShort = dataEnd - start <= RECORD_BYTES_MAX;
    template.print(this, beside, bytes, start, isShort ? dataEnd : start + DATA_START);
    let { body } = template;
    if (!isShort) {
      // the template printed the opening and the tail without the data: copy them around the data in this memory
      const bodyEnd = dataEnd + body.length - OPENING_BYTES;
      assert(bodyEnd <= end, 'an answer keeps to its bound');
      bytes.set(body.subarray(0, OPENING_BYTES), start + DATA_START - OPENING_BYTES);
      bytes.set(body.subarray(OPENING_BYTES), dataEnd);
      body = bytes.subarray(start + DATA_START - OPENING_BYTES, bodyEnd);
    }
    return this.more === '' ? body : this.#held(withMore(body, this.more));
  }

  /** Keeps a body that was made before the reply is sent, and returns it. */
  keepBody(body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    return (this.body = body.buffer === this.bytes.buffer ? body : this.#held(body));
  }

  /** Releases the memory that the answer was made in, and counts the memory of `body` in its place. */
  #held(body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    this.hold(this.#memory.adopt(body));
    return body;
  }

  /** Called by the committer: the answer is durable, or `failure` says why it is not known to be. */
  settled(failure: Error | undefined, atMonotonicMs?: number): void {
    if (failure instanceof UnknownOutcome) this.#keepUntil(failure.outcome);
    this.first?.finish(failure === undefined);
    this.first = undefined;
    this.heldMemory?.resize(this.size.madeBytesMax); // the sealed copy of a kept answer is not in memory any more
    if (failure !== undefined) {
      this.refuse(failure);
      return;
    }
    try {
      this.listener.answered(this, atMonotonicMs);
    } catch (error) {
      // the certificate and the price stand; a body that is being sent keeps its memory until its reader has taken it
      if (!this.ask.by.isAnswered) this.release();
      this.listener.refused(error);
    }
  }

  /** Keeps the key taken and the credits spent until the outcome is known, because the answer may yet become durable. */
  #keepUntil(outcome: Promise<void>): void {
    const { first, reservation } = this;
    this.first = undefined;
    this.#isUndecided = true;
    outcome.then(
      () => first?.finish(true),
      () => {
        first?.finish(false);
        reservation.release();
      },
    );
  }

  /** Gives back everything that the answer holds, and passes the error to the listener. */
  refuse(error: unknown): void {
    this.first?.finish(false);
    this.first = undefined;
    if (!this.#isUndecided) this.reservation.release();
    this.release();
    this.listener.refused(error);
  }

  /** Releases its memory and its place in the queue. Called when nobody reads its bytes any more. */
  release(): void {
    this.#buffer?.release();
    this.#buffer = undefined;
    this.body = undefined;
    this.queued?.resize(0);
    this.heldMemory?.resize(0);
  }
}
