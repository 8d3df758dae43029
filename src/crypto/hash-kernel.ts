import { assert } from '../core/assert.ts';
import { compileWasm, instantiate, type WasmMemory } from '../core/wasm.ts';
import { HASH_BYTES } from './merkle.ts';
import { sha256 } from './sha256.ts';

interface Global {
  readonly value: number;
}

/** See assembly/hashes.ts. */
interface Kernel {
  readonly memory: WasmMemory;
  readonly pairsMax: Global;
  readonly hashesAt: Global;
  readonly nodesAt: Global;
  nodes(pairs: number): void;
  readonly roomBytes: Global;
  readonly messagesAt: Global;
  readonly digestsAt: Global;
  messages(...bytes: readonly [number, number, number, number]): void;
}

const wasm = compileWasm(new URL('./hashes.wasm', import.meta.url));
const kernel = instantiate<Kernel>(wasm);
const memory = new Uint8Array(kernel.memory.buffer);
const hashesAt = kernel.hashesAt.value;
const nodesAt = kernel.nodesAt.value;
const windowBytes = kernel.pairsMax.value * 2 * HASH_BYTES;

/** nodeHashes (merkle.ts), for a service: four nodes at a time, in a third of the time. */
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
/** Fewer messages are hashed one by one. */
const LANES_MIN = 3;
const ROOM_BYTES = kernel.roomBytes.value;
const messagesAt = kernel.messagesAt.value;
const digestsAt = kernel.digestsAt.value;

/**
 * SHA-256 of short messages, four at a time, because a call of OpenSSL takes long (assembly/sha256.ts). A message is copied when it is
 * put here, and erased when it is hashed.
 */
export class ShortHashes {
  /** Longer ones are left to OpenSSL. */
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

  /** `hashed` is told each digest, which is valid for the time of the call. */
  constructor(hashed: (name: number, digest: Uint8Array) => void) {
    this.#hashed = hashed;
  }

  /** Copies a message in the place of the last one if that was not kept. */
  put(bytes: Uint8Array, from: number, to: number): void {
    const lane = this.#kept;
    this.#erase(lane);
    this.#memory.set(bytes.subarray(from, to), messagesAt + lane * ROOM_BYTES);
    this.#lengths[lane] = to - from;
  }

  /** Has the message that was put last hashed under this name: with others, or by `finish`. */
  keep(name: number): void {
    assert(this.#lengths[this.#kept] > 0, 'a message is put before it is kept');
    this.#names[this.#kept++] = name;
    if (this.#kept === LANES) this.finish();
  }

  /** Hashes what is kept. */
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
   * True when no message is left in its memory.
   * @internal for tests: nothing else can see it
   */
  get isErased(): boolean {
    return this.#memory.subarray(messagesAt, messagesAt + LANES * ROOM_BYTES).every((byte) => byte === 0);
  }
}
