import { descendingBytesMax, fillDescending } from './descending.ts';
import type { EntropyReader } from './entropy-reader.ts';
import { fillPlanned, type Offsets, planOffsets, refusal, refusalsMax, roomFor } from './offsets.ts';

/**
 * Ordered samples without repeats: every sequence of `count` different integers in [0, span) is equally
 * likely. The memory used is proportional to `count`, whatever the span.
 */

/** A span of at most this many times the count is shuffled; from a wider span values are drawn and repeats refused. */
const DENSE_SPAN_PER_VALUE = 4;

/** Returns `count` different offsets in random order; count is at most span. */
export function drawUnique(reader: EntropyReader, span: number, count: number): Offsets {
  return isDense(span, count) ? drawDense(reader, span, count, count) : drawSparse(reader, span, count);
}

/** Returns all of `count` places in random order. The last place has no choice and takes no entropy. */
export function shuffledPlaces(reader: EntropyReader, count: number): Offsets {
  return drawDense(reader, count, count - 1, count);
}

export function isDense(span: number, count: number): boolean {
  return span <= DENSE_SPAN_PER_VALUE * count;
}

/** Returns the first `count` places of the range after the first steps of a Fisher-Yates shuffle (Durstenfeld 1964). */
function drawDense(reader: EntropyReader, span: number, steps: number, count: number): Offsets {
  const range = new Uint32Array(span);
  const indices = new Uint32Array(steps);
  for (let i = 0; i < span; i++) range[i] = i;
  fillDescending(reader, span, indices);
  for (let i = 0; i < steps; i++) {
    const j = i + indices[i];
    const drawn = range[j];
    range[j] = range[i];
    range[i] = drawn;
  }
  indices.fill(0);
  range.fill(0, count);
  return range.subarray(0, count);
}

/**
 * Draws independent offsets and skips those seen before: given the offsets taken so far, the next one is uniform
 * on the rest of the range. Each round draws as many as are missing.
 */
function drawSparse(reader: EntropyReader, span: number, count: number): Offsets {
  const plan = planOffsets(span);
  const seen = new OffsetSet(count);
  const taken = roomFor(plan, count);
  const round = roomFor(plan, count);
  for (let size = 0; size < count; ) {
    const missing = count - size;
    fillPlanned(reader, plan, round, missing);
    for (let i = 0; i < missing; i++) if (seen.add(round[i])) taken[size++] = round[i];
  }
  seen.erase();
  round.fill(0);
  return taken;
}

/**
 * A set of integers from 0 on: open addressing, at most half full. Members are random, so their low bits are the hash.
 */
class OffsetSet {
  readonly #slots: Float64Array;
  readonly #mask: number;

  constructor(sizeMax: number) {
    const slots = 2 ** (33 - Math.clz32(sizeMax));
    this.#slots = new Float64Array(slots).fill(-1);
    this.#mask = slots - 1;
  }

  erase(): void {
    this.#slots.fill(-1);
  }

  /** Adds the offset; returns false when it was a member already. */
  add(offset: number): boolean {
    const slots = this.#slots;
    let at = (offset >>> 0) & this.#mask;
    while (slots[at] !== -1) {
      if (slots[at] === offset) return false;
      at = (at + 1) & this.#mask;
    }
    slots[at] = offset;
    return true;
  }
}

/**
 * Returns the bytes that `times` calls of `drawUnique` take at most, exceeded with probability below 2^-`securityBits`.
 */
export function uniqueBytesMax(span: number, count: number, securityBits: number, times = 1): number {
  if (isDense(span, count)) return descendingBytesMax(span, count, securityBits, times);
  // Two things may exceed their bounds, each with half of the probability: repeats and refused words. An offset is a
  // repeat with p < count / span, and each repeat takes one further draw, at worst with a word of its own.
  const plan = planOffsets(span);
  const repeats = refusalsMax(times * count, count / span, securityBits + 1);
  const words = times * Math.ceil(count / plan.wordValues) + repeats;
  let refused = 0;
  for (let values = 1; values <= plan.wordValues; values++)
    refused = Math.max(refused, refusal(plan, values));
  return plan.wordBytes * (words + refusalsMax(words, refused, securityBits + 1));
}
