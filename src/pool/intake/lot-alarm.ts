import type { RawRead } from '../../backend/backend.ts';
import type { AssessedBlock, LotRecord } from '../../ledger/records.ts';
import { FALSE_REJECT_RATE } from '../../stats/sp800-22/verdict.ts';
import { ASSESSED_BITS, HISTORY_BLOCKS } from './assessor.ts';
import { falseAlarmChance } from './health.ts';

/** -log2 of the chance, for each lot, that a sound source raises the alarm. */
export const ALARM_BITS = 20;
/** The same for the alarm that closes a source: the least alpha of SP 800-90B §4.4. */
const CLOSING_BITS = 40;
/** The share of refused lots, and of rejected windows, that a source is held against. */
const REFUSED_SHARE = 1 / 8;
const REJECTED_SHARE = 1 / 25;
/** How much is bet on the extreme ranks of an estimate: the largest gain of one lot is log2(1 + 3) = 2 bits. */
const RANK_EXPONENT = 3;
/** Estimates that ranks are taken among; then the alarm begins again. A busy source makes so many lots in some months. */
const LOTS_MAX = 4096;

/** What the evidence is of: lots that are refused, windows of conditioned bits that are, estimates that fall or rise. */
const PARTS = ['refusals', 'rejections', 'fall', 'rise'] as const;
type AlarmPart = (typeof PARTS)[number];

export interface AlarmState {
  /** Evidence that the source is not sound, or not what it was; the alarm is at `alarmBits`. */
  readonly bits: number;
  readonly alarmBits: number;
  /** What most of the evidence was of when it reached the alarm; null when it has not. */
  readonly raisedBy: AlarmPart | null;
  /** The last lots that have an estimate of their own, oldest first, with the evidence after each. */
  readonly estimates: readonly { readonly minEntropyPerBit: number; readonly alarmBits: number }[];
}

/**
 * One alarm over the lots of a source, or the samples of a stream: no single one shows what this does.
 *
 * Each part bets on a defect. A lot multiplies it by a likelihood ratio L whose mean is at most 1 as long as the source is
 * sound, whatever came before, and the bet begins anew with every lot: R_n = (1 + R_(n-1)) L_n (Shiryaev, Roberts). R_n - n
 * is a supermartingale, and so is the mean of the parts. By Markov's inequality that mean reaches 2^20 within the first n
 * lots with a chance of at most n · 2^-20, and one part 2^40 with at most n · 2^-40.
 *
 * - refusals: one lot in eight is refused, against what chance refuses (p at most): L = 1/8 / p, or 7/8 / (1 - p).
 * - rejections: one window of conditioned bits in 25 is, against one in 500.
 * - fall, rise: the rank r of the n-th estimate among the first n is uniform and independent of all earlier ranks while
 *   the source does not change, whatever the distribution (McDonald, Naval Research Logistics 37, 1990): L = w(r) / mean of
 *   w, w(r) = (1 - (r - 1/2) / n)³, and its mirror image. Equal estimates count as the rank that is least evidence.
 */
export class LotAlarm {
  readonly #evidence: Record<AlarmPart, number> = { refusals: 0, rejections: 0, fall: 0, rise: 0 };
  readonly #recent: { minEntropyPerBit: number; alarmBits: number }[] = [];
  /** Sorted. */
  #estimates: number[] = [];
  #raisedBy: AlarmPart | null = null;
  #lots = 0;
  #refused = 0;

  /** Adds a lot. `chance` is how often a lot of this kind of a sound source is refused, at most; left out where that was not tested. */
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

  /** Adds tested blocks. Those too short for a verdict say nothing, nor windows that reach back into the one before. */
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

  /** True when a sound source has so many refused lots less often than once in 2^40 lots. */
  get isClosing(): boolean {
    return this.#evidence.refusals >= 2 ** CLOSING_BITS;
  }

  /** What is counted of refusals, in words. */
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
    // Where chance alone refuses as many, a refusal says nothing: lots of 130 Mbit and more.
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
    // Beyond any alarm nothing needs to be told apart, and infinity times 0 is no number.
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

/** L of rank r among n: the mean of (1 - (r - 1/2) / n)³ over r = 1 to n is 1/4 - 1/(8 n²). */
function rankRatio(r: number, n: number): number {
  return (1 - (r - 0.5) / n) ** RANK_EXPONENT / (1 / (RANK_EXPONENT + 1) - 1 / (8 * n * n));
}

/**
 * The estimate of a lot's own windows; those of pooled short lots do not compare with it. A claim that is below the
 * estimators does not hide that they fall.
 */
function ownEstimateOf({ rawBits, estimators, minEntropyPerBit }: LotRecord): number | null {
  if (rawBits < ASSESSED_BITS) return null;
  return estimators === undefined ? minEntropyPerBit : Math.min(...Object.values(estimators));
}

/**
 * How often a lot of a source that meets its claim is refused, at most: by its health tests, or by SP 800-22
 * on a single block. Several blocks are refused by a rule that good ones meet with 0.1 % at most, and the
 * floor of min-entropy adds less than lies between a block's 0.08 % and its bound of 0.2 %.
 */
export function refusalChance(read: Pick<RawRead, 'shots' | 'width'>): number {
  return Math.min(1, falseAlarmChance(read) + FALSE_REJECT_RATE);
}
