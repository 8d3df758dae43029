import { createHash } from 'node:crypto';
import { assert } from '../core/assert.ts';
import {
  ALPHA,
  BATTERY_BITS,
  type BatteryResult,
  runBattery,
  TEST_NAMES,
} from '../stats/sp800-22/battery.ts';
import type { Constants } from '../stats/sp800-22/sequence.ts';
import { SequenceTally, verdict, verdictOnRejections } from '../stats/sp800-22/verdict.ts';
import { assessBits, ESTIMATORS, type NonIidAssessment } from '../stats/sp800-90b/assess.ts';
import { oneOf, wholeNumber } from './arguments.ts';
import { type BitForm, sequencesOf } from './bit-file.ts';
import { action, CommandError, type Given, INTERRUPTED, type OptionTable, UsageError } from './command.ts';
import { assessDossier, type DossierOptions } from './entropy-dossier.ts';
import type { Part } from './text.ts';

const OPTIONS = {
  constants: {
    value: 'corrected|reference',
    meaning:
      'corrected (default): corrected constants of the tests; reference: the constants of NIST’s sts-2.1.2 with their errors',
    read: oneOf(['corrected', 'reference']),
  },
  sequences: {
    value: 'N',
    meaning: 'maximum number of sequences to test, from the start of the file; default: all',
    read: wholeNumber(1),
  },
  ascii: { meaning: 'the file contains the characters 0 and 1; white space is ignored' },
  symbolBits: {
    value: 'N',
    meaning:
      'FILE contains one symbol of 1 to 8 bits per byte; only SP 800-90B is run, on the first 1,000,000 symbols',
    read: wholeNumber(1, 8),
  },
  restarts: {
    value: 'FILE',
    meaning:
      'file with 1,000 restarts of 1,000 symbols each, in the format of FILE, for the restart tests of SP 800-90B 3.1.4',
  },
  claim: { value: 'H', meaning: 'min-entropy per symbol in bits that the manufacturer of the source claims' },
  json: { meaning: 'print one JSON object: sp800_22, sp800_90b and the tested file' },
} as const satisfies OptionTable;

export const assess = action({
  path: 'assess',
  summary:
    'Runs the tests of SP 800-22 and SP 800-90B on a file of bits, eight bits per byte, the most significant bit first.',
  operands: [
    {
      name: 'FILE',
      meaning:
        'file with at least 1,000,000 bits (125,000 bytes); a larger file is tested in sequences of 1,000,000 bits',
    },
  ],
  options: OPTIONS,
  run: async (input, context) => {
    const { ascii, constants = 'corrected', sequences = Number.POSITIVE_INFINITY, operands } = input;
    const [path] = operands;
    const dossier = dossierOptions(input);
    if (dossier !== undefined) return assessDossier(path, dossier);
    const assessment = await assessFile(path, {
      form: ascii ? 'ascii' : 'packed',
      constants,
      sequencesMax: sequences,
      interrupted: context.interruption(),
    });
    const status = assessment.isPartial ? INTERRUPTED : 0;
    return { data: described(assessment), shown: shownOf(assessment), status };
  },
});

/** Returns the options that ask for the SP 800-90B dossier; undefined when none is given. */
function dossierOptions(input: Given<typeof OPTIONS>): DossierOptions | undefined {
  const { symbolBits, restarts, claim } = input;
  if (symbolBits === undefined && restarts === undefined && claim === undefined) return undefined;
  const stray = (['constants', 'sequences', 'ascii'] as const).find((name) => input[name] !== undefined);
  if (stray !== undefined)
    throw new UsageError(`--${stray} must not be combined with --symbol-bits, --restarts or --claim`);
  const claimed = claim === undefined ? undefined : Number(claim);
  const claimMax = symbolBits ?? 1;
  if (claimed !== undefined && !(claimed > 0 && claimed <= claimMax)) {
    throw new UsageError(`--claim must be above 0 and at most ${claimMax}, the number of bits per symbol`);
  }
  return { symbolBits, restarts, claim: claimed };
}

/** Moves the cursor to the start of the line and erases the line (ECMA-48 EL). */
const CLEAR_LINE = '\r\u001b[K';

/**
 * Overwrites the line of progress. Does nothing unless stderr is a terminal: in a pipe or a log file the line is noise.
 */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`${CLEAR_LINE}${text}`);
}

function word(passed: boolean): 'pass' | 'fail' {
  return passed ? 'pass' : 'fail';
}

/**
 * Returns what --json prints. `rows`, `passed` and `total` are those of the first sequence; `verdict` is that of the
 * file.
 */
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

/** The results of the tests on a file. */
type FileAssessment = Awaited<ReturnType<typeof assessFile>>;

interface AssessOptions {
  readonly form: BitForm;
  readonly constants: Constants;
  /** The most sequences to test, at least 1; may be infinite. */
  readonly sequencesMax: number;
  /** When aborted, ends the assessment after the sequence that is being tested. */
  readonly interrupted: AbortSignal;
}

/**
 * Tests the file in sequences of 10^6 bits, and ignores an incomplete one at its end. Throws a CommandError for a file
 * with fewer than 10^6 bits.
 */
