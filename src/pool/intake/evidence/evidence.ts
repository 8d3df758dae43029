import type { Provenance, RawRead } from '../../../backend/backend.ts';
import type { Origin } from '../../../core/vocabulary.ts';
import { allowsEvidence, type EvidenceLevel, type LotEvidence } from '../../../ledger/records.ts';
import { type ReadoutErrors, rateUpperBound, readoutMinEntropy } from './bounds.ts';
import { onesPerChannel } from './counts.ts';

/**
 * How quantum a read is shown to be: the highest claim that its own shots support, with what must be believed
 * for it. A claim is never above what the origin allows, whatever the figures are.
 */
export async function evidenceOf(origin: Origin, read: RawRead): Promise<LotEvidence> {
  const findings: readonly Finding[] = [STATISTICAL, await calibrated(read)];
  const reached = findings.filter(
    (finding): finding is ReachedFinding => finding.reached && allowsEvidence(origin, finding.claim),
  );
  const top = reached.at(-1);
  return {
    claim: top?.claim ?? 'simulated',
    minEntropyPerBit: top?.minEntropyPerBit ?? null,
    figures: Object.assign({}, ...findings.map(({ figures }) => figures)),
    method: top?.method ?? 'none: the origin is simulated',
    assumptions: top?.assumptions ?? SIMULATED_ASSUMPTIONS,
    notReached: findings
      .filter((finding) => !reached.some(({ claim }) => claim === finding.claim))
      .map((finding) => ({
        claim: finding.claim,
        why: finding.reached ? WHY_NOT_MORE[origin] : finding.why,
      })),
  };
}

/** One claim held against a read: reached, with its figure, or not, with the reason. Figures are told either way. */
type Finding = {
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

type ReachedFinding = Extract<Finding, { readonly reached: true }>;

/** Why a claim is not made although its figures would do: the origin does not allow it (`allowsEvidence`). */
const WHY_NOT_MORE: Readonly<Record<Origin, string>> = {
  'quantum-processor': '',
  'qrng-device': '',
  simulated: 'a program computed the shots',
  replay: 'the shots were recorded earlier: who recorded them knows them',
  system: 'the origin is not quantum',
};

const SIMULATED_ASSUMPTIONS =
  'None is made: a program computed the raw bits. The figures are those that its model of a device gives.';

const STATISTICAL: Finding = {
  claim: 'statistical',
  reached: true,
  minEntropyPerBit: null,
  figures: {},
  method:
    'health tests (SP 800-90B 4.4) on every raw bit; SP 800-22 and SP 800-90B 6.3 where there are bits enough',
  assumptions: 'The source is what its origin says. Tests can refute that it is unpredictable, not show it.',
};

/**
 * -log2 of the probability that any bound of one lot fails: as rare as the permanent health alarms.
 */
const FAILURE_BITS = 40;
const FAILURE_NATS = FAILURE_BITS * Math.LN2;

/**
 * A claim that leaves less per raw bit is not made: at 0.01 a lot of 4 Mbit still fills all its 64 seeds (131
 * blocks of 320).
 */
const MIN_ENTROPY_MIN = 0.01;

/*
 * Why the least over channels is the figure of a lot. Channels are independent under this claim's
 * assumptions, so the min-entropy of any set of raw bits is the sum of their own: h_1 + ... + h_w for a whole
 * shot, which is the mean per bit. But the conditioner hashes pieces of consecutive bits that do not end
 * where shots end, and of wide shots not even all channels are in a piece. The largest h for which every set
 * of n bits holds n h is the least h_i. The mean is told beside it.
 */

/**
 * The provider's readout errors and the lot's own share of ones, for bits that are independent and
 * identically distributed.
 */
async function calibrated(read: RawRead): Promise<Finding> {
  const claim = 'calibrated';
  const notReached = (why: string): Finding => ({ claim, reached: false, why, figures: {} });
  const { calibration, circuit } = read.provenance;
  if (!circuit.startsWith('superposition')) {
    return notReached('the circuit is no superposition of separate qubits');
  }
  const errors = publishedErrors(calibration, read.width);
  if (errors === undefined) return notReached('no readout errors are published for each channel');
  const ones = await onesPerChannel(read.bits, read.width, read.shots);
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
  const minEntropyPerBit = figures.calibrated_min_entropy;
  if (minEntropyPerBit < MIN_ENTROPY_MIN) {
    const channel = perChannel.indexOf(Math.min(...perChannel));
    const why = `channel ${channel}: ${minEntropyPerBit} bits per raw bit are too few to draw from`;
    return { claim, reached: false, why, figures };
  }
  return {
    claim,
    reached: true,
    minEntropyPerBit,
    figures,
    method: `H = -log2 max(p1 + e10, p0 + e01) of the worst channel, p1 and p0 the most that its counts of ones and zeros allow (wrong with probability at most 2^-${FAILURE_BITS}); for an ideal qubit 1 - log2(1 + e01 + e10)`,
    assumptions:
      'The bits of a channel are independent and identically distributed over the lot, and channels are independent of each other; each shot measures a pure state; readout errs as published and no more.',
  };
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

/** Six decimals are enough for a reader, and what is promised is never rounded up. */
function downward(value: number): number {
  return Math.floor(value * 1e6) / 1e6;
}

function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
