import type { Provenance, RawRead } from '../../../backend/backend.ts';
import type { Origin } from '../../../core/vocabulary.ts';
import { allowsEvidence, type LotEvidence } from '../../../ledger/records.ts';
import { type ReadoutErrors, rateUpperBound, readoutMinEntropy, xBasisMinEntropy } from './bounds.ts';
import { onesPerChannel } from './counts.ts';
import {
  bellWitness,
  downward,
  FAILURE_NATS,
  type Finding,
  MIN_ENTROPY_MIN,
  mean,
  rounded,
  sourceIndependent,
  tooLittle,
  UNLESS,
} from './witnesses.ts';

/**
 * How quantum a read is shown to be: the highest claim that its own shots support, with what must be believed
 * for it. A claim is never above what the origin allows, whatever the figures are.
 */
export async function evidenceOf(origin: Origin, read: RawRead): Promise<LotEvidence> {
  const findings: readonly Finding[] = [
    STATISTICAL,
    await calibrated(read),
    await sourceIndependent(read),
    await bellWitness(read),
  ];
  const reached = findings.filter(
    (finding): finding is ReachedFinding => finding.reached && allowsEvidence(origin, finding.claim),
  );
  const top = reached.at(-1);
  return {
    claim: top?.claim ?? 'simulated',
    minEntropyPerBit: leastOf(reached),
    figures: Object.fromEntries(findings.flatMap(({ figures }) => Object.entries(figures))),
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

type ReachedFinding = Extract<Finding, { readonly reached: true }>;

/**
 * The bits are drawn from under every claim that was reached, so a higher claim never raises the figure of a
 * lower one.
 */
function leastOf(reached: readonly ReachedFinding[]): number | null {
  const figures = reached.map((finding) => finding.minEntropyPerBit).filter((figure) => figure !== null);
  return figures.length === 0 ? null : Math.min(...figures);
}

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

/*
 * Why the least over channels is the figure of a lot. Channels are independent under this claim's
 * assumptions, so the min-entropy of any set of raw bits is the sum of their own: h_1 + ... + h_w for a whole
 * shot, which is the mean per bit. But the conditioner hashes pieces of consecutive bits that do not end
 * where shots end, and of wide shots not even all channels are in a piece. The largest h for which every set
 * of n bits holds n h is the least h_i. The mean is told beside it.
 */

/**
 * The provider's readout errors and the lot's own share of ones, for bits that are independent and
 * identically distributed; where there are X-basis test shots, no more than these leave under the same
 * assumption.
 */
async function calibrated(read: RawRead): Promise<Finding> {
  const claim = 'calibrated';
  const notReached = (why: string): Finding => ({ claim, reached: false, why, figures: {} });
  if (read.witness?.kind === 'chsh') {
    return notReached('its formula is for qubits measured alone, not for halves of entangled pairs');
  }
  if (!preparesEachQubitAlone(read)) return notReached('the circuit is no superposition of separate qubits');
  const errors = publishedErrors(read.provenance.calibration, read.width);
  if (errors === undefined) return notReached('no readout errors are published for each channel');
  const ones = await onesPerChannel(read.bits, read.width, read.shots);
  // Two bounds a channel share the probability of failure, and one more where there are test shots.
  const boundsPerChannel = read.witness === undefined ? 2 : 3;
  const nats = FAILURE_NATS + Math.log(boundsPerChannel * read.width);
  const tested = await testedErrors(read, nats);
  const perChannel = errors.map((error, channel) =>
    Math.min(
      readoutMinEntropy(
        error,
        rateUpperBound(ones[channel], read.shots, nats),
        rateUpperBound(read.shots - ones[channel], read.shots, nats),
      ),
      tested === undefined ? 1 : xBasisMinEntropy(tested.most[channel]),
    ),
  );
  const figures = {
    readout_error_max: rounded(Math.max(...errors.map(({ e01, e10 }) => e01 + e10))),
    ones_share_min: rounded(Math.min(...ones) / read.shots),
    ones_share_max: rounded(Math.max(...ones) / read.shots),
    ...(tested === undefined
      ? {}
      : {
          x_error_max: rounded(Math.max(...tested.seen)),
          x_error_max_bound: rounded(Math.max(...tested.most)),
        }),
    calibrated_min_entropy: downward(Math.min(...perChannel)),
    calibrated_min_entropy_mean: downward(mean(perChannel)),
  };
  const minEntropyPerBit = figures.calibrated_min_entropy;
  if (minEntropyPerBit < MIN_ENTROPY_MIN) {
    const channel = perChannel.indexOf(Math.min(...perChannel));
    const seen = tested === undefined ? '' : `, X-basis error ${tested.seen[channel].toFixed(4)}`;
    return {
      claim,
      reached: false,
      why: `channel ${channel}${seen}: ${tooLittle(minEntropyPerBit)}`,
      figures,
    };
  }
  return {
    claim,
    reached: true,
    minEntropyPerBit,
    figures,
    method: `H = -log2 max(p1 + e10, p0 + e01) of the worst channel, p1 and p0 the most that its counts of ones and zeros allow ${UNLESS}; for an ideal qubit 1 - log2(1 + e01 + e10)${tested === undefined ? '' : '; at most 1 - 2 log2(sqrt(e) + sqrt(1 - e)), e the most that its X-basis test shots allow (arXiv:1401.7917)'}`,
    assumptions:
      'The bits of a channel are independent and identically distributed over the lot, and channels are independent of each other; each shot measures a pure state; readout errs as published and no more.',
  };
}

function preparesEachQubitAlone({ witness, provenance }: RawRead): boolean {
  return witness?.kind === 'x-basis' || provenance.circuit.startsWith('superposition');
}

/**
 * By channel: the share of the test shots that erred, and the most that this allows. Undefined when there
 * were none.
 */
async function testedErrors(
  { witness, width }: RawRead,
  nats: number,
): Promise<{ readonly seen: readonly number[]; readonly most: readonly number[] } | undefined> {
  if (witness?.kind !== 'x-basis') return undefined;
  const { bits, shots } = witness;
  if (shots === 0) return { seen: new Array(width).fill(1), most: new Array(width).fill(1) }; // none came
  const errors = Array.from(await onesPerChannel(bits, width, shots));
  return {
    seen: errors.map((count) => count / shots),
    most: errors.map((count) => rateUpperBound(count, shots, nats)),
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
