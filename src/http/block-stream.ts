import type { Ask, Drawn, Keeping, Requester } from '../answer/answer.ts';
import { Idempotency } from '../answer/idempotency.ts';
import type { DataRequest } from '../answer/request.ts';
import { utf8Bytes } from '../core/bytes.ts';
import { periodOf } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import { describedHead, JSON_ASK } from './answer-reply.ts';
import type { StreamPlan } from './endpoint.ts';
import { errorOf } from './error-reply.ts';
import type { BodyOwner, Exchange } from './exchange.ts';
import { newRequestId } from './request-id.ts';

/** Takes a block through key, rate, quota and answer, as a request of its own. Never throws or rejects. */
type AskForBlock = (request: DataRequest) => void;

/** Written at once; a stalled reader makes the library hold so much. */
const PIECE_BYTES = 128 * 1024;
/**
 * Written first to a socket that was full. The library appends what does not fit to its own buffer, so the first piece
 * must be smaller than the room that a socket has when it says that it has some.
 */
const PROBE_BYTES = 4 * 1024;

interface Part {
  readonly bytes: Uint8Array;
  readonly owner?: BodyOwner;
}

const NEWLINE: Part = { bytes: Uint8Array.of(0x0a) };

/**
 * A reply of many answers, a line of JSON each, of which each goes the whole way of a request: key, rate, quota, draw, commit
 * and entry. The next is asked for when the socket has taken the one before it,
 * so a reader that stops is charged for one block beside what its connection buffers. Its deadline is that of any reply, for
 * each block.
 */
export class BlockStream {
  // of the block that is under way
  requestId: Ask['requestId'];
  atMs: number;
  startedMonotonicMs: number;
  readonly #exchange: Exchange;
  readonly #requester: Requester;
  readonly #plan: StreamPlan;
  readonly #ask: AskForBlock;
  /** The block that is under way, or is asked for next. */
  #next: number;
  #isAsking = true;
  #hasBegun = false;
  /** The last line is in `#parts` or was sent. */
  #isEnding = false;
  #isOver = false;
  readonly #parts: Part[] = [];
  /** Bytes of the first part that were sent. */
  #sentOfPart = 0;
  #hasRoom = true;
  #wasFull = false;

