import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { InvariantError } from '../../src/core/assert.ts';
import { ApiError } from '../../src/core/errors.ts';
import type { Ledger, SequenceLease } from '../../src/ledger/ledger.ts';
import { LinkedSink, UnknownOutcome } from '../../src/ledger/linked-sink.ts';
import { Sequences } from '../../src/ledger/sequences.ts';
import { openFrontSink } from '../../src/service/ledger-thread.ts';
import { filledSegment } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';

/** A ledger whose commits end when the test says so, and that leases `size` sequences at a time. */
async function sinkOver(size = 2 ** 24) {
  const clock = new ManualClock();
  const commits: PromiseWithResolvers<void>[] = [];
  let leased = 0;
  const lease = async (): Promise<SequenceLease> => ({ from: leased + 1, before: (leased += size) });
  const ledger = {
    leaseSequences: () => lease(),
    commit: () => {
      const commit = Promise.withResolvers<void>();
      commits.push(commit);
      return commit.promise;
    },
  };
  const sequences = await Sequences.open(ledger, clock);
  return { clock, commits, ledger, sink: new LinkedSink({ ledger, sequences, clock }) };
}

const isAway = (sink: LinkedSink) => sink.refusal?.why === 'database-away';

suite('the sink of a front whose books lie in PostgreSQL', () => {
  test('acknowledges a segment when the ledger has it, and passes on the reason when it does not', async () => {
    const { commits, sink } = await sinkOver();
    let acknowledged = false;
    const first = sink.commit(filledSegment(1, 1), []).then(() => (acknowledged = true));
    const second = sink.commit(filledSegment(2, 1), []);
    await Promise.resolve();
    assert.equal(acknowledged, false);
    commits[1].reject(new ApiError('storage_unavailable'));
    await assert.rejects(second, { code: 'storage_unavailable' });
    commits[0].resolve();
    await first;
  });

  test('is behind while more than 16 MiB wait, and away once a segment has waited for more than a second', async () => {
    const { clock, commits, sink } = await sinkOver();
    const large = { ...filledSegment(1, 1), entries: new Uint8Array(16 * 2 ** 20 + 1) };
    const waiting = sink.commit(large, []);
    assert.deepEqual([sink.isBehind, isAway(sink)], [true, false]);
    clock.monotonic += 1_001;
    assert.equal(isAway(sink), true);
    commits[0].resolve();
    await waiting;
    assert.deepEqual([sink.isBehind, isAway(sink)], [false, false]);
  });

  test('reports a segment as unknown if it is undecided after three seconds, and its outcome later', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { commits, sink } = await sinkOver();
    const commit = sink.commit(filledSegment(1, 1), []).catch((error: unknown) => error);
    t.mock.timers.tick(3_000);
    const unknown = await commit;
    assert.ok(unknown instanceof UnknownOutcome);
    assert.equal(unknown.facts.retryAfterS, 1);
    commits[0].resolve();
    await unknown.outcome;
  });

  test('is away while it has no sequence left, and retries a failed lease', async () => {
    const { ledger, sink } = await sinkOver(3);
    const { leaseSequences } = ledger;
    ledger.leaseSequences = async () => assert.fail('PostgreSQL is away');
    sink.nextSequence();
    sink.nextSequence();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isAway(sink), true);
    ledger.leaseSequences = leaseSequences;
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isAway(sink), true, 'asks for the lease');
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isAway(sink), false);
    assert.equal(sink.nextSequence(), 4);
  });

  test('is away for a second after the database refused a segment, so that few draws are wasted', async () => {
    const { clock, commits, sink } = await sinkOver();
    const refused = sink.commit(filledSegment(1, 1), []);
    commits[0].reject(new ApiError('storage_unavailable'));
    await assert.rejects(refused, { code: 'storage_unavailable' });
    assert.equal(isAway(sink), true);
    clock.monotonic += 1_000;
    assert.equal(isAway(sink), false);
  });

  test('accepts no answer while the ledger is held back, gives the reason, and asks the ledger for nothing', async () => {
    const asked = new Proxy({} as Ledger, { get: (_ledger, name) => assert.fail(String(name)) });
    const { sink } = await openFrontSink({ held: 'restore it', journal: null }, asked, new ManualClock());
    assert.deepEqual(sink.refusal, { why: 'held', message: 'restore it', retryAfterS: 300 });
    assert.throws(() => sink.commit(filledSegment(1, 1), []), InvariantError);
  });
});
