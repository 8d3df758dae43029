import type { Account } from '../account/directory.ts';
import type { Reservation } from '../account/reservation.ts';
import { assert } from '../core/assert.ts';
import { withinPeriod } from '../core/clock.ts';
import type { BareType, DataEndpoint, EntropyMode } from '../core/vocabulary.ts';
import type { AnswerLabel } from '../ledger/label-records.ts';
import { UnknownOutcome } from '../ledger/linked-sink.ts';
import type { DrawSource } from '../ledger/records.ts';
import { packedBytesMax } from '../values/packed.ts';
import type { ValueRequest } from '../values/value-request.ts';
import type { QueuedWork, WeighedAnswer } from './admission.ts';
import type { ReplyBuffer, ReplyMemory } from './buffer.ts';
import type { PendingAnswer } from './commit.ts';
import type { PrintedAnswer, ServiceNames } from './fields.ts';
import { type FirstAnswer, type FirstUse, STORED_HEAD_BYTES_MAX } from './idempotency.ts';
import {
  AT_CERTIFICATE_ID,
  AT_REQUEST_ID,
  AT_SALT,
  DATA_START,
  type DataTemplate,
  type Making,
  RECORD_BYTES_MAX,
  SALT_BYTES,
} from './make.ts';
import { type AnswerForm, type DataRequest, isLarge, type Plan, type Written } from './request.ts';
import type { DrawnFrom } from './supply.ts';
import { OPENING_BYTES, type ReplyTemplate } from './template.ts';
import { bodyTemplateOf, hasMoreMembers, withMoreMembers } from './text.ts';

/** Who asks, for as long as the answer takes. An HTTP call is one. */
export interface Requester {
  /** Known from now on to whoever counts requests. */
  mode: EntropyMode | undefined;
  /** It waited for its turn of the loop for longer than `largeQueueMs`: an expensive answer is shed. */
  readonly isLate?: boolean;
  /** It has left: whatever it is told now reaches nobody. */
  readonly isGone: boolean;
  /** It was told that its answer comes too late. */
  readonly isAnswered: boolean;
}

/** What is asked for beside the values. */
export interface Ask {
  /** 16 bytes. */
  readonly requestId: Uint8Array<ArrayBuffer>;
  /** Unix time at which the request came in. */
  readonly atMs: number;
  readonly startedMonotonicMs: number;
  readonly offer: Written;
  /** Names of parameters that were ignored, as X-Ignored-Parameters tells them, or ''. */
  readonly ignored: string;
  /** Of a request under an Idempotency-Key: its answer is kept. */
  readonly keeping: Keeping | undefined;
  readonly by: Requester;
}

/** How an answer is kept. */
export interface Keeping {
  /** The value of Idempotency-Key. */
  readonly key: string;
  /** What must be equal for a request to be a retry of this one. */
  readonly fingerprint: string;
  /** Sealed with the answer in the place of its header fields, where those are sent to nobody. */
  readonly fields?: FirstAnswer['fields'];
  /** Unix ms; 24 hours where it does not say. */
  readonly untilMs?: number;
}

/** Who is told what became of an ask. Exactly one of these is called, once. */
export interface Listener {
  /** The answer is durable. It is to be released when its body is not read any more. */
  answered(answer: Answer, atMonotonicMs?: number): void;
  /** The first answer to the same Idempotency-Key. */
  replayed(first: FirstAnswer): void;
  refused(error: unknown): void;
}

/** An answer for whoever formats it: its body in JSON. */
export interface Drawn {
  readonly body: Uint8Array<ArrayBuffer>;
  /** It was kept before, under the same key. */
  readonly isReplay: boolean;
  /** To be called once, when the body is not read any more: it is erased then. */
  release(): void;
}

/** What a request would cost. */
export interface Quote {
  readonly mode: EntropyMode;
  readonly requiredBytes: number;
  readonly creditsRemaining: number;
  readonly creditsTotal: number;
  readonly durationMs: number;
}

const NO_BYTES = new Uint8Array();
const ID_BYTES = 16;

/**
 * One answer on its way from the request to the reply: what is asked, what is drawn, the bytes it becomes,
 * its entry in the ledger, and what must be given back if there is none. Its steps stand in answers.ts.
 */
