/**
 * The counting of SP 800-22 done as the text says it, bit by bit on arrays of 0 and 1: the slow twins of the
 * kernels in src/stats/sp800-22.
 */
type Bits = readonly number[];

/** Whole blocks of `size` bits. */
export function blocksOf(bits: Bits, size: number): Bits[] {
  return Array.from({ length: Math.floor(bits.length / size) }, (_, i) =>
    bits.slice(i * size, (i + 1) * size),
  );
}

export function onesOf(bits: Bits): number {
  return bits.filter((bit) => bit === 1).length;
}

/** 2.3. */
export function runsOf(bits: Bits): number {
  return bits.filter((bit, i) => i === 0 || bit !== bits[i - 1]).length;
}

/** 2.4. */
export function longestRunOfOnes(bits: Bits): number {
  return Math.max(
    ...bits
      .join('')
      .split('0')
      .map((run) => run.length),
  );
}

/** 2.5, appendix F.1: Gaussian elimination over GF(2). */
export function rankOf(matrix: readonly Bits[]): number {
  const rows = matrix.map((row) => [...row]);
  let rank = 0;
  for (let column = 0; column < rows[0].length; column++) {
    const pivot = rows.findIndex((row, i) => i >= rank && row[column] === 1);
    if (pivot === -1) continue;
    [rows[rank], rows[pivot]] = [rows[pivot], rows[rank]];
    rows.forEach((row, i) => {
      if (i === rank || row[column] === 0) return;
      for (let c = 0; c < row.length; c++) row[c] ^= rows[rank][c];
    });
    rank++;
  }
  return rank;
}

function matchesAt(bits: Bits, template: Bits, at: number): boolean {
  return template.every((bit, i) => bits[at + i] === bit);
}

/** 2.7.4 step 2: after a match the window jumps over it. */
export function nonOverlappingMatches(bits: Bits, template: Bits): number {
  let count = 0;
  for (let at = 0; at + template.length <= bits.length; at++) {
    if (!matchesAt(bits, template, at)) continue;
    count++;
    at += template.length - 1;
  }
  return count;
}

/** 2.8.4 step 2: the window always moves by one bit. */
export function overlappingMatches(bits: Bits, template: Bits): number {
  return bits.filter((_, at) => matchesAt(bits, template, at)).length;
}

/** 2.9.4 steps 2 to 4: f_n. */
export function meanLogDistance(bits: Bits, blockBits: number, initialBlocks: number): number {
  const lastSeen = new Map<string, number>();
  const blocks = blocksOf(bits, blockBits);
  let sum = 0;
  blocks.forEach((block, i) => {
    const key = block.join('');
    if (i >= initialBlocks) sum += Math.log2(i + 1 - (lastSeen.get(key) ?? 0));
    lastSeen.set(key, i + 1);
  });
  return sum / (blocks.length - initialBlocks);
}

/** 2.11.4 steps 1, 2 and 2.12.4 steps 1, 2: all n windows of the sequence closed to a ring. */
export function ringPatterns(bits: Bits, patternBits: number): number[] {
  const counts = new Array<number>(2 ** patternBits).fill(0);
  bits.forEach((_, at) => {
    let pattern = 0;
    for (let i = 0; i < patternBits; i++) pattern = 2 * pattern + bits[(at + i) % bits.length];
    counts[pattern]++;
  });
  return counts;
}

/** φ^(m) of 2.12.4 step 4. */
export function phi(bits: Bits, patternBits: number): number {
  return ringPatterns(bits, patternBits)
    .filter((count) => count > 0)
    .reduce((sum, count) => sum + (count / bits.length) * Math.log(count / bits.length), 0);
}

/** S_1 .. S_n of 2.13. */
export function partialSums(bits: Bits): number[] {
  let sum = 0;
  return bits.map((bit) => (sum += 2 * bit - 1));
}

/** 2.14.4 steps 3, 4: the walk cut at its zeros, one appended; each cycle without its zeros. */
export function cyclesOf(bits: Bits): number[][] {
  const cycles: number[][] = [[]];
  for (const state of partialSums(bits)) {
    if (state === 0) cycles.push([]);
    else cycles[cycles.length - 1].push(state);
  }
  if (cycles[cycles.length - 1].length === 0) cycles.pop();
  return cycles;
}

/** 2.10, as Massey 1969 and Menezes et al. 6.30 write it. */
export function berlekampMassey(bits: Bits): number {
  const n = bits.length;
  let c = new Array<number>(n + 1).fill(0);
  let b = new Array<number>(n + 1).fill(0);
  c[0] = b[0] = 1;
  let length = 0;
  let m = -1;
  for (let N = 0; N < n; N++) {
    let discrepancy = bits[N];
    for (let i = 1; i <= length; i++) discrepancy ^= c[i] & bits[N - i];
    if (discrepancy === 0) continue;
    const before = [...c];
    c = c.map((bit, i) => bit ^ (b[i - (N - m)] ?? 0));
    if (2 * length > N) continue;
    length = N + 1 - length;
    m = N;
    b = before;
  }
  return length;
}
