import { type DrawnRange, SEED_BLOCK_BYTES, TESTED_BITS } from '../ledger/records.ts';
import type { LotLeaf } from './lot-members.ts';

/**
 * Finds the tested windows that the bytes of an answer lie in. The service tests every conditioned bit of a lot with SP
 * 800-22, in windows. It erases the bytes of a window that failed and joins the rest: first come the seeds, then the
 * pure bytes. Runs in browsers.
 */

type Tested = LotLeaf['tested'][number];

/** The bytes [from, to). */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** Bytes of one lot. The offset counts from the first pure byte, or in seeded mode from the first seed. */
export type DrawnSpan = Omit<DrawnRange, 'lot'>;

/** The result of SP 800-22 for those windows of one lot that an answer used. */
export interface TestResult {
  /** How many p-values passed, of `total`. */
  readonly passed: number;
  readonly total: number;
  /** Whether every bit that the answer used lies in a window that passed. */
  readonly verified: boolean;
}

/** Returns the result for what an answer drew from a lot; undefined if no window was tested, or one has no p-values. */
export function resultOf(
  lot: Pick<LotLeaf, 'tested' | 'seeds'>,
  mode: string,
  drawn: readonly DrawnSpan[],
): TestResult | undefined {
  if (mode === 'csprng')
    return sumOf(
      lot.tested.filter(({ of }) => of === 'system'),
      true,
    );
  const windows = servedWindows(lot.tested);
  const start = mode === 'pure' ? lot.seeds.count * SEED_BLOCK_BYTES : 0;
  const spans = drawn.map(({ offset, bytes }) => ({ from: start + offset, to: start + offset + bytes }));
  const touched = windows.filter(({ span }) =>
    spans.some((each) => Math.max(each.from, span.from) < Math.min(each.to, span.to)),
  );
  const isCovered = spans.every((span) => covers(touched, span));
  return sumOf(
    touched.map(({ window }) => window),
    isCovered,
  );
}

function sumOf(windows: readonly Tested[], isCovered: boolean): TestResult | undefined {
  if (windows.length === 0 || windows.some(({ total }) => total === 0)) return undefined;
  return {
    passed: windows.reduce((sum, each) => sum + each.passed, 0),
    total: windows.reduce((sum, each) => sum + each.total, 0),
    verified: isCovered && windows.every(({ verified }) => verified),
  };
}

/** Returns the conditioned windows that did not fail, in order, with the places of their bytes after the erasure. */
function servedWindows(tested: readonly Tested[]): { readonly window: Tested; readonly span: Span }[] {
  const conditioned = tested.filter(({ of }) => of === 'conditioned');
  const erased = conditioned.filter(hasFailed).map(bytesOf).sort(byPlace);
  return conditioned
    .filter((window) => !hasFailed(window))
    .map((window) => {
      const { from, to } = bytesOf(window);
      return { window, span: { from: from - erasedBefore(erased, from), to: to - erasedBefore(erased, to) } };
    })
    .sort((a, b) => byPlace(a.span, b.span));
}

function hasFailed({ bits, verified }: Tested): boolean {
  return bits >= TESTED_BITS && !verified;
}

function bytesOf({ first_bit: firstBit, bits }: Tested): Span {
  return { from: firstBit / 8, to: (firstBit + bits) / 8 };
}

function byPlace(a: Span, b: Span): number {
  return a.from - b.from;
}

/** Returns how many bytes before `place` lie in failed windows. The last window may overlap the one before it. */
function erasedBefore(erased: readonly Span[], place: number): number {
  let count = 0;
  let at = 0;
  for (const { from, to } of erased) {
    const end = Math.min(to, place);
    count += Math.max(0, end - Math.max(from, at));
    at = Math.max(at, end);
  }
  return count;
}

/** Returns whether the windows, which are in ascending order, cover the whole span. */
function covers(windows: readonly { readonly span: Span }[], { from, to }: Span): boolean {
  let at = from;
  for (const { span } of windows) if (span.from <= at) at = Math.max(at, span.to);
  return at >= to;
}
