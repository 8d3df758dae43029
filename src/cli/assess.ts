import { createHash } from 'node:crypto';
import type { Clock } from '../core/clock.ts';
import {
  ALPHA,
  BATTERY_BITS,
  type BatteryResult,
  runBattery,
  TEST_NAMES,
  type TestRow,
} from '../stats/sp800-22/battery.ts';
import type { Constants } from '../stats/sp800-22/sequence.ts';
import {
  type RejectionVerdict,
  SequenceTally,
  type Verdict,
  type VerdictAcross,
  verdict,
  verdictOnRejections,
} from '../stats/sp800-22/verdict.ts';
import { assessBits, ESTIMATORS, type NonIidAssessment } from '../stats/sp800-90b/assess.ts';
import { type BitFile, openBitFile } from './bit-file.ts';
import {
  action,
  type CommandContext,
  CommandError,
  facts,
  type Input,
  json,
  oneOf,
  table,
  UsageError,
  wholeNumber,
} from './command.ts';
import { assessDossier, type DossierOptions, describedDossier, readableDossier } from './entropy-dossier.ts';

export const assess = action({
  path: 'assess',
  summary: 'SP 800-22 and SP 800-90B on a file of bits, packed eight to a byte, most significant first.',
  operands: [
    {
      name: 'FILE',
      meaning: 'at least 1,000,000 bits (125,000 bytes); more are tested in sequences of that',
    },
  ],
  options: {
    constants: {
      value: 'corrected|reference',
      meaning: 'reference: the constants of NIST’s sts-2.1.2, errors included; corrected when not given',
    },
    sequences: { value: 'N', meaning: 'at most this many sequences from the start; all when not given' },
    ascii: { meaning: 'the file holds characters 0 and 1; white space is skipped' },
    'symbol-bits': {
      value: 'N',
      meaning:
        'FILE holds symbols of 1 to 8 bits, one a byte; SP 800-90B on the first 1,000,000, without SP 800-22',
    },
    restarts: {
      value: 'FILE',
      meaning: '1,000 restarts of 1,000 symbols each, in the form of FILE: the tests of SP 800-90B 3.1.4',
    },
    claim: { value: 'H', meaning: 'bits of min-entropy per symbol that the maker of the source claims' },
    json: { meaning: 'one JSON object: sp800_22, sp800_90b and what they were run on' },
  },
  run: async (input, context) => {
    const path = input.operands[0];
    const dossier = dossierOptions(input);
    if (dossier !== undefined) {
      const assessed = await assessDossier(path, dossier);
      context.out(input.has('json') ? json(describedDossier(assessed)) : readableDossier(assessed));
      return 0;
    }
    const file = await openBitFile(path, input.has('ascii') ? 'ascii' : 'packed', BATTERY_BITS);
    try {
      const assessment = await assessFile(file, path, {
        constants: oneOf('constants', input.option('constants') ?? 'corrected', ['corrected', 'reference']),
        sequencesMax: sequencesMax(input.option('sequences')),
        progress: progressOf(context),
        interrupted: context.interruption(),
      });
      context.out(input.has('json') ? json(described(assessment)) : readable(assessment));
      return assessment.isPartial ? INTERRUPTED : 0;
    } finally {
      await file.close();
    }
  },
});

/** What a shell makes of a command that SIGINT ended. */
const INTERRUPTED = 130;

/** What is asked of the entropy source alone; undefined when nothing is. */
function dossierOptions(input: Input): DossierOptions | undefined {
  const bits = input.option('symbol-bits');
  const restarts = input.option('restarts');
  const claim = input.option('claim');
  if (bits === undefined && restarts === undefined && claim === undefined) return undefined;
  for (const option of ['constants', 'sequences']) {
    if (input.option(option) !== undefined) {
      throw new UsageError(
        `--${option} is for SP 800-22, which is not run with --symbol-bits, --restarts or --claim`,
      );
    }
  }
  if (input.has('ascii'))
    throw new UsageError('--ascii is not read with --symbol-bits, --restarts or --claim');
  const symbolBits = bits === undefined ? 1 : wholeNumber('symbol-bits', bits);
  if (symbolBits < 1 || symbolBits > 8) throw new UsageError('--symbol-bits is 1 to 8');
  const claimed = claim === undefined ? undefined : Number(claim);
  if (claimed !== undefined && !(claimed > 0 && claimed <= symbolBits)) {
    throw new UsageError(`--claim is above 0 and at most ${symbolBits}, the bits of a symbol`);
  }
  return { form: bits === undefined ? 'packed-bits' : { symbolBits }, restarts, claim: claimed };
}

