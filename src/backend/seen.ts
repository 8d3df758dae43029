import { assert } from '../core/assert.ts';
import type { SourceMemory } from './definition.ts';

/**
 * What was seen before. Bits that come a second time must not be used a second time, and a job that was
 * submitted must not be submitted again. One store, `RecentEntries`, serves all of it; what each use
 * guarantees:
 *
 * | use | key → value | remembered | after a restart | a repetition is |
 * |---|---|---|---|---|
 * | raw results of every source (pool/intake) | SHA-256 of a result → lot | the last 256 lots of the source | all, from the lots themselves | a refused lot |
 * | responses (qrng-http) | 128 bits of SHA-256 of the decoded bytes | the last 10,000 | the newest 128 | refused, and the call is made again |
 * | answers (qrn) | 128 bits of SHA-256 of an answer's bytes → call | the last 4,096 | the newest 512 | refused, unless the same call is made again |
 * | submissions (ibm, braket, ionq) | idempotency key → plan and job | the last 4 | all | the job of the first submission |
 * | begun readings of private IBM jobs | job | the last 4 | all | a result that may be gone |
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

/** How much is remembered of what is seen: entries, and those of them that are kept over a restart. */
const SEEN = {
  /** A week of the smallest calls at one a minute are 10,080; kept is one small note a read. */
  responses: { max: 10_000, keptMax: 128 },
  /** Those of eight lots of the largest size, and of one. */
  answers: { max: 4_096, keptMax: 512 },
} as const;

/** Of a digest in hex: 128 bits. */
const DIGEST_CHARACTERS = 32;

/**
 * Bits that a service gave in one call before, by their SHA-256. It goes over decoded bytes where a provider wraps one result
 * in differing envelopes: the same bytes with another time or id are as used as a response that came twice.
 */
export class SeenBits {
  readonly #entries: RecentEntries;

  constructor(memory: SourceMemory, name: keyof typeof SEEN) {
    const { max, keptMax } = SEEN[name];
    this.#entries = new RecentEntries(max, { memory, name, keptMax });
  }

  /** Before the first use: what an earlier run saw. */
  load(): Promise<void> {
    return this.#entries.load();
  }

  /**
   * Remembers a digest (hex), and the call that gave it. False when another call gave it before; what is fetched again gives
   * the same bits, since a crash between fetching and storing must not lose what was paid for.
   */
  isNew(sha256: string, call = ''): boolean {
    const key = sha256.slice(0, DIGEST_CHARACTERS);
    const by = this.#entries.get(key);
    if (by !== undefined && (by !== call || call === '')) return false;
    this.#entries.set(key, call);
    return true;
  }

  /** Resolves when the newest are on disk. */
  keep(): Promise<void> {
    return this.#entries.keep();
  }
}
