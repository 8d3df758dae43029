import { ALPHA, TEST_NAMES, type TestRow } from '../stats/sp800-22/battery.ts';
import { ESTIMATORS } from '../stats/sp800-90b/assess.ts';
import { facts, table } from './command.ts';
import type { FileAssessment } from './file-assessment.ts';

/** Rows below 0.01 that a report lists; a broken source has nearly all of them. */
const LISTED_MAX = 24;

/** The assessment for a person: what was tested, each test, the verdict and its rule, the entropy, and what it means. */
export function readable(assessment: FileAssessment): string {
  const { sequences, first, across, passed } = assessment;
  const parts = [
    facts({
      file: assessment.path,
      tested: `${sequences === 1 ? 'one sequence' : `${sequences} sequences`} of 1,000,000 bits`,
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
  'all. It is no certification by NIST. docs/evidence.md explains each figure.\n';

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