function sequencesMax(given: string | undefined): number {
  if (given === undefined) return Number.POSITIVE_INFINITY;
  const count = wholeNumber('sequences', given);
  if (count === 0) throw new UsageError('--sequences is at least 1');
  return count;
}

/** Drawn on a terminal alone: in a pipe or a log file it would be noise. */
function progressOf({ clock, talk }: CommandContext): Progress {
  return new Progress(clock, process.stderr.isTTY ? talk : () => {});
}

function word(passed: boolean): 'pass' | 'fail' {
  return passed ? 'pass' : 'fail';
}

/** `rows`, `passed` and `total` are those of the first sequence; `verdict` is on the whole. */
function described({ constants, sequences, sha256, first, across, passed, isPartial }: FileAssessment) {
  const { battery, entropy } = first;
  return {
    sp800_22: {
      rows: battery.rows.map(({ test, subtest, pValue }) => ({ test, subtest, p_value: pValue })),
      passed: battery.passed,
      total: battery.total,
      verdict: word(passed),
      rule: across === null ? first.verdict.rule : `${across.rows.rule}; ${across.rejections.rule}`,
      constants,
      not_applicable: battery.notApplicable,
      first_sequence: {
        bits: BATTERY_BITS,
        sha256: first.sha256,
        verdict: word(first.verdict.passed),
        failures: first.verdict.failures,
        smallest_p: first.verdict.smallestP,
      },
      across: across === null ? null : describedAcross(across),
    },
    sp800_90b: {
      estimators: entropy.estimators,
      min_entropy_per_bit: entropy.minEntropyPerBit,
      bits: BATTERY_BITS,
      sha256: first.sha256,
    },
    bits: sequences * BATTERY_BITS,
    sequences,
    sha256,
    partial: isPartial,
  };
}

function describedAcross({ rows, rejections }: NonNullable<FileAssessment['across']>) {
  return {
    sequences: rejections.sequences,
    rejected: rejections.rejected,
    rejected_p: rejections.p,
    rejected_verdict: word(rejections.passed),
    rows_threshold: rows.threshold,
    rows_verdict: word(rows.passed),
    rows: rows.rows.map((row) => ({
      test: row.test,
      subtest: row.subtest,
      sequences: row.sequences,
      failures: row.failures,
      proportion_p: row.proportionP,
      uniformity_p: row.uniformityP,
      chi_squared_p: row.chiSquaredP,
      verdict: word(row.passed),
    })),
  };
}

/**
 * What the tests say of a file. Every sequence has 10^6 bits; what is left over at the end is not looked at.
 */
export interface FileAssessment {
  readonly path: string;
  readonly constants: Constants;
  readonly sequences: number;
  /** Ctrl-C came before the end: the report is on the sequences that were tested. */
  readonly isPartial: boolean;
  /** SHA-256 (hex) of all sequences, packed. */
  readonly sha256: string;
  readonly first: {
    readonly sha256: string;
    readonly battery: BatteryResult;
    readonly verdict: Verdict;
    readonly entropy: NonIidAssessment;
  };
  /** Null for one sequence. */
  readonly across: { readonly rows: VerdictAcross; readonly rejections: RejectionVerdict } | null;
  /** One sequence: its verdict. More: both verdicts across them. */
  readonly passed: boolean;
}

export interface AssessOptions {
  readonly constants: Constants;
  /** At least 1; may be infinite. */
  readonly sequencesMax: number;
  readonly progress: Progress;
  /** Ends the assessment behind the sequence that is being tested. */
  readonly interrupted: AbortSignal;
}

/**
 * Tests sequence by sequence, in memory that does not grow with the file. Throws a CommandError when it is
 * too short.
 */
