import { MeasuredQubits } from '../../../src/backend/simulator/qubits.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { leastRowOf } from '../../../src/pool/intake/assess-lot.ts';
import { ASSESSED_BITS, SCREENED_BITS } from '../../../src/pool/intake/assessor.ts';
import { evidenceOf } from '../../../src/pool/intake/evidence/evidence.ts';
import { autocorrelationOf, onesPerChannel } from '../../../src/stats/autocorrelation.ts';
import { runBattery } from '../../../src/stats/sp800-22/battery.ts';
import { binomialAtLeast, outcomeOf } from '../../../src/stats/sp800-22/verdict.ts';
import { assessBits } from '../../../src/stats/sp800-90b/assess.ts';
import { fixedBytes, rawRead } from '../../support/backends.ts';
import { readOptions, say } from '../program.ts';
import { firstLot } from './attacks.ts';
import { alarmsOf, honestLots } from './honest-lots.ts';
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
 *              --seconds stops between two lots
 * Figures on stdout; exits with 1 when one is beyond what theory allows. All parts take two to three minutes of one core, and --long half an hour.
 */

const options = readOptions({ long: false, lots: 0, seconds: Number.POSITIVE_INFINITY });
const { long: isLong, operands: named } = options;

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
  const count = options.lots || (isLong ? 2000 : 40);
  const endMs = systemClock.monotonicMs() + 1000 * options.seconds;
  const [width, shots] = [16, ASSESSED_BITS / 16];
  let made = 0;
  let refuted = 0;
  let nearest = 0;
  for (; made < count && systemClock.monotonicMs() < endMs; made++) {
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

async function lots(): Promise<void> {
  const count = options.lots || (isLong ? 2000 : 40);
  const records = await honestLots({ lots: count, seconds: options.seconds });
  say(`  ${records.length} of ${count} lots made`);
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
