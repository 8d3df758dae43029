/**
 * The two rules of src/values/offsets.ts for one word out of any number of words, in BigInt: small words can be tried
 * one and all. Undefined: the word is refused.
 */

/** `size` offsets below `span` from floor(word · span^size / words), its first digit first. */
export function multipliedOffsets(
  word: bigint,
  words: bigint,
  span: bigint,
  size: number,
): bigint[] | undefined {
  const all = span ** BigInt(size);
  const scaled = word * all;
  if (scaled % words < words % all) return undefined;
  let digits = scaled / words;
  const offsets: bigint[] = [];
  for (let i = 0; i < size; i++) {
    offsets.unshift(digits % span);
    digits /= span;
  }
  return offsets;
}

/** Returns one offset: word mod span. */
export function dividedOffset(word: bigint, words: bigint, span: bigint): bigint | undefined {
  return word < (words / span) * span ? word % span : undefined;
}
