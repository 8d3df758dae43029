/* Figures as people read them. */

/** Three significant figures: the exact one stands in the JSON. */
export function rounded(value: number): string {
  if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(1);
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(3)));
}

/** A figure of six decimals that is promised as a least, to three decimals: never rounded up. */
export function roundedDown(value: number): string {
  return String(Math.floor(Math.round(value * 1e6) / 1000) / 1000);
}

/** 10000 as `10,000`, whatever the locale. */
export function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
