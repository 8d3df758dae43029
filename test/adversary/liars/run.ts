import { SCREENED_BITS } from '../../../src/pool/intake/assessor.ts';
import { RefusalTest, refusalChance } from '../../../src/pool/intake/refusals.ts';
import { assessBits } from '../../../src/stats/sp800-90b/assess.ts';
import { fixedBytes } from '../../support/backends.ts';
import { uniforms } from '../../support/chance.ts';
import { alarmsAmong, countedAlphas, type Tally } from './false-alarms.ts';
import { firstLot } from './first-lot.ts';
import { biased, type Model, markov, neighbours, periodic, sound, stuck } from './models.ts';

/**
 * The long form of the tests of sources that lie: `node test/adversary/liars/run.ts [PART ...]`, all parts when none is named.
 *   alarms     false alarms of the health tests among 2^34 sound bits, and their rates at larger alphas
 *   models     first lots of 4 Mbit of every model, and of every period to 64: what is credited against what is there
 *   scores     the least of ten estimators on short lots of an ideal source
 *   refusals   the rule of refused lots on a sound source and on broken ones
 * Figures on stdout; exits with 1 when one is beyond what theory allows.
 */

const LOT_BITS = 4 * 1024 * 1024;
/** Of a tally; parts have some twenty of them. */
const P_MIN = 1e-7;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function violation(line: string): void {
  say(`VIOLATION ${line}`);
  process.exitCode = 1;
}

function judge({ what, trials, seen, chance, p }: Tally): void {
  const line = `${what}: ${seen} of ${trials}, ${(trials * chance).toPrecision(3)} expected, p ${p.toPrecision(2)}`;
  if (p < P_MIN) violation(line);
  else say(`  ${line}`);
}

function alarms(): void {
  for (const each of countedAlphas(200_000)) judge(each);
  const { rct, apt } = alarmsAmong(2 ** 34, say);
  judge(rct);
  judge(apt);
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
    ...[1, 2, 16, 61, 1024, 65_536, 131_072].map((shots) => periodic(shots, 16)),
    ...Array.from({ length: 64 }, (_, before) => periodic(before + 1)),
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
  ]) {
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
    if (all[0] < 0.36) violation(`an ideal source scored ${all[0]}`); // half way from what was seen to the floor
  }
}

function refusals(): void {
  const chance = refusalChance({ width: 16, shots: LOT_BITS / 16 });
  const random = uniforms('refusals');
  const test = new RefusalTest();
  const lots = 200e6;
  let refused = 0;
  for (let lot = 0; lot < lots; lot++) {
    const isRefused = random() < chance;
    refused += isRefused ? 1 : 0;
    test.add(isRefused, chance);
    if (!test.isBeyondChance) continue;
    violation(`a sound source was closed after ${lot} lots`);
    break;
  }
  if (!test.isBeyondChance) say(`  ${lots} lots of a sound source, ${refused} of them refused: never closed`);
  for (const share of [0.04, 0.06, 0.1, 0.25, 0.5, 1]) {
    const trials = 2_000;
    const taken = Array.from({ length: trials }, () => {
      const broken = new RefusalTest();
      let count = 0;
      for (; !broken.isBeyondChance && count < 100_000; count++) broken.add(random() < share, chance);
      return count;
    }).sort((a, b) => a - b);
    say(
      `  ${share * 100} % refused: closed after ${taken[trials / 2]} lots (median), ${taken[trials - 1]} at most`,
    );
  }
}

const PARTS: Readonly<Record<string, () => unknown>> = { alarms, models, scores, refusals };
const named = process.argv.slice(2);
for (const name of named.length === 0 ? Object.keys(PARTS) : named) {
  const part = PARTS[name];
  if (part === undefined) throw new Error(`${name} is none of ${Object.keys(PARTS).join(', ')}`);
  say(name);
  await part();
}
