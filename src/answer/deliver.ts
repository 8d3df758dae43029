import type { EntropyMode } from '../core/vocabulary.ts';
import { type LotCatalog, type LotShare, PureSupply } from '../pool/supply/pure.ts';
import type { SeedGroup } from '../pool/supply/seeds.ts';
import type { EntropyReader } from '../values/entropy-reader.ts';
import { entropyBytesMax } from '../values/value-request.ts';
import { type Workers, worthAHop } from '../workers/dispatch.ts';
import { answerBytesMax, makeFrom } from '../workers/make.ts';
import type { AnswerOrder, DrawOrder, MadeValues } from '../workers/protocol.ts';
import type { Admission, WeighedAnswer } from './admission.ts';
import { AnswerMemory } from './answer-memory.ts';
import type { DataRequest } from './data-request.ts';
import { type DrawnFrom, type EntropyDesk, unavailable } from './desk.ts';
import { type DataFrame, frameOf } from './frame.ts';
import type { ReplyRoom } from './reply-room.ts';

/** Where the `data` member starts in its buffer: room for the opening of the reply, and for the salt when it is hashed. */
export const DATA_START = 32;
/** Room behind the `data` member for the rest of the reply. */
const REPLY_TAIL_BYTES_MAX = 2_048;

export interface Delivered {
  readonly from: DrawnFrom;
  readonly made: MadeValues;
  /** Gives the memory of a large answer back, once, when nobody reads it any more. */
  readonly free?: () => void;
}

export interface DeliveryOrder {
  readonly request: DataRequest;
  readonly mode: EntropyMode;
  /** Number of the account that asks. */
  readonly account: number;
  /** The account's seed group; undefined on tiers without seeded mode. */
  readonly group: SeedGroup | undefined;
  /** 32 bytes, kept by the caller. */
  readonly salt: Uint8Array<ArrayBuffer>;
  readonly also: AnswerOrder['also'];
  /** Memory for an answer that is made before `deliver` returns; one that is made later gets its own. */
  readonly room: ReplyRoom['take'] | undefined;
}

/**
 * Draws entropy in the mode asked for and makes the `data` member from it: small answers at once in this thread,
 * large ones in the pool. Everything that can refuse a request has been asked before; what is drawn here is used.
 */
export class Delivery {
  readonly #desk: EntropyDesk;
  readonly #workers: Workers;
  readonly #catalog: LotCatalog;
  readonly #admission: Admission;
  readonly #memory = new AnswerMemory();
  /** The frame of each cached request, for the source it was last answered from. */
  readonly #frames = new WeakMap<DataRequest, { from: string; frame: DataFrame }>();

  constructor(desk: EntropyDesk, workers: Workers, catalog: LotCatalog, admission: Admission) {
    this.#desk = desk;
    this.#workers = workers;
    this.#catalog = catalog;
    this.#admission = admission;
  }

  /** Throws or rejects with 503 `entropy_unavailable` or `overloaded`; then nothing was delivered. */
  deliver(order: DeliveryOrder): Delivered | Promise<Delivered> {
    switch (order.mode) {
      case 'quantum-seeded':
        return this.#seeded(order);
      case 'csprng':
        return this.#make(order, this.#desk.csprng(), this.#desk.system.reader, () => ({ from: 'system' }));
      case 'pure':
        return this.#pure(order);
    }
  }

