import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { TransactionGate } from '../../src/ledger/lmdb/transaction-gate.ts';

const GATE = new URL('../../src/ledger/lmdb/transaction-gate.ts', import.meta.url).href;
/** Passes the gate over the given words, inside of which it tells so and waits until `words[0]` of its own is not 0. */
const PASSING = `
  const { parentPort, workerData } = require('node:worker_threads');
  import(${JSON.stringify(GATE)}).then(({ TransactionGate }) => {
    new TransactionGate(workerData.gate).pass(() => {
      parentPort.postMessage('inside');
      Atomics.wait(workerData.own, 0, 0);
    });
    parentPort.postMessage('outside');
  });`;

function passing(gate: TransactionGate) {
  const own = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(PASSING, { eval: true, workerData: { gate: gate.words, own } });
  const go = () => {
    Atomics.store(own, 0, 1);
    Atomics.notify(own, 0);
  };
  return { worker, go };
}

test('a gate closes after the running transaction, and lets no other begin', async () => {
  const gate = new TransactionGate();
  const first = passing(gate);
  assert.deepEqual(await once(first.worker, 'message'), ['inside']);
  assert.equal(gate.close(1), false, 'it is inside');
  first.go();
  assert.equal(gate.close(60_000), true);
  assert.deepEqual(await once(first.worker, 'message'), ['outside']);
  const second = passing(gate);
  second.go();
  // both from now on: a worker that ends before its messages were read tells them and its end in one turn
  const told = once(second.worker, 'message');
  const ended = once(second.worker, 'exit');
  while (Atomics.notify(gate.words, 1) === 0) await turn(); // until it waits there
  assert.equal(gate.close(0), true, 'who waits at the gate is outside');
  Atomics.store(gate.words, 1, 0);
  Atomics.notify(gate.words, 1);
  assert.deepEqual(await told, ['inside']);
  await ended;
});

test("a transaction returns or throws its body's result, and has left the gate then", () => {
  const gate = new TransactionGate();
  assert.equal(
    gate.pass(() => 7),
    7,
  );
  assert.throws(() => gate.pass(() => assert.fail('the disk is full')), /the disk is full/);
  assert.equal(gate.close(0), true);
});
