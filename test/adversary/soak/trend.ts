import { median } from '../../support/statistics.ts';

/** A value at a time, in seconds. */
export interface Point {
  readonly atS: number;
  readonly value: number;
}

export interface Trend {
  readonly points: number;
  readonly median: number;
  /** Of the fitted line. */
  readonly perMinute: number;
  /** How much the fitted line rises from the first point to the last. */
  readonly growth: number;
}

/** Pairs of points are compared all with all: more would only take time. */
const POINTS_MAX = 600;

/**
 * The line through the points by Theil and Sen: the median of the slopes of all pairs. Up to 29 % of the points may lie
 * anywhere, a collection of garbage or a neighbour's load, without moving it. Undefined below three points.
 */
export function trendOf(all: readonly Point[]): Trend | undefined {
  const every = Math.ceil(all.length / POINTS_MAX);
  const points = all.filter((_, i) => i % every === 0);
  if (points.length < 3) return undefined;
  const slopes: number[] = [];
  for (const [i, from] of points.entries()) {
    for (const to of points.slice(i + 1)) {
      if (to.atS > from.atS) slopes.push((to.value - from.value) / (to.atS - from.atS));
    }
  }
  if (slopes.length === 0) return undefined;
  const perS = median(slopes);
  return {
    points: all.length,
    median: median(points.map(({ value }) => value)),
    perMinute: 60 * perS,
    growth: perS * (points[points.length - 1].atS - points[0].atS),
  };
}
