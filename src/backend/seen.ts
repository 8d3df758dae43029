import { assert } from '../core/assert.ts';
import type { SourceMemory } from './definition.ts';

/** Hex digits of a digest that are kept: 128 bits. */
const DIGEST_CHARACTERS = 32;

/**
 * What was seen before. Bits that come a second time must not be used again, and a job must not be submitted again. One
 * class, `RecentEntries`, serves all uses, which guarantee:
 *
 * | use | key → value | remembered | after a restart | a repetition is |
 * |---|---|---|---|---|
 * | raw results of every source (pool/intake) | SHA-256 of a result → lot | the last 256 lots of the source | all, from the lots themselves | a refused lot |
 * | responses (qrng-http) | 128 bits of SHA-256 of the decoded bytes | the last 10,000 | the newest 128 | refused, and the call is made again |
 * | answers (qrn) | 128 bits of SHA-256 of an answer's bytes → call | the last 4,096 | the newest 512 | refused, unless the same call is made again |
 * | submissions (ibm, braket, ionq) | idempotency key → plan and job | the last 4 | all | the job of the first submission |
 * | begun readings of private IBM jobs | job | the last 4 | all | a result that may be gone |
 *
 * Entries are dropped only to make room, the one that was set longest ago first. How far a file of recorded bits was
 * read is never dropped; each file has a note of its own (replay/replay.ts).
 */
export class RecentEntries {
  readonly #max: number;
  readonly #note: EntriesNote | undefined;
  /** Oldest first. */
  readonly #entries = new Map<string, string>();
  #isLoaded = false;

  /** Remembers `max` entries, and after a restart those that the note holds. */
  constructor(max: number, note?: EntriesNote) {
    this.#max = max;
    this.#note = note;
  }

  /** Reads what an earlier run kept. Call it before the first use. */
  async load(): Promise<void> {
    if (this.#isLoaded || this.#note === undefined) return;
    const { memory, name } = this.#note;
    const text = await memory.recall(name);
    if (this.#isLoaded) return; // another caller has loaded it meanwhile
    for (const [key, value] of text === undefined ? [] : entriesIn(name, text)) this.set(key, value);
    this.#isLoaded = true;
  }

  get(key: string): string | undefined {
    return this.#entries.get(key);
  }

  /** Sets an entry, which is then the newest. Drops the oldest if there are too many. */
  set(key: string, value: string): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#max) return;
    const [oldest] = this.#entries.keys();
    this.#entries.delete(oldest);
  }

  /**
   * Remembers bits that a service gave, by the SHA-256 (hex) of the decoded bytes, and the call that gave them. Returns
   * false if another call gave them before. The same call may give them again, so that a crash between fetching and
   * storing does not lose bits that were paid for. A provider may wrap one result in different envelopes, so the hash of
   * the whole response would miss a repetition.
   */
  isNew(sha256: string, call = ''): boolean {
    const key = sha256.slice(0, DIGEST_CHARACTERS);
    const by = this.get(key);
    if (by !== undefined && (by !== call || call === '')) return false;
    this.set(key, call);
    return true;
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

/** Where entries are kept on disk, as a JSON list of pairs of key and value, oldest first. */
interface EntriesNote {
  readonly memory: SourceMemory;
  readonly name: string;
  /** How many of the newest entries are kept; by default all. */
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

/** How many entries are remembered, and how many of them after a restart. */
const KEPT = {
  submissions: { max: 4 },
  begun: { max: 4 },
  /** About a week of calls at one a minute. Few are kept, since each read writes them. */
  responses: { max: 10_000, keptMax: 128 },
  /** The answers of eight lots of the largest size, and of one. */
  answers: { max: 4_096, keptMax: 512 },
} as const;

/** Returns the entries of one use that the source keeps on disk. */
export function keptEntries(memory: SourceMemory, name: keyof typeof KEPT): RecentEntries {
  const { max, ...kept } = KEPT[name];
  return new RecentEntries(max, { memory, name, ...kept });
}
