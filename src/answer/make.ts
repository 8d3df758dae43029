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
 * The memory of an answer begins with its record: the request id, the certificate id and the salt, and behind them the octets
 * or the text of the `data` member. The salt and the bytes behind it are contiguous because the commitment hashes them
 * together.
 */
export const AT_REQUEST_ID = 0;
export const AT_CERTIFICATE_ID = 16;
export const AT_SALT = 32;
const SALT_BYTES = 32;
export const DATA_START = AT_SALT + SALT_BYTES;
/**
 * A record of at most this size is copied into its reply when the reply is sent (template.ts). The reply of a longer record is
 * completed in the memory of the answer, which then has TAIL_BYTES_MAX bytes of room behind the data.
 */
export const RECORD_BYTES_MAX = 4_096;
/** Upper bound on the text of a JSON body behind the data. */
export const TAIL_BYTES_MAX = 2_048;

export const DIGEST_BYTES = 32;

/** Room for the part of a MessagePack reply before its values. If that part is longer, the reply is copied (text.ts). */
export const PACKED_HEAD_BYTES_MAX = 4_096;

/** The text of the `data` member before and after its values. Together they are canonical JSON. */
export interface DataTemplate {
  readonly before: Uint8Array<ArrayBuffer>;
  readonly after: Uint8Array<ArrayBuffer>;
}

/** The input for making an answer: plain data, so that it can be sent to another thread. */
export interface MakeOrder {
  readonly values: ValueRequest;
  readonly form: AnswerForm;
  /** How bare values are written, for the form `octet-stream`; then there is no `data` member. */
  readonly octets: BareType | undefined;
  readonly template: DataTemplate;
}

/** The memory that an answer is made in, and the result. */
export interface Making extends MakeOrder {
  /** The answer may use [start, end), at least `answerBytesMax` bytes. They begin with a record that already has its salt. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly start: number;
  readonly end: number;
  // `makeFrom` sets the members below
  /** End of the `data` member or the octets, which the commitment covers. */
  dataEnd: number;
  /** Start and end of the values in MessagePack; both 0 for other forms. */
  packedStart: number;
  packedEnd: number;
  /** The commitment is written here: SHA-256(salt ‖ data) or SHA-256(salt ‖ octets), 32 bytes. */
  readonly delivered: Uint8Array<ArrayBuffer>;
  consumedBytes: number;
}

/** The source of a large answer's random bytes. The worker erases keys and pieces when it is done. */
export type DrawOrder =
  /** Seeded mode: expansion of a one-time key, mixed with system entropy. */
  | { readonly from: 'one-time-key'; readonly key: Uint8Array<ArrayBuffer> }
  /** Csprng mode: system entropy. */
  | { readonly from: 'system' }
  /** Pure mode: claimed blocks only. */
  | { readonly from: 'pieces'; readonly pieces: readonly Uint8Array<ArrayBuffer>[] };

/** An answer that a worker makes. */
export interface WorkerOrder extends MakeOrder {
  readonly draw: DrawOrder;
  /** At least `answerBytesMax` bytes, with a salt in the record. The memory moves to the worker and back. */
  readonly memory: Uint8Array<ArrayBuffer>;
}

/** The result of a worker. */
export interface MadeByWorker
  extends Pick<Making, 'bytes' | 'dataEnd' | 'packedStart' | 'packedEnd' | 'delivered' | 'consumedBytes'> {
  /** The unread rest of the pieces, in order. The next draw uses it. */
  readonly left: readonly Uint8Array<ArrayBuffer>[];
  /** The worker's time for the answer. Admission estimates the cost of later answers by it. */
  readonly busyMs: number;
}

/** The threads that make large answers. */
export interface AnswerWorkers {
  readonly threads: number;
  /** Makes an answer. Takes over the memory and the secrets of the order; the secrets are erased whether it resolves or rejects. */
  make(order: WorkerOrder): Promise<MadeByWorker>;
}

/** Returns an upper bound on the memory of an answer whose values take at most `valuesBytesMax` bytes of JSON or octets. */
export function answerBytesMax(
  { values, form, octets, template: { before, after } }: MakeOrder,
  valuesBytesMax: number,
): number {
  if (octets !== undefined) return DATA_START + valuesBytesMax;
  const textBytes = DATA_START + before.length + valuesBytesMax + after.length;
  if (form === 'msgpack') return textBytes + PACKED_HEAD_BYTES_MAX + packedBytesMax(values, valuesBytesMax);
  return textBytes > RECORD_BYTES_MAX ? textBytes + TAIL_BYTES_MAX : textBytes;
}

/** Smallest piece of keystream for one answer. Otherwise the last piece is only as long as the rest that the answer may read. */
const PIECE_BYTES_MIN = 1_024;

/** Makes an answer in a worker: draws its values, writes them and hashes them. Erases the key and the pieces of the order. */
export function makeValues({ draw, memory, ...order }: WorkerOrder): Omit<MadeByWorker, 'busyMs'> {
  const delivered = new Uint8Array(DIGEST_BYTES);
  const making = { ...order, bytes: memory, start: 0, end: memory.length, delivered } as Making;
  const pieces = draw.from === 'pieces' ? [...draw.pieces] : [];
  const root = draw.from === 'one-time-key' ? new Expander(draw.key) : undefined;
  let dueBytes = entropyBytesMax(order.values);
  const next = () => {
    if (root !== undefined) {
      const size = Math.min(PIECE_OUTPUT_BYTES, Math.max(PIECE_BYTES_MIN, dueBytes));
      dueBytes -= size;
      return nextPiece(root, size);
    }
    const piece = pieces.shift();
    assert(piece !== undefined, 'the pieces hold the bound of the draw');
    return piece;
  };
  const reader = draw.from === 'system' ? systemReader() : new EntropyReader(next);
  try {
    makeFrom(reader, making);
    const left = draw.from === 'pieces' ? [...reader.takeRest(), ...pieces.splice(0)] : [];
    const { bytes, dataEnd, packedStart, packedEnd, consumedBytes } = making;
    return { bytes, dataEnd, packedStart, packedEnd, delivered, consumedBytes, left };
  } finally {
    reader.discard();
    root?.erase();
    wipe(...pieces, ...(draw.from === 'one-time-key' ? [draw.key] : []));
  }
}

/** Makes an answer from the bytes of `reader`, and computes its commitment. Erases the bytes that were read. */
export function makeFrom(reader: EntropyReader, making: Making): void {
  drawFrom(reader, making);
  commitInPlace(making);
}

/** Makes an answer like `makeFrom`, but leaves the commitment to the caller. */
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

/** Writes the `data` member, and for MessagePack the values a second time behind it. */
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

/** Computes the commitment SHA-256(salt ‖ data or octets) of an answer. */
export function commitInPlace({ bytes, start, dataEnd, delivered }: Making): void {
  sha256(bytes.subarray(start + AT_SALT, dataEnd), delivered);
}
