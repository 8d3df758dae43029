/** The slow twin of src/pool/intake/extractor.ts: the matrix product entry by entry, on bits one to a byte. */
export function toeplitzBits(raw: readonly number[], seed: readonly number[], outputBits: number): number[] {
  const columns = raw.length;
  return Array.from({ length: outputBits }, (_, i) => {
    let bit = 0;
    for (let j = 0; j < columns; j++) bit ^= seed[columns - 1 + i - j] & raw[j];
    return bit;
  });
}
