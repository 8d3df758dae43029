import { copyBytes, utf8Bytes } from '../core/bytes.ts';
import { LIMITS } from '../core/limits.ts';
import { writeJsonText } from '../core/text-bytes.ts';
import { compileWasm, instantiate, type WasmMemory } from '../core/wasm.ts';

/**
 * The samplers and writers that take an answer's time, in WebAssembly: 100,000 numbers take a third to an
 * eighth of the time that the same took in TypeScript when it was replaced (bench `numbers`). Their sources
 * are in assembly/;
 * `node scripts/build-kernels.ts` makes kernels.wasm.
 *
 * An answer passes through fixed windows of the instance's memory block by block: entropy is copied in,
 * offsets are drawn, text is written and copied out. Without the copies every answer would have to live in
 * this memory until it has left, and could not be handed from thread to thread; with them the memory never
 * grows, an answer lies wherever its owner wants it, and what is secret is erased by clearing three ranges.
 *
 * One instance for each thread. Everything here is synchronous: between the first block of an answer and
 * `eraseWindows` no other answer begins.
 */

/** Where bytes come from: an EntropyReader, or what was drawn before. */
export interface ByteSource {
  /** Writes the next bytes to `out` from `start` to `end`. */
  fill(out: Uint8Array, start: number, end: number): void;
}

interface Global {
  readonly value: number;
}

interface Kernels {
  readonly memory: WasmMemory;
  readonly entropyAt: Global;
  readonly offsetsAt: Global;
  readonly textAt: Global;
  readonly secondAt: Global;
  readonly blockValues: Global;
  readonly blockBytes: Global;
  readonly entropyBytes: Global;
  readonly textBytes: Global;

  /** assembly/offsets.ts: from words in the entropy window to offsets; how many there are. */
  batched(words: number, span: number, size: number, refused: number): number;
  multiplied(words: number, span: number, refused: number): number;
  divided(words: number, wordBytes: number, span: number, accepted: number): number;
  toDoubles(count: number): void;
  fromDoubles(count: number): void;

  /** assembly/integers.ts: from words to text; its bytes. */
  batchedSmall(words: number, span: number, size: number, refused: number, min: number): number;
  fourSmall(words: number, span: number, refused: number, min: number): number;
  /** From offsets to text; its bytes. */
  int32(count: number, min: number): number;
  safe32(count: number, min: number): number;
  safe64(count: number, min: number): number;

  /** assembly/floats.ts: from words to text; its bytes. */
  fivePlaces(words: number, refused: number): number;
  sixPlaces(words: number, refused: number): number;
  /** From offsets or words to text; the index of the one at which it stopped. */
  decimals32: StoppingWriter;
  decimals64: StoppingWriter;
  fifteenPlaces: StoppingWriter;
  shortestOfWords: StoppingWriter;

  /** assembly/bytes.ts: from bytes in the entropy window to text; its bytes. */
  hex(count: number, length: number): number;
  base64(count: number, length: number): number;
  uuid(count: number): number;
  bits(count: number): number;

  /** assembly/octets.ts: from offsets, words or bytes to octets in the text window. */
  int32Octets32(count: number, min: number): void;
  int32Octets64(count: number, min: number): void;
  float64Octets32(count: number, min: number, divisor: number): void;
  float64Octets64(count: number, min: number, divisor: number): void;
  unitOctets(words: number): void;
  uuidOctets(count: number): void;

  /** assembly/bytes.ts and packed.ts: MessagePack from what the windows still hold; its bytes. `head` precedes each string. */
  packedHex(count: number, length: number, head: number, headBytes: number): number;
  packedBase64(count: number, length: number, head: number, headBytes: number): number;
  packedUuid(count: number): number;
  packedIntegers32(count: number, min: number): number;
  packedIntegers64(count: number, min: number): number;
  packedQuotients32(count: number, divisor: number): number;
  packedQuotients64(count: number, divisor: number): number;
  packedUnits(words: number): number;
  packedNumbers(count: number): number;

  /** assembly/texts.ts: from places in the offsets' window to text; its bytes. */
  readonly texts: Global;
  readonly textStarts: Global;
  readonly textsMax: Global;
  readonly textsBytesMax: Global;
  strings(count: number, length: number, missing: number): number;
  /** From words to text; its bytes. */
  readonly picks: Global;
  readonly picksMax: Global;
  batchedPicks(words: number, span: number, size: number, refused: number): number;
  readonly alphabet: Global;
  letters(
    words: number,
    span: number,
    size: number,
    refused: number,
    length: number,
    missing: number,
  ): number;

  /** assembly/rows.ts: from words to text and MessagePack; lists that are done. */
  readonly ranges: Global;
  beginRows(ranges: number, isNested: boolean, isPacked: boolean): void;
  rows(count: number, bytes: number): number;

  /** assembly/gaussians.ts: from a stream of bits to text and numbers. */
  readonly distribution: Global;
  readonly streamBytes: Global;
  prepareGaussians(): void;
  beginStream(): void;
  /** From words in the entropy window to bits; how many there are. */
  feedStream(bytes: number): number;
  takeBits(count: number): number;
  /** Of the value that is to be rounded by the caller. */
  fractionBit(i: number): number;
  gaussians(made: number, count: number, textBytes: number): number;
  gaussianOctets(count: number): void;
  eraseStream(): void;

  erase(entropyBytes: number, offsetBytes: number, textBytes: number): void;
}

/** `scale` is for the decimals alone. */
export type StoppingWriter = (from: number, count: number, textBytes: number, scale: number) => number;

export const kernels = instantiate<Kernels>(compileWasm(new URL('./kernels.wasm', import.meta.url)));

