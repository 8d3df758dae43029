import { UsageError } from './command.ts';

/** Reading of option values. Each throws a UsageError that names the option and what it may be. */

export function oneOf<const T extends string>(option: string, text: string, words: readonly T[]): T {
  const found = words.find((word) => word === text);
  if (found === undefined) {
    throw new UsageError(`--${option} is one of ${words.join(', ')}, not ${JSON.stringify(text)}`);
  }
  return found;
}

/** Comma-separated words, each once. */
export function listOf<const T extends string>(option: string, text: string, words: readonly T[]): T[] {
  return [...new Set(text.split(',').map((word) => oneOf(option, word.trim(), words)))];
}

export function wholeNumber(option: string, text: string): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) {
    throw new UsageError(`--${option} is a whole number, not ${JSON.stringify(text)}`);
  }
  return value;
}

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A span such as 90s, 30m, 24h or 7d, in milliseconds; 0 needs no unit. */
export function duration(option: string, text: string): number {
  const match = /^(?:(\d{1,9})([smhd])|0)$/.exec(text);
  if (match === null) {
    throw new UsageError(`--${option} is a span such as 90s, 30m, 24h or 7d, not ${JSON.stringify(text)}`);
  }
  return match[1] === undefined ? 0 : Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS];
}

/** RFC 3339 with an offset, or a date alone for its first moment in UTC. */
const ISO_TIME = /^(\d{4})-(\d\d)-(\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** A moment in ISO 8601, in Unix milliseconds. */
export function moment(option: string, text: string): number {
  const match = ISO_TIME.exec(text);
  const atMs = match === null ? Number.NaN : Date.parse(text);
  // Date.parse takes February 30 for March 2
  const isOfCalendar =
    match !== null &&
    Number(match[3]) <= new Date(Date.UTC(Number(match[1]), Number(match[2]), 0)).getUTCDate();
  if (Number.isNaN(atMs) || !isOfCalendar) {
    throw new UsageError(
      `--${option} is a time such as 2027-01-31 or 2027-01-31T12:00:00Z, not ${JSON.stringify(text)}`,
    );
  }
  return atMs;
}