export async function assessFile(
  file: BitFile,
  path: string,
  options: AssessOptions,
): Promise<FileAssessment> {
  const { constants, sequencesMax, progress, interrupted } = options;
  const hash = createHash('sha256');
  const tally = new SequenceTally();
  let sequences = 0;
  let rejected = 0;
  const test = (bytes: Uint8Array) => {
    hash.update(bytes);
    const battery = runBattery(bytes, BATTERY_BITS, constants);
    const decision = verdict(battery.rows);
    tally.add(battery.rows);
    sequences++;
    if (!decision.passed) rejected++;
    progress.show(
      `${sequences} sequences tested, ${rejected} rejected`,
      fractionDone(file, sequences, sequencesMax),
    );
    return { battery, verdict: decision };
  };

  const head = await file.next();
  if (head.bitLength < BATTERY_BITS) {
    const held = head.bitLength.toLocaleString('en');
    throw new CommandError(
      `${path} holds ${held} bits; at least 1,000,000 are needed (125,000 packed bytes)`,
    );
  }
  const sha256 = createHash('sha256').update(head.bytes).digest('hex');
  const first = { ...test(head.bytes), sha256, entropy: assessBits(head.bytes, BATTERY_BITS) };
  progress.begin(fractionDone(file, sequences, sequencesMax)); // the estimators run once, on the first sequence
  let isPartial = false;
  while (sequences < sequencesMax) {
    const { bytes, bitLength } = await file.next();
    if (bitLength < BATTERY_BITS) break;
    isPartial = interrupted.aborted;
    if (isPartial) break;
    test(bytes);
  }
  progress.clear();

  const isOne = sequences === 1;
  const across = isOne
    ? null
    : { rows: tally.verdict(), rejections: verdictOnRejections(sequences, rejected) };
  const passed = across === null ? first.verdict.passed : across.rows.passed && across.rejections.passed;
  return { path, constants, sequences, sha256: hash.digest('hex'), isPartial, first, across, passed };
}

/** By bytes, so that it holds for text too; by sequences when only so many are asked for. */
function fractionDone(file: BitFile, sequences: number, sequencesMax: number): number | null {
  const ofFile = file.sizeBytes === null ? null : file.readBytes / file.sizeBytes;
  if (sequencesMax === Number.POSITIVE_INFINITY) return ofFile;
  return Math.max(ofFile ?? 0, sequences / sequencesMax);
}

/** Rows below 0.01 that a report lists; a broken source has nearly all of them. */
const LISTED_MAX = 24;

/**
 * The assessment for a person: what was tested, each test, the verdict and its rule, the entropy, and what it
 * means.
 */
export function readable(assessment: FileAssessment): string {
  const { sequences, first, across, passed } = assessment;
  const parts = [
    facts({
      file: assessment.path,
      tested: `${sequences === 1 ? 'one sequence' : `${sequences} sequences`} of 1,000,000 bits${assessment.isPartial ? '; interrupted before the end of the file' : ''}`,
      sha256: assessment.sha256,
      constants: assessment.constants,
    }),
    `SP 800-22 rev 1a${across === null ? '' : ', first sequence'}\n\n${testsOf(assessment)}`,
    failuresOf(first.battery.rows),
  ];
  if (across !== null) parts.push(acrossOf(across));
  const rule =
    across === null
      ? `${first.verdict.rule}; rejects at most ${1000 * first.verdict.falseRejectRate} good sequences of 1000`
      : `${across.rows.rule}; ${across.rejections.rule}`;
  parts.push(`verdict: ${passed ? 'pass' : 'FAIL'}\nrule: ${rule}\n`, entropyOf(assessment), MEANING);
  return parts.filter((part) => part !== '').join('\n');
}

const MEANING =
  'What it means: statistical tests can refute randomness, never prove it. A weak deterministic generator passes them\n' +
  'all. It is not a certification by NIST. docs/evidence.md explains each figure.\n';

function testsOf({ first }: FileAssessment): string {
  const { rows, notApplicable, passed, total } = first.battery;
  const lines = TEST_NAMES.map((test) => {
    const reason = notApplicable.find((each) => each.test === test)?.reason;
    if (reason !== undefined) return [test, '-', `not applicable: ${reason}`];
    const pValues = rows.filter((row) => row.test === test).map(({ pValue }) => pValue);
    const above = pValues.filter((p) => p >= ALPHA).length;
    return [test, `${above}/${pValues.length}`, Math.min(...pValues).toPrecision(4)];
  });
  return table(['TEST', 'P >= 0.01', 'SMALLEST P'], [...lines, ['all rows', `${passed}/${total}`, '']]);
}