  /** The first block is asked for by the caller, with the reservation of the request itself. */
  constructor(exchange: Exchange, plan: StreamPlan, ask: AskForBlock) {
    this.#exchange = exchange;
    this.#plan = plan;
    this.#ask = ask;
    this.#next = plan.first;
    this.requestId = exchange.requestId;
    this.atMs = exchange.atMs;
    this.startedMonotonicMs = exchange.startedMonotonicMs;
    const isRefused = () => this.#isRefused;
    this.#requester = {
      get mode() {
        return exchange.mode;
      },
      set mode(mode) {
        exchange.mode = mode;
      },
      get isGone() {
        return exchange.isGone;
      },
      get isAnswered() {
        return isRefused();
      },
      spend: (work) => exchange.spend(work),
    };
    exchange.onAbort = () => this.#end();
  }

  /** Asks for the block that is due. The head of the stream tells of ignored parameters, so that no block does. */
  ask(): Ask {
    const { requestId, atMs, startedMonotonicMs } = this;
    return {
      ...JSON_ASK,
      requestId,
      atMs,
      startedMonotonicMs,
      keeping: this.#keeping(),
      by: this.#requester,
    };
  }

  /** Each block is kept under the stream's key and its own number. Where a resumed stream begins does not matter. */
  #keeping(): Keeping | undefined {
    const { idempotencyKey } = this.#exchange;
    if (idempotencyKey === undefined) return undefined;
    const { values, mode } = this.#plan.requestOf(this.#next);
    const fingerprint = Idempotency.fingerprint(['stream', JSON.stringify([values, mode ?? null])]);
    return { key: `${idempotencyKey}/${this.#next}`, fingerprint };
  }

  /** The front may refuse the request while its first block is made, because that takes too long. */
  get #isRefused(): boolean {
    return !this.#hasBegun && this.#exchange.isAnswered;
  }

  refused(error: unknown): void {
    if (this.#isOver) return;
    if (this.#hasBegun) this.#breakOff(error);
    else {
      this.#exchange.onAbort = undefined;
      this.#exchange.refused(error);
    }
  }

  /** The block that was asked for. */
  made({ body, isReplay, release }: Drawn): void {
    const exchange = this.#exchange;
    const owner = isReplay && !this.#isOver ? exchange.bookedBytes(body.length) : { release };
    if (this.#isOver || exchange.isAborted || this.#isRefused) {
      owner.release();
      return;
    }
    this.#next++;
    this.#isAsking = false;
    if (this.#hasBegun) this.#exchange.restartDeadline();
    this.#send({ bytes: body, owner }, NEWLINE);
  }

  /** Ends the stream with an error in the place of the block that was refused. */
  #breakOff(thrown: unknown): void {
    const { explain, record } = this.#exchange.pipeline;
    const error = explain(this.#exchange, thrown);
    const { retryAfterS } = error.facts;
    record.brokeOff(error.code);
    this.#sendLast({
      ...errorOf(error, { requestId: this.requestId }),
      ...(retryAfterS === undefined ? {} : { retry_after: Math.max(0, Math.ceil(retryAfterS)) }),
      next: this.#next,
    });
  }

  /** What a client that has it knows to be complete. */
  #sendLast(facts: object): void {
    this.#isEnding = true;
    this.#send({ bytes: utf8Bytes(`${JSON.stringify(facts)}\n`) });
  }

  /** Sends what the socket takes, and asks for the next block when it has taken all. */
  #send(...parts: readonly Part[]): void {
    const exchange = this.#exchange;
    this.#parts.push(...parts);
    exchange.gather(() => {
      if (!this.#hasBegun) this.#begin();
      this.#sendParts();
    });
    if (this.#isOver) return;
    exchange.tellHeld(this.#parts.reduce((sum, { bytes }) => sum + bytes.length, -this.#sentOfPart));
    const isTaken = this.#hasRoom && this.#parts.length === 0;
    if (isTaken && !this.#isAsking && !exchange.isGone) this.#askForNext();
  }

  #begin(): void {
    const { account, atMs } = this.#exchange;
    const head = describedHead(this.#exchange, account!.meter.left(periodOf(atMs)).credits);
    this.#hasBegun = true;
    this.#exchange.beginStream(head, () => {
      this.#hasRoom = true;
      this.#wasFull = true;
      this.#send();
    });
  }

  #sendParts(): void {
    while (this.#hasRoom && this.#parts.length > 0) {
      const { bytes, owner } = this.#parts[0];
      const end = Math.min(bytes.length, this.#sentOfPart + (this.#wasFull ? PROBE_BYTES : PIECE_BYTES));
      this.#hasRoom = this.#exchange.sendPart(bytes.subarray(this.#sentOfPart, end));
      this.#wasFull = !this.#hasRoom;
      this.#sentOfPart = end;
      if (end < bytes.length) continue;
      this.#parts.shift();
      this.#sentOfPart = 0;
      owner?.release();
    }
    if (this.#isEnding && this.#parts.length === 0) {
      this.#isOver = true;
      this.#exchange.endParts();
    }
  }

  #askForNext(): void {
    const exchange = this.#exchange;
    const { first, blocks, requestOf } = this.#plan;
    if (this.#next === blocks) {
      this.#sendLast({ end: { first, blocks: blocks - first, of: blocks } });
      return;
    }
    this.#isAsking = true;
    const { clock, random } = exchange.pipeline;
    this.atMs = clock.wallMs();
    this.requestId = newRequestId(random, this.atMs);
    this.startedMonotonicMs = clock.monotonicMs();
    exchange.restartDeadline();
    if (exchange.isDraining) this.#breakOff(new ApiError('shutting_down', { retryAfterS: 1 }));
    // the mode of the first block: a tier that changes meanwhile turns no mode into another
    else this.#ask({ ...requestOf(this.#next), mode: exchange.mode });
  }

  /** The connection is gone: gives back what was not sent. */
  #end(): void {
    this.#isOver = true;
    for (const { owner } of this.#parts) owner?.release();
    this.#parts.length = 0;
  }
}
