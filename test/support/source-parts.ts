import {
  type AnswerVerifier,
  type BackendDefinition,
  type OptionDefinitions,
  type OptionValues,
  Secret,
  type SourceMemory,
} from '../../src/backend/definition.ts';

/** The values of a backend's options as the configuration makes them: of the given texts, else of the fallbacks. */
export function optionValues<Options extends OptionDefinitions>(
  definition: BackendDefinition<Options>,
  texts: Readonly<Partial<Record<keyof Options & string, string>>>,
): OptionValues<Options> {
  const values = Object.entries(definition.options).map(([name, option]) => {
    const text = texts[name as keyof Options & string] ?? option.fallback;
    if (text === undefined) throw new Error(`the option ${name} must be given`);
    const value = option.parse(text);
    return [name, option.secret === true ? new Secret(String(value)) : value];
  });
  return Object.fromEntries(values) as OptionValues<Options>;
}

/** A source's notes in memory: they outlive the backends of a test as the ledger outlives the service. */
export class MemoryNotes implements SourceMemory {
  readonly notes = new Map<string, string>();
  readonly #ofOthers: readonly MemoryNotes[];

  constructor(...ofOthers: readonly MemoryNotes[]) {
    this.#ofOthers = ofOthers;
  }

  async recall(key: string): Promise<string | undefined> {
    return this.notes.get(key);
  }

  async recallAll(key: string): Promise<readonly string[]> {
    return [this, ...this.#ofOthers].flatMap(({ notes }) => notes.get(key) ?? []);
  }

  async keep(key: string, value: string): Promise<void> {
    this.notes.set(key, value);
  }
}

/** For sources without answers of another service to verify. */
export const verify: AnswerVerifier = async () => 'there is nothing to verify';
