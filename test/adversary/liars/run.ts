import type { RawRead } from '../../../src/backend/backend.ts';
import { MeasuredQubits } from '../../../src/backend/simulator/qubits.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { LotRecord } from '../../../src/ledger/records.ts';
import { leastRowOf } from '../../../src/pool/intake/assess-lot.ts';
import { ASSESSED_BITS, SCREENED_BITS } from '../../../src/pool/intake/assessor.ts';
import { evidenceOf } from '../../../src/pool/intake/evidence/evidence.ts';
import { LotAlarm, refusalChance } from '../../../src/pool/intake/lot-alarm.ts';
import { autocorrelationOf, onesPerChannel } from '../../../src/stats/autocorrelation.ts';
import { runBattery } from '../../../src/stats/sp800-22/battery.ts';
import { binomialAtLeast, FALSE_REJECT_RATE, outcomeOf } from '../../../src/stats/sp800-22/verdict.ts';
import { assessBits } from '../../../src/stats/sp800-90b/assess.ts';
import { fixedBytes, rawRead } from '../../support/backends.ts';
import { readOptions, say } from '../program.ts';
import { firstLot, lotOf, soundRead } from './lying.ts';
import {
  biased,
  driftingChannel,
  goodFirstMegabit,
  lateCopies,
  type Model,
  markov,
  neighbours,
  noisyPeriod,
  periodic,
  sound,
  stuck,
} from './models.ts';

/**
 * The long form of the tests of sources that lie: `node test/adversary/liars/run.ts [PART ...] [--long] [--lots N] [--seconds N]`,
 * all parts when none is named.
 *   models     first lots of every model, and of periods to 64: what is credited against what is there
 *   scores     the least of ten estimators on short lots of an ideal source
 *   independence  honest lots of one window, half of them biased (40; --long: 2,000): none is refuted by its own bits
 *   lots       honest lots over the whole chain (40; --long: 2,000): every alarm against the rate that docs/evidence.md states.
 *              --seconds stops between two lots of all parts
 * Figures on stdout; exits with 1 when one is beyond what theory allows. All parts take two to three minutes of one core, and --long half an hour.
 */

const options = readOptions({ long: false, lots: 0, seconds: Number.POSITIVE_INFINITY });
const { long: isLong, operands: named } = options;

const lotCount = options.lots || (isLong ? 2000 : 40);
const endMs = systemClock.monotonicMs() + 1000 * options.seconds;
const isOver = () => systemClock.monotonicMs() > endMs;

/** Three windows of raw bits in each order, or five. */
const LOT_BITS = isLong ? 4 * 1024 * 1024 : 2_200_000;

function violation(line: string): void {
  say(`VIOLATION ${line}`);
  process.exitCode = 1;
}

async function models(): Promise<void> {
  const kinds: Model[] = [
    sound(),
    sound(1),
    stuck([5]),
    stuck([5], 1),
    stuck(Array.from({ length: 16 }, (_, channel) => channel)),
    ...[0.55, 0.6, 0.7, 0.9].map((ones) => biased(ones)),
    ...[0.55, 0.6, 0.7, 0.9].map((ones) => biased(ones, 1)),
    ...[0.1, 0.3, 0.5, 0.7, 0.9, 1].map((copied) => neighbours(copied)),
    ...[0.1, 0.25, 0.4, 0.55, 0.6, 0.75, 0.9].map((stay) => markov(stay)),
    ...[0.1, 0.4, 0.55, 0.6, 0.75, 0.9].map((stay) => markov(stay, 1)),
    ...[goodFirstMegabit, driftingChannel, lateCopies, noisyPeriod(65_537, 0.25)],
    // The longest period comes twice in a lot.
    ...[1, 2, 16, 61, 1024, 2 ** 15, LOT_BITS / 32].map((shots) => periodic(shots, 16)),
    ...Array.from({ length: 64 }, (_, before) => before + 1)
      .filter((period) => isLong || period % 8 < 2)
      .map((period) => periodic(period)),
  ];
  for (const model of kinds) {
    const { record } = await firstLot(model, LOT_BITS);
    const { accepted, rejection, minEntropyPerBit: estimate } = record;
    const truth = model.minEntropyPerBit.toFixed(3);
    const credited = accepted ? (estimate ?? Number.NaN).toFixed(3) : '-';
    say(`  ${model.name}: there ${truth}, credited ${credited}${accepted ? '' : `, ${rejection}`}`);
    if (accepted && model.minEntropyPerBit < (estimate ?? 1)) {
      violation(`${model.name} is credited with more than it has`);
    }
    if (!accepted && model.name.startsWith('sound')) violation(`${model.name} is refused`);
  }
}

