/**
 * SP 800-90B on 10^6 bits: each estimator and the whole assessment, one core.
 *   node bench/sp800-90b.bench.ts            table of medians, JSON in bench/out/sp800-90b.json
 *   node bench/sp800-90b.bench.ts --bytes    one assessment of 10^6 bytes besides
 *   node bench/sp800-90b.bench.ts --memory   what one assessment of 10^6 bits adds to the resident set
 *   node bench/sp800-90b.bench.ts --worst    the suffix sort on 10^6 bits of bad sources
 */
import { createCipheriv } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Bench } from 'tinybench';
import { unpackBits } from '../src/stats/sp800-90b/alphabet.ts';
import { assessBits, assessNonIid } from '../src/stats/sp800-90b/assess.ts';
import { collision, compression, markov, mostCommonValue } from '../src/stats/sp800-90b/closed-forms.ts';
import { additionalIidTests } from '../src/stats/sp800-90b/iid.ts';
import { lag, lz78y, multiMcw, multiMmc } from '../src/stats/sp800-90b/predictors.ts';
import {
  longestRepeatedSubstring,
  repeatedSubstrings,
  tTuple,
} from '../src/stats/sp800-90b/repeated-substrings.ts';
import { restartCutoff } from '../src/stats/sp800-90b/restart.ts';

const SAMPLES = 1_000_000;

/** ChaCha20 keystream: key 0, nonce [100, 0 ...], counter 0. */
function keystream(length: number): Uint8Array {
  const iv = Buffer.alloc(16);
  iv[4] = 100;
  return createCipheriv('chacha20', Buffer.alloc(32), iv).update(Buffer.alloc(length));
}

async function timeEstimators(): Promise<void> {
  const packed = Array.from({ length: 4 }, (_, i) =>
    keystream((SAMPLES / 8) * 4).subarray((i * SAMPLES) / 8, ((i + 1) * SAMPLES) / 8),
  );
  const sequences = packed.map((bytes) => unpackBits(bytes, SAMPLES));
  const repeats = sequences.map((bits) => repeatedSubstrings(bits, 1));
  let turn = 0;
  const next = () => sequences[turn++ % sequences.length];
  const nextRepeats = () => repeats[turn++ % repeats.length];

  const bench = new Bench({ time: 1500, warmupTime: 500, iterations: 5 })
    .add('unpacking', () => unpackBits(packed[turn++ % packed.length], SAMPLES))
    .add('Most Common Value', () => mostCommonValue(next(), 2))
    .add('Collision', () => collision(next()))
    .add('Markov', () => markov(next()))
    .add('Compression', () => compression(next()))
    .add('repeated substrings (for the next two)', () => repeatedSubstrings(next(), 1))
    .add('t-Tuple', () => tTuple(nextRepeats()))
    .add('LRS', () => longestRepeatedSubstring(nextRepeats()))
    .add('MultiMCW Prediction', () => multiMcw(next(), 2))
    .add('Lag Prediction', () => lag(next(), 2))
    .add('MultiMMC Prediction', () => multiMmc(next(), 2))
    .add('LZ78Y Prediction', () => lz78y(next(), 2))
    .add('whole assessment', () => assessBits(packed[turn++ % packed.length], SAMPLES))
    .add('IID: chi-square and repeat length', () => additionalIidTests(next()))
    .add('restart cutoff', () => restartCutoff(0.85));
  await bench.run();

  const medians: Record<string, number> = {};
  for (const task of bench.tasks) {
    if (task.result.state !== 'completed') throw new Error(`${task.name}: ${task.result.state}`);
    medians[task.name] = task.result.latency.p50;
  }
  console.table(Object.entries(medians).map(([task, ms]) => ({ task, 'median ms': Number(ms.toFixed(2)) })));
  mkdirSync(new URL('out/', import.meta.url), { recursive: true });
  const report = JSON.stringify({ samples: SAMPLES, node: process.version, medianMs: medians }, null, 2);
  writeFileSync(new URL('out/sp800-90b.json', import.meta.url), `${report}\n`);
}

function timeBytes(): void {
  const symbols = keystream(SAMPLES);
  const startedAt = performance.now();
  const { hOriginal, hBitstring } = assessNonIid(symbols, 8);
  console.log({ seconds: (performance.now() - startedAt) / 1000, hOriginal, hBitstring });
}

/** The highest resident set of the process before and after: an upper bound of what one assessment needs. */
function measureMemory(): void {
  const packed = keystream(SAMPLES / 8);
  const before = process.resourceUsage().maxRSS;
  assessBits(packed, SAMPLES);
  console.log({ addedMiB: (process.resourceUsage().maxRSS - before) / 1024 });
}

/** Sources that repeat themselves, which is what costs the suffix sort most. */
function timeWorst(): void {
  const noise = keystream(SAMPLES);
  const sources: Record<string, (index: number) => number> = {
    good: (i) => noise[i] & 1,
    'one 1 in 256': (i) => Number(noise[i] === 0),
    'zeros, then a 1': (i) => Number(i === SAMPLES - 1),
    alternating: (i) => i & 1,
    'replayed once': (i) => noise[i % (SAMPLES / 2)] & 1,
    'replayed every 1,000': (i) => noise[i % 1000] & 1,
  };
  const rows = Object.entries(sources).map(([source, bit]) => {
    const bits = Uint8Array.from({ length: SAMPLES }, (_, i) => bit(i));
    const startedAt = performance.now();
    repeatedSubstrings(bits, 1);
    return { source, ms: Math.round(performance.now() - startedAt) };
  });
  console.table(rows);
}

const flag = { type: 'boolean' } as const;
const { values } = parseArgs({ options: { bytes: flag, memory: flag, worst: flag } });
if (values.memory) measureMemory();
else if (values.worst) timeWorst();
else {
  await timeEstimators();
  if (values.bytes) timeBytes();
}
