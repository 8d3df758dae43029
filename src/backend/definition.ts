import type { Clock, Wait } from '../core/clock.ts';
import type { Origin } from '../core/vocabulary.ts';
import { type Backend, MAX_READ_BITS } from './backend.ts';

/**
 * A type of source that an operator can configure: its options, each described once, and how a backend is made of them.
 * The configuration, `qrn sources` and docs/sources.md read the same definitions.
 */
export interface BackendDefinition<Options extends OptionDefinitions = OptionDefinitions> {
  /** The value of `type` in the configuration, e.g. `ibm`. */
  readonly type: string;
  /** One sentence for `qrn sources list`. */
  readonly summary: string;
  readonly options: Options;
  /** Makes a backend, without opening or calling anything. Throws an OptionError if options contradict each other. */
  create(name: string, options: OptionValues<Options>, parts: BackendParts): Backend;
}

export type OptionDefinitions = Readonly<Record<string, OptionDefinition<unknown>>>;

/** One option. Its name is written in snake case in the configuration. */
export interface OptionDefinition<T> {
  readonly meaning: string;
  /** The text that an absent option has; without it the option is required. */
  readonly fallback?: string;
  /**
   * Set for a secret. It comes from the environment or from a file, never from the configuration, and is passed as a
   * Secret.
   */
  readonly secret?: true;
  /** Parses the text. Throws an OptionError that says what the text may be. */
  parse(text: string): T;
}

export type OptionValues<Options extends OptionDefinitions> = {
  readonly [Name in keyof Options]: Options[Name] extends { readonly secret: true }
    ? Secret
    : Options[Name] extends OptionDefinition<infer T>
      ? T
      : never;
};

/** The message says what an option may be, e.g. `a whole number from 1 to 1024`. */
export class OptionError extends Error {
  override name = 'OptionError';
}

/** Returns the definition as it is. The call infers the types of the options. */
export function defineBackend<const Options extends OptionDefinitions>(
  definition: BackendDefinition<Options>,
): BackendDefinition<Options> {
  return definition;
}

/** What every source gets besides its options. */
export interface SourceParts {
  readonly clock: Clock;
  readonly memory: SourceMemory;
  /** Waits between calls; by default the system's timer. */
  readonly wait?: Wait;
}

/** All that the composition root passes in. */
export interface BackendParts extends SourceParts {
  /** Verifies certificates. It is passed in because this folder must not import src/certificate. */
  readonly verify: AnswerVerifier;
}

/** An answer in octets as it came from a service of this kind. */
export interface OctetAnswer {
  /** The header fields of the reply, by name in lower case. */
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
  /** The weakest origin of the lots that the answer was drawn from. */
  readonly origin: Origin;
  /** Whether the operator of that service alone says what the origin is. */
  readonly isDeclared: boolean;
  readonly deterministic: boolean;
  readonly quantumBackend: string;
  /** The hash in the answer's label, as `sha256:` and 64 hex digits; undefined if there is none. */
  readonly userDataSha256: string | undefined;
}

/**
 * Checks an answer of another service against its certificate and the keys of that service's log, both parsed JSON.
 * Resolves to a sentence that says why if a check fails.
 */
export type AnswerVerifier = (
  answer: OctetAnswer,
  certificate: unknown,
  logKeys: unknown,
) => Promise<CertifiedFacts | string>;

/** Keeps what a source must know after a restart, e.g. the position in a file of which each bit is used once. */
export interface SourceMemory {
  recall(key: string): Promise<string | undefined>;
  /** Resolves to what every source has kept under the key, since a source may be renamed. */
  recallAll(key: string): Promise<readonly string[]>;
  /** Resolves when the value is on disk. */
  keep(key: string, value: string): Promise<void>;
}

/** A secret that logs, errors and JSON show as `[secret]`. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the text. Call it only where the text is sent. */
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

/** Parsers of options. Each error says what the text may be. */

export const anyText = (text: string): string => text;

/** Returns a parser of texts of this form. `expected` describes the form. */
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

/** Returns a parser of decimal numbers such as 0.25, .25 or 12. */
export const decimal = (min: number, max: number) =>
  numeral(/^(\d{1,15}|\d{0,15}\.\d{1,15})$/, min, max, 'decimal');

export function oneOf<const T extends string>(...values: readonly T[]): (text: string) => T {
  return (text) => {
    const found = values.find((value) => value === text);
    if (found === undefined) throw new OptionError(`one of ${values.join(', ')}`);
    return found;
  };
}

/** Returns a parser that gives the word `auto` as it is, and else what `parse` makes of the text. */
export function orAuto<T>(parse: (text: string) => T): (text: string) => T | 'auto' {
  return (text) => (text === 'auto' ? text : parse(text));
}

/** Returns a parser that gives null for an empty text, and else what `parse` makes of it. */
export function orNull<T>(parse: (text: string) => T): (text: string) => T | null {
  return (text) => (text === '' ? null : parse(text));
}

/** Each answer names the URL of its certificate, in the TAIL_BYTES_MAX bytes behind its data (answer/make.ts). */
const URL_CHARACTERS_MAX = 512;

export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:/.test(text) && text.length <= URL_CHARACTERS_MAX;
}

/** Returns the text as an http or https URL without slashes at its end. */
export function httpUrl(text: string): string {
  if (!isHttpUrl(text))
    throw new OptionError(`an http or https URL of at most ${URL_CHARACTERS_MAX} characters`);
  return text.replace(/\/+$/, '');
}

/** Returns whether a URL leads to this machine, so that nothing crosses a network. */
export function isLoopback(url: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);
}

/** Returns the option of a required secret that a header field can hold. */
export function secretOption(meaning: string) {
  return { meaning, secret: true, parse: matching(/^[!-~]+$/, 'visible ASCII characters') } as const;
}

/** Options of sources that only the operator can describe: devices and files. */

/** A declared fact. Headers and certificates print it, so it is visible ASCII with single spaces between words. */
export const DECLARED_TEXT = /^(?=.{1,80}$)[!-~]+( [!-~]+)*$/;
export const declaredText = matching(DECLARED_TEXT, '1 to 80 printable ASCII characters');

/** Smaller claims than 0.001 are refused. */
export const minEntropyOption = {
  meaning:
    'min-entropy per raw bit, as the manufacturer states it or as you measured it (SP 800-90B, H_submitter), 0.001 to 1',
  parse: decimal(0.001, 1),
} as const;

/** Returns the option of a claim. `fallback` is what the source's bounds on its devices leave. */
export function claimOption(fallback: string) {
  return {
    meaning: 'claimed min-entropy per raw bit, 0.01 to 1',
    fallback,
    parse: decimal(0.01, 1),
  } as const;
}

/** The default is the pool's own: a source near full entropy then gives two SP 800-22 windows of conditioned output. */
export const lotBitsOption = {
  meaning:
    'number of raw bits in a lot; use more for a source with little entropy per bit, and fewer for a slow source',
  fallback: String(4 * 1024 * 1024),
  parse: wholeNumber(8192, MAX_READ_BITS),
} as const;
