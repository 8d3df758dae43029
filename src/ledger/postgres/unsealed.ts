import type { SegmentRecord } from '../records.ts';
import { decodeSegment } from '../segment.ts';
import { UsageTally } from '../usage-counters.ts';
import type { Session } from './connection.ts';

const BODIES = {
  name: 'unsealed_bodies',
  text: 'SELECT sequence, body FROM qrn.segment WHERE sequence = ANY($1)',
};
/** Bodies that are read at once: some megabytes. */
const BODIES_PER_READ = 256;
const TALLIES_MAX = 65_536;

/**
 * What each segment that is not sealed adds to the counters. A segment never changes, so each is read and added up once in
 * this process: when the sequencer reads it, or when a counter is asked for.
 */
export class UnsealedTallies {
  readonly #tallies = new Map<number, UsageTally>();

  /** Notes a segment that was read anyway. */
  note(segment: SegmentRecord): void {
    if (this.#tallies.has(segment.sequence)) return;
    const tally = new UsageTally();
    tally.addSegment(segment.entries);
    this.#tallies.set(segment.sequence, tally);
    if (this.#tallies.size <= TALLIES_MAX) return;
    const [oldest] = this.#tallies.keys();
    this.#tallies.delete(oldest);
  }

  /** These were sealed: the counters have them. */
  forget(sequences: Iterable<number>): void {
    for (const sequence of sequences) this.#tallies.delete(sequence);
  }

  /** The tally of each of these segments, which all are stored. */
  async of(session: Session, sequences: readonly number[]): Promise<Map<number, UsageTally>> {
    const tallies = new Map<number, UsageTally>();
    const missing: number[] = [];
    for (const sequence of sequences) {
      const known = this.#tallies.get(sequence);
      if (known === undefined) missing.push(sequence);
      else tallies.set(sequence, known);
    }
    for (let at = 0; at < missing.length; at += BODIES_PER_READ) {
      const wanted = missing.slice(at, at + BODIES_PER_READ);
      for (const { sequence, body } of await session.run<StoredBody>(BODIES, [wanted])) {
        const segment = decodeSegment(new Uint8Array(body));
        this.note(segment);
        const tally = this.#tallies.get(sequence);
        if (tally !== undefined) tallies.set(sequence, tally);
      }
    }
    return tallies;
  }

  /** The sum over all of these segments. */
  async sum(session: Session, sequences: readonly number[]): Promise<UsageTally> {
    const sum = new UsageTally();
    for (const tally of (await this.of(session, sequences)).values()) sum.addTally(tally);
    return sum;
  }
}

interface StoredBody {
  readonly sequence: number;
  readonly body: Uint8Array;
}
