import { uuidText } from '../core/ids.ts';
import type { EntropyReader } from './entropy-reader.ts';
import { hexOfTwo } from './hex.ts';

/** Random UUIDs, 16 bytes each, one behind the other. */
export interface UuidSample {
  readonly kind: 'uuid';
  readonly octets: Uint8Array<ArrayBuffer>;
}

export const UUID_BYTES = 16;
const DASH = 0x2d;

/** `count` UUIDs of version 4 (RFC 9562 §5.4): 122 random bits; of 16 bytes drawn, six bits give way to the marks. */
export function sampleUuids(reader: EntropyReader, count: number): UuidSample {
  const octets = new Uint8Array(count * UUID_BYTES);
  reader.fill(octets);
  for (let at = 0; at < octets.length; at += UUID_BYTES) {
    octets[at + 6] = (octets[at + 6] & 0x0f) | 0x40; // version, RFC 9562 §4.2
    octets[at + 8] = (octets[at + 8] & 0x3f) | 0x80; // variant, RFC 9562 §4.1
  }
  return { kind: 'uuid', octets };
}

/** The JSON array of the UUIDs in the form 8-4-4-4-12 (RFC 9562 §4). */
export function writeUuids({ octets }: UuidSample, view: DataView, start: number): number {
  const source = new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
  let at = start;
  view.setUint8(at++, 0x5b); // '['
  for (let from = 0; from < octets.length; from += UUID_BYTES) {
    const a = source.getInt32(from, true);
    const b = source.getInt32(from + 4, true);
    const c = source.getInt32(from + 8, true);
    const d = source.getInt32(from + 12, true);
    view.setUint8(at, 0x22); // '"'
    view.setInt32(at + 1, hexOfTwo(a), true);
    view.setInt32(at + 5, hexOfTwo(a >>> 16), true);
    view.setUint8(at + 9, DASH);
    view.setInt32(at + 10, hexOfTwo(b), true);
    view.setUint8(at + 14, DASH);
    view.setInt32(at + 15, hexOfTwo(b >>> 16), true);
    view.setUint8(at + 19, DASH);
    view.setInt32(at + 20, hexOfTwo(c), true);
    view.setUint8(at + 24, DASH);
    view.setInt32(at + 25, hexOfTwo(c >>> 16), true);
    view.setInt32(at + 29, hexOfTwo(d), true);
    view.setInt32(at + 33, hexOfTwo(d >>> 16), true);
    view.setUint16(at + 37, 0x2c22, true); // '",'
    at += 39;
  }
  view.setUint8(at - 1, 0x5d); // ']' over the last comma
  return at;
}

export function plainUuids({ octets }: UuidSample): string[] {
  const values: string[] = [];
  for (let at = 0; at < octets.length; at += UUID_BYTES) {
    values.push(uuidText(octets.subarray(at, at + UUID_BYTES)));
  }
  return values;
}

export function uuidsTextMax(count: number): number {
  return 2 + 39 * count;
}
