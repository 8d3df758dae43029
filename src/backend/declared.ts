import { decimal, wholeNumber } from './options.ts';
import { MAX_READ_BITS } from './shots.ts';
import { OptionError } from './source-kind.ts';

/** Options of sources of which nobody but the operator can say what they are: devices and files. */

const DECLARED_LENGTH_MAX = 80;

/** A declared fact: it is printed in headers and certificates, so it is visible ASCII, with single spaces within. */
export function declaredText(text: string): string {
  if (text.length > DECLARED_LENGTH_MAX || !/^[!-~]+( [!-~]+)*$/.test(text)) {
    throw new OptionError(`1 to ${DECLARED_LENGTH_MAX} printable ASCII characters`);
  }
  return text;
}

/** A declared fact that may be absent. */
export function declaredTextOrNull(text: string): string | null {
  return text === '' ? null : declaredText(text);
}

/** Claims below 0.001 are left out: a lot of the largest read would not fill one assessed block. */
export const minEntropyOption = {
  meaning:
    'min-entropy per raw bit, as the maker or a measurement of yours states it (SP 800-90B H_submitter)',
  parse: decimal(0.001, 1),
} as const;

/** The default is the pool's own: two SP 800-22 sequences of conditioned output from a source near full entropy. */
export const lotBitsOption = {
  meaning: 'raw bits of one lot; a source of little entropy or speed may want more, or fewer',
  fallback: String(4 * 1024 * 1024),
  parse: wholeNumber(8192, MAX_READ_BITS),
} as const;
