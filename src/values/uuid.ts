import { uuidText } from '../core/ids.ts';
import type { EntropyReader } from './entropy-reader.ts';
import { BLOCK_BYTES, type ByteSource, kernels, putText, takeEntropy } from './kernels.ts';

/** Random UUIDs, 16 bytes each, one behind the other. */
export interface UuidSample {
  readonly kind: 'uuid';
  readonly octets: Uint8Array<ArrayBuffer>;
}

export const UUID_BYTES = 16;
const BLOCK_UUIDS = BLOCK_BYTES / UUID_BYTES;

/**
 * `count` UUIDs of version 4 (RFC 9562 §5.4): 122 random bits; of 16 bytes drawn, six bits give way to the marks.
 */
export function sampleUuids(reader: EntropyReader, count: number): UuidSample {
  const octets = new Uint8Array(count * UUID_BYTES);
  reader.fill(octets);
  for (let at = 0; at < octets.length; at += UUID_BYTES) {
    octets[at + 6] = (octets[at + 6] & 0x0f) | 0x40; // version, RFC 9562 §4.2
    octets[at + 8] = (octets[at + 8] & 0x3f) | 0x80; // variant, RFC 9562 §4.1
  }
  return { kind: 'uuid', octets };
}

/** The JSON array of the UUIDs made of the next bytes of `source`, in the form 8-4-4-4-12 (RFC 9562 §4). */
export function drawUuids(source: ByteSource, count: number, target: Uint8Array, start: number): number {
  target[start] = 0x5b; // '['
  let at = start + 1;
  for (let missing = count; missing > 0; ) {
    const uuids = Math.min(missing, BLOCK_UUIDS);
    takeEntropy(source, UUID_BYTES * uuids);
    at = putText(kernels.uuid(uuids), target, at);
    missing -= uuids;
  }
  target[at - 1] = 0x5d; // ']' over the last comma
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
