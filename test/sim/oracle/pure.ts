import { EntropyReader } from '../../../src/values/entropy-reader.ts';
import { plainOf, sample } from '../../../src/values/sample.ts';
import { entropyBytesMax, type ValueRequest } from '../../../src/values/value-request.ts';
import type { WireReply } from '../front.ts';
import { type AnswerBody, bodyOf, type Sent } from '../sent.ts';
import { nameOf } from './books.ts';
import { hold } from './violation.ts';

/** A pure block of a lot as it was stored, and what of it was delivered. */
interface Block {
  readonly lotId: string;
  readonly bytes: Uint8Array;
  /** Delivered so far, in the order of delivery. */
  readonly delivered: { readonly from: number; readonly to: number; readonly sent: Sent }[];
}

/** A place in the blocks that a front claimed. */
interface Place {
  readonly index: number;
  readonly offset: number;
}

interface Found {
  readonly pieces: readonly { readonly block: Block; readonly from: number; readonly to: number }[];
}

/**
 * Every pure answer is made again from the blocks that its front had claimed: whatever was not made of them, or of bytes
 * that were delivered before, shows. Sampling is a function of the bytes alone, so the place they were read from is found by
 * trying; a draw goes from one claimed block to the next.
 */
export class PureKeeper {
  readonly #blocks = new Map<string, Block>();
  /** Of each front of each life, in the order of the claims. */
  readonly #claimed = new Map<string, Block[]>();
  /** Where the last draw of a front ended. */
  readonly #stood = new Map<string, Place>();
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
      claimed.push(block);
    }
  }

  /** A pure answer reached its client; its body is there in one form or the other. */
  delivered(sent: Sent, front: string, reply: WireReply): void {
    const { data } = sent.plan;
    if (data === undefined || sent.persisted === undefined) return;
    const given = valuesOf(data.values, reply);
    const { entry, source } = sent.persisted;
    const found = this.#find(front, data.values, given, entry.consumedBytes);
    hold(found !== undefined, 'pure bytes once', () => `${nameOf(sent)} is not made of claimed blocks`);
    const lotIds = [...new Set(found.pieces.map(({ block }) => block.lotId))];
    hold(
      lotIds.join() === source.lotIds.join(),
      'pure bytes once',
      () => `${nameOf(sent)} drew from ${lotIds} and says ${source.lotIds}`,
    );
    for (const { block, from, to } of found.pieces) {
      const other = block.delivered.find((each) => each.from < to && from < each.to);
      hold(
        other === undefined,
        'pure bytes once',
        () => `${nameOf(sent)} has bytes of ${block.lotId} that ${nameOf(other!.sent)} had before`,
      );
      block.delivered.push({ from, to, sent });
      this.bytesDelivered += to - from;
    }
  }

  /** Where the values were read from. A front reads on from where it stood, so that is tried first. */
  #find(front: string, values: ValueRequest, given: string, consumed: number): Found | undefined {
    const claimed = this.#claimed.get(front) ?? [];
    const bytesMax = entropyBytesMax(values);
    const stood = this.#stood.get(front) ?? { index: 0, offset: 0 };
    for (const place of placesFrom(claimed, stood)) {
      const found = tryPlace(claimed, place, { values, bytesMax }, given);
      // words that a sampler refuses may stand before the draw as well as in it: the length decides
      if (found === undefined || sizeOf(found) !== consumed) continue;
      const { block, to } = found.pieces[found.pieces.length - 1];
      this.#stood.set(front, { index: claimed.lastIndexOf(block), offset: to });
      return found;
    }
    return undefined;
  }
}

/** Every place of the blocks, the likeliest first: where the last draw ended, whole blocks after it, what it left out. */
function* placesFrom(claimed: readonly Block[], stood: Place): Iterable<Place> {
  yield stood;
  for (let index = stood.index + 1; index < claimed.length; index++) yield { index, offset: 0 };
  for (let i = 0; i < claimed.length; i++) {
    const index = (stood.index + i) % claimed.length;
    const { length } = claimed[index].bytes;
    const first = i === 0 ? stood.offset : 0;
    for (let j = 0; j < length; j++) yield { index, offset: (first + j) % length };
  }
}

function sizeOf({ pieces }: Found): number {
  return pieces.reduce((sum, { from, to }) => sum + to - from, 0);
}

class NoMoreBytes extends Error {}

function tryPlace(
  claimed: readonly Block[],
  place: Place,
  { values, bytesMax }: { readonly values: ValueRequest; readonly bytesMax: number },
  given: string,
): Found | undefined {
  const read: Block[] = [];
  let next = place.index;
  const reader = new EntropyReader(() => {
    const block = claimed.at(next);
    const offset = next === place.index ? place.offset : 0;
    if (block === undefined || offset === block.bytes.length) throw new NoMoreBytes();
    next++;
    read.push(block);
    return block.bytes.slice(offset, offset + bytesMax);
  });
  try {
    if (comparable(values, reader) !== given) return undefined;
  } catch (error) {
    if (error instanceof NoMoreBytes) return undefined;
    throw error;
  }
  let left = reader.consumedBytes;
  const pieces = read.map((block, i) => {
    const from = i === 0 ? place.offset : 0;
    const to = Math.min(block.bytes.length, from + left);
    left -= to - from;
    return { block, from, to };
  });
  return { pieces: pieces.filter(({ from, to }) => to > from) };
}

/** The values in a form that all representations of an answer can be brought to. */
function comparable(values: ValueRequest, reader: EntropyReader): string {
  return JSON.stringify(plainOf(sample(values, reader)));
}

const VALUE_MEMBERS = ['values', 'bytes', 'uuids', 'bitstring', 'items'];

function valuesOf(values: ValueRequest, reply: WireReply): string {
  const body = bodyOf(reply) as AnswerBody | undefined;
  if (body === undefined) return plainOfOctets(values, reply.body);
  const member = VALUE_MEMBERS.find((name) => name in body.data) ?? '';
  return JSON.stringify(body.data[member]);
}

/** The bare bytes of an answer, as its JSON would print them. */
function plainOfOctets(values: ValueRequest, octets: Uint8Array): string {
  const view = Buffer.from(octets);
  switch (values.kind) {
    case 'bytes': {
      const texts = Array.from({ length: values.count }, (_, i) =>
        view.subarray(i * values.length, (i + 1) * values.length).toString(values.encoding),
      );
      return JSON.stringify(values.single ? texts[0] : texts);
    }
    case 'integers': {
      const isNarrow = values.max < 2 ** 31 && values.min >= -(2 ** 31);
      const size = isNarrow ? 4 : 8;
      return JSON.stringify(
        Array.from({ length: values.count }, (_, i) =>
          isNarrow ? view.readInt32LE(i * size) : view.readDoubleLE(i * size),
        ),
      );
    }
    case 'uuid':
      return JSON.stringify(
        Array.from({ length: values.count }, (_, i) =>
          view
            .subarray(16 * i, 16 * i + 16)
            .toString('hex')
            .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
        ),
      );
    default:
      throw new Error(`no client asks for the bare values of ${values.kind}`);
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, 32)).toString('hex');
}