function scores(): void {
  for (const [bits, trials] of [
    [SCREENED_BITS, 12_000],
    [2 * SCREENED_BITS, 4_000],
    [4 * SCREENED_BITS, 1_500],
  ].map(([bits, trials]) => [bits, isLong ? trials : trials / 10])) {
    const source = fixedBytes(`scores of ${bits}`);
    const packed = new Uint8Array(bits / 8);
    const all = Array.from({ length: trials }, () => {
      source(packed);
      return assessBits(packed, bits).minEntropyPerBit;
    }).sort((a, b) => a - b);
    const [least, thousandth, hundredth, median] = [0, 0.001, 0.01, 0.5].map((q) =>
      all[Math.floor(q * trials)].toFixed(3),
    );
    say(
      `  ${bits} bits, ${trials} trials: least ${least}, 1e-3 ${thousandth}, 1 % ${hundredth}, median ${median}`,
    );
    if (all[0] < 0.36) violation(`an ideal source scored ${all[0]}`); // half way from the measured least to the floor
  }
}

/** Counts lots of one window of honest devices, every second one biased, whose own bits refute their independence. */
async function independence(): Promise<void> {
  const [width, shots] = [16, ASSESSED_BITS / 16];
  let made = 0;
  let refuted = 0;
  let nearest = 0;
  for (; made < lotCount && !isOver(); made++) {
    // Readouts that err by up to 6 % in one direction more than in the other: shares of ones down to 0.47.
    const readout = Array.from({ length: width }, (_, channel) => ({
      e01: 0.01,
      e10: 0.01 + (made % 2) * 0.004 * channel,
    }));
    const noise = { readout, bias: 0 };
    const { bits } = await new MeasuredQubits(noise, fixedBytes(`independence ${made}`)).take(
      shots,
      new AbortController().signal,
    );
    const errors = { readout_e01: readout.map(({ e01 }) => e01), readout_e10: readout.map(({ e10 }) => e10) };
    const read = rawRead(bits, width, shots);
    const provenance = { ...read.provenance, circuit: 'superposition-16', calibration: errors };
    const autocorrelation = autocorrelationOf(bits, width, shots);
    nearest = Math.max(nearest, Math.abs(autocorrelation.correlation) / autocorrelation.bound);
    const battery = runBattery(bits, ASSESSED_BITS);
    const window = { of: 'raw', bits: ASSESSED_BITS, sha256: '', order: 'shots', firstBit: 0 } as const;
    const told = { minEntropyPerBit: null, sp80022: outcomeOf(battery, ASSESSED_BITS) };
    const windows = [{ ...window, ...told, leastRow: leastRowOf(battery.rows) }];
    const assessment = { windows, autocorrelation, ones: onesPerChannel(bits, width, shots) };
    const { claim } = evidenceOf('quantum-processor', { ...read, provenance }, assessment);
    if (claim !== 'calibrated') refuted++;
  }
  const p = made === 0 ? 1 : binomialAtLeast(made, refuted, 1e-4);
  const line = `${refuted} of ${made} honest lots refuted (at most 1 in 10,000 is stated), the largest correlation at ${nearest.toFixed(2)} of its bound`;
  if (p < ALARM_P_MIN) violation(line);
  else say(`  ${line}`);
}

/** Lots of 1.55 Mbit give 10^6 conditioned bits at an estimate of 0.82, so that every lot has verdicts on both kinds of bits. */
const HONEST_BITS = 1_550_000;

/** Returns lot `index` of an honest source: a device with 1 % of readout errors. */
function honestRead(index: number): RawRead {
  const read = soundRead(`honest lot ${index}`, HONEST_BITS, 1);
  const calibration = { readout_e01: [0.01], readout_e10: [0.01] };
  return { ...read, provenance: { ...read.provenance, circuit: 'superposition-1', calibration } };
}

/** How often one kind of alarm was raised, and how often it may be; `p` is the probability of at least as many. */
interface AlarmCount {
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
function alarmsOf(records: readonly LotRecord[]): AlarmCount[] {
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
    atMost('lots refused', refused, n, refusalChance({ width: 1, shots: HONEST_BITS })),
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

async function lots(): Promise<void> {
  const records: LotRecord[] = [];
  while (records.length < lotCount && !isOver())
    records.push((await lotOf(honestRead(records.length))).record);
  say(`  ${records.length} of ${lotCount} lots made`);
  for (const { what, seen, of, rate, p } of alarmsOf(records)) {
    const line = `${what}: ${seen} of ${of}, at most ${(of * rate).toPrecision(3)} expected, p ${p.toPrecision(2)}`;
    if (p < ALARM_P_MIN) violation(line);
    else say(`  ${line}`);
  }
}

/** Least probability of one kind of alarm; with seven kinds, a sound source fails at most one run in 100. */
const ALARM_P_MIN = 0.001;

const PARTS: Readonly<Record<string, () => unknown>> = {
  models,
  scores,
  independence,
  lots,
};
for (const name of named.length === 0 ? Object.keys(PARTS) : named) {
  const part = PARTS[name];
  if (part === undefined) throw new Error(`${name} is none of ${Object.keys(PARTS).join(', ')}`);
  const before = process.cpuUsage();
  say(name);
  await part();
  const { user, system } = process.cpuUsage(before);
  say(`  ${((user + system) / 1e6).toFixed(1)} s of CPU`);
}
