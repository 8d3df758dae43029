import type { ChshWitness, RawRead, XBasisWitness } from '../../../backend/backend.ts';
import { CHSH_SETTINGS } from '../../../backend/circuit.ts';
import { assert } from '../../../core/assert.ts';
import type { EvidenceLevel } from '../../../ledger/records.ts';
import {
  chshOfWins,
  clustersNeeded,
  isAboveQuantum,
  jointMinEntropyRate,
  localNats,
  restUpperBound,
} from './bounds.ts';
import { onesPerChannel, winsPerPair } from './counts.ts';

/**
 * One claim held against a read: reached, with its figure, or not, with the reason. Figures are told either
 * way.
 */
export type Finding = {
  readonly claim: EvidenceLevel;
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

/**
 * -log2 of the probability that any bound of one claim of one lot fails: as rare as the permanent health
 * alarms.
 */
const FAILURE_BITS = 40;
export const FAILURE_NATS = FAILURE_BITS * Math.LN2;

/**
 * A claim that leaves less per raw bit is not made: at 0.01 a lot of 4 Mbit still fills all its 64 seeds (131
 * blocks of 320).
 */
export const MIN_ENTROPY_MIN = 0.01;

/**
 * X-basis tests of the same preparation, over clusters. The smoothing parameter of the min-entropy is
 * 2^-FAILURE_BITS; it is the square root of the probability that the tested clusters mislead about the others
 * (Tomamichel, Lim, Gisin and Renner, arXiv:1103.4130), which is therefore 2^-80.
 */
export async function sourceIndependent(read: RawRead): Promise<Finding> {
  const claim = 'source-independent';
  const { witness, width } = read;
  if (witness?.kind !== 'x-basis') {
    return { claim, reached: false, why: 'the source ran no X-basis test shots', figures: {} };
  }
  assertXBasis(witness, read);
  const { bits, shots, shotsOrdered, testedClusters, rawClusters } = witness;
  const ordered = testedClusters * shotsOrdered;
  const ones = (await onesPerChannel(bits, width, shots)).reduce((sum, count) => sum + count, 0);
  const seen = (ones + (ordered - shots) * width) / (ordered * width);
  const rest = restUpperBound(seen, testedClusters, rawClusters, 2 * FAILURE_NATS);
  // A bound on all that was ordered, spent on what came of it.
  const bound = Math.min(1, (rest * rawClusters * shotsOrdered) / read.shots);
  const figures = {
    x_clusters: testedClusters + rawClusters,
    x_clusters_tested: testedClusters,
    x_shots: shots,
    x_error: rounded(seen),
    x_error_bound: rounded(bound),
    source_independent_min_entropy: downward(jointMinEntropyRate(bound)),
  };
  const minEntropyPerBit = figures.source_independent_min_entropy;
  if (minEntropyPerBit < MIN_ENTROPY_MIN) {
    const tests = `${testedClusters} of ${testedClusters + rawClusters} clusters tested`;
    const why = `X-basis error ${seen.toFixed(4)}, ${tests}: up to ${bound.toFixed(3)} of the others may err, which leaves ${minEntropyPerBit} bits per raw bit`;
    return { claim, reached: false, why, figures };
  }
  return {
    claim,
    reached: true,
    minEntropyPerBit,
    figures,
    method: `smooth H_min of the whole lot >= N (1 - h(Q)), N raw bits, Q the most that the tested clusters allow for the X-basis errors of the others, all channels together (Serfling, Hoeffding; arXiv:1009.2015, arXiv:1103.4130; smoothing 2^-${FAILURE_BITS}); at most the calibrated figure`,
    assumptions: `The measurements are trusted, of single qubits, in X and Z; the preparation is not trusted, but does not depend on the basis. The tested clusters were drawn uniformly from all. ${witness.drawn}`,
  };
}

function assertXBasis(witness: XBasisWitness, { width }: RawRead): void {
  const { bits, shots, shotsOrdered, testedClusters, rawClusters } = witness;
  assert(bits.length === Math.ceil((shots * width) / 8), 'test shots are whole shots');
  assert(testedClusters >= 1 && rawClusters >= 1, 'some clusters are tested and some are not');
  assert(shots <= testedClusters * shotsOrdered, 'no more test shots come than were ordered');
}

/**
 * The Bell test of pairs whose outcomes are the raw bits, over clusters. It refutes local devices; it gives
 * no figure of min-entropy, which would hold for settings drawn run by run alone (Pironio et al.,
 * arXiv:0911.3427).
 */
export async function bellWitness(read: RawRead): Promise<Finding> {
  const claim = 'bell-witness';
  const { witness } = read;
  if (witness?.kind !== 'chsh') {
    return { claim, reached: false, why: 'the source ran no Bell test', figures: {} };
  }
  assertChsh(witness, read);
  const { clusterShots, shotsOrdered } = witness;
  const clusters = clusterShots.length;
  const pairs = await winsPerPair(read, witness);
  const least = pairs.reduce((worst, pair) => (pair.mean < worst.mean ? pair : worst));
  // The pairs share the settings, so each is a test of its own, and they share the failure probability.
  const shared = Math.log(pairs.length);
  const nats = FAILURE_NATS + shared;
  const figures = {
    chsh_s: rounded(chshOfWins(least.mean)),
    chsh_s_mean: rounded(chshOfWins(mean(pairs.map((pair) => pair.mean)))),
    chsh_clusters: clusters,
    chsh_shots: clusters * shotsOrdered,
    chsh_pairs: pairs.length,
    chsh_local_bits: downward(Math.max(0, localNats(least.mean, clusters) - shared) / Math.LN2),
  };
  const notReached = (why: string): Finding => ({ claim, reached: false, why, figures });
  const sOf = (wins: number) => `S = ${chshOfWins(wins).toFixed(3)}`;
  const impossible = pairs.findIndex((pair) =>
    isAboveQuantum(pair.mean, pair.meanSquare, clusters, clusters * shotsOrdered),
  );
  if (impossible >= 0) {
    const above = `${sOf(pairs[impossible].mean)} of pair ${impossible} is above 2 sqrt 2 by more than its error`;
    return notReached(`${above}: runs were selected, or something is broken`);
  }
  const worst = `${sOf(least.mean)} of pair ${pairs.indexOf(least)}`;
  if (least.mean <= 3 / 4) return notReached(`${worst} is not above 2`);
  if (localNats(least.mean, clusters) < nats) {
    const needed = clustersNeeded(least.mean, nats);
    return notReached(
      `${worst} over ${clusters} clusters: a local device scores as much with probability 2^-${figures.chsh_local_bits.toFixed(1)}, and 2^-${FAILURE_BITS} is asked, for which this S needs ${needed} clusters`,
    );
  }
  return {
    claim,
    reached: true,
    minEntropyPerBit: null,
    figures,
    method: `P(a local device scores as much) <= exp(-C KL(w || 3/4)) <= 2^-${FAILURE_BITS} for each pair, C clusters of one setting, w = 1/2 + S/8 the mean over clusters of the share of runs won, a run that did not come being lost (Hoeffding); no figure of min-entropy`,
    assumptions: `No signal between the two qubits of a pair, nor between pairs, and no knowledge of the setting at the source. One controller may program both sides: not device-independent. ${witness.drawn}`,
  };
}

function assertChsh({ settings, clusterShots, shotsOrdered }: ChshWitness, { width, shots }: RawRead): void {
  assert(width % 2 === 0, 'Bell tests are of pairs of channels');
  assert(settings.length === shots, 'each shot of a Bell test has a setting');
  assert(
    settings.every((setting) => setting < CHSH_SETTINGS.length),
    'a setting is one of the four of CHSH_SETTINGS',
  );
  assert(
    clusterShots.reduce((sum, each) => sum + each, 0) === shots,
    'each shot of a Bell test is in a cluster',
  );
  assert(
    clusterShots.every((each) => each <= shotsOrdered),
    'no more shots come of a cluster than were ordered',
  );
}

export const UNLESS = `(wrong with probability at most 2^-${FAILURE_BITS})`;

export function tooLittle(minEntropyPerBit: number): string {
  return `${minEntropyPerBit} bits per raw bit are too few to draw from`;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Six decimals are enough for a reader, and what is promised is never rounded up. */
export function downward(value: number): number {
  return Math.floor(value * 1e6) / 1e6;
}

export function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
