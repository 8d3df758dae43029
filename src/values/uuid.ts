import { BLOCK_BYTES, type ByteSource, kernels, putText, takeEntropy } from './kernels.ts';
import { type Output, putArrayHead, putPacked } from './packed.ts';

export const UUID_BYTES = 16;
const BLOCK_UUIDS = BLOCK_BYTES / UUID_BYTES;

/**
 * Writes the JSON array of `count` UUIDs of version 4 in the form 8-4-4-4-12 (RFC 9562 §4, §5.4): 122 random bits; of 16
 * bytes drawn, six bits give way to the marks. Returns where the text ends.
 */
export function drawUuids(
  source: ByteSource,
  count: number,
  target: Uint8Array,
  start: number,
  packed?: Output,
): number {
  if (packed !== undefined) putArrayHead(count, packed);
  target[start] = 0x5b; // '['
  let at = start + 1;
  for (let missing = count; missing > 0; ) {
    const uuids = Math.min(missing, BLOCK_UUIDS);
    takeEntropy(source, UUID_BYTES * uuids);
    at = putText(kernels.uuid(uuids), target, at);
    if (packed !== undefined) putPacked(kernels.packedUuid(uuids), packed);
    missing -= uuids;
  }
  target[at - 1] = 0x5d; // ']' over the last comma
  return at;
}

/** Writes the UUIDs as 16 bytes each; returns where they end. */
export function drawUuidOctets(source: ByteSource, count: number, target: Uint8Array, start: number): number {
  let at = start;
  for (let missing = count; missing > 0; ) {
    const uuids = Math.min(missing, BLOCK_UUIDS);
    takeEntropy(source, UUID_BYTES * uuids);
    kernels.uuidOctets(uuids);
    at = putText(UUID_BYTES * uuids, target, at);
    missing -= uuids;
  }
  return at;
}

export function uuidsTextMax(count: number): number {
  return 2 + 39 * count;
}
