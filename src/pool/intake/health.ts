import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RawRead } from '../../backend/backend.ts';
import { assert } from '../../core/assert.ts';
import { CopyTest } from './copies.ts';

/**
 * The health tests of SP 800-90B §4.4 on raw noise, before conditioning: repetition count (RCT) and adaptive proportion
 * (APT) on every channel (qubit) as a binary source of its own, the startup tests of §4.3, and a test for results that
 * were delivered before. Each read gets one verdict:
 *
 * - pass: the bits may be used.
 * - intermittent: the collector discards the read and tries again. Chance alone causes this, but rarely.
 * - permanent: chance does not explain what was seen. The monitor refuses every read until a restart.
 */

/** A test alarms with a grade when its observation reaches the grade's cutoff. */
export interface Cutoffs {
  readonly intermittent: number;
  readonly permanent: number;
}

/** -log2 of the false-alarm probability of one test. §4.4 recommends 20 to 40; jitterentropy uses 30 too. */
const INTERMITTENT_ALPHA_BITS = 30;
/**
 * -log2 of the false-alarm probability of the permanent grade, as in jitterentropy. At 100 Mbit/s a sound source alarms
 * once in 365 years, so only a failure explains an alarm.
 */
const PERMANENT_ALPHA_BITS = 60;
/** §4.4.2: the window of a binary source. */
const APT_WINDOW = 1024;
/** §4.3: startup tests need at least 1,024 consecutive samples. No bits may be used before. */
const STARTUP_SAMPLES = 1024;
/**
 * This many failed reads in a row are permanent. A source that meets its claim fails a read of 4 Mbit with probability
 * 2^22 · 2^-30 = 2^-8 (RCT; APT windows add 2^-18), and so five in a row with 2^-40, the smallest alpha that §4.4
 * recommends.
 */
const INTERMITTENT_READS_MAX = 5;
/**
 * How many reads are remembered by their digests: of 4 Mbit each, 32 MiB of raw noise. A provider that answers from a
 * cache or a stale job repeats a recent result.
 */
const REMEMBERED_READS = 64;
/** Shorter reads are not compared: two reads of a sound source agree with probability 2^-(assessed bits). */
const REPLAY_ASSESSED_BITS_MIN = INTERMITTENT_ALPHA_BITS + Math.log2(REMEMBERED_READS);

export type HealthGrade = 'pass' | 'intermittent' | 'permanent';
type HealthTest = 'rct' | 'apt' | 'startup' | 'replay';

export interface HealthFailure {
  readonly test: HealthTest;
  readonly grade: 'intermittent' | 'permanent';
  /** The channel that failed; null if the whole read failed. */
  readonly channel: number | null;
  /**
   * What was seen. RCT: length of the run. APT: matches in the window. Startup: samples so far. Replay: how many reads
   * ago the same bits came; 0 within this read.
   */
  readonly observed: number;
  /** The cutoff that was reached. Startup: the samples needed. Replay: how many reads are remembered. */
  readonly cutoff: number;
}

/** What one read showed, as plain JSON: the records of lots hold some of it. */
export interface HealthCounters {
  /** Raw bits tested: shots times channels; 0 for a read that was refused untested. */
  readonly samples: number;
  readonly rctFailures: number;
  readonly aptFailures: number;
  readonly startupFailures: number;
  readonly replayFailures: number;
  /** The longest run of equal bits on any channel. A run may have begun in an earlier read. */
  readonly longestRun: number;
  /** The most bits equal to the first one in any window of any channel, with incomplete windows. */
  readonly mostMatches: number;
}

export interface HealthVerdict {
  readonly grade: HealthGrade;
  readonly failures: readonly HealthFailure[];
  readonly counters: HealthCounters;
}

