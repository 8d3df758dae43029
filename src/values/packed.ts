import { pack } from 'msgpackr';
import { assert } from '../core/assert.ts';
import type { BareType } from '../core/vocabulary.ts';
import type { EntropyReader } from './entropy-reader.ts';
import { decimalBlocks, denominatorOf, WORD_BYTES, writeDecimalBlock, writeUnitBlock } from './floats.ts';
import { offsetBlocks, writeIntegerBlock } from './integers.ts';
import { BLOCK_BYTES, kernels, putText, takeEntropy } from './kernels.ts';
import { drawList } from './lists.ts';
import { takeWords } from './offsets.ts';
import { BLOCK_UUIDS, UUID_BYTES } from './uuid.ts';
import type { ValueRequest } from './value-request.ts';

/**
 * Values in MessagePack, written beside their JSON text from one draw: the certificate of a MessagePack answer commits to
 * the JSON, so that whoever decodes the answer can check it. Block by block, without an object for any value.
 */

/** Memory that is written to, and where it goes on. */
export interface Output {
  readonly bytes: Uint8Array<ArrayBuffer>;
  at: number;
}

type RequestOf<K extends ValueRequest['kind']> = Extract<ValueRequest, { kind: K }>;

/** Writes the values as JSON to `text` and as MessagePack to `packed`, which have room for both. */
export function writeBoth(request: ValueRequest, reader: EntropyReader, text: Output, packed: Output): void {
  switch (request.kind) {
    case 'integers':
      asArray(request.count, text, packed, () => integers(request, reader, text, packed));
      return;
    case 'floats':
      asArray(request.count, text, packed, () => floats(request, reader, text, packed));
      return;
    case 'uuid':
      asArray(request.count, text, packed, () => uuids(request, reader, text, packed));
      return;
    case 'bytes':
      if (!request.single)
        asArray(request.count, text, packed, () => byteStrings(request, reader, text, packed));
      else {
        byteStrings(request, reader, text, packed);
        text.at--; // one string has no comma behind it
      }
      return;
    case 'bitstring':
      bits(request, reader, text, packed);
      return;
    default: {
      const list = drawList(reader, request);
      put(Buffer.from(JSON.stringify(list)), text);
      put(pack(list), packed);
    }
  }
}

/** Bytes of `writeBoth` in MessagePack, at most. */
export function packedBytesMax(request: ValueRequest, jsonBytesMax: number): number {
  // numbers take nine bytes at most; heads of strings are no longer than the quotes and the comma of JSON
  const isNumbers = request.kind === 'integers' || request.kind === 'floats' || request.kind === 'gaussians';
  return HEAD_MAX + (isNumbers ? 9 * request.count : jsonBytesMax);
}

/** Of an array or a single string. */
const HEAD_MAX = 5;

function asArray(count: number, text: Output, packed: Output, write: () => void): void {
  text.bytes[text.at++] = 0x5b; // '['
  putArrayHead(count, packed);
  write();
  text.bytes[text.at - 1] = 0x5d; // ']' over the last comma
}

function integers(request: RequestOf<'integers'>, reader: EntropyReader, text: Output, packed: Output): void {
  const { min, max } = request;
  const blocks = offsetBlocks(reader, request);
  const pack = blocks.isWide ? kernels.packedIntegers64 : kernels.packedIntegers32;
  for (let count = blocks.next(); count > 0; count = blocks.next()) {
    take(writeIntegerBlock(count, min, max, blocks.isWide), text);
    take(pack(count, min), packed);
  }
}

function floats(
  { count, precision }: RequestOf<'floats'>,
  reader: EntropyReader,
  text: Output,
  packed: Output,
): void {
  if (precision === null) {
    for (let missing = count; missing > 0; ) {
      const words = takeWords(reader, WORD_BYTES, missing);
      take(writeUnitBlock(words), text);
      take(kernels.packedUnits(words), packed);
      missing -= words;
    }
    return;
  }
  const blocks = decimalBlocks(reader, count, precision);
  const pack = blocks.isWide ? kernels.packedQuotients64 : kernels.packedQuotients32;
  const denominator = denominatorOf(precision);
  for (let drawn = blocks.next(); drawn > 0; drawn = blocks.next()) {
    take(writeDecimalBlock(drawn, precision, blocks.isWide), text);
    take(pack(drawn, denominator), packed);
  }
}

