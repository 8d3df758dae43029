import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { assert } from '../../core/assert.ts';

/**
 * The conditioning component (SP 800-90B §3.1.5): a vetted function that turns assessed raw noise into full-entropy
 * bytes. The function is Hash_df over SHA-256 (SP 800-90A §10.3.1) for 256 bits, which is a single hash:
 *
 *   output block = SHA-256(0x01 ‖ 0x00000100 ‖ piece of raw noise).
 *
 * Plain SHA-256 would be vetted too. But public certificates print `raw_output`, the SHA-256 of the raw noise, so the
 * certificate of a lot with one piece would print the entropy. The counter and length that Hash_df puts first make the
 * two hashes different; as constants they do not reduce the entropy.
 */
// The counter 1, then no_of_bits_to_return = 256 as four bytes.
const HASH_DF_HEADER = Uint8Array.of(0x01, 0x00, 0x00, 0x01, 0x00);

const OUTPUT_BITS = 256;
const OUTPUT_BYTES = OUTPUT_BITS / 8;
/**
 * SP 800-90C allows the claim of full entropy, at least 1 - 2^-32 bits in every bit, only if h_in >= n_out + 64 (vetted
 * conditioning). The narrowest input, n_in = h_in = 320, gives the least: 1 - 2^-35 bits
 * (test/pool/intake/conditioner.test.ts computes Output_Entropy).
 */
const ASSESSED_BITS_PER_BLOCK = OUTPUT_BITS + 64;

/**
 * Blocks made between two turns of the event loop. They take 1 to 3 ms; the 10,485 blocks of a lot of 4 Mbit would
 * delay requests by 11 to 60 ms (Node 22, two shared cores).
 */
const BLOCKS_PER_TURN = 512;

export interface Conditioned {
  /** Full-entropy bytes: `blocks` times 32. */
  readonly output: Uint8Array<ArrayBuffer>;
  readonly blocks: number;
  /** Raw bits that went into each block (n_in, without Hash_df's header). */
  readonly inputBitsPerBlock: number;
  /** Assessed min-entropy of those bits (h_in), at least 320. */
  readonly entropyPerBlock: number;
}

/** Returns how many raw bytes make one block of 32 conditioned bytes, at an assessed min-entropy per bit in (0, 1]. */
function inputBytesPerBlock(minEntropyPerBit: number): number {
  assert(minEntropyPerBit > 0 && minEntropyPerBit <= 1, 'the min-entropy of a bit lies in (0, 1]');
  const bytes = Math.ceil(ASSESSED_BITS_PER_BLOCK / minEntropyPerBit / 8);
  // The floating-point quotient may be rounded down to a whole number of bytes.
  return bytes * 8 * minEntropyPerBit < ASSESSED_BITS_PER_BLOCK ? bytes + 1 : bytes;
}

/**
 * Returns how many raw bits `condition` needs for `outputBytes` bytes, rounded up to whole blocks.
 * @internal for the tables of docs/sources.md and for tests
 */
export function rawBitsFor(outputBytes: number, minEntropyPerBit: number): number {
  return Math.ceil(outputBytes / OUTPUT_BYTES) * inputBytesPerBlock(minEntropyPerBit) * 8;
}

/**
 * Conditions the first `bitLength` bits of `bits` (packed, most significant bit first). Each block gets the next piece
 * of whole bytes, so no raw bit is used twice. A rest shorter than a piece is not used. `minEntropyPerBit` is the
 * assessed min-entropy of the raw bits. The caller erases `bits`.
 */
export async function condition(
  bits: Uint8Array,
  bitLength: number,
  minEntropyPerBit: number,
): Promise<Conditioned> {
  assert(
    Number.isInteger(bitLength) && bitLength >= 0 && bitLength <= bits.length * 8,
    'bits holds bitLength bits',
  );
  const pieceBytes = inputBytesPerBlock(minEntropyPerBit);
  const blocks = Math.floor(Math.floor(bitLength / 8) / pieceBytes);
  const entropyPerBlock = pieceBytes * 8 * minEntropyPerBit;
  assert(entropyPerBlock >= ASSESSED_BITS_PER_BLOCK, 'a block gets 64 assessed bits more than it gives');

  const output = new Uint8Array(blocks * OUTPUT_BYTES);
  const input = new Uint8Array(HASH_DF_HEADER.length + pieceBytes);
  input.set(HASH_DF_HEADER);
  for (let block = 0; block < blocks; block++) {
    if (block > 0 && block % BLOCKS_PER_TURN === 0) await nextTurn();
    input.set(bits.subarray(block * pieceBytes, (block + 1) * pieceBytes), HASH_DF_HEADER.length);
    const digest = hash('sha256', input, 'buffer');
    output.set(digest, block * OUTPUT_BYTES);
    digest.fill(0);
  }
  input.fill(0);
  return { output, blocks, inputBitsPerBlock: pieceBytes * 8, entropyPerBlock };
}