export class Answer implements WeighedAnswer, Making, PrintedAnswer, PendingAnswer {
  readonly ask: Ask;
  readonly listener: Listener;
  readonly account: Account;
  readonly reservation: Reservation;
  readonly plan: Plan;
  readonly form: AnswerForm;
  readonly octets: BareType | undefined;
  /** Bytes that its values take as JSON, at most, or as octets. */
  readonly valuesBytesMax: number;
  /** Bytes that are sent and, under an Idempotency-Key, kept: its values, with what stands around them. */
  readonly bodyBytesMax: number;
  /** Memory that it is made in: what is sent, and of MessagePack the text that is committed to. */
  readonly #madeBytesMax: number;
  /** Made by a worker. */
  readonly isLarge: boolean;
  /** The first use of an Idempotency-Key. */
  first: FirstUse | undefined = undefined;
  /** What it costs is taken of the credits. */
  isPaid = false;
  /** Its place in the queue of the workers. */
  queued: QueuedWork | undefined = undefined;
  #isUndecided = false;
  readonly #memory: ReplyMemory;
  #buffer: ReplyBuffer | undefined = undefined;

  // the draw
  readonly mode: EntropyMode;
  from!: DrawnFrom;
  /** In pure mode what `from` says, and where in the lots the bytes lay. */
  drawSource: DrawSource | undefined = undefined;
  /** In pure mode what shows that the bytes are those of the lots' leaves: canonical JSON. */
  opening: string | undefined = undefined;
  /** What the ledger keeps of what the caller said of it, and what its reply tells. */
  label: AnswerLabel | undefined = undefined;
  labelText: string | undefined = undefined;
  /** Index of its source among those of the open segment. */
  source!: number;

  // the bytes
  template!: DataTemplate;
  bytes: Uint8Array<ArrayBuffer> = NO_BYTES;
  start!: number;
  end!: number;
  dataEnd!: number;
  packedStart!: number;
  packedEnd!: number;
  /** This may be the memory of all answers that are made at once in this thread: it is read before the next one is made. */
  delivered: Uint8Array<ArrayBuffer> = NO_BYTES;
  deliveredBytes!: number;
  consumedBytes!: number;
  /**
   * The fields of its head that a retry gets again; undefined where a template serves (JSON, nothing
   * ignored).
   */
  fields: FirstAnswer['fields'] | undefined = undefined;
  /** The body, where it is made before the reply is sent: MessagePack, bare values, and what is kept. */
  body: Uint8Array<ArrayBuffer> | undefined = undefined;

