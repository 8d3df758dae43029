import { setPriority } from 'node:os';
import { runBattery } from '../stats/sp800-22/battery.ts';
import { verdict } from '../stats/sp800-22/verdict.ts';
import { assessBits } from '../stats/sp800-90b/assess.ts';
import type { AssessTask } from './protocol.ts';

// Behind every thread that serves requests. On Linux this is the priority of the thread, elsewhere of the process.
if (process.platform === 'linux') setPriority(0, 10);

export interface BatteryOutcome {
  readonly enough: boolean;
  readonly passed: number;
  readonly total: number;
  readonly smallestP: number;
  readonly verified: boolean;
  readonly reason: string;
}

/** Worker entry: statistical assessment of lots, one task at a time, at low priority. */
export default function assess(task: AssessTask): BatteryOutcome | number {
  if (task.task === 'sp800-90b') return assessBits(task.bits, task.bitLength).minEntropyPerBit;
  const battery = runBattery(task.bits, task.bitLength);
  if (!battery.enough) {
    return {
      enough: false,
      passed: battery.passed,
      total: battery.total,
      smallestP: 1,
      verified: false,
      reason: 'fewer than 1,000,000 bits',
    };
  }
  const decision = verdict(battery.rows);
  return {
    enough: true,
    passed: battery.passed,
    total: battery.total,
    smallestP: decision.smallestP,
    verified: decision.passed,
    reason: decision.rule,
  };
}
