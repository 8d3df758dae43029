import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemWait } from '../../../src/core/clock.ts';
import { withDeadline } from '../../../src/pool/intake/read.ts';
import { settle } from '../fixtures.ts';
import { VirtualTime } from './virtual-time.ts';

const NEVER = new AbortController().signal;
const limit = { timeoutMs: 1_000, late: () => new Error('late') };

describe('systemWait', () => {
  it('ends with its time, or with the reason of its signal', async () => {
    await systemWait(0, NEVER);
    const stopping = new AbortController();
    const waiting = systemWait(3_600_000, stopping.signal);
    stopping.abort('stopped by the test');
    await assert.rejects(waiting, (error) => error === 'stopped by the test');
    await assert.rejects(systemWait(0, stopping.signal), (error) => error === 'stopped by the test');
  });
});

describe('withDeadline', () => {
  it('gives what the work gives, and leaves no wait behind', async () => {
    const time = new VirtualTime();
    assert.equal(await withDeadline(async () => 5, limit, NEVER, time.wait), 5);
    assert.deepEqual(time.pending(), []);
    const failing = withDeadline(() => Promise.reject(new Error('no')), limit, NEVER, time.wait);
    await assert.rejects(failing, /^Error: no$/);
    assert.deepEqual(time.pending(), []);
  });

  it('rejects at the deadline, and tells work that listens', async () => {
    const time = new VirtualTime();
    let told = false;
    const work = (signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          told = true;
          reject(new Error('told'));
        });
      });
    const rejected = assert.rejects(withDeadline(work, limit, NEVER, time.wait), /^Error: late$/);
    await time.pass(999);
    assert.equal(told, false);
    await time.pass(1);
    await rejected;
    assert.equal(told, true);
  });

  it('rejects with the reason of the signal at once, whatever the work says or does not say', async () => {
    const deaf = () => new Promise<never>(() => {});
    const wordy = (signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('socket hang up')));
      });
    for (const work of [deaf, wordy]) {
      const time = new VirtualTime();
      const stopping = new AbortController();
      const reason = new Error('stopped');
      const rejected = assert.rejects(
        withDeadline(work, limit, stopping.signal, time.wait),
        (error) => error === reason,
      );
      stopping.abort(reason);
      await rejected;
      await settle();
      assert.deepEqual(time.pending(), []);
    }
  });

  it('does not begin what is stopped already', async () => {
    const signal = AbortSignal.abort('stopped before');
    const work = () => assert.fail('the work was begun');
    await assert.rejects(
      withDeadline(work, limit, signal, new VirtualTime().wait),
      (error) => error === 'stopped before',
    );
  });
});
