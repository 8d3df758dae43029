import { assert } from '../core/assert.ts';
import { BackendError } from './backend.ts';
import type { SourceMemory } from './definition.ts';

/**
 * What was seen before. Bits that come a second time must not be used a second time, and a job that was
 * submitted must not be submitted again. One store, `RecentEntries`, serves all of it; what each use
 * guarantees:
 *
 * | use | key → value | remembered | after a restart | a repetition is |
 * |---|---|---|---|---|
 * | reads (device, replay) | SHA-256 of a read of 128 assessed bits or more | the last 64 | all | a permanent error |
 * | results (ibm, braket, ionq) | SHA-256 of a result → job | the last 64 | all | a permanent error, unless the same job is fetched again |
 * | responses (qrng-http) | 128 bits of SHA-256 of the decoded bytes | the last 10,000 | the newest 128 | refused, and the call is made again |
 * | answers (qrn) | 128 bits of SHA-256 of an answer's bytes → call | the last 4,096 | the newest 512 | refused, unless the same call is made again |
 * | submissions (ibm, braket, ionq) | idempotency key → plan and job | the last 4 | all | the job of the first submission |
 * | begun readings of private IBM jobs | job | the last 4 | all | a result that may be gone |
 * | raw results of lots (pool/intake) | SHA-256 of a result → lot | the last 256 lots of the source | all, from the lots themselves | a refused lot |
 *
 * Nothing is forgotten but to make room: the entry that was set longest ago goes first. How far a file of
 * recorded bits was read is never forgotten; it is a note of its own for each file (replay/replay.ts).
 */
export class RecentEntries {
  readonly #max: number;
  readonly #note: EntriesNote | undefined;
  /** Oldest first. */
  readonly #entries = new Map<string, string>();
  #isLoaded = false;

  /** Remembers `max` entries, and across restarts what the note holds of them. */
  constructor(max: number, note?: EntriesNote) {
    this.#max = max;
    this.#note = note;
  }

  /** Before the first use: what an earlier run kept. */
  async load(): Promise<void> {
    if (this.#isLoaded || this.#note === undefined) return;
    const { memory, name } = this.#note;
    const text = await memory.recall(name);
    if (this.#isLoaded) return; // by another caller meanwhile
    for (const [key, value] of text === undefined ? [] : entriesIn(name, text)) this.set(key, value);
    this.#isLoaded = true;
  }

  get(key: string): string | undefined {
    return this.#entries.get(key);
  }

  /** The entry is the newest then; the oldest makes room for it. */
  set(key: string, value: string): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#max) return;
    const [oldest] = this.#entries.keys();
    this.#entries.delete(oldest);
  }

  delete(key: string): boolean {
    return this.#entries.delete(key);
  }

  /** Resolves when the entries are on disk. */
  async keep(): Promise<void> {
    assert(this.#note !== undefined, 'only entries with a note are kept');
    const { memory, name, keptMax = this.#max } = this.#note;
    await memory.keep(name, JSON.stringify([...this.#entries].slice(-keptMax)));
  }
}

/** A JSON list of pairs of key and value, oldest first. */
interface EntriesNote {
  readonly memory: SourceMemory;
  readonly name: string;
  /** The newest so many entries are on disk; all of them when left out. */
  readonly keptMax?: number;
}

function entriesIn(name: string, text: string): readonly (readonly [string, string])[] {
  const entries: unknown = JSON.parse(text);
  const isPair = (each: unknown) => Array.isArray(each) && each.length === 2 && each.every(isText);
  assert(Array.isArray(entries) && entries.every(isPair), `the note ${name} is a list of pairs of texts`);
  return entries as [string, string][];
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Small notes of one job each, by its key or id. */
export function jobNotes(memory: SourceMemory, name: 'submissions' | 'begun'): RecentEntries {
  return new RecentEntries(4, { memory, name });
}

/** How much is remembered of what is seen: entries, those of them that are kept over a restart, and digits of a digest. */
const SEEN = {
  /** As many as the health tests remember; weeks of jobs, and 4 KiB on disk. */
  seen_reads: { max: 64, keptMax: 64, characters: 64 },
  results: { max: 64, keptMax: 64, characters: 64 },
  /** A week of the smallest calls at one a minute are 10,080; kept is one small note a read. */
  responses: { max: 10_000, keptMax: 128, characters: 32 },
  /** Those of eight lots of the largest size, and of one. */
  answers: { max: 4_096, keptMax: 512, characters: 32 },
} as const;

/**
 * Bits that a source gave before, by their SHA-256. It goes over decoded bytes where a provider wraps one result in differing
 * envelopes: the same bytes with another time or id are as used as a response that came twice.
 */
export class SeenBits {
  readonly #entries: RecentEntries;
  readonly #characters: number;

  constructor(memory: SourceMemory, name: keyof typeof SEEN) {
    const { max, keptMax, characters } = SEEN[name];
    this.#entries = new RecentEntries(max, { memory, name, keptMax });
    this.#characters = characters;
  }

  /** Before the first use: what an earlier run saw. */
  load(): Promise<void> {
    return this.#entries.load();
  }

  /**
   * Remembers a digest (hex), and the job or call that gave it. Gives who gave it before: what is fetched again gives the
   * same bits, since a crash between fetching and storing must not lose what was paid for. Undefined for new bits.
   */
  add(sha256: string, from?: string): { readonly by: string } | undefined {
    const key = sha256.slice(0, this.#characters);
    const by = this.#entries.get(key);
    if (by !== undefined && by !== from) return { by };
    this.#entries.set(key, from ?? '');
    return undefined;
  }

  /** Resolves when the newest are on disk. */
  keep(): Promise<void> {
    return this.#entries.keep();
  }

  /** Remembers a digest durably. Rejects with a permanent BackendError, `words` in it, for one that came before. */
  async admit(sha256: string, words: (earlier: string) => string, from?: string): Promise<void> {
    await this.load();
    const earlier = this.add(sha256, from);
    if (earlier !== undefined) throw new BackendError('permanent', words(earlier.by));
    await this.keep();
  }
}

/** Two reads of so many assessed bits agree by chance once in 2^128 / 64; shorter ones are not compared. */
const COMPARED_BITS_MIN = 128;

/**
 * Gives the admission of a source's reads, by their SHA-256 and bits: it knows the last ones, across restarts. A feeder that
 * is a pseudo-random generator with a fixed seed repeats itself each time it is started.
 */
export function readsAdmission(memory: SourceMemory, minEntropyPerBit: number) {
  const seen = new SeenBits(memory, 'seen_reads');
  return async (rawSha256: string, bits: number): Promise<void> => {
    if (bits * minEntropyPerBit < COMPARED_BITS_MIN) return;
    await seen.admit(rawSha256, () => `the same ${bits} bits came before: the source repeats itself`);
  };
}
