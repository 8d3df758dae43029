import type { Clock, Wait } from '../core/clock.ts';
import type { Origin } from '../core/vocabulary.ts';
import { type Backend, MAX_READ_BITS } from './backend.ts';

/**
 * What an operator can configure a source of: its options, each described once, and how a backend is
 * made of them. The configuration, `qrn sources` and docs/sources.md read the same definitions.
 */
export interface BackendDefinition<Options extends OptionDefinitions = OptionDefinitions> {
  /** As `type` names it in the configuration, e.g. `ibm`. */
  readonly type: string;
  /** One sentence for `qrn sources list`. */
  readonly summary: string;
  readonly options: Options;
  /** Throws an OptionError when options contradict each other. Opens nothing and calls nobody. */
  create(name: string, options: OptionValues<Options>, parts: BackendParts): Backend;
}

export type OptionDefinitions = Readonly<Record<string, OptionDefinition<unknown>>>;

/** One option, written in snake case in the configuration. */
export interface OptionDefinition<T> {
  readonly meaning: string;
  /** Text that stands for an absent option; without one the option must be given. */
  readonly fallback?: string;
  /**
   * A secret is given as a Secret and comes from the environment or from a file, never from the
   * configuration.
   */
  readonly secret?: true;
  /** Throws an OptionError that says what the text may be. */
  parse(text: string): T;
}

export type OptionValues<Options extends OptionDefinitions> = {
  readonly [Name in keyof Options]: Options[Name] extends { readonly secret: true }
    ? Secret
    : Options[Name] extends OptionDefinition<infer T>
      ? T
      : never;
};

/** Says what an option may be, e.g. `a whole number from 1 to 1024`. */
export class OptionError extends Error {
  override name = 'OptionError';
}

/** Defines a backend with the types of its options kept. */
export function defineBackend<const Options extends OptionDefinitions>(
  definition: BackendDefinition<Options>,
): BackendDefinition<Options> {
  return definition;
}

/** What every source is given beside its options. */
export interface SourceParts {
  readonly clock: Clock;
  readonly memory: SourceMemory;
  /** Pauses between calls; the system's own when left out. */
  readonly wait?: Wait;
}

/** All that the composition root hands in. */
export interface BackendParts extends SourceParts {
  /** Of certificates, which this room knows nothing of. */
  readonly verify: AnswerVerifier;
}

/** An answer in octets as it came from a service of this kind. */
export interface OctetAnswer {
  /** Of the reply's head; names in lower case. */
  readonly fields: ReadonlyMap<string, string>;
  readonly octets: Uint8Array<ArrayBuffer>;
}

/** What a certificate says of the answer that it proves. */
export interface CertifiedFacts {
  /** Name of the log that holds the certificate. */
  readonly log: string;
  /** The hash of the certificate's leaf in that log, in base64. */
  readonly leaf: string;
  readonly endpoint: string;
  readonly mode: string;
  /** The weakest of the lots that the answer was drawn from. */
  readonly origin: Origin;
  /** The operator of that service alone says what the origin is. */
  readonly isDeclared: boolean;
  readonly deterministic: boolean;
  readonly quantumBackend: string;
  /** What the caller said of the answer, as `sha256:` and 64 hex digits. */
  readonly userDataSha256: string | undefined;
}

/**
 * Checks an answer of another service against its certificate and the keys of that service's log, which are parsed JSON.
 * Gives a sentence when one of the checks fails: why.
 */
export type AnswerVerifier = (
  answer: OctetAnswer,
  certificate: unknown,
  logKeys: unknown,
) => Promise<CertifiedFacts | string>;

/** What a source must know again after a restart, e.g. the position in a file that is read once. */
export interface SourceMemory {
  recall(key: string): Promise<string | undefined>;
  /** What every source kept under the key: of a thing that outlives the name of who reads it. */
  recallAll(key: string): Promise<readonly string[]>;
  /** Resolves when it is on disk. */
  keep(key: string, value: string): Promise<void>;
}

