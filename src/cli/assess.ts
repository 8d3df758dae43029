import { BATTERY_BITS } from '../stats/sp800-22/battery.ts';
import { oneOf, wholeNumber } from './arguments.ts';
import { readable } from './assess-report.ts';
import { openBitFile } from './bit-file.ts';
import { action, type CommandContext, json, UsageError } from './command.ts';
import { assessFile, type FileAssessment } from './file-assessment.ts';
import { Progress } from './progress.ts';

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
    json: { meaning: 'one JSON object: sp800_22, sp800_90b and what they were run on' },
  },
  run: async (input, context) => {
    const path = input.operands[0];
    const file = await openBitFile(path, input.has('ascii') ? 'ascii' : 'packed', BATTERY_BITS);
    try {
      const assessment = await assessFile(file, path, {
        constants: oneOf('constants', input.option('constants') ?? 'corrected', ['corrected', 'reference']),
        sequencesMax: sequencesMax(input.option('sequences')),
        progress: progressOf(context),
      });
      context.out(input.has('json') ? json(described(assessment)) : readable(assessment));
    } finally {
      await file.close();
    }
    return 0;
  },
});

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
function described({ constants, sequences, sha256, first, across, passed }: FileAssessment) {
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
