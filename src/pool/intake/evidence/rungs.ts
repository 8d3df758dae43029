import type { Provenance, RawRead } from '../../../backend/backend.ts';
import { CHSH_SETTINGS } from '../../../backend/circuit.ts';
import { assert } from '../../../core/assert.ts';
import type { EvidenceClaim } from '../../../ledger/records.ts';
import {
  chshMargin,
  chshMinEntropyPerRun,
  type ReadoutErrors,
  rateUpperBound,
  readoutMinEntropy,
  restUpperBound,
  xBasisMinEntropy,
} from './bounds.ts';
import { chshCounts, chshValue, onesPerChannel } from './counts.ts';

/** One claim held against a read: reached, with its figure, or not, with the reason. Figures are told either way. */
export type Rung = {
  readonly claim: EvidenceClaim;
  readonly figures: Readonly<Record<string, number>>;
} & (
  | {
      readonly reached: true;
      /** Per raw bit; null when the claim gives none. */
      readonly minEntropyPerBit: number | null;
      readonly method: string;
      readonly assumptions: string;
    }
  | { readonly reached: false; readonly why: string }
);

/*
 * Why the least over channels (or pairs) is the figure of a lot. Channels are independent under each claim's assumptions, so
 * the min-entropy of any set of raw bits is the sum of their own: h_1 + ... + h_w for a whole shot, which is the mean per bit.
 * But the conditioner hashes pieces of consecutive bits that do not end where shots end, and of wide shots not even all
 * channels are in a piece. The largest h for which every set of n bits holds n h is the least h_i. The mean is told beside it.
 */

/** -log2 of the probability that any bound of one claim of one lot fails: as rare as the permanent health alarms. */
const FAILURE_BITS = 40;
const FAILURE_NATS = FAILURE_BITS * Math.LN2;

/** A claim that leaves less per raw bit is not made: at 0.01 a lot of 4 Mbit still fills all its 64 seeds (131 blocks of 320). */
const MIN_ENTROPY_MIN = 0.01;

/** The provider's readout errors, and the lot's own share of ones. */
export async function calibrated(read: RawRead): Promise<Rung> {
  const claim = 'calibrated';
  const notReached = (why: string): Rung => ({ claim, reached: false, why, figures: {} });
  if (read.witness?.kind === 'chsh') {
    return notReached('its formula is for qubits measured alone, not for halves of entangled pairs');
  }
  if (!preparesEachQubitAlone(read)) return notReached('the circuit is no superposition of separate qubits');
  const errors = publishedErrors(read.provenance.calibration, read.width);
  if (errors === undefined) return notReached('no readout errors are published for each channel');
  const ones = await onesPerChannel(read.bits, read.width, read.shots);
  // Two bounds a channel share the probability of failure.
  const nats = FAILURE_NATS + Math.log(2 * read.width);
  const perChannel = errors.map((error, channel) =>
    readoutMinEntropy(
      error,
      rateUpperBound(ones[channel], read.shots, nats),
      rateUpperBound(read.shots - ones[channel], read.shots, nats),
    ),
  );
  const figures = {
    readout_error_max: rounded(Math.max(...errors.map(({ e01, e10 }) => e01 + e10))),
    ones_share_min: rounded(Math.min(...ones) / read.shots),
    ones_share_max: rounded(Math.max(...ones) / read.shots),
    calibrated_min_entropy: downward(Math.min(...perChannel)),
    calibrated_min_entropy_mean: downward(mean(perChannel)),
  };
  const minEntropyPerBit = figures.calibrated_min_entropy;
  if (minEntropyPerBit < MIN_ENTROPY_MIN) {
    const channel = perChannel.indexOf(Math.min(...perChannel));
    return { claim, reached: false, why: `channel ${channel}: ${tooLittle(minEntropyPerBit)}`, figures };
  }
  return {
    claim,
    reached: true,
    minEntropyPerBit,
    figures,
    method: `H = -log2 max(p1 + e10, p0 + e01) of the worst channel, p1 and p0 the most that its counts of ones and zeros allow ${UNLESS}; for an ideal qubit 1 - log2(1 + e01 + e10)`,
    assumptions:
      'Every shot measures each qubit in a pure state; readout errs as published and no more; shots are independent; no crosstalk.',
  };
}

function preparesEachQubitAlone({ witness, provenance }: RawRead): boolean {
  return witness?.kind === 'x-basis' || provenance.circuit.startsWith('superposition');
}

function publishedErrors(calibration: Provenance['calibration'], width: number): ReadoutErrors[] | undefined {
  const e01 = calibration?.['readout_e01'];
  const e10 = calibration?.['readout_e10'];
  if (!areRates(e01, width) || !areRates(e10, width)) return undefined;
  return e01.map((error, channel) => ({ e01: error, e10: e10[channel] }));
}

function areRates(value: unknown, width: number): value is readonly number[] {
  return Array.isArray(value) && value.length === width && value.every((rate) => rate >= 0 && rate <= 1);
}