/** The state of a monitor as plain JSON, for /v1/health. */
export interface HealthState {
  readonly width: number;
  readonly minEntropyPerBit: number;
  readonly rctCutoffs: Cutoffs;
  readonly aptCutoffs: Cutoffs;
  readonly aptWindow: number;
  readonly startupPassed: boolean;
  readonly reads: number;
  readonly intermittentReads: number;
  readonly intermittentInARow: number;
  /** Sums over all reads, and the largest `longestRun` and `mostMatches`. */
  readonly totals: HealthCounters;
  /** The failures that closed the source; empty while it is open. */
  readonly latchedBy: readonly HealthFailure[];
}

/**
 * Returns the RCT cutoff C = 1 + ceil(-log2(alpha) / H) (SP 800-90B §4.4.1), for alpha = 2^-alphaBits and H in (0, 1].
 */
export function rctCutoff(minEntropyPerBit: number, alphaBits: number): number {
  return 1 + Math.ceil(alphaBits / minEntropyPerBit);
}

/**
 * Returns the APT cutoff C = 1 + CRITBINOM(W, 2^-H, 1 - alpha) (SP 800-90B §4.4.2). CRITBINOM is the least k with P(X
 * <= k) >= 1 - alpha, that is P(X > k) <= alpha, for X ~ Binomial(W, 2^-H). The code sums the upper tail from its
 * smallest term, and computes each term relative to alpha from its logarithm, so that nothing cancels or underflows.
 */
export function aptCutoff(minEntropyPerBit: number, alphaBits: number): number {
  const logP = -minEntropyPerBit * Math.LN2;
  const logQ = Math.log(-Math.expm1(logP));
  const logAlpha = -alphaBits * Math.LN2;
  let logChoose = 0; // ln C(APT_WINDOW, k), from k = APT_WINDOW down
  let tailOverAlpha = 0;
  let k = APT_WINDOW;
  for (; k >= 0; k--) {
    tailOverAlpha += Math.exp(logChoose + k * logP + (APT_WINDOW - k) * logQ - logAlpha);
    if (tailOverAlpha > 1) break; // P(X >= k) > alpha >= P(X > k)
    logChoose += Math.log(k) - Math.log(APT_WINDOW - k + 1);
  }
  return 1 + k;
}

/**
 * Returns an upper bound of the probability that a read of a source that meets its claim fails: the union bound over
 * its samples (RCT) and its windows (APT). For a window it is 2 alpha, since B counts the first bit, which always
 * matches itself: P(1 + Bin(W - 1, p) >= C) <= P(Bin(W, p) >= C) / p, and p >= 1/2.
 */
export function falseAlarmChance({ shots, width }: Pick<RawRead, 'shots' | 'width'>): number {
  const windows = (Math.ceil(shots / APT_WINDOW) + 1) * width;
  return Math.min(1, (shots * width + 2 * windows) * 2 ** -INTERMITTENT_ALPHA_BITS);
}

/** Bits tested between two turns of the event loop. They take less than 1 ms; a whole lot of 4 Mbit takes 21 ms. */
const SLICE_BITS = 128 * 1024;

interface MonitoredSource {
  readonly width: number;
  /** What the source claims for each bit of each channel, in (0, 1]. */
  readonly minEntropyPerBit: number;
  /** A copy test that other sources share; without it the source has one of its own. */
  readonly copies?: CopyTest | undefined;
}

/**
 * Tests one source with one channel layout. Runs and windows continue from read to read, as reads are consecutive
 * samples.
 */
export class HealthMonitor {
  readonly #width: number;
  readonly #minEntropyPerBit: number;
  readonly #rct: Cutoffs;
  readonly #apt: Cutoffs;

  // By channel: the present run and window, and the maxima of this read.
  readonly #lastBit: Uint8Array;
  readonly #run: Int32Array;
  readonly #windowFirst: Uint8Array;
  readonly #windowOnes: Uint16Array;
  readonly #longestRun: Int32Array;
  readonly #mostMatches: Uint16Array;
  /** Samples in the present window. All channels advance together, a shot at a time. */
  #windowFilled = 0;