  #seeded(order: DeliveryOrder): Delivered | Promise<Delivered> {
    if (order.group === undefined) throw unavailable('quantum-seeded');
    const held = this.#desk.seeded(order.group);
    if (held === undefined) {
      const { group } = order;
      return this.#admission.afterWaiting(() => this.#seededLater(order, group));
    }
    return this.#make(order, held.from, held.stream.reader, () => ({
      from: 'one-time-key',
      key: held.stream.oneTimeKey(),
    }));
  }

  async #seededLater(order: DeliveryOrder, group: SeedGroup): Promise<Delivered> {
    const held = await this.#desk.awaitSeed(group);
    return this.#make({ ...order, room: undefined }, held.from, held.stream.reader, () => ({
      from: 'one-time-key',
      key: held.stream.oneTimeKey(),
    }));
  }

  #make(
    order: DeliveryOrder,
    from: DrawnFrom,
    reader: EntropyReader,
    draw: () => DrawOrder,
  ): Delivered | Promise<Delivered> {
    const making = this.#makeOrder(order, from.quantumBackend);
    const answer = weighed(order);
    if (!worthAHop(order.request.values)) {
      return { from, made: this.#admission.here(answer, () => makeHere(reader, making, order.room)) };
    }
    return this.#admission.byWorker(answer, async () => ({
      from,
      ...(await this.#makeByWorker(making, draw())),
    }));
  }

  async #makeByWorker(making: AnswerOrder, draw: DrawOrder) {
    const memory = this.#memory.take(answerBytesMax(making));
    const made = await this.#workers.make({ ...making, draw, memory });
    const free = () => this.#memory.give(made.buffer, made.dataEnd + REPLY_TAIL_BYTES_MAX);
    return { made, free };
  }

  #pure(order: DeliveryOrder): Delivered | Promise<Delivered> {
    const bytesMax = entropyBytesMax(order.request.values);
    if (worthAHop(order.request.values) || !PureSupply.fitsRing(bytesMax)) {
      return this.#admission.byWorker(weighed(order), () => this.#pureClaimed(order, bytesMax));
    }
    return (
      this.#pureFromRing(order, bytesMax) ??
      this.#admission.afterWaiting(() => this.#pureAfterFill(order, bytesMax))
    );
  }

  #pureFromRing(order: DeliveryOrder, bytesMax: number): Delivered | undefined {
    const first = this.#desk.pure.nextLotId();
    if (first === undefined) return undefined;
    const making = this.#makeOrder(order, this.#catalog.get(first).quantumBackend);
    const draw = this.#desk.pure.tryDraw(bytesMax, (reader) =>
      this.#admission.here(weighed(order), () => makeHere(reader, making, order.room)),
    );
    return draw && { from: this.#desk.pureFrom(draw.shares), made: draw.value };
  }

  async #pureAfterFill(order: DeliveryOrder, bytesMax: number): Promise<Delivered> {
    // another request may be first at what was filled for this one
    while (await this.#desk.pure.fill(bytesMax)) {
      const delivered = this.#pureFromRing({ ...order, room: undefined }, bytesMax);
      if (delivered !== undefined) return delivered;
    }
    throw unavailable('pure');
  }

  async #pureClaimed(order: DeliveryOrder, bytesMax: number) {
    const blocks = await this.#desk.pure.claim(bytesMax);
    if (blocks === undefined) throw unavailable('pure');
    const making = this.#makeOrder(order, this.#catalog.get(blocks[0].lotId).quantumBackend);
    const pieces = blocks.map((block) => block.bytes);
    const held = blocks.map(({ lotId, bytes }): LotShare => ({ lotId, bytes: bytes.length }));
    // the pieces move to the worker: nothing is left of them here
    const { made, free } = await this.#makeByWorker(making, { from: 'pieces', pieces });
    return { from: this.#desk.pureFrom(sharesOf(held, made.consumedBytes)), made, free };
  }

  #makeOrder(order: DeliveryOrder, quantumSource: string): AnswerOrder {
    const { before, after } = this.#frame(order.request, order.mode, quantumSource);
    return {
      values: order.request.values,
      before,
      after,
      salt: order.salt,
      headroom: DATA_START,
      tailroom: REPLY_TAIL_BYTES_MAX,
      also: order.also,
    };
  }

  #frame(request: DataRequest, mode: EntropyMode, quantumSource: string): DataFrame {
    const from = `${mode} ${quantumSource}`;
    const known = this.#frames.get(request);
    if (known?.from === from) return known.frame;
    const frame = frameOf(request, mode, quantumSource);
    this.#frames.set(request, { from, frame });
    return frame;
  }
}

function makeHere(reader: EntropyReader, making: AnswerOrder, room: DeliveryOrder['room']): MadeValues {
  const size = answerBytesMax(making);
  return makeFrom(reader, making, room === undefined ? new Uint8Array(size) : room(size));
}

function weighed({ request, also, account }: DeliveryOrder): WeighedAnswer {
  return { values: request.values, also, account };
}

/** Books the consumed bytes under the lots of the claimed blocks, in order. */
function sharesOf(held: readonly LotShare[], consumed: number): LotShare[] {
  const shares = new Map<string, number>();
  let left = consumed;
  for (const block of held) {
    const bytes = Math.min(left, block.bytes);
    if (bytes === 0) break;
    shares.set(block.lotId, (shares.get(block.lotId) ?? 0) + bytes);
    left -= bytes;
  }
  return [...shares].map(([lotId, bytes]) => ({ lotId, bytes }));
}
