import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Committer } from '../../src/answer/commit.ts';
import { CertificateIds } from '../../src/certificate/ids.ts';
import { ApiError } from '../../src/core/errors.ts';
import { LIMITS } from '../../src/core/limits.ts';
import type { SegmentRecord, StoredAnswer } from '../../src/ledger/records.ts';
import type { SegmentSink } from '../../src/ledger/segment-sink.ts';
import { recordingLog } from '../pool/fixtures.ts';
import { entry } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { sequencesFrom } from '../support/memory-ledger.ts';

const isOverloaded = (error: unknown) =>
  error instanceof ApiError && error.code === 'overloaded' && error.facts.retryAfterS === 1;

/** A commit window before a disk that answers when it is told to. */
class SlowLedger {
  readonly committer: Committer;
  readonly log = recordingLog();
  readonly clock = new ManualClock();
  /** The reports of finished commits. */
  readonly told: (readonly [durationMs: number, failure: string | undefined])[] = [];
  /** Kept answers that came with segments. */
  readonly stored: StoredAnswer[] = [];
  settled = 0;
  failed = 0;
  isBehind = false;
  isHeldBack = false;
  refusal: SegmentSink['refusal'] = null;
  #commits: { segment: SegmentRecord; done: PromiseWithResolvers<void> }[] = [];
  #next = 0;

  constructor() {
    const isBehind = () => this.isBehind;
    const refusal = () => this.refusal;
    const sink: SegmentSink = {
      nextSequence: sequencesFrom(1),
      get refusal() {
        return refusal();
      },
      get isBehind() {
        return isBehind();
      },
      commit: (segment, answers) => {
        this.stored.push(...answers);
        const done = Promise.withResolvers<void>();
        this.#commits.push({ segment, done });
        return done.promise;
      },
    };
    this.committer = new Committer({
      sink,
      ids: new CertificateIds(new Uint8Array(32).fill(1)),
      context: () => ({ verifyUrlBase: 'http://a/verify', systemGenerator: 'kernel' }),
      clock: this.clock,
      log: this.log,
      onCommit: (durationMs, failure) => this.told.push([durationMs, failure?.message]),
      isHeldBack: () => this.isHeldBack,
    });
  }

