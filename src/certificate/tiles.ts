import { assert } from '../core/assert.ts';
import { HASH_BYTES, nodeHashes, type ReadNode } from '../crypto/merkle.ts';
import type { LogRecord } from '../ledger/ledger.ts';
import { type LogReader, paddedNumber } from './log-records.ts';

/**
 * The tree's nodes as tiles (c2sp.org/tlog-tiles). Tile n of level l holds up to 256 hashes of tree level 8 l, from
 * index 256 n on. The last tile of a level is partial and is written again as it grows. The seven tree levels between
 * two tile levels are not stored but hashed from the lower one when somebody needs them. Runs in browsers.
 */
export const TILE_HASHES = 256;
const LEVELS_PER_TILE = 8;

/** Returns a reader of nodes. It gets tiles from `readTile` and keeps all that it has read. */
export function tileNodeReader(readTile: (level: number, index: number) => Promise<Uint8Array>): ReadNode {
  const tiles = new Map<string, Promise<Uint8Array[]>>();
  return async (treeLevel, index) => {
    const level = Math.floor(treeLevel / LEVELS_PER_TILE);
    const above = treeLevel % LEVELS_PER_TILE;
    const width = TILE_HASHES / 2 ** above; // nodes of that level above a whole tile
    const tileIndex = Math.floor(index / width);
    const key = `${level}/${tileIndex}`;
    let tile = tiles.get(key);
    if (tile === undefined) tiles.set(key, (tile = readTile(level, tileIndex).then(levelsOf)));
    const at = (index % width) * HASH_BYTES;
    const hash = (await tile)[above].slice(at, at + HASH_BYTES);
    assert(hash.length === HASH_BYTES, `tile ${level}/${tileIndex} holds the node ${treeLevel}/${index}`);
    return new Uint8Array(hash);
  };
}

/** Returns the hashes of a tile and the complete nodes above them, one array for each of eight levels. */
function levelsOf(tile: Uint8Array): Uint8Array[] {
  assert(tile.length % HASH_BYTES === 0, 'a tile is a whole number of hashes');
  const levels = [tile];
  while (levels.length < LEVELS_PER_TILE) {
    const below = levels[levels.length - 1];
    levels.push(nodeHashes(below.subarray(0, below.length - (below.length % (2 * HASH_BYTES)))));
  }
  return levels;
}

/** Returns how many hashes of a tile belong to the tree of `size` leaves. */
export function tileWidth(level: number, index: number, size: number): number {
  const hashes = Math.floor(size / TILE_HASHES ** level);
  return Math.max(0, Math.min(TILE_HASHES, hashes - index * TILE_HASHES));
}

function tileKey(level: number, index: number): string {
  return `tile/${level}/${paddedNumber(index)}`;
}

/** A tile that still grows. */
interface PartialTile {
  readonly index: number;
  /** Room for all hashes of the tile, concatenated. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** How many hashes `bytes` holds. */
  hashes: number;
}

function emptyTile(index: number): PartialTile {
  return { index, bytes: new Uint8Array(TILE_HASHES * HASH_BYTES), hashes: 0 };
}

/** The partial tiles at the growing edge of the tree, one for each level. */
export class TileEdge {
  readonly #tiles: PartialTile[];

  private constructor(tiles: PartialTile[]) {
    this.#tiles = tiles;
  }

  /** Returns the edge of the stored tree of `size` leaves. */
  static async load(store: LogReader, size: number): Promise<TileEdge> {
    const tiles: PartialTile[] = [];
    for (let level = 0; TILE_HASHES ** level <= size; level++) {
      const hashes = Math.floor(size / TILE_HASHES ** level);
      const tile = emptyTile(Math.floor(hashes / TILE_HASHES));
      tile.hashes = hashes % TILE_HASHES;
      if (tile.hashes > 0) tile.bytes.set(await readTile(store, level, tile.index, tile.hashes));
      tiles.push(tile);
    }
    return new TileEdge(tiles);
  }

  copy(): TileEdge {
    return new TileEdge(this.#tiles.map((tile) => ({ ...tile, bytes: tile.bytes.slice() })));
  }

  /**
   * Adds nodes of one tree level, from `index` on, that the tree has completed. Returns the records of the tiles that
   * are now full. Ignores the levels between tile levels, which are not stored.
   */
  add(treeLevel: number, index: number, hashes: Uint8Array): LogRecord[] {
    if (treeLevel % LEVELS_PER_TILE !== 0) return [];
    const level = treeLevel / LEVELS_PER_TILE;
    if (level === this.#tiles.length) this.#tiles.push(emptyTile(0));
    const first = this.#tiles[level];
    assert(index === first.index * TILE_HASHES + first.hashes, 'nodes are completed in order');
    const whole: LogRecord[] = [];
    for (let at = 0; at < hashes.length; ) {
      const tile = this.#tiles[level];
      const end = at + (TILE_HASHES - tile.hashes) * HASH_BYTES;
      const part = hashes.subarray(at, end);
      tile.bytes.set(part, tile.hashes * HASH_BYTES);
      tile.hashes += part.length / HASH_BYTES;
      at = end;
      if (tile.hashes < TILE_HASHES) continue;
      whole.push({ key: tileKey(level, tile.index), value: tile.bytes });
      this.#tiles[level] = emptyTile(tile.index + 1);
    }
    return whole;
  }

  /** Returns the records of the partial tiles. */
  partialTiles(): LogRecord[] {
    return this.#tiles.flatMap(({ index, bytes, hashes }, level) =>
      hashes === 0 ? [] : [{ key: tileKey(level, index), value: bytes.slice(0, hashes * HASH_BYTES) }],
    );
  }
}

/** Returns a reader of the stored tree's nodes. It keeps every tile it reads, so make one for each proof. */
export function nodeReader(store: LogReader): ReadNode {
  return tileNodeReader((level, index) => readTile(store, level, index, 0));
}

/** Returns the hashes of a tile that belong to the tree of `size` leaves; undefined if none do. */
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

/** Returns the first `width` hashes of a stored tile; if `width` is 0, all that are stored. */
async function readTile(store: LogReader, level: number, index: number, width: number): Promise<Uint8Array> {
  const tile = await store.getLog(tileKey(level, index));
  assert(tile !== undefined, `tile ${level}/${index} is stored`);
  assert(
    tile.length % HASH_BYTES === 0 && tile.length >= width * HASH_BYTES,
    `tile ${level}/${index} is whole`,
  );
  return width === 0 ? tile : tile.subarray(0, width * HASH_BYTES);
}