async function assessFile(path: string, options: AssessOptions) {
  const { form, constants, sequencesMax, interrupted } = options;
  const hash = createHash('sha256');
  const tally = new SequenceTally();
  let first: ReturnType<typeof assessSequence> | undefined;
  let sequences = 0;
  let rejected = 0;
  let isPartial = false;
  for await (const { bytes, bitLength } of sequencesOf(path, form, BATTERY_BITS)) {
    if (bitLength < BATTERY_BITS) {
      if (first !== undefined) break;
      const held = bitLength.toLocaleString('en');
      throw new CommandError(
        `${path} contains ${held} bits, but at least 1,000,000 are required (125,000 packed bytes)`,
      );
    }
    isPartial = first !== undefined && interrupted.aborted;
    if (isPartial) break;
    hash.update(bytes);
    const battery = runBattery(bytes, BATTERY_BITS, constants);
    const decision = verdict(battery.rows);
    tally.add(battery.rows);
    sequences++;
    if (!decision.passed) rejected++;
    progress(`${sequences} sequences tested, ${rejected} rejected`);
    first ??= assessSequence(bytes, battery);
    if (sequences === sequencesMax) break;
  }
  progress('');
  assert(first !== undefined, 'a file without a whole sequence was refused above');

  const across =
    sequences === 1 ? null : { rows: tally.verdict(), rejections: verdictOnRejections(sequences, rejected) };
  const passed = across === null ? first.verdict.passed : across.rows.passed && across.rejections.passed;
  return {
    path,
    constants,
    sequences,
    /** The SHA-256 of all tested sequences, packed, in hex. */
    sha256: hash.digest('hex'),
    /**
     * Whether an interruption came before the end of the file. The report is then on the sequences tested until then.
     */
    isPartial,
    first,
    /** The verdicts across all sequences; null when there is only one. */
    across,
    /** For one sequence, its verdict. For several, whether both verdicts across them passed. */
    passed,
  };
}

/** Runs the estimators on the first sequence. */
function assessSequence(bytes: Uint8Array, battery: BatteryResult) {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { battery, verdict: verdict(battery.rows), sha256, entropy: assessBits(bytes, BATTERY_BITS) };
}

/** The most rows below 0.01 that a report lists. Nearly all rows of a broken source are. */
const LISTED_MAX = 24;

/**
 * Returns the report for a person: what was tested, each test, the verdict and its rule, the entropy and what it means.
 */
function shownOf(assessment: FileAssessment): Part[] {
  const { sequences, first, across, passed, isPartial } = assessment;
  const { battery, entropy } = first;
  const ofFirst = across === null ? '' : ', first sequence';
  const tested = sequences === 1 ? 'one sequence' : `${sequences} sequences`;
  const rule =
    across === null
      ? `${first.verdict.rule}; rejects at most ${1000 * first.verdict.falseRejectRate} of 1000 good sequences`
      : `${across.rows.rule}; ${across.rejections.rule}`;
  return [
    {
      file: assessment.path,
      tested: `${tested} of 1,000,000 bits${isPartial ? '; interrupted before the end of the file' : ''}`,
      sha256: assessment.sha256,
      constants: assessment.constants,
    },
    `SP 800-22 rev 1a${ofFirst}`,
    testsOf(battery),
    ...listed(
      battery.rows.filter(({ pValue }) => pValue < ALPHA).sort((a, b) => a.pValue - b.pValue),
      ({ test, subtest, pValue }) => ({ 'below 0.01': test, subtest, p: pValue.toPrecision(4) }),
    ),
    ...(across === null ? [] : acrossOf(across)),
    `verdict: ${passed ? 'pass' : 'FAIL'}\nrule: ${rule}`,
    `SP 800-90B 6.3, non-IID estimators${ofFirst}`,
    estimatesOf(entropy),
    `min-entropy per bit: ${entropy.minEntropyPerBit.toFixed(6)}, the lowest of these estimates; an ideal source scores about 0.85`,
    MEANING,
  ];
}

const MEANING =
  'Explanation: statistical tests can refute randomness, but they cannot prove it. Even a weak deterministic generator passes\n' +
  'all of them. The result is not a certification by NIST. docs/evidence.md explains each figure.';

function testsOf({ rows, notApplicable, passed, total }: BatteryResult): object[] {
  const tests = TEST_NAMES.map((test) => {
    const reason = notApplicable.find((each) => each.test === test)?.reason;
    const pValues = rows.filter((row) => row.test === test).map(({ pValue }) => pValue);
    const above = `${pValues.filter((p) => p >= ALPHA).length}/${pValues.length}`;
    return reason === undefined
      ? { test, 'p >= 0.01': above, 'smallest p': Math.min(...pValues).toPrecision(4) }
      : { test, 'p >= 0.01': null, 'smallest p': `not applicable: ${reason}` };
  });
  const least = Math.min(...rows.map(({ pValue }) => pValue)).toPrecision(4);
  return [...tests, { test: 'all rows', 'p >= 0.01': `${passed}/${total}`, 'smallest p': least }];
}

/** Returns a table of the first rows and a line that says how many more there are. */
function listed<T>(rows: readonly T[], shown: (row: T) => object): Part[] {
  const more = rows.length - LISTED_MAX;
  return [rows.slice(0, LISTED_MAX).map(shown), more > 0 ? `and ${more} more` : ''];
}

function acrossOf({ rows, rejections }: NonNullable<FileAssessment['across']>): Part[] {
  const failed = rows.rows.filter((row) => !row.passed);
  const { sequences, rejected, p } = rejections;
  return [
    {
      'sequences rejected': `${rejected} of ${sequences} (chance of so many or more: ${p.toPrecision(3)})`,
      'rows that fail across': `${failed.length} of ${rows.rows.length} (p below ${rows.threshold.toPrecision(3)})`,
    },
    ...listed(failed, (row) => ({
      'fails across': row.test,
      subtest: row.subtest,
      'below 0.01': `${row.failures}/${row.sequences}`,
      'proportion p': row.proportionP.toPrecision(3),
      'uniformity p': row.uniformityP.toPrecision(3),
    })),
  ];
}

function estimatesOf({ estimators }: NonIidAssessment): object[] {
  return ESTIMATORS.map((estimator) => ({
    estimator,
    'bits per bit': estimators[estimator]?.toFixed(6) ?? 'does not apply',
  }));
}
