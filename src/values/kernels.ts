import { copyBytes, utf8Bytes } from '../core/bytes.ts';
import { LIMITS } from '../core/limits.ts';
import { writeJsonText } from '../core/text-bytes.ts';
import { compileWasm, instantiate, type WasmGlobal, type WasmMemory } from '../core/wasm.ts';

/**
 * The samplers and writers that dominate an answer's time, in WebAssembly: 100,000 numbers take a third to an
 * eighth of the time that the replaced TypeScript took (bench `micro`). Their sources are in assembly/;
 * `node scripts/build-kernels.ts` builds kernels.wasm.
 *
 * An answer passes block by block through fixed windows of the instance's memory: entropy is copied in,
 * offsets are drawn, text is written and copied out. Without the copies every answer would have to stay in
 * this memory until it is sent, and no other thread could take it over. With them the memory never
 * grows, the owner of an answer chooses its place, and clearing three ranges erases all secrets.
 *
 * Each thread has one instance. Everything here is synchronous: no other answer begins between the first block of an
 * answer and `eraseWindows`.
 */

/** Where bytes come from: an EntropyReader, or bytes that were drawn before. */
export interface ByteSource {
  /** Writes the next bytes to `out` from `start` to `end`. */
  fill(out: Uint8Array, start: number, end: number): void;
}

interface Kernels {
  readonly memory: WasmMemory;
  readonly entropyAt: WasmGlobal;
  readonly offsetsAt: WasmGlobal;
  readonly textAt: WasmGlobal;
  readonly secondAt: WasmGlobal;
  readonly blockValues: WasmGlobal;
  readonly blockBytes: WasmGlobal;
  readonly entropyBytes: WasmGlobal;
  readonly textBytes: WasmGlobal;

  /** assembly/offsets.ts: make offsets from words in the entropy window; return the count of offsets. */
  batched(words: number, span: number, size: number, refused: number): number;
  multiplied(words: number, span: number, refused: number): number;
  divided(words: number, wordBytes: number, span: number, accepted: number): number;
  toDoubles(count: number): void;
  fromDoubles(count: number): void;

  /** assembly/integers.ts: write text from words; return its size in bytes. */
  batchedSmall(words: number, span: number, size: number, refused: number, min: number): number;
  fourSmall(words: number, span: number, refused: number, min: number): number;
  /** Write text from offsets; return its size in bytes. */
  int32(count: number, min: number): number;
  safe32(count: number, min: number): number;
  safe64(count: number, min: number): number;

  /** assembly/floats.ts: write text from words; return its size in bytes. */
  fivePlaces(words: number, refused: number): number;
  sixPlaces(words: number, refused: number): number;
  /** Write text from offsets or words; return the index at which they stopped. */
  decimals32: StoppingWriter;
  decimals64: StoppingWriter;
  fifteenPlaces: StoppingWriter;
  shortestOfWords: StoppingWriter;

  /** assembly/bytes.ts: write text from bytes in the entropy window; return its size in bytes. */
  hex(count: number, length: number): number;
  base64(count: number, length: number): number;
  uuid(count: number): number;
  bits(count: number): number;

  /** assembly/octets.ts: write octets to the text window from offsets, words or bytes. */
  int32Octets32(count: number, min: number): void;
  int32Octets64(count: number, min: number): void;
  float64Octets32(count: number, min: number, divisor: number): void;
  float64Octets64(count: number, min: number, divisor: number): void;
  unitOctets(words: number): void;
  uuidOctets(count: number): void;

  /**
   * assembly/bytes.ts and packed.ts: write MessagePack from the last block; return its size. `head` precedes each
   * string.
   */
  packedHex(count: number, length: number, head: number, headBytes: number): number;
  packedBase64(count: number, length: number, head: number, headBytes: number): number;
  packedUuid(count: number): number;
  packedIntegers32(count: number, min: number): number;
  packedIntegers64(count: number, min: number): number;
  packedQuotients32(count: number, divisor: number): number;
  packedQuotients64(count: number, divisor: number): number;
  packedUnits(words: number): number;
  packedNumbers(count: number): number;

  /** assembly/texts.ts: write text from places in the offsets' window; return its size in bytes. */
  readonly texts: WasmGlobal;
  readonly textStarts: WasmGlobal;
  readonly textsMax: WasmGlobal;
  readonly textsBytesMax: WasmGlobal;
  strings(count: number, length: number, missing: number): number;
  /** Write text from words; return its size in bytes. */
  readonly picks: WasmGlobal;
  readonly picksMax: WasmGlobal;
  batchedPicks(words: number, span: number, size: number, refused: number): number;
  readonly alphabet: WasmGlobal;
  letters(
    words: number,
    span: number,
    size: number,
    refused: number,
    length: number,
    missing: number,
  ): number;

