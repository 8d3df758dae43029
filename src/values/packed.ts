import { putText } from './kernels.ts';
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

/** Bytes of the values in MessagePack, at most. */
export function packedBytesMax(request: ValueRequest, jsonBytesMax: number): number {
  // numbers take nine bytes at most; heads of strings are no longer than the quotes and the comma of JSON
  const isNumbers = request.kind === 'integers' || request.kind === 'floats' || request.kind === 'gaussians';
  return HEAD_MAX + (isNumbers ? 9 * request.count : jsonBytesMax);
}

/** Of an array or a single string. */
const HEAD_MAX = 5;

/** Writes `size` bytes of the text window, by default the first. */
export function putPacked(size: number, output: Output, from = 0): void {
  output.at = putText(size, output.bytes, output.at, from);
}

export function putBytes(bytes: ArrayLike<number>, output: Output): void {
  output.bytes.set(bytes, output.at);
  output.at += bytes.length;
}

/** The head of a string of so many bytes in UTF-8. */
export function stringHead(bytes: number): number[] {
  if (bytes < 32) return [0xa0 | bytes];
  if (bytes < 0x100) return [0xd9, bytes];
  if (bytes < 0x1_0000) return [0xda, bytes >> 8, bytes & 0xff];
  return [0xdb, bytes >>> 24, (bytes >> 16) & 0xff, (bytes >> 8) & 0xff, bytes & 0xff];
}

export function putStringHead(bytes: number, output: Output): void {
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
