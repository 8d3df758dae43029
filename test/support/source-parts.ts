import assert from 'node:assert/strict';
import type { Backend } from '../../src/backend/backend.ts';
import {
  type AnswerVerifier,
  type BackendDefinition,
  type BackendParts,
  type OptionDefinitions,
  type OptionValues,
  Secret,
  type SourceMemory,
} from '../../src/backend/definition.ts';
import { ManualClock } from './manual-clock.ts';

type Texts<Options> = Readonly<Partial<Record<keyof Options & string, string>>>;

/** The values of a backend's options as the configuration makes them: of the given texts, else of the fallbacks. */
export function optionValues<Options extends OptionDefinitions>(
  definition: BackendDefinition<Options>,
  texts: Texts<Options>,
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

/** A source of this kind with these options; on a clock of its own, and without notes of another, unless they are given. */
export function sourceOf<Options extends OptionDefinitions, Kind extends Backend['kind']>(
  kind: Kind,
  definition: BackendDefinition<Options>,
  texts: Texts<Options>,
  { name = 'test', ...parts }: Partial<BackendParts> & { readonly name?: string } = {},
): Extract<Backend, { kind: Kind }> {
  const own = { clock: new ManualClock(), memory: new MemoryNotes(), verify };
  const source = definition.create(name, optionValues(definition, texts), { ...own, ...parts });
  assert.equal(source.kind, kind);
  return source as Extract<Backend, { kind: Kind }>;
}

/** For sources without answers of another service to verify. */
const verify: AnswerVerifier = async () => 'there is nothing to verify';