/** A secret that does not print itself: in logs, errors and JSON it stands as `[secret]`. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text, for the one place that sends it. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '[secret]';
  }
}

/** Parsers of options; each error says what the text may be. */

export const anyText = (text: string): string => text;

/** A text of this form, which `expected` describes. */
export function matching(form: RegExp, expected: string): (text: string) => string {
  return (text) => {
    if (!form.test(text)) throw new OptionError(expected);
    return text;
  };
}

function numeral(form: RegExp, min: number, max: number, kind: string): (text: string) => number {
  return (text) => {
    const parsed = form.test(text) ? Number(text) : Number.NaN;
    if (!(parsed >= min && parsed <= max)) throw new OptionError(`a ${kind} number from ${min} to ${max}`);
    return parsed;
  };
}

export const wholeNumber = (min: number, max: number) => numeral(/^\d{1,15}$/, min, max, 'whole');

/** A decimal number such as 0.25, .25 or 12. */
export const decimal = (min: number, max: number) =>
  numeral(/^(\d{1,15}|\d{0,15}\.\d{1,15})$/, min, max, 'decimal');

export function oneOf<const T extends string>(...values: readonly T[]): (text: string) => T {
  return (text) => {
    const found = values.find((value) => value === text);
    if (found === undefined) throw new OptionError(`one of ${values.join(', ')}`);
    return found;
  };
}

/** The word `auto`, or what `parse` makes of the text. */
export function orAuto<T>(parse: (text: string) => T): (text: string) => T | 'auto' {
  return (text) => (text === 'auto' ? text : parse(text));
}

/** Null for an empty text, else what `parse` makes of it. */
export function orNull<T>(parse: (text: string) => T): (text: string) => T | null {
  return (text) => (text === '' ? null : parse(text));
}

/** Each answer names one, in the room that is kept for it (answer/make.ts). */
const URL_CHARACTERS_MAX = 512;

export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:/.test(text) && text.length <= URL_CHARACTERS_MAX;
}

/** An http or https URL, without a slash at its end. */
export function httpUrl(text: string): string {
  if (!isHttpUrl(text))
    throw new OptionError(`an http or https URL of at most ${URL_CHARACTERS_MAX} characters`);
  return text.replace(/\/+$/, '');
}

/** Whether a URL leads to this machine alone: what is sent there crosses no network. */
export function isLoopback(url: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);
}

/** A secret that must be given, and that a header can hold. */
export function secretOption(meaning: string) {
  return { meaning, secret: true, parse: matching(/^[!-~]+$/, 'visible ASCII characters') } as const;
}

/** Options of sources of which nobody but the operator can say what they are: devices and files. */

/**
 * A declared fact: it is printed in headers and certificates, so it is visible ASCII, with single spaces
 * within.
 */
export const declaredText = matching(/^(?=.{1,80}$)[!-~]+( [!-~]+)*$/, '1 to 80 printable ASCII characters');

/** Claims below 0.001 are left out: a lot of the largest read would not fill one assessed block. */
export const minEntropyOption = {
  meaning:
    'min-entropy per raw bit, as the maker or a measurement of yours states it (SP 800-90B H_submitter)',
  parse: decimal(0.001, 1),
} as const;

/** Of a provider whose devices bound it: `fallback` is what the source's own bounds leave. */
export function claimOption(fallback: string) {
  return { meaning: 'min-entropy per raw bit that is claimed', fallback, parse: decimal(0.01, 1) } as const;
}

/**
 * The default is the pool's own: two SP 800-22 sequences of conditioned output from a source near full
 * entropy.
 */
export const lotBitsOption = {
  meaning: 'raw bits of one lot; a source of little entropy or speed may want more, or fewer',
  fallback: String(4 * 1024 * 1024),
  parse: wholeNumber(8192, MAX_READ_BITS),
} as const;
