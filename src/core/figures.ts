/** Texts of figures for people, on pages and in PDFs. The JSON has the exact figures. */

/** Returns the value with three significant figures. */
export function rounded(value: number): string {
  if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(1);
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(3)));
}

/** Returns a figure of six decimals with three, rounded down, because it states a lower bound. */
export function roundedDown(value: number): string {
  return String(Math.floor(Math.round(value * 1e6) / 1000) / 1000);
}

export function grouped(count: number): string {
  return count.toLocaleString('en-US');
}

/** Returns a time, given in ISO 8601 or in Unix milliseconds, to the second. */
export function utcTime(at: string | number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ['days', 86_400_000],
  ['hours', 3_600_000],
  ['minutes', 60_000],
  ['seconds', 1_000],
];

/** Returns a duration in the largest unit of which it has at least two, rounded down: "119 seconds", "2 minutes". */
export function durationText(ms: number): string {
  const [unit, size] = UNITS.find((each) => ms >= 2 * each[1]) ?? ['ms', 1];
  return `${Math.floor(ms / size)} ${unit}`;
}
