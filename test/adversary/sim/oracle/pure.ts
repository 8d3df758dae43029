import { PIECE_BYTES } from '../../../../src/crypto/merkle.ts';
import { EntropyReader } from '../../../../src/values/entropy-reader.ts';
import type { ValueRequest } from '../../../../src/values/value-request.ts';
import { drawnOctets, drawnText } from '../../../values/drawn.ts';
import type { WireReply } from '../front.ts';
import { type AnswerBody, bodyOf, type Sent } from '../sent.ts';
import { nameOf } from './books.ts';
import { hold, Violation } from './violation.ts';

/** A pure block of a lot as it was stored, and what of it was delivered. */
interface Block {
  readonly lotId: string;
  readonly bytes: Uint8Array;
  /** Delivered so far, in the order of delivery. */
  readonly delivered: { readonly from: number; readonly to: number; readonly sent: Sent }[];
}

interface Piece {
  readonly block: Block;
  readonly from: number;
  readonly to: number;
}

/**
 * Makes every pure answer again from the blocks that its front had claimed, so that bytes from elsewhere, or delivered
 * before, are detected. Sampling is a function of the bytes alone, so a search finds the place they were read from; a
 * draw continues from one claimed block to the next.
 */
export class PureKeeper {
  readonly #blocks = new Map<string, Block>();
  /** What each front of each life may draw from: claimed blocks and pieces that a worker returned, in order of time. */
  readonly #claimed = new Map<string, Piece[]>();
  /** The pieces that each front sent to a worker for one large answer, in order. */
  readonly #sentToWorker = new Map<string, (readonly Piece[])[]>();
  /** The end of each front's last draw. */
  readonly #stood = new Map<string, { readonly block: Block; readonly offset: number }>();
  bytesDelivered = 0;

