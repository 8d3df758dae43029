import { assert } from '../core/assert.ts';
import { putBytes, wipe } from '../core/bytes.ts';
import { type BareType, isTextType } from '../core/vocabulary.ts';
import { Expander, PIECE_OUTPUT_BYTES } from '../crypto/expander.ts';
import { sha256 } from '../crypto/sha256.ts';
import { nextPiece, systemReader } from '../pool/supply/keystream.ts';
import { EntropyReader } from '../values/entropy-reader.ts';
import { type Output, packedBytesMax } from '../values/packed.ts';
import { drawJson, drawOctets } from '../values/sample.ts';
import { drawText } from '../values/text-lines.ts';
import { entropyBytesMax, jsonBytesMax, type ValueRequest } from '../values/value-request.ts';
import type { AnswerForm } from './request.ts';

/**
 * The memory of an answer begins with its record: the ids and the salt that its reply prints, and behind them the octets or the text
 * of its `data` member. The salt stands right before what it is hashed with.
 */
export const AT_REQUEST_ID = 0;
export const AT_CERTIFICATE_ID = 16;
export const AT_SALT = 32;
export const SALT_BYTES = 32;
export const DATA_START = AT_SALT + SALT_BYTES;
/**
 * A record of at most this size is copied into its reply when the reply is sent (template.ts). The reply of a longer one is completed in
 * the memory of the answer, which has room for the text behind the data.
 */
export const RECORD_BYTES_MAX = 4_096;
/** Bytes of the text behind the data, at most. */
export const TAIL_BYTES_MAX = 2_048;

export const DIGEST_BYTES = 32;

/** Room before the values of a MessagePack reply for what precedes them; a longer reply is copied (text.ts). */
export const PACKED_HEAD_BYTES_MAX = 4_096;

/** The text of the `data` member before and after its values; canonical JSON as a whole. */
export interface DataTemplate {
  readonly before: Uint8Array<ArrayBuffer>;
  readonly after: Uint8Array<ArrayBuffer>;
}

/** What an answer is made from. Plain data, so that it crosses threads. */
export interface MakeOrder {
  readonly values: ValueRequest;
  readonly form: AnswerForm;
  /** Of the form `octet-stream`; then there is no text. */
  readonly octets: BareType | undefined;
  readonly template: DataTemplate;
}

/** Where an answer is made, and what came of it. */
export interface Making extends MakeOrder {
  /**
   * The answer may use [start, end) of these, at least `answerBytesMax` bytes. They begin with a record that has its salt, which is
   * hashed before the `data` member or the octets.
   */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly start: number;
  readonly end: number;
  // what follows is for `makeFrom` to set
  /** Where what is committed to ends: the `data` member or the octets. */
  dataEnd: number;
  /** Of MessagePack beside text: where the values start and end in it. */
  packedStart: number;
  packedEnd: number;
  /** 32 bytes: SHA-256(salt ‖ data) or SHA-256(salt ‖ octets) is written here. */
  readonly delivered: Uint8Array<ArrayBuffer>;
  consumedBytes: number;
}

/**
 * Where a large answer's bytes come from. Key material and pieces are erased by the worker when it is done.
 */
export type DrawOrder =
  /** Seeded mode: expansion of a one-time key, mixed with system entropy. */
  | { readonly from: 'one-time-key'; readonly key: Uint8Array<ArrayBuffer> }
  /** Csprng mode: system entropy. */
  | { readonly from: 'system' }
  /** Pure mode: claimed blocks, and nothing else. */
  | { readonly from: 'pieces'; readonly pieces: readonly Uint8Array<ArrayBuffer>[] };

/** An answer that a worker makes. */
export interface WorkerOrder extends MakeOrder {
  readonly draw: DrawOrder;
  /** At least `answerBytesMax` bytes, with a salt in the record; moves to the worker and back. */
  readonly memory: Uint8Array<ArrayBuffer>;
}

/** As the worker returns it. */
export interface MadeByWorker
  extends Pick<Making, 'bytes' | 'dataEnd' | 'packedStart' | 'packedEnd' | 'delivered' | 'consumedBytes'> {
  /** Pieces that were not read, or what is left of one, in order: the next draw takes them. */
  readonly left: readonly Uint8Array<ArrayBuffer>[];
  /** What it took of the worker's time: the answers to come are weighed by it. */
  readonly busyMs: number;
}

/** The threads that make large answers. */
export interface AnswerWorkers {
  readonly threads: number;
  /**
   * Takes over the memory and the secrets of the draw; they are erased when it settles, whatever came of it.
   */
  make(order: WorkerOrder): Promise<MadeByWorker>;
}

/** Memory that an answer needs at most, its values taking `valuesBytesMax` bytes of JSON or octets. */
export function answerBytesMax(
  { values, form, octets, template: { before, after } }: MakeOrder,
  valuesBytesMax: number,
): number {
  if (octets !== undefined) return DATA_START + valuesBytesMax;
  const textBytes = DATA_START + before.length + valuesBytesMax + after.length;
  if (form === 'msgpack') return textBytes + PACKED_HEAD_BYTES_MAX + packedBytesMax(values, valuesBytesMax);
  return textBytes > RECORD_BYTES_MAX ? textBytes + TAIL_BYTES_MAX : textBytes;
}

