import { randomFillSync } from 'node:crypto';
import { systemClock } from '../../src/core/clock.ts';
import type { SegmentRecord } from '../../src/ledger/records.ts';
import { SegmentWriter } from '../../src/ledger/segment.ts';

const ACCOUNTS = 100;

/** Makes segments of small answers to 100 accounts in turn, whose ids and digests are random. */
export class SegmentSource {
  readonly #lotIds: readonly string[];
  readonly #writer: SegmentWriter;
  #random = new Uint8Array(0);

  /** `writer` is that of the revision that is measured. */
  constructor(lotIds: readonly string[] = [], writer = new SegmentWriter()) {
    this.#lotIds = lotIds;
    this.#writer = writer;
  }

  make(sequence: number, count: number): SegmentRecord {
    if (this.#random.length !== 48 * count) this.#random = new Uint8Array(48 * count);
    const random = randomFillSync(this.#random);
    for (let i = 0; i < count; i++) {
      this.#writer.append({
        requestId: random.subarray(48 * i, 48 * i + 16),
        delivered: random.subarray(48 * i + 16, 48 * (i + 1)),
        issuedAtMs: systemClock.wallMs(),
        accountNumber: 1 + (i % ACCOUNTS),
        endpoint: 'integers',
        mode: 'csprng',
        source: 0,
        valueCount: 10,
        deliveredBytes: 150,
        consumedBytes: 12,
        credits: 0,
      });
    }
    return {
      sequence,
      committedAtMs: systemClock.wallMs(),
      sources: [{ mode: 'csprng', lotIds: this.#lotIds, generation: null }],
      context: { verifyUrlBase: 'http://127.0.0.1/verify', poweredBy: 'bench' },
      ...this.#writer.finish(),
    };
  }
}