  /** assembly/rows.ts: write text and MessagePack from words; `rows` returns the count of finished lists. */
  readonly ranges: WasmGlobal;
  beginRows(ranges: number, isNested: boolean, isPacked: boolean): void;
  rows(count: number, bytes: number): number;

  /** assembly/gaussians.ts: make text and numbers from a stream of bits. */
  readonly distribution: WasmGlobal;
  readonly streamBytes: WasmGlobal;
  prepareGaussians(): void;
  beginStream(): void;
  /** Adds the words in the entropy window to the stream; returns the stream's count of bits. */
  feedStream(bytes: number): number;
  takeBits(count: number): number;
  /** Returns a known bit of the fraction of the value that the caller rounds. */
  fractionBit(i: number): number;
  gaussians(made: number, count: number, textBytes: number): number;
  gaussianOctets(count: number): void;
  eraseStream(): void;

  erase(entropyBytes: number, offsetBytes: number, textBytes: number): void;
}

/** Only the decimals use `scale`. */
export type StoppingWriter = (from: number, count: number, textBytes: number, scale: number) => number;

export const kernels = instantiate<Kernels>(compileWasm(new URL('./kernels.wasm', import.meta.url)));

/** Count of values in a block. */
export const BLOCK_VALUES = kernels.blockValues.value;
/** Size of a block whose values are bytes or bits themselves. */
export const BLOCK_BYTES = kernels.blockBytes.value;
/** Sizes of the entropy window and of the text window. */
export const ENTROPY_BYTES = kernels.entropyBytes.value;
export const TEXT_BYTES = kernels.textBytes.value;

const memory = new Uint8Array(kernels.memory.buffer);
const entropyAt = kernels.entropyAt.value;
const offsetsAt = kernels.offsetsAt.value;
const textAt = kernels.textAt.value;

/** The windows: entropy; text; offsets as the kernels keep them (u32) or as numbers. */
const words = new DataView(kernels.memory.buffer, entropyAt);
const text = memory.subarray(textAt);
export const offsets32 = new Uint32Array(kernels.memory.buffer, offsetsAt, 2 * BLOCK_VALUES);
export const offsets64 = new Float64Array(kernels.memory.buffer, offsetsAt, BLOCK_VALUES);
/** The results of the last kernel call after its first one. */
export const moreResults = new Uint32Array(kernels.memory.buffer, kernels.secondAt.value, 6);

/** The ranges for the kernel of rows, 11 numbers each. */
export const rangeNumbers = new Float64Array(
  kernels.memory.buffer,
  kernels.ranges.value,
  11 * LIMITS.sequencesMax,
);
const textStarts = new Uint32Array(
  kernels.memory.buffer,
  kernels.textStarts.value,
  kernels.textsMax.value + 1,
);
const STREAM_WORDS = kernels.streamBytes.value / 4;

/** Count of bytes of each window that were used since the last erasure. */
let entropyBytes = 0;
let offsetBytes = 0;
let textBytes = 0;
let isStreamUsed = false;

/** Copies the next `size` bytes into the entropy window, after the `left` bytes that it still holds. */
export function takeEntropy(source: ByteSource, size: number, left = 0): void {
  if (left + size > entropyBytes) entropyBytes = left + size;
  source.fill(memory, entropyAt + left, entropyAt + left + size);
}

/** Records that the first `size` bytes of the offsets' window are in use. */
export function useOffsets(size: number): void {
  if (size > offsetBytes) offsetBytes = size;
}

/** Returns the second result of the last kernel call. */
export function secondResult(): number {
  return moreResults[0];
}

/** Records that the first `size` bytes of the text window are in use. */
export function useText(size: number): void {
  if (size > textBytes) textBytes = size;
}

/** Copies `size` bytes of the text window, from its start by default, to `target`; returns their end. */
export function putText(size: number, target: Uint8Array, at: number, from = 0): number {
  useText(from + size);
  copyBytes(memory, textAt + from, target, at, size);
  return at + size;
}

/** Writes ASCII text to the text window after `size` bytes; returns the new size. */
export function appendText(size: number, ascii: string): number {
  for (let i = 0; i < ascii.length; i++) text[size + i] = ascii.charCodeAt(i);
  return size + ascii.length;
}

/** Returns the first `size` bytes of the text window, which are ASCII. */
export function textOf(size: number): string {
  return Buffer.from(memory.buffer, textAt, size).toString('latin1');
}

