import { OptionError } from './source-kind.ts';

/** Parsers of options; each error says what the text may be. */

export const anyText = (text: string): string => text;

export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const parsed = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (!(parsed >= min && parsed <= max)) throw new OptionError(`a whole number from ${min} to ${max}`);
    return parsed;
  };
}

/** A decimal number such as 0.25 or 12. */
export function decimal(min: number, max: number): (text: string) => number {
  return (text) => {
    const parsed = /^\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : Number.NaN;
    if (!(parsed >= min && parsed <= max)) throw new OptionError(`a decimal number from ${min} to ${max}`);
    return parsed;
  };
}

export function oneOf<const T extends string>(...values: readonly T[]): (text: string) => T {
  return (text) => {
    const found = values.find((value) => value === text);
    if (found === undefined) throw new OptionError(`one of ${values.join(', ')}`);
    return found;
  };
}

/** An http or https URL, without a slash at its end. */
export function httpUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:/.test(text)) throw new OptionError('an http or https URL');
  return text.replace(/\/+$/, '');
}

/** A secret that must be given. */
export function secretOption(meaning: string) {
  return { meaning, secret: true, parse: anyText } as const;
}
