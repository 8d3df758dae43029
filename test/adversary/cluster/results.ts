import { FAULTS, type FaultName, faultsOf, GROUPS } from './faults.ts';

/** What one series that was audited, or failed, gave. */
export interface SeriesResult {
  /** Of each fault, how many there were. Only audited series count. */
  readonly faults: Readonly<Partial<Record<FaultName, number>>>;
  readonly isAudited: boolean;
  readonly acknowledged: number;
  readonly stored: number;
  readonly leaves: number;
  readonly checkpoints: number;
  readonly starts: number;
  readonly seconds: number;
  readonly answeredAfterMs: readonly number[];
  readonly violations: readonly string[];
}

const SUMS = ['acknowledged', 'stored', 'leaves', 'checkpoints', 'starts', 'seconds'] as const;

/** The matrix of faults by runs, and the sums. */
export function linesOf(results: readonly SeriesResult[]): string[] {
  const audited = results.filter(({ isAudited }) => isAudited);
  const countOf = (name: FaultName) => audited.reduce((sum, { faults }) => sum + (faults[name] ?? 0), 0);
  const lines = ['faults  series  violated  fault'];
  for (const name of Object.keys(FAULTS) as FaultName[]) {
    const having = audited.filter(({ faults }) => (faults[name] ?? 0) > 0);
    const violated = having.filter(({ violations }) => violations.length > 0);
    const cells = [countOf(name), having.length, violated.length];
    lines.push(`${cells.map((cell) => String(cell).padStart(6)).join('  ')}    ${name}`);
  }
  for (const group of GROUPS) {
    const count = faultsOf(group).reduce((sum, name) => sum + countOf(name), 0);
    lines.push(`${String(count).padStart(6)}  ${group}`);
  }
  const sums = SUMS.map((name) => [name, audited.reduce((sum, each) => sum + each[name], 0)]);
  const answered = audited.flatMap((each) => each.answeredAfterMs).toSorted((a, b) => a - b);
  if (answered.length > 0)
    lines.push(
      `answers after a promotion: median ${answered[answered.length >> 1]} ms, longest ${answered.at(-1)} ms, ${answered.length} times`,
    );
  const violations = audited.flatMap((each) => each.violations);
  lines.push(
    `${audited.length} series audited: ${JSON.stringify(Object.fromEntries(sums))}, ${violations.length} violations; ${results.length - audited.length} not audited`,
  );
  return lines;
}
