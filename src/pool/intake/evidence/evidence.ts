import type { RawRead } from '../../../backend/backend.ts';
import type { Provenance } from '../../../core/provenance.ts';
import type { Origin } from '../../../core/vocabulary.ts';
import {
  allowsEvidence,
  EVIDENCE_LEVELS,
  type EvidenceLevel,
  type LotEvidence,
} from '../../../ledger/records.ts';
import { minEntropyOfCorrelation } from '../../../stats/autocorrelation.ts';
import type { AssessedWindow, LotAssessment } from '../assessor.ts';
import { type ReadoutErrors, rateUpperBound, readoutMinEntropy } from './bounds.ts';

/**
 * Returns the evidence that a read is quantum: the strongest claim that its own shots support, and what one must assume
 * for it. The claim is never above what the origin allows.
 */
export function evidenceOf(
  origin: Origin,
  read: RawRead,
  { windows, autocorrelation, ones }: Pick<LotAssessment, 'windows' | 'autocorrelation' | 'ones'>,
): LotEvidence {
  const shares = Array.from(ones, (count) => count / read.shots);
  const told = figuresOf(autocorrelation);
  const dependence = dependenceIn(windows, told, shares);
  const { figures, why = dependence?.why } = calibrated(read, ones);
  const isCalibrated = why === undefined && allowsEvidence(origin, 'calibrated');
  const statistical = allowsEvidence(origin, 'statistical') ? 'statistical' : 'simulated';
  const claim = isCalibrated ? 'calibrated' : statistical;
  const { method, assumptions } = RUNGS[claim];
  // If the bits depend on each other, the least of all figures bounds their min-entropy.
  const bounds = [
    isCalibrated || dependence !== undefined ? figures['calibrated_min_entropy'] : null,
    dependence?.minEntropyPerBit,
  ].filter((each) => each != null);
  return {
    claim,
    minEntropyPerBit: bounds.length === 0 ? null : Math.min(...bounds),
    figures: { ...figures, ...told },
    method: dependence === undefined ? method : `${method}; ${dependence.method}`,
    assumptions:
      read.provenance.upstream === undefined ? assumptions : `${assumptions} ${UPSTREAM_ASSUMPTIONS}`,
    notReached: EVIDENCE_LEVELS.slice(EVIDENCE_LEVELS.indexOf(claim) + 1).map((missed) => ({
      claim: missed,
      why: (missed === 'calibrated' ? why : undefined) ?? WHY_NOT_MORE[origin],
    })),
  };
}

/** Returns the rounded figures. The rounded ones decide, so that a reader of the leaf comes to the same result. */
function figuresOf({ lag, correlation, bound }: LotAssessment['autocorrelation']) {
  return {
    autocorrelation: rounded(correlation),
    autocorrelation_bound: rounded(bound),
    autocorrelation_lag: lag,
  };
}

/** A refutation that the bits of a lot are independent. */
interface Dependence {
  readonly why: string;
  readonly method: string;
  /** An upper bound of the min-entropy per raw bit; null if the refutation gives no figure. */
  readonly minEntropyPerBit: number | null;
}

/**
 * Returns how the lot's own bits refute that they are independent and identically distributed, by their autocorrelation
 * or by a p-value of SP 800-22 that the channels' shares of ones do not explain; undefined if they do not.
 */
function dependenceIn(
  windows: LotAssessment['windows'],
  told: ReturnType<typeof figuresOf>,
  shares: readonly number[],
): Dependence | undefined {
  const { autocorrelation: correlation, autocorrelation_bound: bound, autocorrelation_lag: lag } = told;
  const left = minEntropyOfCorrelation({ correlation, bound });
  if (left !== null) {
    return {
      why: `the autocorrelation at lag ${lag} is ${correlation}, and independent bits stay within ${bound}`,
      method: 'H <= -log2((1 + sqrt(|r| + b)) / 2), r the autocorrelation and b its bound',
      minEntropyPerBit: downward(left),
    };
  }
  const refuting = windows.find(
    ({ leastRow, bits, order }) =>
      -Math.log(Math.max(leastRow.pValue, Number.MIN_VALUE)) > natsOfBias(bits, order, shares),
  );
  if (refuting === undefined) return undefined;
  const { test, pValue } = refuting.leastRow;
  const value = pValue === 0 ? 'below 10^-300' : pValue.toExponential(1);
  const why = `the p-value of ${test} (SP 800-22) on ${refuting.bits} raw bits is ${value}, which no share of ones explains`;
  return { why, method: 'refuted by SP 800-22, which gives no figure', minEntropyPerBit: null };
}

