import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import type { StreamBackend } from '../../../src/backend/backend.ts';
import { superposition } from '../../../src/backend/circuit.ts';
import { MeasuredQubits } from '../../../src/backend/simulator/qubits.ts';
import { simulatorBackend, simulatorWith } from '../../../src/backend/simulator/simulator.ts';
import { concatBytes, toHex } from '../../../src/core/bytes.ts';
import { fixedBytes } from '../../support/backends.ts';
import { chiSquare } from '../../support/chi-square.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { bitAt } from '../../support/shots.ts';
import { optionValues, sourceOf } from '../../support/source-parts.ts';

const NEVER = new AbortController().signal;
type Texts = { readonly [Name in keyof typeof simulatorBackend.options]?: string };

function fixed(label: string, texts: Texts = {}): StreamBackend {
  const values = optionValues(simulatorBackend, texts);
  return simulatorWith('test', values, new ManualClock(), fixedBytes(label));
}

// Changing one of these is value-breaking: recorded deterministic runs would no longer reproduce.
const GOLDEN: readonly [Texts, string][] = [
  [{}, '17e33a51bc27c26b622461cca097fb90d1291686bc902dbe8ee4d3b105f7'],
  [{ qubits: '5', bias: '0.2' }, 'dfe7bff9b7fed51c62f15dfeba7ebb57ebbafbd2bf912dbebfb7dbedd34d'],
];

for (const [texts, expected] of GOLDEN) {
  test(`the bits are the golden ones with ${JSON.stringify(texts)}`, async () => {
    const { bits } = await fixed('golden', texts).read(240, NEVER);
    assert.equal(toHex(bits), expected);
  });
}

test('the digest is the golden one over many slices: 4 Mbit of the default circuit', async () => {
  const { rawSha256 } = await fixed('golden').read(4 * 1024 * 1024, NEVER);
  assert.equal(rawSha256, '53b985566ee138271c919b131c9878ad1eccf6aeebc2313ddb1fb53865375d1f');
});

test('two consecutive reads equal one longer read', async () => {
  const twice = fixed('joined', { qubits: '16' });
  const first = await twice.read(64 * 1024 * 16, NEVER);
  const second = await twice.read(64 * 1024 * 16, NEVER);
  const once = await fixed('joined', { qubits: '16' }).read(2 * 64 * 1024 * 16, NEVER);
  assert.deepEqual(concatBytes(first.bits, second.bits), once.bits);
});

test('a read states exactly where it came from', async () => {
  const clock = new ManualClock(1_800_000_000_000);
  const backend = sourceOf('stream', simulatorBackend, {}, { name: 'simulator', clock });
  assert.equal(backend.name, 'simulator');
  assert.equal(backend.origin, 'simulated');
  assert.equal(backend.quantumBackend, 'simulator-statevector');
  assert.equal(backend.deterministic, false);
  const read = await backend.read(1000, NEVER);
  assert.equal(read.width, 16);
  assert.equal(read.shots, 63);
  assert.equal(read.bits.length, 126);
  assert.equal(read.rawSha256, hash('sha256', read.bits, 'hex'));
  assert.deepEqual(read.provenance, {
    provider: 'local',
    device: 'statevector',
    jobId: null,
    circuit: 'superposition-16',
    circuitVersion: '1.0.0',
    circuitSha256: superposition(16).sha256,
    qubitsUsed: 16,
    circuitDepth: 2,
    shots: 63,
    startedAtMs: 1_800_000_000_000,
    finishedAtMs: 1_800_000_000_000,
    calibration: {
      readout_e01: new Array(16).fill(0.004),
      readout_e10: new Array(16).fill(0.006),
      bias: 0,
    },
  });
});

test('only fixed bytes make it deterministic; the system source never repeats', async () => {
  assert.equal(fixed('x', { qubits: '2' }).deterministic, true);
  const backend = simulatorWith('simulator', optionValues(simulatorBackend, {}), new ManualClock());
  const [a, b] = [await backend.read(4096, NEVER), await backend.read(4096, NEVER)];
  assert.notDeepEqual(a.bits, b.bits);
});

