import { randomFillSync } from 'node:crypto';
import { pack } from 'msgpackr';
import { assert } from '../core/assert.ts';
import { wipe } from '../core/bytes.ts';
import { sha256Hex } from '../crypto/digest.ts';
import { Expander, expandPiece } from '../crypto/expander.ts';
import { KEYSTREAM_SLOT_BYTES } from '../pool/supply/keystream.ts';
import { EntropyReader } from '../values/entropy-reader.ts';
import { drawJson, octetsOf, plainOf, type Sample, sample, writeJson } from '../values/sample.ts';
import { jsonBytesMax } from '../values/value-request.ts';
import type { AnswerOrder, DrawOrder, MadeValues, MakeOrder } from './protocol.ts';

/**
 * Draws, samples, writes and hashes one answer's `data` member. Erases what it was given in secret: key or pieces, and
 * the salt; for a worker, whose order is its own copy.
 */
export function makeValues(order: MakeOrder): MadeValues {
  const stream = openStream(order.draw);
  try {
    return makeFrom(stream.reader, order, order.memory);
  } finally {
    stream.close();
    wipe(order.salt);
  }
}

/** Memory that the answer needs at most. */
export function answerBytesMax(order: AnswerOrder): number {
  const { headroom, before, values, after, tailroom } = order;
  return headroom + before.length + jsonBytesMax(values) + after.length + tailroom;
}

/**
 * The same in the caller's thread, from a reader and with a salt that it keeps. What was read is erased. The answer is
 * made in `buffer`, of `answerBytesMax` bytes or more.
 */
export function makeFrom(
  reader: EntropyReader,
  order: AnswerOrder,
  buffer: Uint8Array<ArrayBuffer>,
): MadeValues {
  const { before, after, headroom } = order;
  const consumedBefore = reader.consumedBytes;
  buffer.set(before, headroom);
  const valuesAt = headroom + before.length;
  let values: Sample | undefined;
  let dataEnd: number;
  if (order.also === 'nothing') {
    dataEnd = drawJson(order.values, reader, buffer, valuesAt);
  } else {
    values = sample(order.values, reader);
    dataEnd = writeJson(values, buffer, valuesAt);
  }
  reader.erase();
  buffer.set(after, dataEnd);
  dataEnd += after.length;
  assert(dataEnd + order.tailroom <= buffer.length, 'an answer keeps to its bound');
  return {
    buffer,
    dataEnd,
    delivered: commitmentInPlace(buffer, headroom, dataEnd, order.salt),
    consumedBytes: reader.consumedBytes - consumedBefore,
    octets: values && order.also === 'octets' ? new Uint8Array(octetsOf(values)) : undefined,
    packed: values && order.also === 'packed' ? new Uint8Array(pack(plainOf(values))) : undefined,
  };
}

/** SHA-256(salt ‖ data): the salt stands before the data for the moment of one call, a third of the time of three. */
function commitmentInPlace(buffer: Uint8Array, start: number, end: number, salt: Uint8Array): string {
  assert(start >= salt.length, 'there is room for the salt before the data');
  buffer.set(salt, start - salt.length);
  const digest = sha256Hex(buffer.subarray(start - salt.length, end));
  buffer.fill(0, start - salt.length, start);
  return digest;
}

interface EntropyStream {
  readonly reader: EntropyReader;
  close(): void;
}

function openStream(draw: DrawOrder): EntropyStream {
  switch (draw.from) {
    case 'one-time-key':
      return expansionOf(draw.key);
    case 'system': {
      const reader = new EntropyReader(() => randomFillSync(new Uint8Array(KEYSTREAM_SLOT_BYTES)));
      return { reader, close: () => reader.discard() };
    }
    case 'pieces':
      return concatenationOf(draw.pieces);
  }
}

function expansionOf(key: Uint8Array<ArrayBuffer>): EntropyStream {
  const root = new Expander(key);
  wipe(key);
  const reader = new EntropyReader(() => {
    const pieceKey = root.deriveKey();
    const piece = expandPiece(pieceKey, 'system');
    wipe(pieceKey);
    return piece;
  });
  const close = () => {
    reader.discard();
    root.erase();
  };
  return { reader, close };
}

function concatenationOf(pieces: readonly Uint8Array<ArrayBuffer>[]): EntropyStream {
  let next = 0;
  const reader = new EntropyReader(() => {
    assert(next < pieces.length, 'the pieces hold the bound of the draw');
    return pieces[next++];
  });
  const close = () => {
    reader.discard();
    wipe(...pieces);
  };
  return { reader, close };
}
