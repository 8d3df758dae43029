import type { Reader } from './command.ts';

export function oneOf<const T extends string>(words: readonly T[]): Reader<T> {
  return { what: `one of ${words.join(', ')}`, read: (text) => words.find((word) => word === text) };
}

/** Reads a list of values with commas between them. */
export function listOf<T>({ what, read }: Reader<T>): Reader<T[]> {
  return {
    what: `a comma-separated list, each value ${what}`,
    read: (text) => {
      const values = text.split(',').map((each) => read(each.trim()));
      return values.includes(undefined) ? undefined : (values as T[]);
    },
  };
}

/** Reads a whole number within inclusive bounds, written in digits only. */
export function wholeNumber(from = 0, to: number = Number.MAX_SAFE_INTEGER): Reader<number> {
  const bounds = [from, to].map((bound) =>
    Number.isSafeInteger(Math.abs(bound) + 1) ? bound : bound < 0 ? '-(2^53 - 1)' : '2^53 - 1',
  );
  return {
    what: `a whole number from ${bounds.join(' to ')}`,
    read: (text) => {
      const value = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
      return Number.isSafeInteger(value) && value >= from && value <= to ? value : undefined;
    },
  };
}

export const integer = wholeNumber(Number.MIN_SAFE_INTEGER);
/** Reads a TCP port; 0 lets the system choose one. */
export const port = wholeNumber(0, 65_535);

/** Reads a number of bytes, of which the units are powers of 1,024. */
export const byteCount: Reader<number> = {
  what: 'a number of bytes such as 512, 64K or 1G',
  read: (text) => {
    const [, digits, unit = ''] = /^(\d{1,15})([KMGT]?)$/i.exec(text) ?? [];
    const bytes = Number(digits) * 1_024 ** ' KMGT'.indexOf(unit.toUpperCase() || ' ');
    return Number.isSafeInteger(bytes) && bytes >= 1 ? bytes : undefined;
  },
};

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a duration and returns milliseconds; 0 needs no unit. */
export const duration: Reader<number> = {
  what: 'a duration such as 90s, 30m, 24h or 7d',
  read: (text) => {
    const [, digits, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
    return unit === undefined ? (text === '0' ? 0 : undefined) : Number(digits) * UNIT_MS[unit];
  },
};

/** A time of RFC 3339 with an offset, or a date alone, which stands for its first moment in UTC. */
const ISO_TIME = /^(\d{4})-(\d\d)-(\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** Reads a time in ISO 8601 and returns Unix milliseconds. */
export const moment: Reader<number> = {
  what: 'a time such as 2027-01-31 or 2027-01-31T12:00:00Z',
  read: (text) => {
    const [, year, month, day] = ISO_TIME.exec(text) ?? [];
    // Date.parse reads February 30 as March 2
    const isOfCalendar = Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
    const atMs = isOfCalendar ? Date.parse(text) : Number.NaN;
    return Number.isNaN(atMs) ? undefined : atMs;
  },
};
