import { assert } from '../core/assert.ts';
import { compileWasm, instantiate, type WasmGlobal, type WasmMemory } from '../core/wasm.ts';
import { HASH_BYTES } from '../crypto/merkle.ts';
import { ENTRY_BYTES } from '../ledger/segment.ts';

/** See assembly/leaves.ts. */
interface Exports {
  readonly memory: WasmMemory;
  readonly entriesMax: WasmGlobal;
  readonly entriesAt: WasmGlobal;
  readonly idsAt: WasmGlobal;
  readonly hashesAt: WasmGlobal;
  readonly textBytes: WasmGlobal;
  readonly textsAt: WasmGlobal;
  readonly variesAt: WasmGlobal;
  take(bytes: number): void;
  print(lane: number, index: number, idAt: number, requestIdAt: number, deliveredAt: number): void;
  hash(a: number, b: number, c: number, d: number): void;
}

const module = compileWasm(new URL('./leaves.wasm', import.meta.url));

const ID_BYTES = 16;
const BLOCK_BYTES = 64;
const PADDING_BYTES_MIN = 9;
export const LANES = 4;

/** The place in the bytes of a template of a member that differs between its leaves. */
export interface LeafMember {
  readonly at: number;
  readonly length: number;
}

/** Hashes leaves of one template, four at a time, in WebAssembly memory of its own. */
export class LeafKernel {
  readonly #exports = instantiate<Exports>(module);
  /** How many entries the memory has room for. */
  readonly entriesMax = this.#exports.entriesMax.value;
  /** The packed entries. The caller writes them. */
  readonly entries = this.#window(this.#exports.entriesAt, this.entriesMax * ENTRY_BYTES);
  /** The ids of the entries' certificates, 16 bytes each. The caller writes them. */
  readonly ids = this.#window(this.#exports.idsAt, this.entriesMax * ID_BYTES);
  /** The hash of each entry's leaf. */
  readonly hashes = this.#window(this.#exports.hashesAt, this.entriesMax * HASH_BYTES);
  readonly #textBytes = this.#exports.textBytes.value;
  /** The text of each lane. The caller writes the members that `print` does not. */
  readonly texts = Array.from({ length: LANES }, (_, lane) =>
    this.#window(this.#exports.textsAt, this.#textBytes, lane * this.#textBytes),
  );
  readonly #varies = this.#window(this.#exports.variesAt, this.#textBytes / BLOCK_BYTES);
  /** Longest leaf in bytes, with the 0x00 before its text. */
  readonly bytesMax = this.#textBytes - PADDING_BYTES_MIN;

  /** Sets the template: 0x00 and the text of a leaf. All its leaves differ in these members alone. */
  take(bytes: Uint8Array, members: readonly LeafMember[]): void {
    assert(bytes.length <= this.bytesMax, 'the text of a leaf fits its lane');
    this.texts[0].set(bytes);
    this.#varies.fill(0);
    for (const { at, length } of members) {
      const last = at + length - 1;
      this.#varies.fill(1, Math.floor(at / BLOCK_BYTES), Math.floor(last / BLOCK_BYTES) + 1);
    }
    this.#exports.take(bytes.length);
  }

  /** Writes the two ids and the delivered hash of the entry with this index into the text of a lane. */
  print(lane: number, index: number, idAt: number, requestIdAt: number, deliveredAt: number): void {
    this.#exports.print(lane, index, idAt, requestIdAt, deliveredAt);
  }

  /** Hashes the texts of the four lanes into `hashes`, at the indices of these entries. */
  hash(a: number, b: number, c: number, d: number): void {
    this.#exports.hash(a, b, c, d);
  }

  #window(at: WasmGlobal, size: number, from = 0): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#exports.memory.buffer, at.value + from, size);
  }
}
