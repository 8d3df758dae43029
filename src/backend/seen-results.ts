import { BackendError } from './backend.ts';
import type { SourceMemory } from './source.ts';

/** Results that are remembered, also after a restart: some KB of notes, and weeks of jobs. */
const REMEMBERED = 64;
const NOTE = 'results';

/**
 * Knows a result that was delivered before: a provider, a proxy or a cache that repeats one would have bits used twice. The
 * same job may be fetched again, since a crash between fetching and storing must not lose what was paid for.
 */
export class SeenResults {
  readonly #memory: SourceMemory;
  /** Hash of the result to job, oldest first. */
  #jobOf: Map<string, string> | undefined;

  constructor(memory: SourceMemory) {
    this.#memory = memory;
  }

  /** Rejects with a BackendError when another job gave these very bytes; else remembers them. */
  async admit(rawSha256: string, jobId: string): Promise<void> {
    this.#jobOf ??= await this.#recall();
    const earlier = this.#jobOf.get(rawSha256);
    if (earlier === jobId) return;
    if (earlier !== undefined) {
      throw new BackendError('permanent', `the result of job ${jobId} repeats that of job ${earlier}`);
    }
    this.#jobOf.set(rawSha256, jobId);
    const entries = [...this.#jobOf].slice(-REMEMBERED);
    this.#jobOf = new Map(entries);
    await this.#memory.keep(NOTE, JSON.stringify(entries));
  }

  async #recall(): Promise<Map<string, string>> {
    const note = await this.#memory.recall(NOTE);
    return new Map(note === undefined ? [] : (JSON.parse(note) as [string, string][]));
  }
}
