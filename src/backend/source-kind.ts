import type { Clock } from '../core/clock.ts';
import type { Backend } from './backend.ts';

/**
 * A kind of source that an operator can configure: its options, each described once, and how a backend is made of them.
 * The configuration, `qrn sources` and docs/sources.md read the same definitions.
 */
export interface SourceKind<Options extends OptionDefinitions = OptionDefinitions> {
  /** As `type` names it in the configuration, e.g. `ibm`. */
  readonly type: string;
  /** One sentence for `qrn sources list`. */
  readonly summary: string;
  readonly options: Options;
  /** Throws an OptionError when options contradict each other. Opens nothing and calls nobody. */
  create(name: string, options: OptionValues<Options>, parts: SourceParts): Backend;
}

export type OptionDefinitions = Readonly<Record<string, OptionDefinition<unknown>>>;

/** One option, written in snake case in the configuration. */
export interface OptionDefinition<T> {
  readonly meaning: string;
  /** Text that stands for an absent option; without one the option must be given. */
  readonly fallback?: string;
  /** A secret is given as a Secret and comes from the environment or from a file, never from the configuration. */
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

/** Defines a kind with the types of its options kept. */
export function sourceKind<const Options extends OptionDefinitions>(
  kind: SourceKind<Options>,
): SourceKind<Options> {
  return kind;
}

/** What every source is given beside its options. */
export interface SourceParts {
  readonly clock: Clock;
  readonly memory: SourceMemory;
}

/** What a source must know again after a restart, e.g. the position in a file that is read once. */
export interface SourceMemory {
  recall(key: string): Promise<string | undefined>;
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