/** X-basis test shots of the same preparation. */
export async function sourceIndependent(read: RawRead): Promise<Rung> {
  const claim = 'source-independent';
  const { witness } = read;
  if (witness?.kind !== 'x-basis') {
    return { claim, reached: false, why: 'the source ran no X-basis test shots', figures: {} };
  }
  const { bits, shots } = witness;
  assert(shots >= 1 && bits.length === Math.ceil((shots * read.width) / 8), 'test shots are whole shots');
  const errors = await onesPerChannel(bits, read.width, shots);
  const nats = FAILURE_NATS + Math.log(read.width);
  const most = Math.max(...errors);
  const bound = restUpperBound(most, shots, read.shots, nats);
  const perChannel = Array.from(errors, (count) =>
    xBasisMinEntropy(restUpperBound(count, shots, read.shots, nats)),
  );
  const figures = {
    x_shots: shots,
    x_error: rounded(most / shots),
    x_error_bound: rounded(bound),
    source_independent_min_entropy: downward(xBasisMinEntropy(bound)),
    source_independent_min_entropy_mean: downward(mean(perChannel)),
  };
  const minEntropyPerBit = figures.source_independent_min_entropy;
  if (minEntropyPerBit < MIN_ENTROPY_MIN) {
    const error = (most / shots).toFixed(4);
    const why = `X-basis error ${error} on channel ${errors.indexOf(most)} in ${shots} shots: ${tooLittle(minEntropyPerBit)}`;
    return { claim, reached: false, why, figures };
  }
  return {
    claim,
    reached: true,
    minEntropyPerBit,
    figures,
    method: `H >= 1 - 2 log2(sqrt(e) + sqrt(1 - e)), e the most that the test shots allow for the X-basis error of the worst channel ${UNLESS}; at most the calibrated figure (arXiv:1401.7917)`,
    assumptions:
      'The measurements are trusted, of single qubits, in X and Z; test shots are a fair sample of all; shots are independent. The preparation is not trusted.',
  };
}

/** The CHSH value of pairs whose outcomes are the raw bits. */
export async function bellWitness(read: RawRead): Promise<Rung> {
  const claim = 'bell-witness';
  const { witness, width, shots } = read;
  if (witness?.kind !== 'chsh') {
    return { claim, reached: false, why: 'the source ran no Bell test', figures: {} };
  }
  assert(width % 2 === 0, 'Bell tests are of pairs of channels');
  assert(witness.settings.length === shots, 'each shot of a Bell test has a setting');
  assert(
    witness.settings.every((setting) => setting < CHSH_SETTINGS.length),
    'a setting is one of the four of CHSH_SETTINGS',
  );
  const counts = await chshCounts(read.bits, width, witness.settings);
  const fewest = Math.min(...counts.shots);
  if (fewest === 0) return { claim, reached: false, why: 'a setting has no shots', figures: {} };
  const pairs = width / 2;
  const values = Array.from({ length: pairs }, (_, pair) => chshValue(counts, pair));
  const least = Math.min(...values);
  // All pairs share the setting of a shot, so each is a test of `shots` runs, and all of them share the failure probability.
  const margin = chshMargin(shots, fewest / shots, FAILURE_NATS + Math.log(pairs));
  // f is the entropy of a run, whose two outcomes are two raw bits; pieces of whole bytes never part the two.
  const perPair = values.map((s) => chshMinEntropyPerRun(s - margin) / 2);
  const figures = {
    chsh_s: rounded(least),
    chsh_s_mean: rounded(mean(values)),
    chsh_margin: rounded(margin),
    chsh_pairs: pairs,
    chsh_shots: shots,
    bell_min_entropy: downward(Math.min(...perPair)),
    bell_min_entropy_mean: downward(mean(perPair)),
  };
  const notReached = (why: string): Rung => ({ claim, reached: false, why, figures });
  const worst = `S = ${least.toFixed(3)} of pair ${values.indexOf(least)}`;
  if (least <= 2) return notReached(`${worst} is not above 2`);
  if (least - margin <= 2)
    return notReached(`${worst} is not above 2 by more than its margin ${margin.toFixed(3)}`);
  const minEntropyPerBit = figures.bell_min_entropy;
  if (minEntropyPerBit < MIN_ENTROPY_MIN) return notReached(`${worst}: ${tooLittle(minEntropyPerBit)}`);
  return {
    claim,
    reached: true,
    minEntropyPerBit,
    figures,
    method: `H >= f(S - eps) / 2 of the worst pair, f(S) = 1 - log2(1 + sqrt(2 - S^2/4)) for a run of two raw bits, eps the margin ${UNLESS} (arXiv:0911.3427)`,
    assumptions:
      'No crosstalk or collusion between the two qubits of a pair, nor between pairs; settings independent of the device. One controller may program both sides: not device-independent.',
  };
}

const UNLESS = `(wrong with probability at most 2^-${FAILURE_BITS})`;

function tooLittle(minEntropyPerBit: number): string {
  return `${minEntropyPerBit} bits per raw bit are too few to draw from`;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Six decimals are enough for a reader, and what is promised is never rounded up. */
function downward(value: number): number {
  return Math.floor(value * 1e6) / 1e6;
}

function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