  #startupSamples = 0;
  #reads = 0;
  #intermittentReads = 0;
  #intermittentInARow = 0;
  #totals: HealthCounters = NOTHING_SEEN;
  #latchedBy: readonly HealthFailure[] = [];
  readonly #copies: CopyTest;
  /** Digests of the last reads, newest first. */
  #remembered: string[] = [];

  constructor({ width, minEntropyPerBit, copies }: MonitoredSource) {
    assert(Number.isInteger(width) && width >= 1, 'a source has at least one channel');
    assert(minEntropyPerBit > 0 && minEntropyPerBit <= 1, 'the min-entropy of a bit lies in (0, 1]');
    this.#width = width;
    this.#minEntropyPerBit = minEntropyPerBit;
    this.#rct = {
      intermittent: rctCutoff(minEntropyPerBit, INTERMITTENT_ALPHA_BITS),
      permanent: rctCutoff(minEntropyPerBit, PERMANENT_ALPHA_BITS),
    };
    this.#apt = {
      intermittent: aptCutoff(minEntropyPerBit, INTERMITTENT_ALPHA_BITS),
      permanent: aptCutoff(minEntropyPerBit, PERMANENT_ALPHA_BITS),
    };
    // A run ends at the latest with the read in which it reaches the permanent cutoff, which has at most 2^28 bits.
    assert(this.#rct.permanent < 2 ** 30, 'a claim so small that runs outgrow 32 bits cannot be tested');
    this.#copies = copies ?? new CopyTest(minEntropyPerBit);
    this.#lastBit = new Uint8Array(width);
    this.#run = new Int32Array(width);
    this.#windowFirst = new Uint8Array(width);
    this.#windowOnes = new Uint16Array(width);
    this.#longestRun = new Int32Array(width);
    this.#mostMatches = new Uint16Array(width);
  }

  /** Tests every bit of the next read. The bits may be used only if the grade is `pass`. */
  check(read: RawRead): HealthVerdict {
    const steps = this.#check(read);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }

  /** Tests a read like `check`, but gives the event loop a turn between slices. Takes one read at a time. */
  async checkInSlices(read: RawRead): Promise<HealthVerdict> {
    const steps = this.#check(read);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      await nextTurn();
    }
  }

  *#check(read: RawRead): Generator<undefined, HealthVerdict> {
    assert(read.width === this.#width, 'a monitor tests one channel layout');
    assert(Number.isInteger(read.shots) && read.shots >= 1, 'a read has whole shots');
    assert(read.bits.length === Math.ceil((read.shots * read.width) / 8), 'a read holds exactly its shots');
    this.#reads++;
    if (this.#latchedBy.length > 0)
      return { grade: 'permanent', failures: this.#latchedBy, counters: NOTHING_SEEN };

    const replay = this.#replayFailure(read);
    // A replayed read is not a new sample: it must not enter the runs and windows.
    const failures = replay === undefined ? yield* this.#testSamples(read) : [replay];
    // Search for copies only if no other test failed: the repetitions of a stuck channel are not copies.
    if (failures.every(({ test }) => test === 'startup')) failures.push(...(yield* this.#copyFailures(read)));
    const counters = this.#countersOf(failures, replay === undefined ? read.shots * read.width : 0);
    this.#totals = added(this.#totals, counters);
    return {
      grade: this.#grade(failures),
      failures: this.#latchedBy.length > 0 ? this.#latchedBy : failures,
      counters,
    };
  }

  state(): HealthState {
    return {
      width: this.#width,
      minEntropyPerBit: this.#minEntropyPerBit,
      rctCutoffs: this.#rct,
      aptCutoffs: this.#apt,
      aptWindow: APT_WINDOW,
      startupPassed: this.#startupSamples >= STARTUP_SAMPLES,
      reads: this.#reads,
      intermittentReads: this.#intermittentReads,
      intermittentInARow: this.#intermittentInARow,
      totals: this.#totals,
      latchedBy: this.#latchedBy,
    };
  }

  #grade(failures: readonly HealthFailure[]): HealthGrade {
    if (failures.length === 0) {
      this.#intermittentInARow = 0;
      return 'pass';
    }
    // Too few samples for the startup tests say neither that the source failed nor that it is sound: do not count them.
    if (failures.every(({ test }) => test === 'startup')) return 'intermittent';
    this.#intermittentReads++;
    this.#intermittentInARow++;
    if (failures.some(({ grade }) => grade === 'permanent')) {
      this.#latchedBy = failures;
      return 'permanent';
    }
    if (this.#intermittentInARow >= INTERMITTENT_READS_MAX) {
      this.#latchedBy = failures.map((failure) => ({ ...failure, grade: 'permanent' }));
      return 'permanent';
    }
    return 'intermittent';
  }

  *#testSamples(read: RawRead): Generator<undefined, HealthFailure[]> {
    this.#longestRun.fill(0);
    this.#mostMatches.fill(0);
    for (let shot = 0, rested = 0; shot < read.shots; ) {
      if ((shot - rested) * this.#width >= SLICE_BITS) {
        rested = shot;
        yield;
      }
      const shots = Math.min(read.shots - shot, APT_WINDOW - this.#windowFilled);
      for (let channel = 0; channel < this.#width; channel++) this.#scan(read.bits, channel, shot, shots);
      this.#windowFilled = (this.#windowFilled + shots) % APT_WINDOW; // §4.4.2: windows do not overlap
      shot += shots;
    }
    const failures: HealthFailure[] = [];
    for (let channel = 0; channel < this.#width; channel++) {
      report(failures, 'rct', channel, this.#longestRun[channel], this.#rct);
      report(failures, 'apt', channel, this.#mostMatches[channel], this.#apt);
    }
    // End the window that alarmed, so that its rest in the next read does not alarm again.
    if (failures.some(({ test }) => test === 'apt')) this.#windowFilled = 0;
    const startup = this.#startupFailure(read.shots, failures.length > 0);
    if (startup !== undefined) failures.push(startup);
    return failures;
  }

  /**
   * Tests `shots` shots of one channel, all within one window. RCT (§4.4.1): B counts the run, and the test fails at B
   * >= C. APT (§4.4.2): A is the window's first bit, and B counts the bits equal to it, with itself. B only grows, so
   * its value at the end of the window or of the read shows whether it reached C.
   */
  #scan(bits: Uint8Array, channel: number, firstShot: number, shots: number): void {
    const width = this.#width;
    let at = firstShot * width + channel;
    if (this.#windowFilled === 0) {
      this.#windowFirst[channel] = bitAt(bits, at);
      this.#windowOnes[channel] = 0;
    }
    let last = this.#lastBit[channel];
    let run = this.#run[channel];
    let longest = this.#longestRun[channel];
    let ones = 0;
    for (let shot = 0; shot < shots; shot++, at += width) {
      const bit = (bits[at >>> 3] >>> (7 - (at & 7))) & 1;
      // run + 1 if bit equals last, else 1. Random bits would mispredict a branch.
      run = (run & ((bit ^ last) - 1)) + 1;
      if (run > longest) longest = run;
      ones += bit;
      last = bit;
    }
    this.#lastBit[channel] = last;
    this.#run[channel] = run;
    this.#longestRun[channel] = longest;
    this.#windowOnes[channel] += ones;
    const windowOnes = this.#windowOnes[channel];
    const matches = this.#windowFirst[channel] === 1 ? windowOnes : this.#windowFilled + shots - windowOnes;
    if (matches > this.#mostMatches[channel]) this.#mostMatches[channel] = matches;
  }

  /** Returns a failure until 1,024 consecutive samples of every channel have passed (§4.3). */
  #startupFailure(shots: number, failed: boolean): HealthFailure | undefined {
    if (this.#startupSamples >= STARTUP_SAMPLES) return undefined;
    this.#startupSamples = failed ? 0 : this.#startupSamples + shots;
    // The test that failed reports the failure.
    if (failed || this.#startupSamples >= STARTUP_SAMPLES) return undefined;
    return wholeReadFailed('startup', this.#startupSamples, STARTUP_SAMPLES);
  }

  /**
   * Returns a failure if the read has the same bits as a recent one: a cached answer, a stale job, a stuck buffer. The
   * grade is intermittent, since the copy is discarded and a retry may reach the source; a source that keeps repeating
   * fails too many reads in a row. Compares a hash of the bits, since a provider may wrap one result in different
   * envelopes.
   */
  #replayFailure(read: RawRead): HealthFailure | undefined {
    if (read.shots * read.width * this.#minEntropyPerBit < REPLAY_ASSESSED_BITS_MIN) return undefined;
    const digest = hash('sha256', read.bits, 'hex');
    const readsAgo = this.#remembered.indexOf(digest) + 1;
    this.#remembered = [digest, ...this.#remembered.slice(0, REMEMBERED_READS - 1)];
    return readsAgo === 0 ? undefined : wholeReadFailed('replay', readsAgo, REMEMBERED_READS);
  }

  /** Returns a failure if part of the bits came before, at any shift; intermittent for the same reason. */
  *#copyFailures(read: RawRead): Generator<undefined, HealthFailure[]> {
    const readsAgo = yield* this.#copies.search(read);
    return readsAgo === undefined ? [] : [wholeReadFailed('replay', readsAgo, REMEMBERED_READS)];
  }

  #countersOf(failures: readonly HealthFailure[], samples: number): HealthCounters {
    const count = (test: HealthTest) => failures.filter((failure) => failure.test === test).length;
    return {
      samples,
      rctFailures: count('rct'),
      aptFailures: count('apt'),
      startupFailures: count('startup'),
      replayFailures: count('replay'),
      longestRun: samples === 0 ? 0 : this.#longestRun.reduce((most, run) => Math.max(most, run), 0),
      mostMatches:
        samples === 0 ? 0 : this.#mostMatches.reduce((most, matches) => Math.max(most, matches), 0),
    };
  }
}

const NOTHING_SEEN: HealthCounters = Object.freeze({
  samples: 0,
  rctFailures: 0,
  aptFailures: 0,
  startupFailures: 0,
  replayFailures: 0,
  longestRun: 0,
  mostMatches: 0,
});

function bitAt(bits: Uint8Array, position: number): number {
  return (bits[position >>> 3] >>> (7 - (position & 7))) & 1;
}

function wholeReadFailed(test: 'startup' | 'replay', observed: number, cutoff: number): HealthFailure {
  return { test, grade: 'intermittent', channel: null, observed, cutoff };
}

function report(
  to: HealthFailure[],
  test: 'rct' | 'apt',
  channel: number,
  observed: number,
  cutoffs: Cutoffs,
): void {
  if (observed < cutoffs.intermittent) return;
  const grade = observed >= cutoffs.permanent ? 'permanent' : 'intermittent';
  to.push({ test, grade, channel, observed, cutoff: cutoffs[grade] });
}

function added(a: HealthCounters, b: HealthCounters): HealthCounters {
  return {
    samples: a.samples + b.samples,
    rctFailures: a.rctFailures + b.rctFailures,
    aptFailures: a.aptFailures + b.aptFailures,
    startupFailures: a.startupFailures + b.startupFailures,
    replayFailures: a.replayFailures + b.replayFailures,
    longestRun: Math.max(a.longestRun, b.longestRun),
    mostMatches: Math.max(a.mostMatches, b.mostMatches),
  };
}
