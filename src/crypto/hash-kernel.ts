import { assert } from '../core/assert.ts';
import { compileWasm, instantiate, type WasmGlobal, type WasmMemory } from '../core/wasm.ts';
import { HASH_BYTES } from './merkle.ts';
import { sha256 } from './sha256.ts';

/** See assembly/hashes.ts. */
interface Kernel {
  readonly memory: WasmMemory;
  readonly pairsMax: WasmGlobal;
  readonly hashesAt: WasmGlobal;
  readonly nodesAt: WasmGlobal;
  nodes(pairs: number): void;
  readonly roomBytes: WasmGlobal;
  readonly messagesAt: WasmGlobal;
  readonly digestsAt: WasmGlobal;
  messages(...bytes: readonly [number, number, number, number]): void;
}

const wasm = compileWasm(new URL('./hashes.wasm', import.meta.url));
const kernel = instantiate<Kernel>(wasm);
const memory = new Uint8Array(kernel.memory.buffer);
const hashesAt = kernel.hashesAt.value;
const nodesAt = kernel.nodesAt.value;
const windowBytes = kernel.pairsMax.value * 2 * HASH_BYTES;

/** Does what nodeHashes (merkle.ts) does, for a service: four nodes at a time, in a third of the time. */
export function nodeHashesByFour(level: Uint8Array): Uint8Array<ArrayBuffer> {
  const above = new Uint8Array(level.length / 2);
  for (let at = 0; at < level.length; at += windowBytes) {
    const part = level.subarray(at, at + windowBytes);
    memory.set(part, hashesAt);
    kernel.nodes(part.length / HASH_BYTES / 2);
    above.set(memory.subarray(nodesAt, nodesAt + part.length / 2), at / 2);
  }
  return above;
}

const LANES = 4;
/** Fewer messages than this are hashed one by one. */
const LANES_MIN = 3;
const ROOM_BYTES = kernel.roomBytes.value;
const messagesAt = kernel.messagesAt.value;
const digestsAt = kernel.digestsAt.value;

/**
 * SHA-256 of short messages, four at a time, because each call of OpenSSL has a high fixed cost (assembly/sha256.ts).
 * `put` copies a message, and the copy is erased once it is hashed.
 */
export class ShortHashes {
  /** The longest message that fits. Callers hash longer ones with OpenSSL. */
  static readonly bytesMax = ROOM_BYTES - 9;
  readonly #kernel = instantiate<Kernel>(wasm);
  readonly #memory = new Uint8Array(this.#kernel.memory.buffer);
  readonly #digests = Array.from({ length: LANES }, (_, lane) => {
    const at = digestsAt + lane * HASH_BYTES;
    return this.#memory.subarray(at, at + HASH_BYTES);
  });
  readonly #names = [0, 0, 0, 0];
  readonly #lengths: [number, number, number, number] = [0, 0, 0, 0];
  readonly #hashed: (name: number, digest: Uint8Array) => void;
  #kept = 0;

  /** `hashed` receives each digest, which is valid only during the call. */
  constructor(hashed: (name: number, digest: Uint8Array) => void) {
    this.#hashed = hashed;
  }

  /** Copies a message into the next free lane. The next `put` overwrites it unless `keep` was called. */
  put(bytes: Uint8Array, from: number, to: number): void {
    const lane = this.#kept;
    this.#erase(lane);
    this.#memory.set(bytes.subarray(from, to), messagesAt + lane * ROOM_BYTES);
    this.#lengths[lane] = to - from;
  }

  /** Queues the message that was put last under this name. It is hashed once four are queued, or by `finish`. */
  keep(name: number): void {
    assert(this.#lengths[this.#kept] > 0, 'a message is put before it is kept');
    this.#names[this.#kept++] = name;
    if (this.#kept === LANES) this.finish();
  }

  /** Hashes the queued messages. */
  finish(): void {
    const kept = this.#kept;
    if (kept < LANES) this.#erase(kept);
    this.#kept = 0;
    if (kept >= LANES_MIN) {
      this.#kernel.messages(...this.#lengths);
      this.#lengths.fill(0);
    } else for (let lane = 0; lane < kept; lane++) this.#hashAlone(lane);
    for (let lane = 0; lane < kept; lane++) this.#hashed(this.#names[lane], this.#digests[lane]);
  }

  #hashAlone(lane: number): void {
    const at = messagesAt + lane * ROOM_BYTES;
    sha256(this.#memory.subarray(at, at + this.#lengths[lane]), this.#digests[lane]);
    this.#erase(lane);
  }

  #erase(lane: number): void {
    const length = this.#lengths[lane];
    if (length === 0) return;
    const at = messagesAt + lane * ROOM_BYTES;
    this.#memory.fill(0, at, at + length);
    this.#lengths[lane] = 0;
  }

  /**
   * True when the memory holds no message.
   * @internal for tests, which have no other way to see it
   */
  get isErased(): boolean {
    return this.#memory.subarray(messagesAt, messagesAt + LANES * ROOM_BYTES).every((byte) => byte === 0);
  }
}
