import type { RawRead } from '../../backend/backend.ts';
import type { AssessedBlock, LotRecord } from '../../ledger/records.ts';
import { FALSE_REJECT_RATE } from '../../stats/sp800-22/verdict.ts';
import { ASSESSED_BITS, HISTORY_BLOCKS } from './assessor.ts';
import { falseAlarmChance } from './health.ts';

/** -log2 of the probability, for each lot, that a sound source raises the alarm. */
export const ALARM_BITS = 20;
/** The same for the alarm that closes a source: the smallest alpha that SP 800-90B §4.4 recommends. */
const CLOSING_BITS = 40;
/** The shares of refused lots and of rejected windows of the defective source that the alarm bets on. */
const REFUSED_SHARE = 1 / 8;
const REJECTED_SHARE = 1 / 25;
/** The weight of extreme ranks of an estimate. One lot gains at most log2(1 + 3) = 2 bits. */
const RANK_EXPONENT = 3;
/** After this many estimates the alarm begins again. A busy source makes that many lots in some months. */
const LOTS_MAX = 4096;

/** The kinds of evidence: refused lots, rejected windows, estimates that fall, estimates that rise. */
const PARTS = ['refusals', 'rejections', 'fall', 'rise'] as const;
type AlarmPart = (typeof PARTS)[number];

export interface AlarmState {
  /** Evidence, in bits, that the source is not sound or has changed. At `alarmBits` the alarm is raised. */
  readonly bits: number;
  readonly alarmBits: number;
  /** The largest part of the evidence when the alarm was raised; null if it was not. */
  readonly raisedBy: AlarmPart | null;
  /** The last lots with an estimate of their own, oldest first, each with the evidence after it. */
  readonly estimates: readonly { readonly minEntropyPerBit: number; readonly alarmBits: number }[];
}

/**
 * An alarm over all lots of a source, or all samples of a stream. It shows defects that no single lot shows.
 *
 * Each part bets on one defect. Each lot multiplies the bet by a likelihood ratio L whose mean is at most 1 while the
 * source is sound, whatever came before. A new bet begins with every lot: R_n = (1 + R_(n-1)) L_n (Shiryaev, Roberts).
 * R_n - n is a supermartingale, and so is the mean over the parts. By Markov's inequality that mean reaches 2^20 within
 * the first n lots with a probability of at most n · 2^-20, and one part reaches 2^40 with at most n · 2^-40.
 *
 * - refusals: bets that one lot in eight is refused; chance refuses p at most. L = 1/8 / p, or 7/8 / (1 - p).
 * - rejections: bets that one window of conditioned bits in 25 is rejected; chance rejects one in 500.
 * - fall, rise: while the source does not change, the rank r of the n-th estimate among the first n is uniform and
 *   independent of all earlier ranks, whatever the distribution (McDonald, Naval Research Logistics 37, 1990).
 *   L = w(r) / mean of w, with w(r) = (1 - (r - 1/2) / n)³ or its mirror image. Among equal estimates the rank with the
 *   least evidence counts.
 */
export class LotAlarm {
  readonly #evidence: Record<AlarmPart, number> = { refusals: 0, rejections: 0, fall: 0, rise: 0 };
  readonly #recent: { minEntropyPerBit: number; alarmBits: number }[] = [];
  #estimates: number[] = [];
  #raisedBy: AlarmPart | null = null;
  #lots = 0;
  #refused = 0;

