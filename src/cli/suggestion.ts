/** Edits beyond this make another word, not a slip of the fingers. */
const EDITS_MAX = 2;

/** `; did you mean X?` for a word that is close to one of those known, or nothing. */
export function suggestion(word: string, known: readonly string[]): string {
  const close = known
    .map((each) => ({
      each,
      edits: each.startsWith(word) && word.length >= 3 ? 1 : editsBetween(word, each),
    }))
    .filter(({ each, edits }) => edits <= EDITS_MAX && edits < each.length)
    .sort((a, b) => a.edits - b.edits);
  return close.length === 0 ? '' : `; did you mean ${close[0].each}?`;
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
function editsBetween(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1);
      next[j] = Math.min(replaced, row[j] + 1, next[j - 1] + 1);
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (isSwap) next[j] = Math.min(next[j], before[j - 2] + 1);
    }
    before = row;
    row = next;
  }
  return row[other.length];
}
