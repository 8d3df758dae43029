import { listIn } from '../http-call.ts';
import type { SourceMemory } from '../source.ts';

/** The last few values by id, kept in one note of the source's memory: a restarted service knows them again. */
export class RecentNotes {
  readonly #memory: SourceMemory;
  readonly #key: string;
  readonly #max: number;
  /** Newest first; read once. */
  #entries: readonly (readonly [string, string])[] | undefined;

  constructor(memory: SourceMemory, key: string, max: number) {
    this.#memory = memory;
    this.#key = key;
    this.#max = max;
  }

  async get(id: string): Promise<string | undefined> {
    return (await this.#load()).find(([each]) => each === id)?.[1];
  }

  /** Resolves when it is on disk. The oldest entry makes room. */
  async put(id: string, value: string): Promise<void> {
    const others = (await this.#load()).filter(([each]) => each !== id);
    await this.#keep([[id, value] as const, ...others].slice(0, this.#max));
  }

  async drop(id: string): Promise<void> {
    const entries = await this.#load();
    if (entries.some(([each]) => each === id)) await this.#keep(entries.filter(([each]) => each !== id));
  }

  async #load(): Promise<readonly (readonly [string, string])[]> {
    if (this.#entries === undefined) {
      const note = await this.#memory.recall(this.#key);
      const entries = note === undefined ? [] : listIn(JSON.parse(note));
      this.#entries ??= entries.map((entry) => listIn(entry).map(String) as [string, string]);
    }
    return this.#entries;
  }

  async #keep(entries: readonly (readonly [string, string])[]): Promise<void> {
    this.#entries = entries;
    await this.#memory.keep(this.#key, JSON.stringify(entries));
  }
}
