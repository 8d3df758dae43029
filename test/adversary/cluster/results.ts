import { ResultFile } from '../program.ts';
import { FAULTS, type FaultName, faultsOf, GROUPS } from './faults.ts';

/** What one series that was audited, or failed, gave: one line of a file of results. */
export interface SeriesResult {
  /** ISO 8601, UTC. */
  readonly endedAt: string;
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
  /** Why it could not be audited. */
  readonly failure?: string;
}

const SUMS = ['acknowledged', 'stored', 'leaves', 'checkpoints', 'starts', 'seconds'] as const;

/** Of all runs that write into one file. */
export class Results extends ResultFile<SeriesResult> {
  /** Times that the fault was part of an audited series. */
  countOf(name: FaultName): number {
    return this.#audited.reduce((sum, { faults }) => sum + (faults[name] ?? 0), 0);
  }

  /** The matrix of faults by runs, and the sums. */
  lines(): string[] {
    const lines = ['faults  series  violated  fault'];
    for (const name of Object.keys(FAULTS) as FaultName[]) {
      const having = this.#audited.filter(({ faults }) => (faults[name] ?? 0) > 0);
      const violated = having.filter(({ violations }) => violations.length > 0);
      const cells = [this.countOf(name), having.length, violated.length];
      lines.push(`${cells.map((cell) => String(cell).padStart(6)).join('  ')}    ${name}`);
    }
    for (const group of GROUPS) {
      const count = faultsOf(group).reduce((sum, name) => sum + this.countOf(name), 0);
      lines.push(`${String(count).padStart(6)}  ${group}`);
    }
    const sums = SUMS.map((name) => [name, this.#audited.reduce((sum, each) => sum + each[name], 0)]);
    const answered = this.#audited.flatMap((each) => each.answeredAfterMs).toSorted((a, b) => a - b);
    if (answered.length > 0)
      lines.push(
        `answers after a promotion: median ${answered[answered.length >> 1]} ms, longest ${answered.at(-1)} ms, ${answered.length} times`,
      );
    const violations = this.#audited.flatMap((each) => each.violations);
    const failed = this.all.length - this.#audited.length;
    lines.push(
      `${this.#audited.length} series audited: ${JSON.stringify(Object.fromEntries(sums))}, ${violations.length} violations; ${failed} not audited`,
    );
    return lines;
  }

  get #audited(): readonly SeriesResult[] {
    return this.all.filter(({ isAudited }) => isAudited);
  }
}
