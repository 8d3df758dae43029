import { assert } from '../core/assert.ts';
import { entropyBlocks, writeBlocks } from './blocks.ts';
import { BLOCK_BYTES, type ByteSource, kernels } from './kernels.ts';
import { type Output, putArrayHead, stringHead } from './packed.ts';
import type { ValueRequest } from './value-request.ts';

export type ByteEncoding = 'hex' | 'base64';

type BytesRequest = Extract<ValueRequest, { kind: 'bytes' }>;

/** Writes the JSON text of the values, an array or one string; returns its end. */
export function drawBytes(
  source: ByteSource,
  { count, length, encoding, single }: BytesRequest,
  target: Uint8Array,
  start: number,
  packed?: Output,
): number {
  assert(length <= BLOCK_BYTES, 'a value fits into a block');
  const write = encoding === 'hex' ? kernels.hex : kernels.base64;
  const pack = encoding === 'hex' ? kernels.packedHex : kernels.packedBase64;
  let headBytes = 0;
  let headWord = 0;
  if (packed !== undefined) {
    const head = stringHead(encodedLength(length, encoding));
    assert(head.length <= 4, 'a head fits into a word'); // a value fits into a block, so it has at most 65,535 characters
    headBytes = head.length;
    headWord = head.reduceRight((word, byte) => word * 256 + byte, 0);
    if (!single) putArrayHead(count, packed);
  }
  const blocks = entropyBlocks(source, count, length, Math.floor(BLOCK_BYTES / length));
  const packBlock = (values: number) => pack(values, length, headWord, headBytes);
  // A single string has no comma after it.
  if (single) return writeBlocks(blocks, () => write(1, length) - 1, target, start, packed, packBlock);
  target[start] = 0x5b; // '['
  const end = writeBlocks(blocks, (values) => write(values, length), target, start + 1, packed, packBlock);
  target[end - 1] = 0x5d; // ']' replaces the last comma
  return end;
}

export function bytesTextMax(count: number, length: number, encoding: ByteEncoding): number {
  return 2 + count * (3 + encodedLength(length, encoding));
}

function encodedLength(length: number, encoding: ByteEncoding): number {
  return encoding === 'hex' ? 2 * length : 4 * Math.ceil(length / 3);
}
