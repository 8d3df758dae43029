import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RawRead } from '../../backend/backend.ts';
import { assert } from '../../core/assert.ts';
import { CopyTest } from './copies.ts';

/**
 * The health tests of SP 800-90B §4.4 on raw noise, before conditioning: repetition count (RCT) and adaptive
 * proportion (APT) on every channel (qubit) as a binary source of its own, the startup tests of §4.3, and a
 * test for results that were delivered before. Each read gets one verdict:
 *
 * - intermittent: discard the read and try again. A false alarm here is rare but does happen.
 * - permanent: latched; everything is refused until a restart, because chance does not explain what was seen.
 */

/** Cutoffs in one place: a test alarms when its observation reaches the cutoff of a grade. */
export interface Cutoffs {
  readonly intermittent: number;
  readonly permanent: number;
}

/**
 * -log2 of the false-alarm probability of one test: §4.4 recommends 20 to 40. jitterentropy takes 30 as well.
 */
const INTERMITTENT_ALPHA_BITS = 30;
/**
 * A source that meets its claim reaches this in one of 2^60 samples or windows, which at 100 Mbit/s is once
 * in 365 years; nothing else than a failure explains it (jitterentropy's permanent grade is the same).
 */
const PERMANENT_ALPHA_BITS = 60;
/** §4.4.2: the window of a binary source. */
const APT_WINDOW = 1024;
/** §4.3: startup tests run over at least 1,024 consecutive samples. Nothing is released before. */
const STARTUP_SAMPLES = 1024;
/**
 * Reads that fail in a row before it is permanent. A source that meets its claim fails a read of 4 Mbit with
 * probability 2^22 · 2^-30 = 2^-8 (RCT; APT windows add 2^-18), five in a row with 2^-40: the least alpha
 * that §4.4 names for calling a source broken.
 */
const INTERMITTENT_READS_MAX = 5;
/**
 * Digests of past reads that are remembered. A provider that answers from a cache or a stale job repeats a
 * recent result; 64 reads of 4 Mbit are 32 MiB of raw noise.
 */
const REMEMBERED_READS = 64;
/** Two different reads of a source that meets its claim agree with probability 2^-(assessed bits). */
const REPLAY_ASSESSED_BITS_MIN = INTERMITTENT_ALPHA_BITS + Math.log2(REMEMBERED_READS);

export type HealthGrade = 'pass' | 'intermittent' | 'permanent';
type HealthTest = 'rct' | 'apt' | 'startup' | 'replay';

export interface HealthFailure {
  readonly test: HealthTest;
  readonly grade: 'intermittent' | 'permanent';
  /** The channel that failed; null where the whole read did. */
  readonly channel: number | null;
  /**
   * What was seen: the run's length, the window's matches, the samples so far, or how many reads ago (0:
   * within this one).
   */
  readonly observed: number;
  /**
   * The cutoff that was reached; for startup, the samples that are needed; for replay, the reads remembered.
   */
  readonly cutoff: number;
}

/** What one read showed. Plain JSON: lots keep it. */
export interface HealthCounters {
  /** Raw bits tested: shots times channels; 0 for a read that was refused unseen. */
  readonly samples: number;
  readonly rctFailures: number;
  readonly aptFailures: number;
  readonly startupFailures: number;
  readonly replayFailures: number;
  /** The longest run of equal bits on any channel, with what earlier reads began. */
  readonly longestRun: number;
  /** The most matches with its first bit in any window of any channel, windows under way included. */
  readonly mostMatches: number;
}

export interface HealthVerdict {
  readonly grade: HealthGrade;
  readonly failures: readonly HealthFailure[];
  readonly counters: HealthCounters;
}

/** Where the monitor stands. Plain JSON, for /v1/health. */
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
  /** The maxima are over all reads. */
  readonly totals: HealthCounters;
  /** What closed the source; empty while it is open. */
  readonly latchedBy: readonly HealthFailure[];
}

/**
 * RCT cutoff C = 1 + ceil(-log2(alpha) / H) (SP 800-90B §4.4.1), for alpha = 2^-alphaBits and H in (0, 1].
 */
export function rctCutoff(minEntropyPerBit: number, alphaBits: number): number {
  return 1 + Math.ceil(alphaBits / minEntropyPerBit);
}

/**
 * APT cutoff C = 1 + CRITBINOM(W, 2^-H, 1 - alpha) (SP 800-90B §4.4.2): CRITBINOM is the least k with P(X <=
 * k) >= 1 - alpha, that is P(X > k) <= alpha, for X ~ Binomial(W, 2^-H). The upper tail is summed from its
 * smallest term, each term taken relative to alpha from its logarithm, so nothing cancels and nothing
 * underflows.
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
 * How often one read of a source that meets its claim makes a test fail, at most: the union over its samples
 * (RCT) and its windows (APT). A window's chance is up to 2 alpha, since its first bit, which B counts,
 * always matches itself: P(1 + Bin(W - 1, p) >= C) <= P(Bin(W, p) >= C) / p, and p >= 1/2.
 */
