/**
 * Exactly uniform whole numbers in [0, span) from bytes, for any span from 1 to 2^53. A word of some bytes is uniform on
 * [0, N); it is kept when it is below span · floor(N / span), which every result is the remainder of equally often, and
 * replaced by a fresh one otherwise.
 */
export interface WordPlan {
  readonly span: number;
  /** Bytes of one word, 0 to 7; of seven the first gives its low five bits alone, so that a word is an exact double. */
  readonly bytes: number;
  /** Words from here on are refused. */
  readonly limit: number;
}

export const SPAN_MAX = 2 ** 53;
const WORD_BYTES_MAX = 7;
/** How many words of 0, 1, … 7 bytes there are. */
const WORDS = [1, 2 ** 8, 2 ** 16, 2 ** 24, 2 ** 32, 2 ** 40, 2 ** 48, SPAN_MAX] as const;

/** The plan that takes the fewest bytes for a value, refused words included. */
export function planWords(span: number): WordPlan {
  if (span === 1) return { span, bytes: 0, limit: 1 };
  let best: WordPlan | undefined;
  let cheapest = Infinity;
  for (let bytes = 1; bytes <= WORD_BYTES_MAX && bytes < cheapest; bytes++) {
    const words = WORDS[bytes] as number;
    if (!(span >= 1 && span <= words)) continue;
    const limit = words - (words % span); // both exact: whole doubles up to 2^53
    const bytesPerValue = (bytes * words) / limit;
    if (bytesPerValue >= cheapest) continue;
    best = { span, bytes, limit };
    cheapest = bytesPerValue;
  }
  if (best === undefined) throw new RangeError('a span is a whole number from 1 to 2^53');
  return best;
}

/** The word of `length` bytes that starts at `at`, most significant byte first. */
export function wordAt(bytes: Uint8Array, at: number, length: number): number {
  let word = 0;
  for (let i = 0; i < length; i++) {
    const byte = bytes[at + i] as number;
    word = word * 256 + (length === WORD_BYTES_MAX && i === 0 ? byte & 0x1f : byte);
  }
  return word;
}