/** Returns word i of seven bytes in the entropy window as an integer of 53 bits. */
export function wideWord(i: number): number {
  return (words.getUint32(7 * i + 4, true) & 0x1f_ffff) * 2 ** 32 + words.getUint32(7 * i, true);
}

/** Returns offset i as a number; `isWide` tells whether the kernels keep it in 64 bits. */
export function offsetAt(i: number, isWide: boolean): number {
  return isWide ? offsets32[2 * i + 1] * 2 ** 32 + offsets32[2 * i] : offsets32[i];
}

/** Begins a stream of bits, which come from the entropy's words, lowest bit first. */
export function beginStream(): void {
  isStreamUsed = true;
  kernels.beginStream();
}

/** Feeds the stream, which has `left` bits, until it has `certain` bits or is full; adds one word at least. */
export function feedStream(source: ByteSource, left: number, certain: number): void {
  const room = STREAM_WORDS - 1 - Math.ceil(left / 32);
  const words = Math.max(1, Math.min(room, Math.ceil((certain - left) / 32)));
  takeEntropy(source, 4 * words);
  kernels.feedStream(4 * words);
}

/** Returns the next 1 to 24 bits of the stream as an integer, the first bit highest. */
export function takeBits(source: ByteSource, count: number): number {
  let bits = kernels.takeBits(count);
  while (bits < 0) {
    takeEntropy(source, 4);
    kernels.feedStream(4);
    bits = kernels.takeBits(count);
  }
  return bits;
}

/** Gives the kernel of strings these texts to pick from; false when a block of them may exceed its memory. */
export function putTexts(texts: readonly string[]): boolean {
  // A UTF-16 code unit takes six bytes in JSON at most.
  const sizeMax = 6 * texts.reduce((size, text) => size + text.length, 0);
  if (texts.length > kernels.textsMax.value || sizeMax > kernels.textsBytesMax.value) return false;
  const from = kernels.texts.value;
  let at = from;
  let longest = 0;
  for (let i = 0; i < texts.length; i++) {
    textStarts[i] = at - from;
    at = writeJsonText(texts[i], memory, at);
    longest = Math.max(longest, at - from - textStarts[i]);
  }
  textStarts[texts.length] = at - from;
  return BLOCK_VALUES * (longest + 3) <= TEXT_BYTES; // two quotes and a comma
}

/** Gives the kernel of letters these characters; false when JSON writes one of them as more than one byte. */
export function putAlphabet(characters: readonly string[]): boolean {
  const written = utf8Bytes(JSON.stringify(characters.join('')).slice(1, -1));
  if (written.length > characters.length || written.length > ALPHABET_MAX) return false;
  memory.set(written, kernels.alphabet.value);
  return true;
}

/** More than the count of characters that JSON writes as one byte. */
const ALPHABET_MAX = 128;

/** The longest text of a pick with its comma. An entry has one more byte, which holds the text's size. */
export const PICK_TEXT_MAX = 15;
const PICK_ROOM = PICK_TEXT_MAX + 1;

/**
 * Gives the kernel of picks item i for the offsets from ends[i - 1] up to ends[i]; false when there are too many or one
 * is too long.
 */
export function putPicks(items: readonly string[], ends: Float64Array): boolean {
  if (ends[ends.length - 1] > kernels.picksMax.value) return false;
  const from = kernels.picks.value;
  let entry = from;
  for (let i = 0; i < items.length; i++) {
    const written = utf8Bytes(`${JSON.stringify(items[i])},`);
    if (written.length > PICK_TEXT_MAX) return false;
    for (; entry < from + PICK_ROOM * ends[i]; entry += PICK_ROOM) {
      memory.set(written, entry);
      memory[entry + PICK_TEXT_MAX] = written.length;
    }
  }
  return true;
}

export function putDistribution(parameters: Uint8Array): void {
  memory.set(parameters, kernels.distribution.value);
}

/** Zeroes everything that the last answer left in the windows and in the stream. */
export function eraseWindows(): void {
  kernels.erase(entropyBytes, offsetBytes, textBytes);
  if (isStreamUsed) kernels.eraseStream();
  isStreamUsed = false;
  entropyBytes = 0;
  offsetBytes = 0;
  textBytes = 0;
}

/**
 * True when the windows hold only zeros, as after every answer.
 * @internal for tests, which have no other way to see this memory
 */
export function windowsAreErased(): boolean {
  return memory.subarray(entropyAt, kernels.secondAt.value).every((byte) => byte === 0);
}
