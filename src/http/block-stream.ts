import type { Answer, Asker, Quote } from '../answer/answer.ts';
import { type FirstAnswer, Idempotency } from '../answer/idempotency.ts';
import type { AnswerForm, DataRequest } from '../answer/request.ts';
import { concatBytes, utf8Bytes } from '../core/bytes.ts';
import { periodOf } from '../core/clock.ts';
import { ApiError } from '../core/errors.ts';
import { type BareType, bareMediaType, type EntropyMode } from '../core/vocabulary.ts';
import { describedHead, keptFields } from './answer-reply.ts';
import type { StreamPlan } from './endpoint.ts';
import { errorOf } from './error-reply.ts';
import type { Exchange } from './exchange.ts';
import type { Field } from './head.ts';
import { MEDIA_TYPES } from './representation.ts';
import { newRequestId, type RequestId } from './request-id.ts';
import type { BodyOwner } from './sender.ts';

/*
 * A stream is a reply of many answers, each of which went the whole way of a request: key, rate, quota, draw, commit and
 * entry. Blocks are made ahead of the socket, so that workers, disk and network are busy at the same time: one, and one
 * more for each block that the socket has taken, up to BLOCKS_AHEAD_MAX, in pure mode PURE_BLOCKS_AHEAD. So many are under
 * way or wait for the socket at most, and a reader that stops is charged for no more than those, beside what its connection
 * buffers. Its deadline is that of any reply, for each block.
 */

/** Takes a block through key, rate, quota and answer, as a request of its own. Never throws or rejects. */
type AskForBlock = (block: Asker, request: DataRequest) => void;

/**
 * Blocks of a stream that are under way or that the socket has not taken. A block waits longer for its commit than a worker
 * makes it, so it takes this many to keep one worker busy.
 */
const BLOCKS_AHEAD_MAX = 6;
/**
 * In pure mode each block costs credits, and one that waits for entropy may be refused while the next is served. So one
 * is under way at a time, beside the one that is sent.
 */
const PURE_BLOCKS_AHEAD = 2;
/** Written at once; a stalled reader makes the library hold so much. */
const PIECE_BYTES = 128 * 1024;
/**
 * Written first to a socket that was full. The library appends what does not fit to its own buffer, so the first piece
 * must be smaller than the room that a socket has when it says that it has some.
 */
const PROBE_BYTES = 4 * 1024;
const NEWLINE = Uint8Array.of(0x0a);
/** Two lengths of 32 bits, little-endian: of the JSON text, and of the octets behind it. */
const FRAME_LENGTHS_BYTES = 8;
/** The octets of a frame begin at a multiple of this from its first byte, so that they can be read as numbers in place. */
const FRAME_ALIGNMENT = 8;

interface Part {
  readonly bytes: Uint8Array;
  readonly owner: BodyOwner | undefined;
  readonly endsBlock: boolean;
}

export class BlockStream {
  readonly exchange: Exchange;
  readonly plan: StreamPlan;
  readonly #ask: AskForBlock;
  /** The block that is sent next. */
  #next: number;
  /** Blocks that were asked for and are not delivered, in their order. */
  readonly #coming: Block[] = [];
  #hasBegun = false;
  /** The last part is in `#parts` or was sent. */
  #isEnding = false;
  #isOver = false;
  readonly #parts: Part[] = [];
  /** Bytes of the first part that were sent. */
  #sentOfPart = 0;
  #untaken = 0;
  #taken = 0;
  #hasRoom = true;
  #wasFull = false;
  /** Requests of the blocks in the mode of the first: a tier that changes meanwhile turns no mode into another. */
  readonly #inMode = new Map<DataRequest, DataRequest>();

  constructor(exchange: Exchange, plan: StreamPlan, ask: AskForBlock) {
    this.exchange = exchange;
    this.plan = plan;
    this.#ask = ask;
    this.#next = plan.first;
  }

  /** The first block, which is asked for with the reservation of the request itself. */
  begin(): Asker {
    this.exchange.onAbort = () => this.#end();
    const { requestId, atMs, startedMonotonicMs } = this.exchange;
    return this.#newBlock(requestId, atMs, startedMonotonicMs);
  }

  /** The front refused the request while its first block was made, because that took too long. */
  get isRefused(): boolean {
    return !this.#hasBegun && this.exchange.isAnswered;
  }

  /** A block that is durable and charged. */
  answered(block: Block, answer: Answer): void {
    this.exchange.pipeline.record.answered(answer);
    this.#made(block, answer.body, answer.fields, answer);
  }

