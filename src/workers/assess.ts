import { setPriority } from 'node:os';
import { wipe } from '../core/bytes.ts';
import { runBattery } from '../stats/sp800-22/battery.ts';
import { verdict } from '../stats/sp800-22/verdict.ts';
import { assessBits } from '../stats/sp800-90b/assess.ts';
import type { AssessTask, BatteryOutcome } from './protocol.ts';

// Behind every thread that serves requests. On Linux this is the priority of the thread, elsewhere of the process.
if (process.platform === 'linux') setPriority(0, 10);

/** Worker entry: statistical assessment of lots, one task at a time, at low priority. The tested bits are erased. */
export default function assess(task: AssessTask): BatteryOutcome | number {
  try {
    if (task.task === 'sp800-90b') return assessBits(task.bits, task.bitLength).minEntropyPerBit;
    return batteryOutcome(task.bits, task.bitLength);
  } finally {
    wipe(task.bits);
  }
}

function batteryOutcome(bits: Uint8Array, bitLength: number): BatteryOutcome {
  const { enough, passed, total, rows } = runBattery(bits, bitLength);
  const decision = verdict(rows);
  return {
    passed,
    total,
    smallestP: decision.smallestP,
    verified: enough && decision.passed,
    reason: enough ? decision.rule : `${bitLength} bits are too few for a verdict`,
  };
}
