/**
 * SP 800-22 on 10^6 bits: each test and the whole battery, one core.
 *   node bench/stats.bench.ts                  table of medians, JSON in bench/out/stats.json
 *   node bench/stats.bench.ts --verdict 2000   how often good sequences (ChaCha20) are rejected
 */
import { createCipheriv } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Bench } from 'tinybench';
import { BATTERY_BITS, runBattery, type TestRow } from '../src/stats/sp800-22/battery.ts';
import {
  blockFrequencyTest,
  frequencyTest,
  longestRunTest,
  rankTest,
  runsTest,
} from '../src/stats/sp800-22/counting.ts';
import { linearComplexityTest } from '../src/stats/sp800-22/linear-complexity.ts';
import { approximateEntropyTest, countPatterns, serialTest } from '../src/stats/sp800-22/patterns.ts';
import { type BitSequence, bitSequence } from '../src/stats/sp800-22/sequence.ts';
import { spectralTest } from '../src/stats/sp800-22/spectral.ts';
import { nonOverlappingTemplateTest, overlappingTemplateTest } from '../src/stats/sp800-22/templates.ts';
import { universalParameters, universalTest } from '../src/stats/sp800-22/universal.ts';
import { verdict } from '../src/stats/sp800-22/verdict.ts';
import {
  cumulativeSumsTest,
  randomExcursionsTest,
  randomExcursionsVariantTest,
  walkOf,
} from '../src/stats/sp800-22/walk.ts';
import { verdictAcross } from '../test/support/bit-sequences.ts';

const BITS = BATTERY_BITS;

/** Consecutive blocks of 125,000 bytes of one ChaCha20 keystream: key 0, nonce [100, 0 ...], counter 0. */
function* goodSequences(): Generator<Uint8Array> {
  const iv = Buffer.alloc(16);
  iv[4] = 100;
  const cipher = createCipheriv('chacha20', Buffer.alloc(32), iv);
  const zeros = Buffer.alloc(BITS / 8);
  for (;;) yield cipher.update(zeros);
}

function take(count: number): Uint8Array[] {
  const source = goodSequences();
  return Array.from({ length: count }, () => source.next().value);
}

async function timeTests(): Promise<void> {
  const packed = take(4);
  const sequences = packed.map((bytes) => bitSequence(bytes, BITS));
  let turn = 0;
  const next = (): BitSequence => sequences[turn++ % sequences.length];
  const parameters = universalParameters(BITS);
  const walks = sequences.map(walkOf);
  const nextWalk = () => walks[turn++ % walks.length];
  const patterns = sequences.map((bits) => countPatterns(bits, 16));
  const nextPatterns = () => patterns[turn++ % patterns.length];

  const bench = new Bench({ time: 600, warmupTime: 300 })
    .add('packing into words', () => bitSequence(packed[turn++ % packed.length], BITS))
    .add('Frequency', () => frequencyTest(next()))
    .add('BlockFrequency', () => blockFrequencyTest(next(), 128))
    .add('walk (for the next three)', () => walkOf(next()))
    .add('CumulativeSums', () => cumulativeSumsTest(nextWalk(), BITS))
    .add('RandomExcursions', () => randomExcursionsTest(nextWalk()))
    .add('RandomExcursionsVariant', () => randomExcursionsVariantTest(nextWalk()))
    .add('Runs', () => runsTest(next()))
    .add('LongestRun', () => longestRunTest(next(), 10_000))
    .add('Rank', () => rankTest(next()))
    .add('FFT', () => spectralTest(next()))
    .add('NonOverlappingTemplate x148', () => nonOverlappingTemplateTest(next(), 9, 8))
    .add('OverlappingTemplate', () => overlappingTemplateTest(next(), 9, 1032))
    .add('Universal', () => universalTest(next(), parameters))
    .add('patterns of 16 bits (for the next two)', () => countPatterns(next(), 16))
    .add('Serial', () => serialTest(nextPatterns(), BITS))
    .add('ApproximateEntropy', () => approximateEntropyTest(nextPatterns(), BITS, 10))
    .add('LinearComplexity', () => linearComplexityTest(next(), 500))
    .add('whole battery', () => runBattery(packed[turn++ % packed.length], BITS));
  await bench.run();

  const medians: Record<string, number> = {};
  for (const task of bench.tasks) {
    if (task.result.state !== 'completed') throw new Error(`${task.name}: ${task.result.state}`);
    medians[task.name] = task.result.latency.p50;
  }
  console.table(Object.entries(medians).map(([test, ms]) => ({ test, 'median ms': Number(ms.toFixed(3)) })));
  mkdirSync(new URL('out/', import.meta.url), { recursive: true });
  const report = JSON.stringify({ bits: BITS, node: process.version, medianMs: medians }, null, 2);
  writeFileSync(new URL('out/stats.json', import.meta.url), `${report}\n`);
}

/** The false-reject rates that src/stats/sp800-22/verdict.ts states, measured again. */
function countRejects(count: number, constants: 'corrected' | 'reference'): void {
  const source = goodSequences();
  const histogram: number[] = [];
  const batches: (readonly TestRow[])[][] = [];
  let rejected = 0;
  let withoutExcursions = 0;
  for (let i = 0; i < count; i++) {
    const { rows, total } = runBattery(source.next().value, BITS, constants);
    const { passed, failures, smallestP } = verdict(rows);
    if (!passed) {
      rejected++;
      console.log(`sequence ${i} rejected: ${failures} rows below 0.01, smallest p ${smallestP}`);
    }
    if (total === 162) withoutExcursions++;
    histogram[failures] = (histogram[failures] ?? 0) + 1;
    if (i % 100 === 0) batches.push([]);
    batches[batches.length - 1].push(rows);
  }
  const alarms = batches.filter((batch) => !verdictAcross(batch).passed).length;
  const all = verdictAcross(batches.flat());
  console.log({
    constants,
    count,
    rejected,
    withoutExcursions,
    failures: Array.from(histogram, (n) => n ?? 0),
  });
  console.log(
    `batches of 100 rejected: ${alarms} of ${batches.length}; all ${count} together: ${all.passed}`,
  );
}

const { values } = parseArgs({ options: { verdict: { type: 'string' } } });
if (values.verdict === undefined) await timeTests();
else
  for (const constants of ['reference', 'corrected'] as const)
    countRejects(Number(values.verdict), constants);