  /** The block was delivered before, under the same Idempotency-Key. */
  replayed(block: Block, { fields, body }: FirstAnswer): void {
    if (this.#isOver) return;
    this.#made(block, body, fields, this.exchange.bookedBytes(body.length));
  }

  refused(block: Block, error: unknown): void {
    if (this.#isOver || this.#isEnding) return;
    if (this.#hasBegun) {
      block.outcome = { error };
      this.#deliver();
    } else {
      this.exchange.onAbort = undefined;
      this.exchange.refused(error);
    }
  }

  #made(block: Block, body: Uint8Array, fields: readonly Field[] | undefined, owner: BodyOwner): void {
    if (this.#isOver || this.#isEnding || this.exchange.isAborted || this.isRefused) {
      owner.release();
      return;
    }
    block.outcome = { parts: this.#partsOf(body, fields, owner) };
    this.#deliver();
  }

  #partsOf(body: Uint8Array, fields: readonly Field[] | undefined, owner: BodyOwner): Part[] {
    if (this.exchange.octets === undefined) {
      return [
        { bytes: body, owner, endsBlock: false },
        { bytes: NEWLINE, owner: undefined, endsBlock: true },
      ];
    }
    const head = frameHead(Object.fromEntries(fields!), body.length);
    return [
      { bytes: head, owner: undefined, endsBlock: false },
      { bytes: body, owner, endsBlock: true },
    ];
  }

  /** Sends the blocks that are made, in their order, up to the first that is not. */
  #deliver(): void {
    const wasIdle = this.#untaken === 0;
    for (;;) {
      const block = this.#coming[0];
      if (block?.outcome === undefined) break;
      if ('error' in block.outcome) {
        this.#breakOff(block.outcome.error, block.requestId);
        return;
      }
      this.#coming.shift();
      this.#parts.push(...block.outcome.parts);
      this.#next++;
      this.#untaken++;
    }
    if (wasIdle && this.#untaken > 0 && this.#hasBegun) this.exchange.restartDeadline();
    this.#send();
  }

  /** The last line or frame: what a client that has it knows to be complete. */
  #finish(): void {
    const { first, blocks } = this.plan;
    this.#pushLast({ end: { first, blocks: this.#next - first, of: blocks } });
  }

  /** Ends the stream with an error in the place of the next block; what was made behind that is dropped. */
  #breakOff(thrown: unknown, requestId: RequestId): void {
    this.#dropComing();
    const { explain, record } = this.exchange.pipeline;
    const error = explain(this.exchange, thrown);
    const { retryAfterS } = error.facts;
    record.brokeOff(error.code);
    this.#pushLast({
      ...errorOf(error, { requestId }),
      ...(retryAfterS === undefined ? {} : { retry_after: Math.max(0, Math.ceil(retryAfterS)) }),
      next: this.#next,
    });
    this.#send();
  }

  #pushLast(facts: object): void {
    this.#isEnding = true;
    const isFramed = this.exchange.octets !== undefined;
    const bytes = isFramed ? frameHead(facts, 0) : utf8Bytes(`${JSON.stringify(facts)}\n`);
    this.#parts.push({ bytes, owner: undefined, endsBlock: false });
  }

  /** Sends what the socket takes, and asks for the next block when it has taken enough. */
  #send(): void {
    const { exchange } = this;
    exchange.gather(() => {
      if (!this.#hasBegun) {
        this.#hasBegun = true;
        exchange.beginStream(this.#head(), () => {
          this.#hasRoom = true;
          this.#wasFull = true;
          this.#send();
        });
      }
      this.#sendParts();
    });
    if (this.#isOver) return;
    exchange.tellHeld(this.#parts.reduce((sum, { bytes }) => sum + bytes.length, -this.#sentOfPart));
    this.#askForNext();
  }

  #sendParts(): void {
    while (this.#hasRoom && this.#parts.length > 0) {
      const { bytes, owner, endsBlock } = this.#parts[0];
      const end = Math.min(bytes.length, this.#sentOfPart + (this.#wasFull ? PROBE_BYTES : PIECE_BYTES));
      this.#hasRoom = this.exchange.sendPart(bytes.subarray(this.#sentOfPart, end));
      this.#wasFull = !this.#hasRoom;
      this.#sentOfPart = end;
      if (end < bytes.length) continue;
      this.#parts.shift();
      this.#sentOfPart = 0;
      owner?.release();
      if (!endsBlock) continue;
      this.#untaken--;
      this.#taken++;
      this.exchange.restartDeadline();
    }
    if (this.#isEnding && this.#parts.length === 0) {
      this.#isOver = true;
      this.exchange.endParts();
    }
  }

  #askForNext(): void {
    const { clock, random } = this.exchange.pipeline;
    while (this.#mayAsk()) {
      const index = this.#next + this.#coming.length;
      const atMs = clock.wallMs();
      const requestId = newRequestId(random, atMs);
      if (this.exchange.isDraining) {
        if (this.#coming.length === 0)
          this.#breakOff(new ApiError('shutting_down', { retryAfterS: 1 }), requestId);
        return;
      }
      const block = this.#newBlock(requestId, atMs, clock.monotonicMs());
      this.#ask(block, this.#requestOf(index));
    }
    if (this.#next === this.plan.blocks && !this.#isEnding && !this.exchange.isGone) {
      this.#finish();
      this.#send();
    }
  }

  #mayAsk(): boolean {
    const { exchange, plan } = this;
    const underWay = this.#coming.length;
    if (this.#isEnding || exchange.isGone || this.#next + underWay === plan.blocks) return false;
    // none behind one that is refused
    if (this.#coming.some(({ outcome }) => outcome !== undefined && 'error' in outcome)) return false;
    if (exchange.mode === 'pure') return underWay === 0 && this.#untaken < PURE_BLOCKS_AHEAD;
    return underWay + this.#untaken < Math.min(1 + this.#taken, BLOCKS_AHEAD_MAX);
  }

  #newBlock(requestId: RequestId, atMs: number, startedMonotonicMs: number): Block {
    const block = new Block(this, this.#next + this.#coming.length, requestId, atMs, startedMonotonicMs);
    this.#coming.push(block);
    return block;
  }

  #requestOf(index: number): DataRequest {
    const request = this.plan.requestOf(index);
    let inMode = this.#inMode.get(request);
    if (inMode === undefined) {
      inMode = { ...request, mode: this.exchange.mode };
      this.#inMode.set(request, inMode);
    }
    return inMode;
  }

  #head(): Uint8Array {
    const { account, atMs } = this.exchange;
    return describedHead(this.exchange, account!.meter.left(periodOf(atMs)).credits);
  }

  /** The connection is gone: gives back what was not sent. */
  #end(): void {
    this.#isOver = true;
    this.#dropComing();
    for (const { owner } of this.#parts) owner?.release();
    this.#parts.length = 0;
  }

  #dropComing(): void {
    for (const { outcome } of this.#coming) {
      if (outcome !== undefined && 'parts' in outcome)
        for (const { owner } of outcome.parts) owner?.release();
    }
    this.#coming.length = 0;
  }
}

