import { type ClaimedBlock, PURE_BLOCK_BYTES } from '../../../../src/ledger/records.ts';
import { EntropyReader } from '../../../../src/values/entropy-reader.ts';
import { drawnOctets, drawnText } from '../../../values/drawn.ts';
import type { WireReply } from '../front.ts';
import { type AnswerBody, bodyOf, type Sent } from '../sent.ts';
import { nameOf } from './books.ts';
import { hold, Violation } from './violation.ts';

interface Lot {
  /** Its pure blocks as they were stored, joined. */
  readonly bytes: Buffer;
  readonly delivered: { readonly from: number; readonly to: number; readonly sent: Sent }[];
}

const VALUE_MEMBERS = ['values', 'bytes', 'uuids', 'bitstring', 'items'];

/**
 * Makes every pure answer again from the ranges of lots that its entry names, so that bytes from elsewhere, or delivered
 * before, are detected.
 */
export class PureKeeper {
  readonly #lots = new Map<string, Lot>();
  /** The start of each block that was stored. */
  readonly #starts = new Set<string>();
  /** Front, lot and index of each block that was claimed. */
  readonly #claimed = new Set<string>();
  bytesDelivered = 0;

  stored(lotId: string, blocks: readonly Uint8Array[]): void {
    for (const bytes of blocks) {
      const start = Buffer.from(bytes.subarray(0, 32)).toString('hex');
      hold(!this.#starts.has(start), 'pure bytes once', `a block of ${lotId} was stored before`);
      this.#starts.add(start);
    }
    this.#lots.set(lotId, { bytes: Buffer.concat(blocks), delivered: [] });
  }

  claimed(front: string, blocks: readonly ClaimedBlock[]): void {
    for (const { lotId, index, bytes } of blocks) {
      const at = index * PURE_BLOCK_BYTES;
      const isOfLot = this.#lots
        .get(lotId)
        ?.bytes.subarray(at, at + bytes.length)
        .equals(bytes);
      hold(isOfLot, 'pure bytes once', `a block was claimed that ${lotId} does not have`);
      this.#claimed.add(`${front} ${lotId} ${index}`);
    }
  }

  /** A pure answer reached its client; its body is there in one form or the other. */
  delivered(sent: Sent, front: string, reply: WireReply): void {
    const { data } = sent.plan;
    if (data === undefined || sent.persisted === undefined) return;
    const { entry, source } = sent.persisted;
    const name = nameOf(sent);
    let left = entry.consumedBytes;
    // a range has whole pieces, and the rest of the last one is erased
    const parts = source.drawn.map(({ lot, offset, bytes }) => {
      const taken = Math.min(bytes, left);
      left -= taken;
      return this.#deliver(sent, front, source.lotIds[lot], offset, offset + taken);
    });
    const bytes = [new Uint8Array(Buffer.concat(parts))];
    const reader = new EntropyReader(() => {
      const next = bytes.shift();
      if (next === undefined) throw new Violation('pure bytes once', `${name} is of more bytes than it says`);
      return next;
    });
    const body = bodyOf(reply) as AnswerBody | undefined;
    const member = VALUE_MEMBERS.find((each) => body !== undefined && each in body.data) ?? '';
    const isSame =
      body === undefined
        ? Buffer.compare(drawnOctets(data.values, reader), reply.body) === 0
        : drawnText(data.values, reader) === JSON.stringify(body.data[member]);
    const isAll = reader.consumedBytes === entry.consumedBytes;
    hold(isSame && isAll, 'pure bytes once', `${name} is not of the bytes that its entry names`);
  }

  /** Returns the bytes of the lot, which its front must have claimed and nobody else had. */
  #deliver(sent: Sent, front: string, lotId: string, from: number, to: number): Buffer {
    const name = nameOf(sent);
    const { bytes, delivered } = this.#lots.get(lotId)!;
    for (let index = Math.floor(from / PURE_BLOCK_BYTES); index * PURE_BLOCK_BYTES < to; index++) {
      const isClaimed = this.#claimed.has(`${front} ${lotId} ${index}`);
      hold(isClaimed, 'pure bytes once', `${name} is of a block that its front never claimed`);
    }
    const other = delivered.find((each) => each.from < to && from < each.to);
    if (other !== undefined)
      throw new Violation(
        'pure bytes once',
        `${name} has bytes of ${lotId} that ${nameOf(other.sent)} had before`,
      );
    delivered.push({ from, to, sent });
    this.bytesDelivered += to - from;
    return bytes.subarray(from, to);
  }
}