export function falseAlarmChance({ shots, width }: Pick<RawRead, 'shots' | 'width'>): number {
  const windows = (Math.ceil(shots / APT_WINDOW) + 1) * width;
  return Math.min(1, (shots * width + 2 * windows) * 2 ** -INTERMITTENT_ALPHA_BITS);
}

/**
 * Bits tested between two turns of the event loop: below 1 ms, where a lot of 4 Mbit took 21 ms in one go.
 */
const SLICE_BITS = 128 * 1024;

interface MonitoredSource {
  readonly width: number;
  /** In (0, 1]: what the source claims for each bit of each channel. */
  readonly minEntropyPerBit: number;
  /** Knows the bits of other sources too; its own without it. */
  readonly copies?: CopyTest | undefined;
}

/**
 * The tests of one source with one channel layout. State runs on from read to read: reads are consecutive
 * samples.
 */
export class HealthMonitor {
  readonly #width: number;
  readonly #minEntropyPerBit: number;
  readonly #rct: Cutoffs;
  readonly #apt: Cutoffs;

  // Per channel: the run and the window under way, and what this read showed.
  readonly #lastBit: Uint8Array;
  readonly #run: Int32Array;
  readonly #windowFirst: Uint8Array;
  readonly #windowOnes: Uint16Array;
  readonly #longestRun: Int32Array;
  readonly #mostMatches: Uint16Array;
  /** Samples of the window under way; channels advance together, a shot at a time. */
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
    // A run ends at the permanent cutoff or, at the latest, with the read that reaches it (at most 2^28
    // bits).
    assert(this.#rct.permanent < 2 ** 30, 'a claim so small that runs outgrow 32 bits cannot be tested');
    this.#copies = copies ?? new CopyTest(minEntropyPerBit);
    this.#lastBit = new Uint8Array(width);
    this.#run = new Int32Array(width);
    this.#windowFirst = new Uint8Array(width);
    this.#windowOnes = new Uint16Array(width);
    this.#longestRun = new Int32Array(width);
    this.#mostMatches = new Uint16Array(width);
  }

  /** Tests every bit of the next read. Bits may be used only when the grade is `pass`. */
  check(read: RawRead): HealthVerdict {
    const steps = this.#check(read);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }

  /**
   * The same with turns of the event loop between slices, so that requests are served meanwhile. One read at
   * a time.
   */
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
    // Only of bits that no other test has refused: what a stuck channel repeats is not a copy.
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
    // A startup that lacks samples is not a sign of a failure, and none of health either: it does not count.
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
    // The window that alarmed is over: its rest, in later reads, is not the same alarm again.
    if (failures.some(({ test }) => test === 'apt')) this.#windowFilled = 0;
    const startup = this.#startupFailure(read.shots, failures.length > 0);
    if (startup !== undefined) failures.push(startup);
    return failures;
  }

  /**
   * Runs one channel through `shots` shots that lie within one window. RCT (§4.4.1): B counts the run, and
   * the test fails at B >= C. APT (§4.4.2): the window's first bit is A, and B counts the bits equal to it,
   * itself included. B only grows, so looking at the end of the window or of the read sees every B >= C.
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
      // run + 1 when bit equals last, else 1, without a branch that random bits would mispredict.
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

  /** §4.3: until 1,024 consecutive samples of every channel have passed, nothing may be used. */
  #startupFailure(shots: number, failed: boolean): HealthFailure | undefined {
    if (this.#startupSamples >= STARTUP_SAMPLES) return undefined;
    this.#startupSamples = failed ? 0 : this.#startupSamples + shots;
    // A failure is reported by its own test.
    if (failed || this.#startupSamples >= STARTUP_SAMPLES) return undefined;
    return wholeReadFailed('startup', this.#startupSamples, STARTUP_SAMPLES);
  }

  /**
   * The same bits as a recent read: a cached answer, a stale job, a stuck buffer. Intermittent, since a retry
   * that reaches the source heals it and the copy is discarded; a source that goes on repeating is latched by
   * the count in a row. Compared by a hash of the bits, since providers wrap one result in differing
   * envelopes.
   */
  #replayFailure(read: RawRead): HealthFailure | undefined {
    if (read.shots * read.width * this.#minEntropyPerBit < REPLAY_ASSESSED_BITS_MIN) return undefined;
    const digest = hash('sha256', read.bits, 'hex');
    const readsAgo = this.#remembered.indexOf(digest) + 1;
    this.#remembered = [digest, ...this.#remembered.slice(0, REMEMBERED_READS - 1)];
    return readsAgo === 0 ? undefined : wholeReadFailed('replay', readsAgo, REMEMBERED_READS);
  }

  /** Bits that came before, not all of a read or at another shift: intermittent for the same reason. */
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