/** One block of a stream as the asker of an answer. */
class Block implements Asker {
  /** What came of it, until its turn comes. */
  outcome: { readonly parts: readonly Part[] } | { readonly error: unknown } | undefined;
  readonly requestId: RequestId;
  readonly atMs: number;
  readonly startedMonotonicMs: number;
  /** The head of the stream tells of ignored parameters. */
  readonly ignored = '';
  readonly #stream: BlockStream;
  readonly #index: number;

  constructor(
    stream: BlockStream,
    index: number,
    requestId: RequestId,
    atMs: number,
    startedMonotonicMs: number,
  ) {
    this.#stream = stream;
    this.#index = index;
    this.requestId = requestId;
    this.atMs = atMs;
    this.startedMonotonicMs = startedMonotonicMs;
  }

  get form(): AnswerForm {
    return this.#stream.exchange.form;
  }

  get octets(): BareType | undefined {
    return this.#stream.exchange.octets;
  }

  get mode(): EntropyMode | undefined {
    return this.#stream.exchange.mode;
  }

  set mode(mode: EntropyMode | undefined) {
    this.#stream.exchange.mode = mode;
  }

  get isGone(): boolean {
    return this.#stream.exchange.isGone;
  }

  /** The connection is read on: its client may leave between two blocks. */
  drawing(): void {}

  spend(work: () => void): void {
    this.#stream.exchange.spend(work);
  }

  get isAnswered(): boolean {
    return this.#stream.isRefused;
  }

  /** Each block is kept under the stream's key and its own number. */
  get idempotencyKey(): string | undefined {
    const { idempotencyKey } = this.#stream.exchange;
    return idempotencyKey === undefined ? undefined : `${idempotencyKey}/${this.#index}`;
  }

  /** Where a resumed stream begins does not matter. */
  fingerprint(): string {
    const { exchange, plan } = this.#stream;
    const { values, mode } = plan.requestOf(this.#index);
    return Idempotency.fingerprint(['stream', exchange.offer.name, JSON.stringify([values, mode ?? null])]);
  }

  keptFields(answer: Answer): FirstAnswer['fields'] {
    const { octets } = this;
    return keptFields(answer, octets === undefined ? MEDIA_TYPES.json : bareMediaType(octets), '');
  }

  answered(answer: Answer): void {
    this.#stream.answered(this, answer);
  }

  replayed(first: FirstAnswer): void {
    this.#stream.replayed(this, first);
  }

  quoted(quote: Quote): void {
    this.#stream.exchange.quoted(quote);
  }

  refused(error: unknown): void {
    this.#stream.refused(this, error);
  }
}

/** The head of a frame with so many octets behind it. The text is padded with blanks, which JSON allows. */
function frameHead(facts: object, octets: number): Uint8Array {
  const text = utf8Bytes(JSON.stringify(facts));
  const padded = Math.ceil(text.length / FRAME_ALIGNMENT) * FRAME_ALIGNMENT;
  const head = concatBytes(
    new Uint8Array(FRAME_LENGTHS_BYTES),
    text,
    new Uint8Array(padded - text.length).fill(0x20),
  );
  const lengths = new DataView(head.buffer);
  lengths.setUint32(0, padded, true);
  lengths.setUint32(4, octets, true);
  return head;
}
