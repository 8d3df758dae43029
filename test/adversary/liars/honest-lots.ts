import type { RawRead } from '../../../src/backend/backend.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { LotRecord } from '../../../src/ledger/records.ts';
import { LotAlarm, refusalChance } from '../../../src/pool/intake/lot-alarm.ts';
import { binomialAtLeast, FALSE_REJECT_RATE } from '../../../src/stats/sp800-22/verdict.ts';
import { lotOf, soundRead } from './attacks.ts';

/** Lots of 1.55 Mbit give 10^6 conditioned bits at an estimate of 0.82, so that every lot has verdicts on both kinds of bits. */
const LOT_BITS = 1_550_000;

/** Returns lot `index` of an honest source: a device with 1 % of readout errors. */
function honestRead(index: number): RawRead {
  const read = soundRead(`honest lot ${index}`, LOT_BITS, 1);
  const calibration = { readout_e01: [0.01], readout_e10: [0.01] };
  const plain = { ...read, provenance: { ...read.provenance, circuit: 'superposition-1', calibration } };
  return plain;
}

interface HonestLots {
  readonly lots: number;
  /** Time in seconds after which it stops between two lots. */
  readonly seconds: number;
}

/**
 * Makes honest lots by the whole chain: read, health tests, evidence, all tests of raw and conditioned bits, hashing.
 */
export async function honestLots({ lots, seconds }: HonestLots): Promise<LotRecord[]> {
  const records: LotRecord[] = [];
  const endMs = systemClock.monotonicMs() + 1000 * seconds;
  while (records.length < lots && systemClock.monotonicMs() < endMs) {
    const { record } = await lotOf(honestRead(records.length));
    records.push(record);
  }
  return records;
}

/** How often one kind of alarm was raised, and how often it may be; `p` is the probability of at least as many. */
export interface AlarmCount {
  readonly what: string;
  readonly seen: number;
  readonly of: number;
  /** The most alarms per chance, as docs/evidence.md states it. */
  readonly rate: number;
  readonly p: number;
}

function atMost(what: string, seen: number, of: number, rate: number): AlarmCount {
  return { what, seen, of, rate, p: of === 0 ? 1 : binomialAtLeast(of, seen, rate) };
}

/** Counts every kind of alarm that the lots of one honest source raise. */
export function alarmsOf(records: readonly LotRecord[]): AlarmCount[] {
  const alarm = new LotAlarm();
  let raised = 0;
  let closed = 0;
  for (const record of records) {
    alarm.add(record, refusalChance({ width: 1, shots: record.shots }));
    if (alarm.state().raisedBy !== null) raised++;
    if (alarm.isClosing) closed++;
  }
  const windows = records.flatMap(({ assessments }) => assessments);
  const failed = (of: string) =>
    windows.filter((each) => each.of === of && !each.sp80022.verified && each.bits >= 1e6).length;
  const count = (of: string) => windows.filter((each) => each.of === of && each.bits >= 1e6).length;
  const n = records.length;
  const refused = records.filter(({ accepted }) => !accepted).length;
  // A refused lot has no evidence; refusals have a rate of their own.
  const lost = records.filter(
    ({ accepted, evidence }) => accepted && evidence?.claim !== 'calibrated',
  ).length;
  return [
    atMost('lots refused', refused, n, refusalChance({ width: 1, shots: LOT_BITS })),
    atMost('windows of raw bits rejected by SP 800-22', failed('raw'), count('raw'), FALSE_REJECT_RATE),
    atMost(
      'windows of conditioned bits rejected by SP 800-22',
      failed('conditioned'),
      count('conditioned'),
      FALSE_REJECT_RATE,
    ),
    atMost('lots that lost their rung', lost, n, 2 ** -40),
    atMost('lots after which the alarm was raised', raised, n, 2 ** -20),
    atMost('lots after which the source was closed', closed, n, 2 ** -40),
  ];
}
