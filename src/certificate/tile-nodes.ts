import { assert } from '../core/assert.ts';
import { HASH_BYTES, nodeHash, type ReadNode, type Sha256, splitHashes } from '../crypto/merkle.ts';

/**
 * Nodes of a tree from its tiles (c2sp.org/tlog-tiles), wherever these are read from: tile n of level l holds up to
 * 256 hashes of tree level 8 l, from index 256 n on. Runs in browsers.
 */
export const TILE_HASHES = 256;
export const LEVELS_PER_TILE = 8;

/** Reads nodes from the tiles that `readTile` gives; keeps the tiles it has read, so make one per proof. */
export function tileNodeReader(
  sha256: Sha256,
  readTile: (level: number, index: number) => Promise<Uint8Array>,
): ReadNode {
  const tiles = new Map<string, Promise<Uint8Array>>();
  return async (treeLevel, index) => {
    const level = Math.floor(treeLevel / LEVELS_PER_TILE);
    const count = 2 ** (treeLevel % LEVELS_PER_TILE); // hashes of the tile under the node
    const first = index * count;
    const tileIndex = Math.floor(first / TILE_HASHES);
    const start = first % TILE_HASHES;
    const key = `${level}/${tileIndex}`;
    let tile = tiles.get(key);
    if (tile === undefined) tiles.set(key, (tile = readTile(level, tileIndex)));
    const hashes = splitHashes((await tile).subarray(start * HASH_BYTES, (start + count) * HASH_BYTES));
    assert(hashes.length === count, `tile ${level}/${tileIndex} holds the node ${treeLevel}/${index}`);
    while (hashes.length > 1) {
      for (let i = 0; i < hashes.length / 2; i++)
        hashes[i] = nodeHash(sha256, hashes[2 * i], hashes[2 * i + 1]);
      hashes.length /= 2;
    }
    return hashes[0];
  };
}

/** How many hashes of a tile belong to the tree of `size` leaves. */
export function tileWidth(level: number, index: number, size: number): number {
  const hashes = Math.floor(size / TILE_HASHES ** level);
  return Math.max(0, Math.min(TILE_HASHES, hashes - index * TILE_HASHES));
}
