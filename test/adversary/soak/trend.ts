import { median } from '../../support/statistics.ts';

/** A value at a time, in seconds. */
export interface Point {
  readonly atS: number;
  readonly value: number;
}

export interface Trend {
  readonly points: number;
  readonly median: number;
  /** Slope of the fitted line. */
  readonly perMinute: number;
  /** Rise of the fitted line from the first point to the last. */
  readonly growth: number;
}

/**
 * The resistant line of Tukey: through the medians of the first third of the points and of the last one. Not quite half of either
 * may lie anywhere, a collection of garbage or a neighbour's load, without moving it. Undefined below three points.
 */
export function trendOf(points: readonly Point[]): Trend | undefined {
  const third = Math.floor(points.length / 3);
  const [from, to] = [points.slice(0, third), points.slice(points.length - third)].map((some) => ({
    atS: third === 0 ? 0 : median(some.map(({ atS }) => atS)),
    value: third === 0 ? 0 : median(some.map(({ value }) => value)),
  }));
  if (to.atS === from.atS) return undefined;
  const perS = (to.value - from.value) / (to.atS - from.atS);
  return {
    points: points.length,
    median: median(points.map(({ value }) => value)),
    perMinute: 60 * perS,
    growth: perS * (points[points.length - 1].atS - points[0].atS),
  };
}