  // what is said of it
  issuedAtMs!: number;
  durationMs!: number;

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
    const { form, octets } = ask.offer;
    this.form = form;
    this.octets = octets;
    this.valuesBytesMax = plan.valuesBytesMax(octets);
    const packedMax = form === 'msgpack' ? packedBytesMax(plan.request.values, this.valuesBytesMax) : 0;
    this.bodyBytesMax = packedMax === 0 ? this.valuesBytesMax : packedMax;
    this.#madeBytesMax = this.valuesBytesMax + packedMax;
    this.isLarge = plan.hasManyDraws || isLarge(this.valuesBytesMax);
  }

  get request(): DataRequest {
    return this.plan.request;
  }

  /** Sealing an answer that is kept takes its body once more. */
  get memoryBytesMax(): number {
    return this.#madeBytesMax + (this.first === undefined ? 0 : this.bodyBytesMax + STORED_HEAD_BYTES_MAX);
  }

  get values(): ValueRequest {
    return this.plan.request.values;
  }

  get requestId(): Uint8Array<ArrayBuffer> {
    return this.ask.requestId;
  }

  get certificateId(): Uint8Array {
    return this.#recorded(AT_CERTIFICATE_ID, ID_BYTES);
  }

  get salt(): Uint8Array<ArrayBuffer> {
    return this.#recorded(AT_SALT, SALT_BYTES);
  }

  #recorded(at: number, size: number): Uint8Array<ArrayBuffer> {
    return this.bytes.subarray(this.start + at, this.start + at + size);
  }

  get accountNumber(): number {
    return this.account.record.number;
  }

  get endpoint(): DataEndpoint {
    return this.plan.request.endpoint;
  }

  get valueCount(): number {
    return this.plan.valueCount;
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

  /** Takes memory to be made in, or a body that does not fit in what it has; that is given back. */
  hold(buffer: ReplyBuffer): void {
    this.#buffer?.release();
    this.#buffer = buffer;
    this.bytes = buffer.bytes;
    this.start = buffer.start;
    this.end = buffer.start + buffer.size;
  }

  /**
   * Gives it a certificate and a date: when the request came in, or when its last lot could be drawn from if that was later. The
   * meter says in which month the request is counted, by a clock that never goes back over a month's end, and the date is of that month.
   */
  issue(certificateId: Uint8Array, durationMs: number): void {
    const { ask, reservation, from, bytes, start } = this;
    bytes.set(ask.requestId, start + AT_REQUEST_ID);
    bytes.set(certificateId, start + AT_CERTIFICATE_ID);
    this.issuedAtMs = Math.max(withinPeriod(ask.atMs, reservation.period), from.availableAtMs);
    this.durationMs = durationMs;
  }

  /** Prints its reply in JSON, and returns the body, which is valid until the template forgets it. */
  print<B>(template: ReplyTemplate<PrintedAnswer, B>, beside: B): Uint8Array<ArrayBuffer> {
    const { bytes, start, dataEnd, end } = this;
    const isShort = dataEnd - start <= RECORD_BYTES_MAX;
    template.print(this, beside, bytes, start, isShort ? dataEnd : start + DATA_START);
    let { body } = template;
    if (!isShort) {
      // opening and tail were printed without data between them: they are copied around the data in this memory
      const bodyEnd = dataEnd + body.length - OPENING_BYTES;
      assert(bodyEnd <= end, 'an answer keeps to its bound');
      bytes.set(body.subarray(0, OPENING_BYTES), start + DATA_START - OPENING_BYTES);
      bytes.set(body.subarray(OPENING_BYTES), dataEnd);
      body = bytes.subarray(start + DATA_START - OPENING_BYTES, bodyEnd);
    }
    return hasMoreMembers(this) ? this.#held(withMoreMembers(body, this)) : body;
  }

  /** Makes its body in JSON before its reply is sent. */
  makeBody(names: ServiceNames): Uint8Array<ArrayBuffer> {
    const template = bodyTemplateOf(this.from, names);
    try {
      const body = this.print(template, undefined);
      return this.keepBody(body.buffer === this.bytes.buffer ? body : body.slice());
    } finally {
      template.forget();
    }
  }

  /** Keeps a body that was made before the reply is sent. */
  keepBody(body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    return (this.body = body.buffer === this.bytes.buffer ? body : this.#held(body));
  }

  /** Replaces the memory that the answer was made in by that of this body. */
  #held(body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    this.hold(this.#memory.adopt(body));
    return body;
  }

  /** From the committer: the answer is durable, or not known to be. */
  settled(failure: Error | undefined, atMonotonicMs?: number): void {
    if (failure instanceof UnknownOutcome) this.#keepUntil(failure.outcome);
    this.first?.finish(failure === undefined);
    this.first = undefined;
    this.queued?.memory.resize(this.#madeBytesMax); // what was sealed is stored
    if (failure !== undefined) {
      this.refuse(failure);
      return;
    }
    try {
      this.listener.answered(this, atMonotonicMs);
    } catch (error) {
      // its certificate and its price stand; a body that is being sent keeps its memory until its reader has it
      if (!this.ask.by.isAnswered) this.release();
      this.listener.refused(error);
    }
  }

  /** The answer may yet become durable: until that is known its key stays taken, and what it costs stays spent. */
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

  /** Gives back all that it holds, and tells why. */
  refuse(error: unknown): void {
    this.first?.finish(false);
    this.first = undefined;
    if (!this.#isUndecided) this.reservation.release();
    this.release();
    this.listener.refused(error);
  }

  /** Nobody reads its bytes any more. */
  release(): void {
    this.#buffer?.release();
    this.#buffer = undefined;
    this.body = undefined;
    this.queued?.leave();
    this.queued?.memory.resize(0);
    this.queued = undefined;
  }
}
