import type { Summary } from '../../test/support/statistics.ts';

/** A state of the project to measure: the working tree, or another revision checked out beside it. */
export interface Subject {
  readonly name: string;
  /** Its folder, ending in a slash. */
  readonly root: URL;
}

/** What a suite is run with. */
export interface BenchRun {
  /** One, or two that are compared: the first is the newer. */
  readonly subjects: readonly Subject[];
  /** Counted rounds of each contender. */
  readonly rounds: number;
  /** Load of one round in seconds; whole, as wrk wants it. */
  readonly seconds: number;
  /** Says what goes on. */
  readonly talk: (line: string) => void;
}

export interface Suite {
  readonly name: string;
  /** What it measures, in one line. */
  readonly summary: string;
  /** Part of a run that names no suite. */
  readonly byDefault: boolean;
  /** Undefined when it has printed and written everything by itself. */
  run(run: BenchRun): Promise<Report | undefined>;
}

/** A measured figure beside what the project wants of it. */
export interface Aim {
  readonly what: string;
  readonly measured: Summary | undefined;
  /** NaN where a figure is told and has no aim. */
  readonly aim: number;
  /** Of the figure and its aim. */
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
  /** What a reader must know to read it. */
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

/** A text is a fact rather than a measurement. */
export type Cell = Summary | string | undefined;
