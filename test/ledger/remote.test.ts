import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { ApiError } from '../../src/core/errors.ts';
import { type Ledger, LedgerError } from '../../src/ledger/ledger.ts';
import { connectLedger, serveLedger } from '../../src/service/ledger-link.ts';
import { filledSegment, NOON_MS } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { memoryLedger } from '../support/memory-ledger.ts';

/** A connection to `over`, all in this thread. */
function connect(t: TestContext, over: Partial<Ledger>) {
  const { port1, port2 } = new MessageChannel();
  serveLedger(over as Ledger, port2);
  const ledger = connectLedger(port1);
  t.after(() => port1.close());
  return { ledger, serverPort: port2 };
}

suite('the ledger across a port', () => {
  test('packed entries are sent without what lies beside them, come back whole, and stay with the caller', async (t) => {
    const memory = memoryLedger(new ManualClock(NOON_MS));
    const sent: number[] = [];
    const { ledger } = connect(t, {
      ...memory,
      commit: (segments, answers) => {
        sent.push(...segments.map(({ entries }) => entries.buffer.byteLength));
        return memory.commit(segments, answers);
      },
    });
    const whole = filledSegment(1, 10);
    const roomy = new Uint8Array(whole.entries.length + 8);
    roomy.set(whole.entries, 8);
    const segment = { ...whole, entries: roomy.subarray(8) };
    await ledger.commit([segment], []);
    assert.deepEqual(sent, [whole.entries.length]);
    assert.deepEqual(segment.entries, whole.entries);
    assert.deepEqual(await ledger.segment(1), whole);
  });

  test('a commit takes one message in each direction', async (t) => {
    const { ledger, serverPort } = connect(t, memoryLedger(new ManualClock(NOON_MS)));
    let messages = 0;
    serverPort.on('message', () => messages++);
    const send = serverPort.postMessage.bind(serverPort);
    let replies = 0;
    serverPort.postMessage = (...args: Parameters<typeof send>) => {
      replies++;
      send(...args);
    };
    await ledger.commit([filledSegment(1, 10), filledSegment(2, 10)], []);
    assert.deepEqual([messages, replies], [1, 1]);
  });

  test('errors keep the members that callers decide by', async (t) => {
    const facts = { message: 'later', retryAfterS: 30, details: { left: 3 } };
    const { ledger } = connect(t, {
      commit: async () => Promise.reject(new ApiError('storage_unavailable', facts)),
      putKey: async () => Promise.reject(new LedgerError('refused', 'no such account')),
      audit: async () => Promise.reject(new RangeError('off by one')),
    });
    await assert.rejects(ledger.commit([], []), (error) => {
      assert.ok(error instanceof ApiError);
      assert.deepEqual(
        [error.code, error.status, error.message, error.facts],
        ['storage_unavailable', 503, 'later', facts],
      );
      return true;
    });
    await assert.rejects(ledger.putKey({} as never), (error) => {
      assert.ok(error instanceof LedgerError);
      assert.deepEqual([error.reason, error.message], ['refused', 'no such account']);
      return true;
    });
    await assert.rejects(ledger.audit(), { name: 'RangeError', message: 'off by one' });
  });

  test('close waits for pending answers, then refuses calls', async (t) => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const { ledger } = connect(t, { isShared: () => promise });
    const answer = ledger.isShared();
    const closed = ledger.close();
    resolve(true);
    assert.equal(await answer, true);
    await closed;
    await assert.rejects(ledger.isShared(), { name: 'LedgerError', reason: 'stopped' });
  });
});