test('reads are whole shots, and whole bytes if the width divides 8', async () => {
  const shapes = [];
  for (const [width, bits] of [
    [1, 1],
    [2, 9],
    [4, 1],
    [8, 8],
    [3, 10],
    [16, 17],
    [12, 12],
  ]) {
    const read = await fixed('shape', { qubits: `${width}` }).read(bits, NEVER);
    shapes.push([read.width, read.shots, read.bits.length]);
    const used = (read.width * read.shots) % 8;
    if (used !== 0) assert.equal(read.bits.at(-1)! & (0xff >> used), 0, 'padding is zero');
  }
  assert.deepEqual(shapes, [
    [1, 8, 1],
    [2, 8, 2],
    [4, 2, 1],
    [8, 1, 1],
    [3, 4, 2],
    [16, 2, 4],
    [12, 1, 2],
  ]);
  for (const bits of [0, -1, 1.5, 2 ** 28 + 1]) {
    await assert.rejects(fixed('shape', { qubits: '1' }).read(bits, NEVER), /a read is of 1 to/);
  }
});

test('a long read yields to the event loop and can be aborted in between', async () => {
  let turns = 0;
  const stop = new AbortController();
  const turn = () => {
    turns++;
    if (!stop.signal.aborted) setImmediate(turn);
  };
  setImmediate(turn);
  await fixed('turns', { qubits: '16' }).read(8 * 1024 * 1024, NEVER);
  assert.ok(turns >= 5, `${turns} turns in 8 Mbit`);
  setImmediate(() => stop.abort(new Error('enough')));
  await assert.rejects(fixed('turns', { qubits: '16' }).read(8 * 1024 * 1024, stop.signal), /enough/);
  await assert.rejects(fixed('turns', { qubits: '16' }).read(8, stop.signal), /enough/);
});

test('readout error and bias change P(1) as stated, for each channel alone', async () => {
  const readout = [
    { e01: 0.1, e10: 0 },
    { e01: 0, e10: 0.3 },
  ];
  const shots = 200_000;
  const qubits = new MeasuredQubits({ readout, bias: 0.1 }, fixedBytes('rates'));
  const { bits } = await qubits.take(shots, NEVER);
  const counts = new Uint32Array(4);
  for (let at = 0; at < 2 * shots; at += 2) counts[bitAt(bits, at) | (bitAt(bits, at + 1) << 1)]++;
  // P(1) = 0.6 before readout: 0.6 + 0.4 · 0.1 and 0.6 · 0.7
  const [a, b] = [0.64, 0.42];
  const exact = [(1 - a) * (1 - b), a * (1 - b), (1 - a) * b, a * b];
  assert.ok(chiSquare(counts, exact) < 16.3); // three degrees of freedom, one in a thousand
  assert.ok(chiSquare(counts, [0.25, 0.25, 0.25, 0.25]) > 1000);
});

test('the default claim is 1 - log2(1 + e01 + e10), and never more than remains for someone who knows the noise', () => {
  assert.ok(Math.abs(fixed('claim').claimedMinEntropyPerBit - (1 - Math.log2(1.01))) < 1e-12);
  for (const e01 of [0, 0.02, 0.1]) {
    for (const bias of [0, 0.1, 0.3]) {
      const noise = { readout_e01: `${e01}`, readout_e10: '0.05', bias: `${bias}` };
      const { claimedMinEntropyPerBit: claim } = fixed('claim', noise);
      // who knows which readout was replaced by which fixed answer
      const left = -Math.log2(e01 + 0.05 + (1 - e01 - 0.05) * (0.5 + bias));
      assert.ok(claim > 0 && claim <= left + 1e-12, `${claim} of ${left}`);
    }
  }
});
