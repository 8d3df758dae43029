import { assert } from '../../core/assert.ts';
import { compileWasm, ensureBytes, instantiate, type WasmMemory } from '../../core/wasm.ts';
import { chacha20ByOpenssl } from '../../crypto/chacha20.ts';

/**
 * A two-universal hash of a whole lot: the product of a Toeplitz matrix over GF(2) with its raw bits. A bound
 * on the min-entropy of a lot says nothing about one piece of it; hashing all of the lot at once, by the
 * leftover hash lemma, turns the bound into nearly uniform bits without any assumption on how the entropy is
 * spread.
 *
 * With N raw bits x, m output bits y and N + m - 1 seed bits s:
 *
 *   y[i] = s[N - 1 + i] x[0] + s[N - 2 + i] x[1] + ... + s[i] x[N - 1]   (mod 2),   0 <= i < m,
 *
 * so that y is the stretch of the coefficients N - 1 to N + m - 2 of the product of the polynomials s and x.
 *
 * The lemma (Tomamichel, Schaffner, Smith and Renner, arXiv:1002.2436) is about a uniform seed that is
 * independent of the raw bits. It may be public, but must be drawn after them. `toeplitzSeed` expands 32
 * bytes with ChaCha20, so the lemma applies under one more assumption, which docs/evidence.md states: that
 * the expansion extracts as uniform bits do. Reading all seed bits from the system's generator would assume
 * the same of that generator, which expands 32 bytes with ChaCha20 as well on Linux, and would make the log
 * of each lot 1 MB longer before anyone could recompute it.
 */

/**
 * Output bits that the leftover hash lemma allows: floor(minEntropyBits - 2 errorBits), never below 0. The
 * output together with the seed is then within 2^-errorBits of uniform, besides the error of the bound
 * itself: `minEntropyBits` is the smooth min-entropy of the whole lot, in bits. The lemma allows two bits
 * more; nobody will miss them.
 */
export function extractableBits(minEntropyBits: number, errorBits: number): number {
  assert(minEntropyBits >= 0 && errorBits > 0, 'the lemma takes a min-entropy and an error below 1');
  return Math.max(0, Math.floor(minEntropyBits - 2 * errorBits));
}

/** Besides the shares of ones; see publishedBits. */
const PUBLISHED_BITS = 4096;

/**
 * Bits of a lot's record that are computed from its raw bits, at most. They are public before the output is used, so the
 * min-entropy that is left for whoever reads them is less by their number, as it is by what error correction reveals
 * (Tomamichel, Lim, Gisin and Renner, arXiv:1103.4130). The SHA-256 of the lot and of two windows are 768 bits; the
 * other figures of these windows 1,714, with 188 deciles of 4 bits each; the estimates and the evidence have at most 20
 * doubles. The share of ones of a channel has one of `shots` + 1 values.
 */
export function publishedBits(width: number, shots: number): number {
  return PUBLISHED_BITS + width * Math.ceil(Math.log2(shots + 1));
}

/**
 * The seed bits of a matrix of `outputBits` rows and `rawBits` columns, packed, most significant bit first:
 * the ChaCha20 keystream (RFC 8439) of `key` with a nonce of zeros from block 0 on. `key` has 32 bytes, drawn
 * from the system's generator when the raw bits have been hashed, and logged with that hash. The bits left
 * over of the last byte are keystream too and unused.
 */
export function toeplitzSeed(key: Uint8Array, rawBits: number, outputBits: number): Uint8Array<ArrayBuffer> {
  const zeros = new Uint8Array(Math.ceil((rawBits + outputBits - 1) / 8));
  return chacha20ByOpenssl(key, new Uint8Array(12), 0, zeros);
}

/**
 * The hash of the first `rawBits` bits of `raw` with the first rawBits + outputBits - 1 bits of `seed`:
 * `outputBits` bits. All are packed, most significant bit first; the bits left over of the last byte of the
 * result are zero.
 *
 * Synchronous, and takes part of a second for a lot of 4 Mbit (bench `extractor`): for a worker. Its memory
 * does not depend on the lot, 84 MB at most, and is erased before it is given back. The caller erases `raw`.
 */
