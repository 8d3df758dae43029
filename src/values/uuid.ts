import { type Blocks, entropyBlocks, writeBlocks } from './blocks.ts';
import { BLOCK_BYTES, type ByteSource, kernels } from './kernels.ts';
import { type Output, putArrayHead } from './packed.ts';

export const UUID_BYTES = 16;
const BLOCK_UUIDS = BLOCK_BYTES / UUID_BYTES;

/**
 * Writes the JSON array of `count` UUIDs of version 4 in the form 8-4-4-4-12 (RFC 9562 §4, §5.4). Each takes 16 random
 * bytes, and version and variant overwrite six of their bits. Returns the end of the text.
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
  const end = writeBlocks(
    uuidBlocks(source, count),
    kernels.uuid,
    target,
    start + 1,
    packed,
    kernels.packedUuid,
  );
  target[end - 1] = 0x5d; // ']' replaces the last comma
  return end;
}

function uuidBlocks(source: ByteSource, count: number): Blocks {
  return entropyBlocks(source, count, UUID_BYTES, BLOCK_UUIDS);
}

/** Writes the UUIDs as 16 bytes each; returns their end. */
export function drawUuidOctets(source: ByteSource, count: number, target: Uint8Array, start: number): number {
  const write = (uuids: number) => {
    kernels.uuidOctets(uuids);
    return UUID_BYTES * uuids;
  };
  return writeBlocks(uuidBlocks(source, count), write, target, start);
}

export function uuidsTextMax(count: number): number {
  return 2 + 39 * count;
}