  stored(lotId: string, blocks: readonly Uint8Array[]): void {
    for (const bytes of blocks) {
      const text = textOf(bytes);
      hold(!this.#blocks.has(text), 'pure bytes once', () => `a block of ${lotId} was stored before`);
      this.#blocks.set(text, { lotId, bytes: bytes.slice(), delivered: [] });
    }
  }

  claimed(front: string, blocks: readonly Uint8Array[]): void {
    const claimed = this.#claimed.get(front) ?? [];
    this.#claimed.set(front, claimed);
    for (const bytes of blocks) {
      const block = this.#blocks.get(textOf(bytes));
      hold(block !== undefined, 'pure bytes once', () => 'a block was claimed that no lot has');
      claimed.push({ block, from: 0, to: block.bytes.length });
    }
  }

  /**
   * A front sent these bytes to a worker, which returned what it did not read: the front draws from that later, but for the rest of
   * a piece of which a part was read.
   */
  worked(pieces: readonly Uint8Array[], left: readonly Uint8Array[]): void {
    const route = pieces.map((bytes) => this.#pieceOf(bytes));
    for (const [front, claimed] of this.#claimed) {
      if (!claimed.some(({ block }) => block === route[0].block)) continue;
      const routes = this.#sentToWorker.get(front) ?? [];
      this.#sentToWorker.set(front, routes);
      routes.push(route);
      for (const { block, from, to } of left.map((bytes) => this.#pieceOf(bytes)))
        claimed.push({ block, from: Math.ceil(from / PIECE_BYTES) * PIECE_BYTES, to });
    }
  }

  #pieceOf(bytes: Uint8Array): Piece {
    for (const block of this.#blocks.values()) {
      const from = Buffer.from(block.bytes.buffer, block.bytes.byteOffset, block.bytes.length).indexOf(bytes);
      if (from >= 0) return { block, from, to: from + bytes.length };
    }
    throw new Violation('pure bytes once', 'a worker was sent bytes that no lot has');
  }

  /** A pure answer reached its client; its body is there in one form or the other. */
  delivered(sent: Sent, front: string, reply: WireReply): void {
    const { data } = sent.plan;
    if (data === undefined || sent.persisted === undefined) return;
    const { entry, source } = sent.persisted;
    const { values } = data;
    const found = this.#find(front, source.lotIds, { values, ...givenIn(reply), bytes: entry.consumedBytes });
    const name = nameOf(sent);
    hold(found !== undefined, 'pure bytes once', () => `${name} is not of blocks that its front claimed`);
    const lotIds = new Set(found.map(({ block }) => block.lotId));
    hold(
      [...lotIds].join() === source.lotIds.join(),
      'pure bytes once',
      () => `${name} drew from ${[...lotIds]} and says ${source.lotIds}`,
    );
    for (const { block, from, to } of found) {
      const other = block.delivered.find((each) => each.from < to && from < each.to);
      hold(
        other === undefined,
        'pure bytes once',
        () => `${name} has bytes of ${block.lotId} that ${nameOf(other!.sent)} had before`,
      );
      block.delivered.push({ from, to, sent });
      this.bytesDelivered += to - from;
    }
  }

  /** The pieces that the values were read from; undefined when there are none. */
  #find(front: string, lotIds: readonly string[], draw: Draw): readonly Piece[] | undefined {
    for (const route of this.#sentToWorker.get(front) ?? []) {
      const pieces = readOn(route, route[0].from, draw);
      if (pieces !== undefined) return pieces;
    }
    const claimed = (this.#claimed.get(front) ?? []).filter(({ block }) => lotIds.includes(block.lotId));
    const stood = this.#stood.get(front);
    for (const { index, offset } of placesFrom(claimed, stood)) {
      const isWithin = claimed[index].to - offset >= draw.bytes;
      for (const route of isWithin ? [[claimed[index]]] : routesFrom(index, claimed)) {
        const pieces = readOn(route, offset, draw);
        if (pieces === undefined) continue;
        const last = pieces[pieces.length - 1];
        this.#stood.set(front, { block: last.block, offset: last.to });
        return pieces;
      }
    }
    return undefined;
  }
}

/** A draw as its answer tells it. */
interface Draw {
  readonly values: ValueRequest;
  /** The values as JSON, or octets of which each character is one. */
  readonly given: string;
  readonly isOctets: boolean;
  /** Count of the bytes read for them. */
  readonly bytes: number;
}

/** The likeliest first: where the last draw ended, the starts of blocks, and then every byte. */
function* placesFrom(
  claimed: readonly Piece[],
  stood: { readonly block: Block; readonly offset: number } | undefined,
): Iterable<{ readonly index: number; readonly offset: number }> {
  const index = stood === undefined ? -1 : claimed.findLastIndex(({ block }) => block === stood.block);
  if (stood !== undefined && index >= 0) yield { index, offset: stood.offset };
  for (let i = 0; i < claimed.length; i++) yield { index: i, offset: claimed[i].from };
  for (let i = 0; i < claimed.length; i++) {
    const at = (Math.max(index, 0) + i) % claimed.length;
    const { from, to } = claimed[at];
    for (let offset = from + 1; offset < to; offset++) yield { index: at, offset };
  }
}

/**
 * The pieces that a draw may go on in: each next one; or, once, some other one, when what lies between was taken for a large
 * answer or was withdrawn, or when blocks came back into the ring.
 */
function* routesFrom(index: number, claimed: readonly Piece[]): Iterable<readonly Piece[]> {
  yield claimed.slice(index);
  for (let before = index + 1; before <= claimed.length; before++) {
    for (let after = 0; after < claimed.length; after++) {
      if (after !== before && after !== index)
        yield [...claimed.slice(index, before), ...claimed.slice(after)];
    }
  }
}

class NoMoreBytes extends Error {}

/** The pieces, if the values come of these blocks from this byte of the first on. */
function readOn(route: readonly Piece[], offset: number, draw: Draw): readonly Piece[] | undefined {
  let next = 0;
  const reader = new EntropyReader(() => {
    const piece = route.at(next++);
    const from = next === 1 ? offset : piece?.from;
    if (piece === undefined || from === undefined || from >= piece.to) throw new NoMoreBytes();
    return piece.block.bytes.slice(from, Math.min(piece.to, from + draw.bytes));
  });
  try {
    const made = draw.isOctets
      ? Buffer.from(drawnOctets(draw.values, reader)).toString('latin1')
      : drawnText(draw.values, reader);
    if (made !== draw.given) return undefined;
  } catch (error) {
    if (error instanceof NoMoreBytes) return undefined;
    throw error;
  }
  // words that a sampler refuses may stand before the draw as well as in it: the length decides
  if (reader.consumedBytes !== draw.bytes) return undefined;
  let left = draw.bytes;
  const pieces = route.map((piece, i) => {
    const from = i === 0 ? offset : piece.from;
    const to = Math.min(piece.to, from + left);
    left -= to - from;
    return { block: piece.block, from, to };
  });
  return pieces.filter(({ from, to }) => to > from);
}

const VALUE_MEMBERS = ['values', 'bytes', 'uuids', 'bitstring', 'items'];

function givenIn(reply: WireReply): Pick<Draw, 'given' | 'isOctets'> {
  const body = bodyOf(reply) as AnswerBody | undefined;
  if (body === undefined) return { given: Buffer.from(reply.body).toString('latin1'), isOctets: true };
  const member = VALUE_MEMBERS.find((name) => name in body.data) ?? '';
  return { given: JSON.stringify(body.data[member]), isOctets: false };
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, 32)).toString('hex');
}