/**
 * Returns -ln of a p-value that independent bits with this bias go below with a probability of at most 2^-40.
 *
 * For any event A, any order a > 1: Q(A) <= (P(A) exp(D_a))^((a - 1) / a), D_a the Rényi divergence of the biased bits
 * Q from fair ones P. A bit of mean m adds at most a atanh(m)² / 2 to D_a (Hoeffding's lemma: its log-likelihood ratio
 * lies in an interval of length 2 atanh m). With κ the sum of atanh(m)² / 2 and P(A) = p, Q(A) is below 2^-40 for the
 * best a where -ln p > (√(40 ln 2) + √κ)². Fair bits have κ = 0, and p < 2^-40 is enough.
 */
function natsOfBias(bits: number, order: AssessedWindow['order'], shares: readonly number[]): number {
  const each = shares.map((share) => Math.atanh(2 * share - 1) ** 2 / 2);
  // A window in the order of shots has all channels; in the order of channels it may lie in the worst one. By chance
  // alone each channel's share adds 1/2 to kappa.
  const kappa = order === 'shots' ? bits * mean(each) - shares.length / 2 : bits * Math.max(...each);
  return (Math.sqrt(FAILURE_NATS) + Math.sqrt(Math.max(0, kappa))) ** 2;
}

/** Why the origin does not allow a claim, even if the figures support it (`allowsEvidence`). */
const WHY_NOT_MORE: Readonly<Record<Origin, string>> = {
  'quantum-processor': '',
  'qrng-device': '',
  simulated: 'a program computed the shots',
  replay: 'the shots were recorded earlier: who recorded them knows them',
  system: 'the origin is not quantum',
};

/** The further assumption for bits of another service, which this service can only test. */
const UPSTREAM_ASSUMPTIONS =
  'The raw bits are conditioned output of another service, so tests of them tell nothing of its source: their origin, and that it conditioned and delivered them as its certificates say, is its word.';

/** -log2 of the probability that any bound of one lot fails: as rare as five failed reads in a row (health.ts). */
const FAILURE_BITS = 40;
const FAILURE_NATS = FAILURE_BITS * Math.LN2;

const RUNGS: Readonly<Record<EvidenceLevel, { readonly method: string; readonly assumptions: string }>> = {
  simulated: {
    method: 'none: the origin is simulated',
    assumptions:
      'None is made: a program computed the raw bits. The figures are those that its model of a device gives.',
  },
  statistical: {
    method:
      'health tests (SP 800-90B 4.4) on every raw bit; SP 800-22 and SP 800-90B 6.3 where there are bits enough',
    assumptions:
      'The source is what its origin says. Tests can refute that it is unpredictable, not show it.',
  },
  calibrated: {
    method: `H = -log2 max(p1 + e10, p0 + e01) of the worst channel, p1 and p0 the most that its counts of ones and zeros allow (wrong with probability at most 2^-${FAILURE_BITS}); for an ideal qubit 1 - log2(1 + e01 + e10)`,
    assumptions:
      'The bits of a channel are independent and identically distributed over the lot, and channels are independent of each other; each shot measures a pure state; readout errs as published and no more.',
  },
};

/** Below this figure the claim is not made. At 0.01 a lot of 4 Mbit still gives 131 blocks, enough for its 64 seeds. */
const MIN_ENTROPY_MIN = 0.01;

/*
 * Why the figure of a lot is the least over its channels: under this claim's assumptions the channels are independent, so
 * the min-entropies of raw bits add up. A whole shot has h_1 + ... + h_w, which is the mean per bit. But the conditioner
 * hashes pieces of consecutive bits that do not end with shots, and a piece of a wide shot lacks some channels. The largest
 * h for which any n bits hold at least n h is the least h_i. The record has the mean too.
 */

/** The figures of the provider's readout errors and the lot's counts. `why` says why they support no claim. */
interface Calibrated {
  readonly figures: Readonly<Record<string, number>>;
  readonly why?: string | undefined;
}

/** Computes the figures, assuming that bits are independent and identically distributed. */
function calibrated(read: RawRead, ones: Uint32Array): Calibrated {
  const { calibration, circuit } = read.provenance;
  if (!circuit.startsWith('superposition')) {
    return { figures: {}, why: 'the circuit is no superposition of separate qubits' };
  }
  const errors = publishedErrors(calibration, read.width);
  if (errors === undefined) {
    return { figures: {}, why: 'no readout errors are published for each channel' };
  }
  // The two bounds of each channel share the probability of failure.
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
  const least = figures.calibrated_min_entropy;
  if (least >= MIN_ENTROPY_MIN) return { figures };
  const channel = perChannel.indexOf(Math.min(...perChannel));
  return { figures, why: `channel ${channel}: ${least} bits per raw bit are too few to draw from` };
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

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Rounds down to six decimals: a promise is never rounded up. */
function downward(value: number): number {
  return Math.floor(value * 1e6) / 1e6;
}

function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
