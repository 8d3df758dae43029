import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import { Meter } from '../../src/account/meter.ts';

/** A thread that uses up what it can get of a shared cell, `attempts` times each, once all threads are ready. */
export interface MeterThreadData {
  readonly cell: SharedArrayBuffer;
  readonly attempts: number;
  readonly creditBytes: number;
  /** Threads yet to be ready. */
  readonly gate: Int32Array;
}

export interface MeterThreadCounts {
  readonly admitted: number;
  readonly requests: number;
  readonly credits: number;
}

const { cell, attempts, creditBytes, gate } = workerData as MeterThreadData;
assert(parentPort !== null);
const meter = new Meter(cell);

if (Atomics.sub(gate, 0, 1) === 1) Atomics.notify(gate, 0);
for (let left = Atomics.load(gate, 0); left > 0; left = Atomics.load(gate, 0))
  Atomics.wait(gate, 0, left, 1_000);

let admitted = 0;
let requests = 0;
let credits = 0;
for (let i = 0; i < attempts; i++) {
  const reservation = meter.enter(1_000, 202_611);
  if (!reservation.isAllowed) continue;
  admitted++;
  if (reservation.hasRequest) requests++;
  if (reservation.takeCredits(creditBytes)) credits += creditBytes;
  if (i % 3 === 2 && reservation.hasRequest) {
    requests--;
    credits -= reservation.credits;
    reservation.release();
  }
}
parentPort.postMessage({ admitted, requests, credits } satisfies MeterThreadCounts);
