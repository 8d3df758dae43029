import { escapeBytes, unescaped } from '../core/text-bytes.ts';
import { putText } from './kernels.ts';
import type { ValueRequest } from './value-request.ts';

/**
 * Values in MessagePack, written together with their JSON text from one draw. The certificate of a MessagePack answer
 * commits to the JSON, so that whoever decodes the answer can check it. Both are written block by block, without an
 * object for any value.
 */

/** A buffer and the index of its next free byte. */
export interface Output {
  readonly bytes: Uint8Array<ArrayBuffer>;
  at: number;
}

/** Returns an upper bound of the size of the values in MessagePack. */
export function packedBytesMax(request: ValueRequest, jsonBytesMax: number): number {
  // A number takes nine bytes at most; the head of a string is no longer than the quotes and the comma of JSON.
  const isNumbers = request.kind === 'integers' || request.kind === 'floats' || request.kind === 'gaussians';
  return HEAD_MAX + (isNumbers ? 9 * request.count : jsonBytesMax);
}

/** The largest head of an array or of a single string. */
const HEAD_MAX = 5;

/** Writes `size` bytes of the text window, from its start by default. */
export function putPacked(size: number, output: Output, from = 0): void {
  output.at = putText(size, output.bytes, output.at, from);
}

export function putBytes(bytes: ArrayLike<number>, output: Output): void {
  output.bytes.set(bytes, output.at);
  output.at += bytes.length;
}

/** Returns the head of a string whose UTF-8 has `bytes` bytes. */
export function stringHead(bytes: number): number[] {
  if (bytes < 32) return [0xa0 | bytes];
  if (bytes < 0x100) return [0xd9, bytes];
  if (bytes < 0x1_0000) return [0xda, bytes >> 8, bytes & 0xff];
  return [0xdb, bytes >>> 24, (bytes >> 16) & 0xff, (bytes >> 8) & 0xff, bytes & 0xff];
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Writes the strings of the JSON array at `from`, which has `count` of them. */
export function packTexts(json: Uint8Array, from: number, count: number, output: Output): void {
  putArrayHead(count, output);
  let at = from + 2; // behind the bracket and the first quote
  for (let left = count; left > 0; left--, at += 3) {
    let size = 0;
    let end = at;
    for (; json[end] !== QUOTE; size++) end += json[end] === BACKSLASH ? escapeBytes(json, end) : 1;
    putStringHead(size, output);
    const { bytes } = output;
    while (at < end) {
      const isEscape = json[at] === BACKSLASH;
      bytes[output.at++] = isEscape ? unescaped(json, at) : json[at];
      at += isEscape ? escapeBytes(json, at) : 1;
    }
  }
}

function putStringHead(bytes: number, output: Output): void {
  if (bytes < 32) output.bytes[output.at++] = 0xa0 | bytes;
  else if (bytes < 0x100) {
    output.bytes[output.at++] = 0xd9;
    output.bytes[output.at++] = bytes;
  } else putBytes(stringHead(bytes), output);
}

export function putArrayHead(count: number, output: Output): void {
  if (count < 16) putBytes([0x90 | count], output);
  else if (count < 0x1_0000) putBytes([0xdc, count >> 8, count & 0xff], output);
  else putBytes([0xdd, count >>> 24, (count >> 16) & 0xff, (count >> 8) & 0xff, count & 0xff], output);
}