function uuids({ count }: RequestOf<'uuid'>, reader: EntropyReader, text: Output, packed: Output): void {
  for (let missing = count; missing > 0; ) {
    const drawn = Math.min(missing, BLOCK_UUIDS);
    takeEntropy(reader, UUID_BYTES * drawn);
    take(kernels.uuid(drawn), text);
    take(kernels.packedUuid(drawn), packed);
    missing -= drawn;
  }
}

function byteStrings(
  { count, length, encoding }: RequestOf<'bytes'>,
  reader: EntropyReader,
  text: Output,
  packed: Output,
): void {
  const isHex = encoding === 'hex';
  const head = stringHead(isHex ? 2 * length : 4 * Math.ceil(length / 3));
  assert(head.length <= 4, 'a head fits into a word'); // up to 65,535 characters; a value fits into a block
  const headWord = head.reduceRight((word, byte) => word * 256 + byte, 0);
  const blockValues = Math.floor(BLOCK_BYTES / length);
  for (let missing = count; missing > 0; ) {
    const values = Math.min(missing, blockValues);
    takeEntropy(reader, values * length);
    take(isHex ? kernels.hex(values, length) : kernels.base64(values, length), text);
    const pack = isHex ? kernels.packedHex : kernels.packedBase64;
    take(pack(values, length, headWord, head.length), packed);
    missing -= values;
  }
}

function bits({ length }: RequestOf<'bitstring'>, reader: EntropyReader, text: Output, packed: Output): void {
  put(stringHead(length), packed);
  text.bytes[text.at++] = 0x22; // '"'
  for (let missing = length; missing > 0; ) {
    const drawn = Math.min(missing, 8 * BLOCK_BYTES);
    const size = Math.ceil(drawn / 8);
    takeEntropy(reader, size);
    kernels.bits(size);
    take(drawn, text);
    take(drawn, packed);
    missing -= drawn;
  }
  text.bytes[text.at++] = 0x22;
}

function take(size: number, output: Output): void {
  output.at = putText(size, output.bytes, output.at);
}

function put(bytes: ArrayLike<number>, output: Output): void {
  output.bytes.set(bytes, output.at);
  output.at += bytes.length;
}

/** The head of a string of so many ASCII characters. */
function stringHead(characters: number): number[] {
  if (characters < 32) return [0xa0 | characters];
  if (characters < 0x100) return [0xd9, characters];
  if (characters < 0x1_0000) return [0xda, characters >> 8, characters & 0xff];
  return [0xdb, characters >>> 24, (characters >> 16) & 0xff, (characters >> 8) & 0xff, characters & 0xff];
}

function putArrayHead(count: number, output: Output): void {
  if (count < 16) put([0x90 | count], output);
  else if (count < 0x1_0000) put([0xdc, count >> 8, count & 0xff], output);
  else put([0xdd, count >>> 24, (count >> 16) & 0xff, (count >> 8) & 0xff, count & 0xff], output);
}

/** Extension type of typed arrays, and the code that stands before their bytes, as msgpackr has them. */
const TYPED_ARRAY = 0x74;
const ARRAY_CODES: Readonly<Partial<Record<BareType, number>>> = { int32: 5, float64: 8, int64: 9 };

/** What precedes octets of a type so that they are one MessagePack value: a typed array, or binary. */
export function octetsHead(type: BareType, size: number): Uint8Array<ArrayBuffer> {
  const code = ARRAY_CODES[type];
  const head = new Uint8Array(code === undefined ? 5 : 7);
  const view = new DataView(head.buffer);
  head[0] = code === undefined ? 0xc6 : 0xc9;
  view.setUint32(1, code === undefined ? size : size + 1);
  if (code !== undefined) head.set([TYPED_ARRAY, code], 5);
  return head;
}
