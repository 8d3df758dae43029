import { assert } from '../core/assert.ts';
import { sha256Hex } from '../crypto/digest.ts';
import { BackendError } from './backend.ts';
import type { SourceMemory } from './definition.ts';

/**
 * What was seen before. Bits that come a second time must not be used a second time, and a job that was
 * submitted must not be submitted again. One store, `RecentEntries`, serves all of it; what each use
 * guarantees:
 *
 * | use | key → value | remembered | after a restart | a repetition is |
 * |---|---|---|---|---|
 * | `SeenReads` (device, replay) | SHA-256 of a read | the last 64 reads of 128 assessed bits or more | all | a permanent error |
 * | `SeenResults` (ibm, braket, ionq) | SHA-256 of a result → job | the last 64 results | all | a permanent error, unless the same job is fetched again |
 * | `SeenResponses` (qrng-http) | SHA-256 of the decoded bytes, 128 bits of it | the last 10,000 responses | the newest 128 | false, and the call is made again |
 * | `SeenAnswers` (qrn) | SHA-256 of an answer's bytes, 128 bits of it → call | the last 4,096 answers | the newest 512 | false, unless the same call is made again |
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

/** Half of SHA-256: 128 bits, enough never to take one response for another. */
const DIGEST_CHARACTERS = 32;

/** Small notes of one job each, by its key or id. */
export function jobNotes(memory: SourceMemory, name: 'submissions' | 'begun'): RecentEntries {
  return new RecentEntries(4, { memory, name });
}

/** As many reads and results as the health tests remember; weeks of jobs, and 4 KiB on disk. */
const REMEMBERED = 64;
/** Two reads of so many assessed bits agree by chance once in 2^128 / 64; shorter ones are not compared. */
const COMPARED_BITS_MIN = 128;

/**
 * Knows the last reads of a source, across restarts: a feeder that is a pseudo-random generator with a fixed
 * seed repeats itself each time it is started.
 */
export class SeenReads {
  readonly #digests: RecentEntries;
  readonly #minEntropyPerBit: number;

  constructor(memory: SourceMemory, minEntropyPerBit: number) {
    this.#digests = new RecentEntries(REMEMBERED, { memory, name: 'seen_reads' });
    this.#minEntropyPerBit = minEntropyPerBit;
  }

  /**
   * Remembers a read, durably. Rejects with a permanent BackendError when it is one of those that are
   * remembered.
   */
  async admit(rawSha256: string, bits: number): Promise<void> {
    if (bits * this.#minEntropyPerBit < COMPARED_BITS_MIN) return;
    await this.#digests.load();
    if (this.#digests.get(rawSha256) !== undefined) {
      throw new BackendError('permanent', `the same ${bits} bits came before: the source repeats itself`);
    }
    this.#digests.set(rawSha256, '');
    await this.#digests.keep();
  }
}

/**
 * Knows a result that was delivered before: a provider, a proxy or a cache that repeats one would have bits
 * used twice. The same job may be fetched again, since a crash between fetching and storing must not lose
 * what was paid for.
 */
export class SeenResults {
  readonly #jobs: RecentEntries;

  constructor(memory: SourceMemory) {
    this.#jobs = new RecentEntries(REMEMBERED, { memory, name: 'results' });
  }

  /**
   * Rejects with a permanent BackendError when another job gave these very bytes; else remembers them,
   * durably.
   */
  async admit(rawSha256: string, jobId: string): Promise<void> {
    await this.#jobs.load();
    const earlier = this.#jobs.get(rawSha256);
    if (earlier === jobId) return;
    if (earlier !== undefined) {
      throw new BackendError('permanent', `the result of job ${jobId} repeats that of job ${earlier}`);
    }
    this.#jobs.set(rawSha256, jobId);
    await this.#jobs.keep();
  }
}

/** Responses known again while the service runs; a week of the smallest calls at one a minute are 10,080. */
const RESPONSES_MAX = 10_000;
/** Known again after a restart: one small note a read. */
const RESPONSES_KEPT_MAX = 128;

/**
 * The bits that a service delivered before, by their hash. It goes over the decoded bytes: the same bytes in
 * a fresh envelope, with another time or id, are as used as a response that came twice.
 */
export class SeenResponses {
  readonly #digests: RecentEntries;

  constructor(memory: SourceMemory) {
    const note = { memory, name: 'responses', keptMax: RESPONSES_KEPT_MAX };
    this.#digests = new RecentEntries(RESPONSES_MAX, note);
  }

  /** Before the first use: what an earlier run saw. */
  load(): Promise<void> {
    return this.#digests.load();
  }

  /** False when these bytes came before. */
  add(bytes: Uint8Array): boolean {
    const digest = sha256Hex(bytes).slice(0, DIGEST_CHARACTERS);
    if (this.#digests.get(digest) !== undefined) return false;
    this.#digests.set(digest, '');
    return true;
  }

  /** Resolves when the newest are on disk. */
  keep(): Promise<void> {
    return this.#digests.keep();
  }
}

/** Answers known again while the service runs, and after a restart: those of eight lots of the largest size, and of one. */
const ANSWERS_MAX = 4_096;
const ANSWERS_KEPT_MAX = 512;

/**
 * The bytes that another service delivered before, and for which call. A call that is made again gives the same bytes;
 * another one must not.
 */
export class SeenAnswers {
  readonly #calls: RecentEntries;

  constructor(memory: SourceMemory) {
    const note = { memory, name: 'answers', keptMax: ANSWERS_KEPT_MAX };
    this.#calls = new RecentEntries(ANSWERS_MAX, note);
  }

  /** Before the first use: what an earlier run saw. */
  load(): Promise<void> {
    return this.#calls.load();
  }

  /** False when another call gave these bytes. */
  add(octets: Uint8Array, call: string): boolean {
    const digest = sha256Hex(octets).slice(0, DIGEST_CHARACTERS);
    const earlier = this.#calls.get(digest);
    if (earlier !== undefined && earlier !== call) return false;
    this.#calls.set(digest, call);
    return true;
  }

  /** Resolves when the newest are on disk. */
  keep(): Promise<void> {
    return this.#calls.keep();
  }
}
