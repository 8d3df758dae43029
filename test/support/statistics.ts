/** The result of several rounds of one measurement: the median, and the lowest and highest round as the spread. */
export interface Summary {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly rounds: number;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Undefined when no round gave a value, as for CPU time where there is no /proc. */
export function summarize(values: readonly (number | undefined)[]): Summary | undefined {
  const known = values.filter((value) => value !== undefined && Number.isFinite(value)) as number[];
  if (known.length === 0) return undefined;
  return {
    median: median(known),
    low: Math.min(...known),
    high: Math.max(...known),
    rounds: known.length,
  };
}

/** Converts the rounds to another unit. */
export function scaled(summary: Summary | undefined, factor: number): Summary | undefined {
  if (summary === undefined) return undefined;
  const { median, low, high, rounds } = summary;
  return { median: median * factor, low: low * factor, high: high * factor, rounds };
}

/** The value that this share of the sorted values lies below. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}