  /** Adds so many answers and lets the window close. */
  async fill(count: number): Promise<void> {
    const settled = (failure?: Error) => {
      if (failure === undefined) this.settled++;
      else this.failed++;
    };
    for (let i = 0; i < count; i++) this.committer.add({ ...entry(this.#next++), settled });
    await turn();
  }

  /** The segments that are being committed. */
  get segments(): SegmentRecord[] {
    return this.#commits.map(({ segment }) => segment);
  }

  /** Commits that are under way; their answers. */
  get underWay(): number[] {
    return this.segments.map(({ count }) => count);
  }

  async release(error?: Error): Promise<void> {
    for (const { done } of this.#commits.splice(0)) {
      if (error === undefined) done.resolve();
      else done.reject(error);
    }
    await turn();
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('answers that wait for a slow disk', () => {
  it('are bounded by count, in two segments under way and an open one, and are answered when the disk is back', async () => {
    const slow = new SlowLedger();
    const { committer } = slow;
    await slow.fill(1_000);
    await slow.fill(999);
    assert.deepEqual(slow.underWay, [1_000], 'a smaller one does not follow at once');
    await slow.fill(1);
    assert.deepEqual(slow.underWay, [1_000, 1_000]);
    await slow.fill(LIMITS.pendingRepliesMax - 2_001);
    committer.assertRoom();
    await slow.fill(1);
    assert.equal(committer.pending, LIMITS.pendingRepliesMax);
    assert.deepEqual(slow.underWay, [1_000, 1_000]);
    assert.throws(() => committer.assertRoom(), isOverloaded);
    await slow.release();
    committer.assertRoom();
    await slow.release();
    assert.equal(committer.pending, 0);
    assert.equal(slow.settled, LIMITS.pendingRepliesMax);
  });

  it('are all completed when the service stops', async () => {
    const slow = new SlowLedger();
    await slow.fill(1);
    let isOver = false;
    const drained = slow.committer.drain().then(() => (isOver = true));
    await turn();
    assert.equal(isOver, false);
    await slow.release();
    await drained;
    assert.equal(slow.settled, 1);
  });

  it('are shed before anything is drawn while the ledger is too far behind', () => {
    const slow = new SlowLedger();
    slow.committer.assertRoom();
    slow.isBehind = true;
    assert.throws(() => slow.committer.assertRoom(), isOverloaded);
  });

  it('are refused with storage_unavailable before anything is drawn while the front is held back', () => {
    const slow = new SlowLedger();
    slow.isHeldBack = true;
    assert.throws(() => slow.committer.assertRoom(), {
      code: 'storage_unavailable',
      facts: { retryAfterS: 1 },
    });
    slow.isHeldBack = false;
    slow.committer.assertRoom();
    slow.refusal = { why: 'disk-full', retryAfterS: 30 };
    assert.throws(() => slow.committer.assertRoom(), { code: 'storage_unavailable', facts: slow.refusal });
  });

  it('are refused when the disk fails, and the next ones succeed', async () => {
    const slow = new SlowLedger();
    const { committer } = slow;
    await slow.fill(3);
    await slow.release(new ApiError('storage_unavailable', { retryAfterS: 5 }));
    assert.deepEqual([slow.failed, committer.pending], [3, 0]);
    committer.assertRoom();
    await slow.fill(2);
    await slow.release();
    assert.equal(slow.settled, 2);
    await slow.fill(1);
    slow.clock.advance(7);
    await slow.release(new Error('the disk is gone'));
    const [refused] = slow.told;
    assert.deepEqual(slow.told, [refused, [0, undefined], [7, 'the disk is gone']]);
    assert.match(refused[1] ?? '', /./);
    assert.deepEqual(slow.log.reasons(), [
      [refused[1], 'segment not committed'],
      ['the disk is gone', 'segment not committed'],
    ]);
    const stopped = { code: 'storage_unavailable', facts: { retryAfterS: 5 } };
    assert.throws(() => committer.assertRoom(), stopped);
  });

  it('are identified by their places in their segment, which has each of their sources once', async () => {
    const slow = new SlowLedger();
    const { committer } = slow;
    const ids = new CertificateIds(new Uint8Array(32).fill(1));
    const kept = {
      accountNumber: 1,
      keyDigest: 'k',
      fingerprint: 'f',
      expiresAtMs: 1,
      sealed: new Uint8Array(9),
    };
    const label = { isPublic: true, purpose: 'raffle', series: 'series_a' };
    const [one, other] = ['a', 'b'].map(
      (id) => ({ mode: 'csprng', lotIds: [id], drawn: [], more: 1 }) as const,
    );
    for (const sequence of [1, 2]) {
      assert.deepEqual(
        [one, one, other, one].map((from) => committer.sourceOf(from)),
        [0, 0, 1, 0],
      );
      for (let i = 0; i < 130; i++) {
        assert.deepEqual(
          Buffer.from(committer.nextCertificateId()),
          Buffer.from(ids.blocks([{ segment: sequence, from: i, count: 1 }])),
        );
        const said = i === 9 ? { label } : {};
        committer.add({ ...entry(i), ...said, settled: () => {} }, i === 7 ? kept : undefined);
      }
      await Promise.resolve();
      assert.deepEqual(slow.stored.splice(0), [kept], 'with the answer that is kept');
      const [segment] = slow.segments;
      assert.deepEqual(segment.notes, [{ index: 9, label }]);
      assert.deepEqual([segment.sequence, segment.count, slow.underWay.length], [sequence, 130, 1]);
      assert.deepEqual(
        segment.sources,
        [one, other].map(({ mode, lotIds, drawn }) => ({ mode, lotIds, drawn })),
      );
      await slow.release();
    }
    for (const [i, count] of [3, 1, 20, 17, 200, 2].entries()) {
      for (let index = 0; index < count; index++) {
        assert.deepEqual(
          Buffer.from(committer.nextCertificateId()),
          Buffer.from(ids.blocks([{ segment: 3 + i, from: index, count: 1 }])),
        );
        committer.add({ ...entry(index), settled: () => {} });
      }
      await Promise.resolve();
      await slow.release();
    }
    await Promise.resolve();
    assert.deepEqual(slow.underWay, [], 'nothing waits');
  });

  it('never get the id of another when theirs could not be made', (t) => {
    const { committer } = new SlowLedger();
    const ids = new CertificateIds(new Uint8Array(32).fill(1));
    for (let i = 0; i < 16; i++) {
      committer.nextCertificateId();
      committer.add({ ...entry(i), settled: () => {} });
    }
    const fail = () => {
      throw new Error('no memory');
    };
    t.mock.method(CertificateIds.prototype, 'blocks', fail, { times: 1 });
    assert.throws(() => committer.nextCertificateId(), /no memory/);
    assert.deepEqual(
      Buffer.from(committer.nextCertificateId()),
      Buffer.from(ids.blocks([{ segment: 1, from: 16, count: 1 }])),
    );
  });
});
