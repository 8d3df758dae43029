import { closeSync, fstatSync, fsyncSync, openSync, writeSync } from 'node:fs';

const CHUNK_BYTES = 2 ** 20;

/**
 * Makes the data file longer than its content by `aheadBytes` of zeros, unless at least half of that is there. Commits
 * then write into blocks that exist: they need no change of the file's length (which some file systems forget to
 * sync with the data, Zheng et al. 2014) and meet a full disk later. In a loop of 40 KB commits straight on LMDB 3.5.6
 * (ext4, 2 vCPU, 1,000 commits a round, interleaved) the median went from 0.38 to 0.33 ms. Writing and deleting large
 * values through LMDB instead made it 0.66 ms, since each commit then carries the list of freed pages.
 *
 * Only inside a write transaction in which nothing was put yet: LMDB then writes nowhere, and all its pages lie before
 * the end of the file. A full disk ends the growth early and is no error.
 */
export function growAhead(file: string, usedBytes: number, aheadBytes: number): void {
  const descriptor = openSync(file, 'r+');
  try {
    const { size } = fstatSync(descriptor);
    if (size - usedBytes >= aheadBytes / 2) return;
    const zeros = new Uint8Array(CHUNK_BYTES);
    for (let at = size; at < usedBytes + aheadBytes; ) {
      at += writeSync(descriptor, zeros, 0, Math.min(CHUNK_BYTES, usedBytes + aheadBytes - at), at);
    }
    fsyncSync(descriptor);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')))
      throw error;
  } finally {
    closeSync(descriptor);
  }
}