/**
 * Draws, samples, writes and hashes one answer's `data` member for a worker, whose order is its own copy:
 * key and pieces are erased.
 */
export function makeValues({ draw, memory, ...order }: WorkerOrder): Omit<MadeByWorker, 'busyMs'> {
  const stream = openStream(draw, order.values);
  const delivered = new Uint8Array(DIGEST_BYTES);
  const making = { ...order, bytes: memory, start: 0, end: memory.length, delivered } as Making;
  let left: Uint8Array<ArrayBuffer>[];
  try {
    makeFrom(stream.reader, making);
    left = stream.takeRest();
  } finally {
    stream.close();
  }
  const { bytes, dataEnd, packedStart, packedEnd, consumedBytes } = making;
  return { bytes, dataEnd, packedStart, packedEnd, delivered, consumedBytes, left };
}

/** The same in the caller's thread. What was read is erased. */
export function makeFrom(reader: EntropyReader, making: Making): void {
  drawFrom(reader, making);
  commitInPlace(making);
}

/** The same without the hash. */
export function drawFrom(reader: EntropyReader, making: Making): void {
  const { values, octets, bytes, start, end } = making;
  const consumedBefore = reader.consumedBytes;
  making.packedStart = making.packedEnd = 0;
  if (octets === undefined) writeData(reader, making);
  else if (isTextType(octets)) making.dataEnd = drawText(values, octets, reader, bytes, start + DATA_START);
  else making.dataEnd = drawOctets(values, reader, bytes, start + DATA_START);
  assert(Math.max(making.dataEnd, making.packedEnd) <= end, 'an answer keeps to its bound');
  reader.erase();
  making.consumedBytes = reader.consumedBytes - consumedBefore;
}

/** Writes the `data` member, and of MessagePack its values again behind it. */
function writeData(reader: EntropyReader, making: Making): void {
  const { values, form, bytes, start } = making;
  const { before, after } = making.template;
  const valuesStart = putBytes(before, bytes, start + DATA_START);
  let packed: Output | undefined;
  if (form === 'msgpack') {
    const textMax = before.length + jsonBytesMax(values) + after.length;
    making.packedStart = start + DATA_START + textMax + PACKED_HEAD_BYTES_MAX;
    packed = { bytes, at: making.packedStart };
  }
  const valuesEnd = drawJson(values, reader, bytes, valuesStart, packed);
  if (packed !== undefined) making.packedEnd = packed.at;
  making.dataEnd = putBytes(after, bytes, valuesEnd);
  if (packed !== undefined)
    assert(making.dataEnd <= making.packedStart - PACKED_HEAD_BYTES_MAX, 'a text keeps to its bound');
}

/** SHA-256(salt ‖ data or octets): the salt lies right before them. */
export function commitInPlace({ bytes, start, dataEnd, delivered }: Making): void {
  sha256(bytes.subarray(start + AT_SALT, dataEnd), delivered);
}

/** Bytes for one answer. */
interface EntropyStream {
  readonly reader: EntropyReader;
  /** The pieces that were not read; nothing of what can be made again. */
  takeRest(): Uint8Array<ArrayBuffer>[];
  close(): void;
}

/** Of a piece for one answer, the last of which is no longer than what may be read of it. */
const PIECE_BYTES_MIN = 1_024;

/** The caller closes it, which erases what is left. Takes over the key material of the order. */
function openStream(draw: DrawOrder, values: ValueRequest): EntropyStream {
  if (draw.from === 'pieces') return concatenationOf(draw.pieces);
  const takeRest = () => [];
  if (draw.from === 'system') {
    const reader = systemReader();
    return { reader, takeRest, close: () => reader.discard() };
  }
  const root = new Expander(draw.key);
  wipe(draw.key);
  let due = entropyBytesMax(values);
  const reader = new EntropyReader(() => {
    const size = Math.min(PIECE_OUTPUT_BYTES, Math.max(PIECE_BYTES_MIN, due));
    due -= size;
    return nextPiece(root, size);
  });
  const close = () => {
    reader.discard();
    root.erase();
  };
  return { reader, takeRest, close };
}

function concatenationOf(pieces: readonly Uint8Array<ArrayBuffer>[]): EntropyStream {
  let next = 0;
  const reader = new EntropyReader(() => {
    assert(next < pieces.length, 'the pieces hold the bound of the draw');
    return pieces[next++];
  });
  let kept = pieces;
  const close = () => {
    reader.discard();
    wipe(...kept);
  };
  const takeRest = () => {
    const rest = [...reader.takeRest(), ...pieces.slice(next)];
    kept = pieces.slice(0, next);
    return rest;
  };
  return { reader, takeRest, close };
}
