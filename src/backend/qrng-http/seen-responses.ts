import { assert } from '../../core/assert.ts';
import { sha256Hex } from '../../crypto/digest.ts';
import type { SourceMemory } from '../source.ts';

/** Responses known again while the service runs; a week of the smallest calls at one a minute are 10,080. */
const SEEN_MAX = 10_000;
/** Known again after a restart: one small note a read. */
const KEPT_MAX = 128;
/** Half of SHA-256: 128 bits, enough never to take one response for another. */
const DIGEST_CHARACTERS = 32;
const NOTE = 'responses';

/**
 * The bits that a source delivered before, by their hash. It goes over the decoded bytes: the same bytes in a fresh
 * envelope, with another time or id, are as used as a response that came twice.
 */
export class SeenResponses {
  readonly #memory: SourceMemory;
  /** Oldest first. */
  readonly #digests = new Set<string>();
  #isRecalled = false;

  constructor(memory: SourceMemory) {
    this.#memory = memory;
  }

  /** Before the first use: what an earlier run saw. */
  async recall(): Promise<void> {
    if (this.#isRecalled) return;
    const note = (await this.#memory.recall(NOTE)) ?? '';
    assert(/^([0-9a-f]{32})*$/.test(note), 'the note of seen responses is ours');
    for (const digest of note.match(/.{32}/g) ?? []) this.#digests.add(digest);
    this.#isRecalled = true;
  }

  /** False when these bytes came before. */
  add(bytes: Uint8Array): boolean {
    const digest = sha256Hex(bytes).slice(0, DIGEST_CHARACTERS);
    if (this.#digests.has(digest)) return false;
    this.#digests.add(digest);
    if (this.#digests.size > SEEN_MAX) {
      const [oldest] = this.#digests;
      this.#digests.delete(oldest);
    }
    return true;
  }

  /** Resolves when the newest are on disk. */
  async keep(): Promise<void> {
    await this.#memory.keep(NOTE, [...this.#digests].slice(-KEPT_MAX).join(''));
  }
}
