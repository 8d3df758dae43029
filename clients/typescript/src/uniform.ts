/**
 * How to make an exactly uniform whole number in [0, span) from bytes, for a span from 1 to 2^53. A word of some bytes
 * is uniform on [0, N). A word below limit = span · floor(N / span) gives the number word mod span; among these words
 * each number is equally frequent. Any other word is refused, and the next bytes make a new one.
 */
export interface WordPlan {
  readonly span: number;
  /**
   * The bytes of one word, 0 to 7. Of seven bytes the first gives only its low five bits, so that a word has 53 bits.
   */
  readonly bytes: number;
  /** The smallest word that is refused. */
  readonly limit: number;
}

export const SPAN_MAX = 2 ** 53;
const WORD_BYTES_MAX = 7;
/** The number of different words of 0, 1, … 7 bytes. */
const WORDS = [1, 2 ** 8, 2 ** 16, 2 ** 24, 2 ** 32, 2 ** 40, 2 ** 48, SPAN_MAX] as const;

/** Returns the plan that takes the fewest bytes for a value on average, refused words included. */
export function planWords(span: number): WordPlan {
  if (span === 1) return { span, bytes: 0, limit: 1 };
  let best: WordPlan | undefined;
  let cheapest = Infinity;
  for (let bytes = 1; bytes <= WORD_BYTES_MAX && bytes < cheapest; bytes++) {
    const words = WORDS[bytes] as number;
    if (!(span >= 1 && span <= words)) continue;
    const limit = words - (words % span); // exact: whole numbers up to 2^53
    const bytesPerValue = (bytes * words) / limit;
    if (bytesPerValue >= cheapest) continue;
    best = { span, bytes, limit };
    cheapest = bytesPerValue;
  }
  if (best === undefined) throw new RangeError('a span is a whole number from 1 to 2^53');
  return best;
}

/** Returns the word of `length` bytes from offset `at` on, most significant byte first. */
export function wordAt(bytes: Uint8Array, at: number, length: number): number {
  let word = 0;
  for (let i = 0; i < length; i++) {
    const byte = bytes[at + i] as number;
    word = word * 256 + (length === WORD_BYTES_MAX && i === 0 ? byte & 0x1f : byte);
  }
  return word;
}
