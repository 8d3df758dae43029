import { randomFillSync } from 'node:crypto';
import { systemClock } from '../../src/core/clock.ts';
import type { SegmentRecord } from '../../src/ledger/records.ts';
import { SegmentWriter } from '../../src/ledger/segment.ts';
import { quantile } from '../../test/support/statistics.ts';

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
      sources: [{ mode: 'csprng', lotIds: this.#lotIds, drawn: [] }],
      context: { verifyUrlBase: 'http://127.0.0.1/verify', systemGenerator: 'kernel' },
      ...this.#writer.finish(),
    };
  }
}

interface Commits {
  /** Certificates of one commit, and commits that wait at the same time. */
  readonly certificates: number;
  readonly inFlight?: number;
  readonly durationMs: number;
  /** Commits that began before are not counted. */
  readonly warmUpMs?: number;
}

/** Commits one after the other for a while: the time of one, and certificates per second. */
export async function timedCommits(
  commit: () => Promise<unknown>,
  { certificates, inFlight = 1, durationMs, warmUpMs = 0 }: Commits,
) {
  const times: number[] = [];
  const fromMs = performance.now() + warmUpMs;
  const loop = async () => {
    while (performance.now() < fromMs + durationMs) {
      const begunMs = performance.now();
      await commit();
      if (begunMs >= fromMs) times.push(performance.now() - begunMs);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, loop));
  const perS = (1e3 * certificates * times.length) / (performance.now() - fromMs);
  return { perS, ...timesOf(times) };
}

/** Of times in ms. */
export function timesOf(times: readonly number[]) {
  const sorted = times.toSorted((a, b) => a - b);
  return { us: 1e3 * quantile(sorted, 0.5), p99Us: 1e3 * quantile(sorted, 0.99) };
}
