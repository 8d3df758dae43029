import { BATTERY_BITS, runBattery, type TestRow } from '../src/stats/sp800-22/battery.ts';
import { verdict } from '../src/stats/sp800-22/verdict.ts';
import { verdictAcross } from '../test/support/bit-sequences.ts';
import { summarize } from '../test/support/statistics.ts';
import { keystream } from './support/keystream.ts';
import type { BenchRun, Report, Row, Suite } from './support/suite.ts';

/** Count of sequences that are judged together. */
const TOGETHER = 100;

/** Measures again the rates that src/stats/sp800-22/verdict.ts states. A round is a sequence. */
export const falseRejects: Suite = {
  name: 'false-rejects',
  summary: 'how often SP 800-22 rejects good sequences (ChaCha20), of which --rounds says how many',
  byDefault: false,
  async run(run): Promise<Report> {
    return {
      tables: [
        {
          title: `SP 800-22 on ${run.rounds} good sequences of ${BATTERY_BITS} bits`,
          note: 'rows below 0.01: sequences by how many of their rows are, from none on.',
          columns: ['rejected', 'without excursions', `${TOGETHER} together rejected`, 'all together'].map(
            (title) => ({ title }),
          ),
          rows: (['reference', 'corrected'] as const).map((constants) => judged(run, constants)),
        },
      ],
    };
  },
};

function judged({ rounds, talk }: BenchRun, constants: 'corrected' | 'reference'): Row {
  const next = keystream(100);
  const histogram: number[] = [];
  const batches: (readonly TestRow[])[][] = [];
  let rejected = 0;
  let withoutExcursions = 0;
  for (let i = 0; i < rounds; i++) {
    const { rows, total } = runBattery(next(BATTERY_BITS / 8), BATTERY_BITS, constants);
    const { passed, failures, smallestP } = verdict(rows);
    if (!passed) {
      rejected++;
      talk(`sequence ${i} rejected: ${failures} rows below 0.01, smallest p ${smallestP}`);
    }
    if (total === 162) withoutExcursions++;
    histogram[failures] = (histogram[failures] ?? 0) + 1;
    if (i % TOGETHER === 0) batches.push([]);
    batches[batches.length - 1].push(rows);
  }
  const alarms = batches.filter((batch) => !verdictAcross(batch).passed).length;
  const all = verdictAcross(batches.flat()).passed ? 'pass' : 'rejected';
  talk(`${constants}: rows below 0.01: ${Array.from(histogram, (count) => count ?? 0).join(', ')}`);
  const counts = [rejected, withoutExcursions, alarms].map((count) => summarize([count]));
  return { label: constants, cells: [...counts, all] };
}
