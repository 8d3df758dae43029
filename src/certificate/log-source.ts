import { isCount, isObject } from '../core/json.ts';
import { HASH_BYTES, inclusionProof, type ReadNode } from '../crypto/merkle.ts';
import { formatNote, formatProof } from '../crypto/note.ts';
import { member, text } from './members.ts';
import type { CheckpointNote } from './signed-checkpoint.ts';
import { TILE_HASHES, tileNodeReader, tileWidth } from './tiles.ts';

/** Reads the log of a service over its public paths. Runs in browsers. */

/** Reads a path of the service, such as `/log/checkpoint`, and follows no redirect. Rejects with LogUnavailable. */
export type ReadPath = (path: string) => Promise<Uint8Array>;

/** The service did not answer as it must. That shows nothing about the log, so the caller asks again later. */
export class LogUnavailable extends Error {
  override name = 'LogUnavailable';
}

/**
 * The service said what a sound log does not say, but no signature proves it to others. The poll is void, and the
 * person who watches the log is told.
 */
export class LogDoubt extends Error {
  override name = 'LogDoubt';
}

export class LogSource {
  readonly #read: ReadPath;
  readonly #readers = new Map<number, ReadNode>();
  #tilesRead = 0;

  constructor(read: ReadPath) {
    this.#read = read;
  }

  get tilesRead(): number {
    return this.#tilesRead;
  }

  async text(path: string): Promise<string> {
    return new TextDecoder().decode(await this.#read(path));
  }

  async json(path: string): Promise<unknown> {
    try {
      const value: unknown = JSON.parse(await this.text(path));
      if (isObject(value)) return value;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    throw new LogUnavailable(`${path} is not a JSON object`);
  }

  /** Returns the texts of the public leaves in [from, before), keyed by index and in ascending order. */
  async publicLeaves(from: number, before: number): Promise<Map<number, string>> {
    const leaves = new Map<number, string>();
    for (let next = from; next < before; ) {
      const page = member(await this.json(`/log/leaves?from=${next}`), 'leaves');
      if (!Array.isArray(page)) throw new LogUnavailable('/log/leaves did not answer with a list of leaves');
      if (page.length === 0) break;
      for (const each of page) {
        const [index, leaf] = [member(each, 'index'), text(member(each, 'leaf'))];
        if (!isCount(index) || index < next || leaf === undefined)
          throw new LogUnavailable('/log/leaves does not list the leaves in the order of the log');
        if (index < before) leaves.set(index, leaf);
        next = index + 1;
      }
    }
    return leaves;
  }

  /** Returns the text of one public leaf; an empty text if the service does not list it. */
  async publicLeaf(index: number): Promise<string> {
    return (await this.publicLeaves(index, index + 1)).get(index) ?? '';
  }

  /** Returns the proof (c2sp.org/tlog-proof) of a leaf in the tree of this checkpoint. */
  async proof(index: number, { note, checkpoint }: CheckpointNote): Promise<string> {
    const path = await inclusionProof(index, checkpoint.size, this.nodeReader(checkpoint.size));
    return formatProof({ index, path, note: formatNote(note) });
  }

  /** Returns a reader of the nodes of the tree of `size` leaves. */
  nodeReader(size: number): ReadNode {
    const reader = this.#readers.get(size) ?? tileNodeReader((...of) => this.#tile(...of, size));
    this.#readers.set(size, reader);
    return reader;
  }

  /** Returns the hashes of a tile that belong to the tree of `size` leaves. */
  async #tile(level: number, index: number, size: number): Promise<Uint8Array> {
    const width = tileWidth(level, index, size);
    const partial = width === TILE_HASHES ? '' : `.p/${width}`;
    const bytes = await this.#read(`/log/tile/${level}/${tileName(index)}${partial}`);
    if (bytes.length !== width * HASH_BYTES)
      throw new LogUnavailable(`tile ${level}/${index} has ${bytes.length} bytes, not ${width * HASH_BYTES}`);
    this.#tilesRead++;
    return bytes;
  }
}

/** Returns a tile index as a path (c2sp.org/tlog-tiles): groups of three digits, all but the last with an `x`. */
function tileName(index: number): string {
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g) ?? [];
  return groups.map((group, i) => (i < groups.length - 1 ? `x${group}` : group)).join('/');
}