/** Values of a block. */
export const BLOCK_VALUES = kernels.blockValues.value;
/** Bytes of a block of values that are bytes or bits themselves. */
export const BLOCK_BYTES = kernels.blockBytes.value;
/** Bytes of the windows of entropy and of text. */
export const ENTROPY_BYTES = kernels.entropyBytes.value;
export const TEXT_BYTES = kernels.textBytes.value;

const memory = new Uint8Array(kernels.memory.buffer);
const entropyAt = kernels.entropyAt.value;
const offsetsAt = kernels.offsetsAt.value;
const textAt = kernels.textAt.value;

/** The windows: raw entropy; offsets as the kernels keep them (u32) or as numbers; text. */
const words = new DataView(kernels.memory.buffer, entropyAt);
const text = memory.subarray(textAt);
export const offsets32 = new Uint32Array(kernels.memory.buffer, offsetsAt, 2 * BLOCK_VALUES);
export const offsets64 = new Float64Array(kernels.memory.buffer, offsetsAt, BLOCK_VALUES);
/** The results of the kernel called last, from the second on. */
export const moreResults = new Uint32Array(kernels.memory.buffer, kernels.secondAt.value, 6);

/** What the kernel of rows reads of ranges, one behind the other. */
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

/** How far each window was used since it was erased. */
let entropyBytes = 0;
let offsetBytes = 0;
let textBytes = 0;
let isStreamUsed = false;

/** Puts the next `size` bytes into the entropy window, behind `left` bytes of it. */
export function takeEntropy(source: ByteSource, size: number, left = 0): void {
  if (left + size > entropyBytes) entropyBytes = left + size;
  source.fill(memory, entropyAt + left, entropyAt + left + size);
}

/** Notes that this many bytes of offsets were drawn or put. */
export function useOffsets(size: number): void {
  if (size > offsetBytes) offsetBytes = size;
}

/** The second result of the kernel called last. */
export function secondResult(): number {
  return moreResults[0];
}

/** Notes that this many bytes of text were written. */
export function useText(size: number): void {
  if (size > textBytes) textBytes = size;
}

/** Copies `size` bytes of the text window, by default the first, to `target`; returns where they end. */
export function putText(size: number, target: Uint8Array, at: number, from = 0): number {
  useText(from + size);
  copyBytes(memory, textAt + from, target, at, size);
  return at + size;
}

/** Adds ASCII text to the text window behind `size` bytes; returns the new size. */
export function appendText(size: number, ascii: string): number {
  for (let i = 0; i < ascii.length; i++) text[size + i] = ascii.charCodeAt(i);
  return size + ascii.length;
}

/** The first `size` bytes of the text window, which are ASCII. */
export function textOf(size: number): string {
  return Buffer.from(memory.buffer, textAt, size).toString('latin1');
}

/** Word i of seven bytes in the entropy window, as a whole number of 53 bits. */
export function wideWord(i: number): number {
  return (words.getUint32(7 * i + 4, true) & 0x1f_ffff) * 2 ** 32 + words.getUint32(7 * i, true);
}

/** Offset i as a number, of the width that the kernels keep it in. */
export function offsetAt(i: number, isWide: boolean): number {
  return isWide ? offsets32[2 * i + 1] * 2 ** 32 + offsets32[2 * i] : offsets32[i];
}

/** Begins a stream of bits, which are those of the entropy's words, the lowest of each first. */
export function beginStream(): void {
  isStreamUsed = true;
  kernels.beginStream();
}

/** Feeds the stream, which has `left` bits, until it has `certain` or is full; with one word at least. */
export function feedStream(source: ByteSource, left: number, certain: number): void {
  const room = STREAM_WORDS - 1 - Math.ceil(left / 32);
  const words = Math.max(1, Math.min(room, Math.ceil((certain - left) / 32)));
  takeEntropy(source, 4 * words);
  kernels.feedStream(4 * words);
}

/** The next 1 to 24 bits of the stream as a whole number, the first the highest. */
export function takeBits(source: ByteSource, count: number): number {
  let bits = kernels.takeBits(count);
  while (bits < 0) {
    takeEntropy(source, 4);
    kernels.feedStream(4);
    bits = kernels.takeBits(count);
  }
  return bits;
}

/** Has the kernel of strings pick from these; false when they are too many or too long for a block of them. */
export function putTexts(texts: readonly string[]): boolean {
  // a character in JSON takes six bytes at most
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

/** Has the kernel of letters write these; false when one is no single byte of JSON. */
export function putAlphabet(characters: readonly string[]): boolean {
  const written = utf8Bytes(JSON.stringify(characters.join('')).slice(1, -1));
  if (written.length > characters.length || written.length > ALPHABET_MAX) return false;
  memory.set(written, kernels.alphabet.value);
  return true;
}

/** Bytes that JSON writes as they are are fewer. */
const ALPHABET_MAX = 128;

/** Bytes of a pick's text and comma, at most, and of its entry, whose last byte says how many they are. */
export const PICK_TEXT_MAX = 15;
const PICK_ROOM = PICK_TEXT_MAX + 1;

/** Has the kernel of picks write item i for the offsets from ends[i - 1] up to ends[i]; false when they are too many or it is too long. */
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

/** Zeroes everything that the last answer left in the windows. */
export function eraseWindows(): void {
  kernels.erase(entropyBytes, offsetBytes, textBytes);
  if (isStreamUsed) kernels.eraseStream();
  isStreamUsed = false;
  entropyBytes = 0;
  offsetBytes = 0;
  textBytes = 0;
}

/**
 * True when the windows hold nothing but zeros: what every answer leaves.
 * @internal for tests: nothing else can see the memory
 */
export function windowsAreErased(): boolean {
  return memory.subarray(entropyAt, kernels.secondAt.value).every((byte) => byte === 0);
}
