import type { Summary } from '../../test/support/statistics.ts';

/** A state of the project to measure: the working tree, or another revision checked out beside it. */
export interface Subject {
  readonly name: string;
  /** Its folder, ending in a slash. */
  readonly root: URL;
}

/** The parameters of a run. */
export interface BenchRun {
  /** One, or two that are compared: the first is the newer. */
  readonly subjects: readonly Subject[];
  /** Count of rounds of each contender, without the warm-up. */
  readonly rounds: number;
  /** Load of one round in seconds; an integer, because wrk takes only these. */
  readonly seconds: number;
  /** Reports progress. */
  readonly talk: (line: string) => void;
}

export interface Suite {
  readonly name: string;
  /** What it measures, in one line. */
  readonly summary: string;
  /** True if a run that names no suite includes this one. */
  readonly byDefault: boolean;
  /** Resolves with undefined when the suite has printed and written everything itself. */
  run(run: BenchRun): Promise<Report | undefined>;
}

/** A measured figure and the project's aim for it. */
export interface Aim {
  readonly what: string;
  readonly measured: Summary | undefined;
  /** NaN if the figure has no aim. */
  readonly aim: number;
  /** The unit of the figure and of its aim. */
  readonly unit: string;
  /** The aim is the least allowed value; otherwise it is the greatest. */
  readonly isLeast?: boolean;
}

export interface Report {
  readonly tables: readonly Table[];
  /** Targets that were missed: the suite then counts as failed. */
  readonly missed?: readonly string[];
}

export interface Table {
  readonly title: string;
  /** Facts that a reader needs to understand the table. */
  readonly note: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

export interface Column {
  /** With its unit. */
  readonly title: string;
  /** Prints the lowest and highest round beside the median; the JSON has them in any case. */
  readonly spread?: boolean;
}

export interface Row {
  readonly label: string;
  /** One for each column. */
  readonly cells: readonly Cell[];
}

/** A text is a fact, not a measurement. */
export type Cell = Summary | string | undefined;