function failuresOf(rows: readonly TestRow[]): string {
  const failures = rows.filter(({ pValue }) => pValue < ALPHA).sort((a, b) => a.pValue - b.pValue);
  if (failures.length === 0) return '';
  const listed = failures
    .slice(0, LISTED_MAX)
    .map(({ test, subtest, pValue }) => [test, subtest ?? '', pValue.toPrecision(4)]);
  const more = failures.length - listed.length;
  return table(['BELOW 0.01', '', 'P'], listed) + (more > 0 ? `and ${more} more\n` : '');
}

function acrossOf({ rows, rejections }: NonNullable<FileAssessment['across']>): string {
  const failed = rows.rows.filter((row) => !row.passed);
  const { sequences, rejected, p } = rejections;
  const lines = facts({
    'sequences rejected': `${rejected} of ${sequences} (chance of so many or more: ${p.toPrecision(3)})`,
    'rows that fail across': `${failed.length} of ${rows.rows.length} (p below ${rows.threshold.toPrecision(3)})`,
  });
  const listed = failed
    .slice(0, LISTED_MAX)
    .map((row) => [
      row.test,
      row.subtest ?? '',
      `${row.failures}/${row.sequences}`,
      row.proportionP.toPrecision(3),
      row.uniformityP.toPrecision(3),
    ]);
  const head = ['FAILS ACROSS', '', 'BELOW 0.01', 'PROPORTION P', 'UNIFORMITY P'];
  return listed.length === 0 ? lines : `${lines}\n${table(head, listed)}`;
}

function entropyOf({ first, sequences }: FileAssessment): string {
  const { estimators, minEntropyPerBit } = first.entropy;
  const lines = ESTIMATORS.map((name) => [name, estimators[name]?.toFixed(6) ?? 'does not apply']);
  const of = sequences === 1 ? '' : ', first sequence';
  return (
    `SP 800-90B 6.3, non-IID estimators${of}\n\n${table(['ESTIMATOR', 'BITS PER BIT'], lines)}\n` +
    `min-entropy per bit: ${minEntropyPerBit.toFixed(6)}, the least of them; an ideal source scores about 0.85\n`
  );
}

const INTERVAL_MS = 200;
const BAR_WIDTH = 24;
/** Back to the line's start, and erase it (ECMA-48 EL). */
const CLEAR_LINE = '\r\u001b[K';

/** How far a long command is, in one line of the terminal that is drawn over and gone at the end. */
export class Progress {
  readonly #clock: Clock;
  readonly #draw: (text: string) => void;
  /** When the work began that repeats, and how much was done by then. */
  #beganAtMs: number;
  #beganAt = 0;
  #drawnAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, draw: (text: string) => void) {
    this.#clock = clock;
    this.#draw = draw;
    this.#beganAtMs = clock.monotonicMs();
  }

  /** The time that is left is told by the pace from now on: what was done once tells nothing of it. */
  begin(fraction: number | null): void {
    this.#beganAtMs = this.#clock.monotonicMs();
    this.#beganAt = fraction ?? 0;
  }

  /** `fraction` of the work is done, null when nobody knows; drawn five times a second at most. */
  show(what: string, fraction: number | null): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#drawnAtMs < INTERVAL_MS) return;
    this.#drawnAtMs = nowMs;
    this.#draw(CLEAR_LINE + (fraction === null ? what : `${this.#bar(fraction, nowMs)}  ${what}`));
  }

  clear(): void {
    if (this.#drawnAtMs > Number.NEGATIVE_INFINITY) this.#draw(CLEAR_LINE);
  }

  #bar(fraction: number, nowMs: number): string {
    const filled = Math.floor(BAR_WIDTH * fraction);
    const bar = `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${Math.floor(100 * fraction)} %`;
    const done = fraction - this.#beganAt;
    if (done <= 0) return bar;
    const leftS = Math.ceil(((nowMs - this.#beganAtMs) * (1 - fraction)) / done / 1000);
    return `${bar}, ${leftS < 120 ? `${leftS} s` : `${Math.ceil(leftS / 60)} min`} left`;
  }
}