  /** Adds a lot. `chance` bounds how often such a lot of a sound source is refused; undefined if untested. */
  add(lot: LotRecord, chance?: number): void {
    if (this.#estimates.length === LOTS_MAX) this.#begin();
    if (chance !== undefined) this.#addRefusal(!lot.accepted, chance);
    const estimate = ownEstimateOf(lot);
    if (estimate !== null) this.#addEstimate(estimate);
    this.addBlocks(lot.assessments.filter(({ of }) => of === 'conditioned'));
    if (estimate === null) return;
    this.#recent.push({ minEntropyPerBit: estimate, alarmBits: this.#bits() });
    if (this.#recent.length > HISTORY_BLOCKS) this.#recent.shift();
  }

  /** Adds tested blocks. Leaves out those too short for a verdict, and windows that overlap the one before. */
  addBlocks(blocks: readonly AssessedBlock<string>[]): void {
    const whole = blocks.filter(
      ({ bits, firstBit }) => bits >= ASSESSED_BITS && firstBit % ASSESSED_BITS === 0,
    );
    if (whole.length > 0) {
      this.#bet(
        'rejections',
        whole.reduce(
          (ratio, { sp80022 }) => ratio * ratioOf(!sp80022.verified, REJECTED_SHARE, FALSE_REJECT_RATE),
          1,
        ),
      );
    }
    if (this.#bits() >= ALARM_BITS) this.#raisedBy ??= this.#largest();
  }

  /** Whether so many lots were refused that the source must be closed. A sound source gets there once in 2^40 lots. */
  get isClosing(): boolean {
    return this.#evidence.refusals >= 2 ** CLOSING_BITS;
  }

  /** How many lots were refused, in words. */
  get refusalsInWords(): string {
    return `${this.#refused} of ${this.#lots} lots were refused`;
  }

  state(): AlarmState {
    const bits = this.#bits();
    return { bits, alarmBits: ALARM_BITS, raisedBy: this.#raisedBy, estimates: [...this.#recent] };
  }

  #addRefusal(isRefused: boolean, chance: number): void {
    this.#lots++;
    if (isRefused) this.#refused++;
    // For lots of 130 Mbit and more, chance alone refuses that share, so a refusal says nothing.
    if (chance < REFUSED_SHARE) this.#bet('refusals', ratioOf(isRefused, REFUSED_SHARE, chance));
  }

  #addEstimate(estimate: number): void {
    const below = this.#estimates.filter((each) => each < estimate).length;
    const notAbove = this.#estimates.filter((each) => each <= estimate).length;
    this.#estimates.push(estimate);
    const n = this.#estimates.length;
    this.#bet('fall', rankRatio(notAbove + 1, n));
    this.#bet('rise', rankRatio(n - below, n));
  }

  #bet(part: AlarmPart, ratio: number): void {
    // Bounded far beyond any alarm, since infinity times 0 would be NaN.
    this.#evidence[part] = Math.min(2 ** 900, (1 + this.#evidence[part]) * ratio);
  }

  #bits(): number {
    const sum = PARTS.reduce((total, part) => total + this.#evidence[part], 0);
    return Math.log2(Math.max(1, sum / PARTS.length));
  }

  #largest(): AlarmPart {
    return PARTS.reduce((most, part) => (this.#evidence[part] > this.#evidence[most] ? part : most));
  }

  #begin(): void {
    for (const part of PARTS) this.#evidence[part] = 0;
    this.#estimates = [];
    this.#raisedBy = null;
  }
}

function ratioOf(happened: boolean, share: number, chance: number): number {
  return happened ? share / chance : (1 - share) / (1 - chance);
}

/** Returns L for rank r among n. The mean of (1 - (r - 1/2) / n)³ over r = 1 to n is 1/4 - 1/(8 n²). */
function rankRatio(r: number, n: number): number {
  return (1 - (r - 0.5) / n) ** RANK_EXPONENT / (1 / (RANK_EXPONENT + 1) - 1 / (8 * n * n));
}

/**
 * Returns the least estimate of the lot's own windows; null for a short lot, whose estimate is over several lots. It
 * takes the estimators rather than `minEntropyPerBit`, because a lower claim of the source would hide that they fall.
 */
function ownEstimateOf({ rawBits, estimators, minEntropyPerBit }: LotRecord): number | null {
  if (rawBits < ASSESSED_BITS) return null;
  return estimators === undefined ? minEntropyPerBit : Math.min(...Object.values(estimators));
}

/**
 * Returns an upper bound of the probability that a lot of a source that meets its claim is refused by the health tests
 * or by SP 800-22. A single block is refused with 0.08 %, and several with at most 0.1 %. The bound takes 0.2 %, and
 * the floor of min-entropy adds less than the difference.
 */
export function refusalChance(read: Pick<RawRead, 'shots' | 'width'>): number {
  return Math.min(1, falseAlarmChance(read) + FALSE_REJECT_RATE);
}