export function toeplitzHash(
  raw: Uint8Array,
  rawBits: number,
  seed: Uint8Array,
  outputBits: number,
): Uint8Array<ArrayBuffer> {
  assert(Number.isInteger(rawBits) && rawBits >= 1 && rawBits <= raw.length * 8, 'raw holds rawBits bits');
  assert(Number.isInteger(outputBits) && outputBits >= 1, 'a hash has output bits');
  assert(seed.length * 8 >= rawBits + outputBits - 1, 'a Toeplitz matrix has rawBits + outputBits - 1 bits');
  const output = new Uint8Array(Math.ceil(outputBits / 8));
  const multiplier = new Multiplier(Math.min(rawBits, BLOCK_BITS) + Math.min(outputBits, BLOCK_BITS) - 1);
  try {
    for (let row = 0; row < outputBits; row += BLOCK_BITS) {
      const rows = Math.min(BLOCK_BITS, outputBits - row);
      for (let column = 0; column < rawBits; column += BLOCK_BITS) {
        const columns = Math.min(BLOCK_BITS, rawBits - column);
        const seedBit = row + rawBits - column - columns;
        multiplier.addBlock(output, row, rows, raw, column, columns, seed, seedBit);
      }
    }
  } finally {
    multiplier.erase();
  }
  return output;
}

/**
 * A larger matrix is applied in blocks of so many rows and columns: memory stays bounded, and counts stay
 * below the prime.
 */
const BLOCK_BITS = 2 ** 22;

/** assembly/extractor.ts. Sizes are in vectors of four coefficients, 16 bytes. */
interface ExtractorKernels {
  readonly memory: WasmMemory;
  roots(at: number, vectors: number, isInverse: boolean): void;
  spread(from: number, first: number, count: number, to: number, vectors: number): void;
  forward(at: number, vectors: number, rootsAt: number): void;
  multiply(a: number, b: number, vectors: number, rootsAt: number): void;
  inverse(at: number, vectors: number, rootsAt: number): void;
  parities(from: number, count: number, to: number): void;
}

const extractorModule = compileWasm(new URL('./extractor.wasm', import.meta.url));

/** The module's own data ends below. */
const FIRST_BYTE = 1024;

/** Multiplies one block of the matrix after the other, in a memory of its own. */
class Multiplier {
  readonly #kernels = instantiate<ExtractorKernels>(extractorModule);
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #vectors: number;
  readonly #packedAt: number;
  readonly #rootsAt: number;
  readonly #rawAt: number;
  readonly #seedAt: number;

  /**
   * `coefficients` is how many the seed of one block has: a cyclic product of that length wraps none that is wanted.
   */
  constructor(coefficients: number) {
    this.#vectors = 2 ** Math.ceil(Math.log2(Math.max(4, coefficients) / 4));
    this.#packedAt = FIRST_BYTE;
    this.#rootsAt = this.#packedAt + aligned(coefficients / 8 + 2);
    this.#rawAt = this.#rootsAt + aligned(2 * this.#vectors);
    this.#seedAt = this.#rawAt + 16 * this.#vectors;
    ensureBytes(this.#kernels.memory, this.#seedAt + 16 * this.#vectors);
    this.#bytes = new Uint8Array(this.#kernels.memory.buffer);
  }

  /**
   * Adds rows [row, row + rows) of columns [column, column + columns), with the seed from `seedBit` on, to
   * `output`.
   */
  addBlock(
    output: Uint8Array,
    row: number,
    rows: number,
    raw: Uint8Array,
    column: number,
    columns: number,
    seed: Uint8Array,
    seedBit: number,
  ): void {
    const { roots, forward, multiply, inverse, parities } = this.#kernels;
    const vectors = this.#vectors;
    this.#spread(raw, column, columns, this.#rawAt);
    this.#spread(seed, seedBit, rows + columns - 1, this.#seedAt);
    roots(this.#rootsAt, vectors, false);
    forward(this.#rawAt, vectors, this.#rootsAt);
    forward(this.#seedAt, vectors, this.#rootsAt);
    multiply(this.#rawAt, this.#seedAt, vectors, this.#rootsAt);
    roots(this.#rootsAt, vectors, true);
    inverse(this.#rawAt, vectors, this.#rootsAt);
    parities(this.#rawAt + 4 * (columns - 1), rows, this.#packedAt);
    const at = row / 8; // a block begins with a byte
    for (let i = 0; i < Math.ceil(rows / 8); i++) output[at + i] ^= this.#bytes[this.#packedAt + i];
  }

  erase(): void {
    this.#bytes.fill(0);
  }

  /** `count` bits of packed ones, from `first` on, as the coefficients of a polynomial. */
  #spread(packed: Uint8Array, first: number, count: number, to: number): void {
    const bytes = packed.subarray(Math.floor(first / 8), Math.ceil((first + count) / 8));
    this.#bytes.set(bytes, this.#packedAt);
    this.#kernels.spread(this.#packedAt, first % 8, count, to, this.#vectors);
  }
}

function aligned(size: number): number {
  return 16 * Math.ceil(size / 16);
}
