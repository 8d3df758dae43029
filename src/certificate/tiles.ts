import { assert } from '../core/assert.ts';
import { concatBytes } from '../core/bytes.ts';
import { HASH_BYTES, type Hash, nodeHash, type ReadNode, splitHashes } from '../crypto/merkle.ts';
import type { LogRecord } from '../ledger/ledger.ts';
import { type LogReader, paddedNumber } from './log-records.ts';

/**
 * The tree's nodes as tiles (c2sp.org/tlog-tiles), wherever these are read from: tile n of level l holds up to 256 hashes of
 * tree level 8 l, from index 256 n on. The last tile of a level is partial and is written again as it grows. The seven
 * tree levels between two tile levels are hashed from the lower one when they are needed. Runs in browsers.
 */
export const TILE_HASHES = 256;
const LEVELS_PER_TILE = 8;

/** Reads nodes from the tiles that `readTile` gives; keeps those that it has read. */
export function tileNodeReader(readTile: (level: number, index: number) => Promise<Uint8Array>): ReadNode {
  const tiles = new Map<string, Promise<Hash[][]>>();
  return async (treeLevel, index) => {
    const level = Math.floor(treeLevel / LEVELS_PER_TILE);
    const above = treeLevel % LEVELS_PER_TILE;
    const width = TILE_HASHES / 2 ** above; // nodes of that level over a whole tile
    const tileIndex = Math.floor(index / width);
    const key = `${level}/${tileIndex}`;
    let tile = tiles.get(key);
    if (tile === undefined) tiles.set(key, (tile = readTile(level, tileIndex).then(levelsOf)));
    const hash = (await tile)[above][index % width];
    assert(hash !== undefined, `tile ${level}/${tileIndex} holds the node ${treeLevel}/${index}`);
    return hash;
  };
}

/** The hashes of a tile, and the complete nodes above them level by level. */
function levelsOf(tile: Uint8Array): Hash[][] {
  const levels = [splitHashes(tile)];
  while (levels.length < LEVELS_PER_TILE) {
    const below = levels[levels.length - 1];
    levels.push(
      Array.from({ length: Math.floor(below.length / 2) }, (_, i) =>
        nodeHash(below[2 * i], below[2 * i + 1]),
      ),
    );
  }
  return levels;
}

/** How many hashes of a tile belong to the tree of `size` leaves. */
export function tileWidth(level: number, index: number, size: number): number {
  const hashes = Math.floor(size / TILE_HASHES ** level);
  return Math.max(0, Math.min(TILE_HASHES, hashes - index * TILE_HASHES));
}

function tileKey(level: number, index: number): string {
  return `tile/${level}/${paddedNumber(index)}`;
}

/** The partial tiles at the growing edge, one a level. */
export class TileEdge {
  readonly #partial: Hash[][];
  /** Tile index by level. */
  readonly #index: number[];

  private constructor(partial: Hash[][], index: number[]) {
    this.#partial = partial;
    this.#index = index;
  }

  /** The edge of the stored tree of `size` leaves. */
  static async load(store: LogReader, size: number): Promise<TileEdge> {
    const partial: Hash[][] = [];
    const index: number[] = [];
    for (let level = 0; TILE_HASHES ** level <= size; level++) {
      const hashes = Math.floor(size / TILE_HASHES ** level);
      index.push(Math.floor(hashes / TILE_HASHES));
      const width = hashes % TILE_HASHES;
      partial.push(width === 0 ? [] : splitHashes(await readTile(store, level, index[level], width)));
    }
    return new TileEdge(partial, index);
  }

  copy(): TileEdge {
    return new TileEdge(
      this.#partial.map((hashes) => [...hashes]),
      [...this.#index],
    );
  }

  /** Takes a completed node; gives the tile that it completes. Nodes between tile levels are not stored. */
  add(treeLevel: number, index: number, hash: Hash): LogRecord | undefined {
    if (treeLevel % LEVELS_PER_TILE !== 0) return undefined;
    const level = treeLevel / LEVELS_PER_TILE;
    if (level === this.#partial.length) {
      this.#partial.push([]);
      this.#index.push(0);
    }
    const hashes = this.#partial[level];
    assert(index === this.#index[level] * TILE_HASHES + hashes.length, 'nodes are completed in order');
    hashes.push(hash);
    if (hashes.length < TILE_HASHES) return undefined;
    this.#partial[level] = [];
    return { key: tileKey(level, this.#index[level]++), value: concatBytes(...hashes) };
  }

  /** The partial tiles as they are now. */
  partialTiles(): LogRecord[] {
    const tiles: LogRecord[] = [];
    this.#partial.forEach((hashes, level) => {
      if (hashes.length > 0)
        tiles.push({ key: tileKey(level, this.#index[level]), value: concatBytes(...hashes) });
    });
    return tiles;
  }
}

/** Reads nodes of the stored tree; keeps the tiles it has read, so make one per proof. */
export function nodeReader(store: LogReader): ReadNode {
  return tileNodeReader((level, index) => readTile(store, level, index, 0));
}

/** The tile as it belongs to the tree of `size` leaves; undefined when it has none of them. */
export async function tileOf(
  store: LogReader,
  level: number,
  index: number,
  size: number,
): Promise<Uint8Array | undefined> {
  const width = tileWidth(level, index, size);
  if (width === 0) return undefined;
  return await readTile(store, level, index, width);
}

/** The first `width` hashes of a stored tile; all there are for 0. */
async function readTile(store: LogReader, level: number, index: number, width: number): Promise<Uint8Array> {
  const tile = await store.getLog(tileKey(level, index));
  assert(tile !== undefined, `tile ${level}/${index} is stored`);
  assert(
    tile.length % HASH_BYTES === 0 && tile.length >= width * HASH_BYTES,
    `tile ${level}/${index} is whole`,
  );
  return width === 0 ? tile : tile.subarray(0, width * HASH_BYTES);
}
