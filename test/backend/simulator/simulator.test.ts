import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import type { StreamBackend } from '../../../src/backend/backend.ts';
import { bellChsh, circuitSha256, type NamedCircuit, superposition } from '../../../src/backend/circuit.ts';
import { checkedNoise, type Noise } from '../../../src/backend/simulator/noise.ts';
import { plainRun } from '../../../src/backend/simulator/runs.ts';
import { simulatorBackend, simulatorOf, simulatorWith } from '../../../src/backend/simulator/simulator.ts';
import { concatBytes, toHex } from '../../../src/core/bytes.ts';
import { fixedBytes } from '../../support/backends.ts';
import { chiSquare } from '../../support/chi-square.ts';
import { ghzParity } from '../../support/circuits.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { bitAt } from '../../support/shots.ts';
import { MemoryNotes, optionValues } from '../../support/source-parts.ts';

const NEVER = new AbortController().signal;
const DEFAULT_NOISE: Noise = { readout: { e01: 0.004, e10: 0.006 }, bias: 0, depolarizing: 0 };
const NO_NOISE: Noise = { readout: { e01: 0, e10: 0 }, bias: 0, depolarizing: 0 };

function fixed(circuit: NamedCircuit, label: string, noise: Partial<Noise> = {}): StreamBackend {
  const checked = checkedNoise({ ...DEFAULT_NOISE, ...noise }, circuit.circuit.measured.length);
  const run = plainRun(circuit, checked, fixedBytes(label));
  return simulatorOf({ name: 'test', run, noise: checked, clock: new ManualClock(), deterministic: true });
}

/** How often each shot was seen; bit i of the index is channel i. */
async function shotCounts(backend: StreamBackend, shots: number, width: number): Promise<Uint32Array> {
  const read = await backend.read(shots * width, NEVER);
  const counts = new Uint32Array(2 ** width);
  for (let shot = 0; shot < read.shots; shot++) {
    let outcome = 0;
    for (let channel = 0; channel < width; channel++)
      outcome |= bitAt(read.bits, shot * width + channel) << channel;
    counts[outcome]++;
  }
  return counts;
}

// Changing one of these is value-breaking: recorded deterministic runs would no longer reproduce.
const GOLDEN: readonly [NamedCircuit, Partial<Noise>, string][] = [
  [superposition(16), {}, '17e33a51bc27c26b622461cca097fb90d1291686bc902dbe8ee4d3b105f7'],
  [superposition(5), { bias: 0.2 }, 'dfe7bff9b7fed51c62f15dfeba7ebb57ebbafbd2bf912dbebfb7dbedd34d'],
  [bellChsh([1, 1]), NO_NOISE, '55a49a9a767559789151a926e53a99259492598a19d6a9555521656d76e6'],
  [ghzParity(6), { depolarizing: 0.05 }, '573adb982bddb812f5e62a61c2b8a78603ca2856bf89db7c754ff044a439'],
];

for (const [circuit, noise, expected] of GOLDEN) {
  test(`keeps the golden bits of ${circuit.name}`, async () => {
    const { bits } = await fixed(circuit, 'golden', noise).read(240, NEVER);
    assert.equal(toHex(bits), expected);
  });
}

test('keeps the golden digest over many slices: 4 Mbit of the default circuit', async () => {
  const values = optionValues(simulatorBackend, {});
  const backend = simulatorWith('simulator', values, new ManualClock(), fixedBytes('golden'));
  const { rawSha256 } = await backend.read(4 * 1024 * 1024, NEVER);
  assert.equal(rawSha256, '53b985566ee138271c919b131c9878ad1eccf6aeebc2313ddb1fb53865375d1f');
});

test('two reads joined are one read', async () => {
  const twice = fixed(superposition(16), 'joined');
  const first = await twice.read(64 * 1024 * 16, NEVER);
  const second = await twice.read(64 * 1024 * 16, NEVER);
  const once = await fixed(superposition(16), 'joined').read(2 * 64 * 1024 * 16, NEVER);
  assert.deepEqual(concatBytes(first.bits, second.bits), once.bits);
});

test('a read says exactly where it came from', async () => {
  const clock = new ManualClock(1_800_000_000_000);
  const values = optionValues(simulatorBackend, {});
  const backend = simulatorBackend.create('simulator', values, { clock, memory: new MemoryNotes() });
  assert.ok(backend.kind === 'stream');
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
    circuitSha256: circuitSha256(superposition(16).circuit),
    qubitsUsed: 16,
    circuitDepth: 2,
    shots: 63,
    startedAtMs: 1_800_000_000_000,
    finishedAtMs: 1_800_000_000_000,
    calibration: {
      readout_e01: new Array(16).fill(0.004),
      readout_e10: new Array(16).fill(0.006),
      bias: 0,
      depolarizing: 0,
    },
  });
});

test('only fixed bytes make it deterministic; the system source never repeats', async () => {
  assert.equal(fixed(superposition(2), 'x').deterministic, true);
  const backend = simulatorWith('simulator', optionValues(simulatorBackend, {}), new ManualClock());
  const [a, b] = [await backend.read(4096, NEVER), await backend.read(4096, NEVER)];
  assert.notDeepEqual(a.bits, b.bits);
});

test('reads are whole shots, and whole bytes where the width divides 8', async () => {
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
    const read = await fixed(superposition(width), 'shape').read(bits, NEVER);
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
    await assert.rejects(fixed(superposition(1), 'shape').read(bits, NEVER), /a read is of 1 to/);
  }
});

test('a long read gives the event loop its turns and can be stopped in between', async () => {
  let turns = 0;
  const stop = new AbortController();
  const turn = () => {
    turns++;
    if (!stop.signal.aborted) setImmediate(turn);
  };
  setImmediate(turn);
  await fixed(superposition(16), 'turns').read(8 * 1024 * 1024, NEVER);
  assert.ok(turns >= 5, `${turns} turns in 8 Mbit`);
  setImmediate(() => stop.abort(new Error('enough')));
  await assert.rejects(fixed(superposition(16), 'turns').read(8 * 1024 * 1024, stop.signal), /enough/);
  await assert.rejects(fixed(superposition(16), 'turns').read(8, stop.signal), /enough/);
});

test('a wide product circuit costs no state vector; a wide entangled one is refused', async () => {
  const wide = await fixed(superposition(156), 'wide').read(156 * 100, NEVER);
  assert.deepEqual([wide.shots, wide.width], [100, 156]);
  assert.throws(() => fixed(ghzParity(23), 'wide'), /join more than 22 qubits/);
});

test('readout error and bias move P(1) as they say', async () => {
  const noise = {
    readout: [
      { e01: 0.1, e10: 0 },
      { e01: 0, e10: 0.3 },
    ],
    bias: 0.1,
    depolarizing: 0,
  };
  const counts = await shotCounts(fixed(superposition(2), 'rates', noise), 200_000, 2);
  // P(1) = 0.6 before readout: 0.6 + 0.4 · 0.1 = 0.64 and 0.6 · 0.7 = 0.42.
  const [a, b] = [0.64, 0.42];
  const exact = [(1 - a) * (1 - b), a * (1 - b), (1 - a) * b, a * b];
  assert.ok(chiSquare(counts, exact) < 16.3); // three degrees of freedom, one in a thousand
  assert.ok(chiSquare(counts, [0.25, 0.25, 0.25, 0.25]) > 1000);
});

test('components of one and of several qubits mix in one shot, each on its channels', async () => {
  const mixed: NamedCircuit = {
    name: 'mixed',
    circuit: {
      qubits: 4,
      gates: [
        { gate: 'h', qubits: [1] },
        { gate: 'cx', qubits: [1, 3] },
        { gate: 'x', qubits: [0] },
        { gate: 'ry', qubits: [2], angle: 2 * Math.asin(Math.sqrt(0.2)) },
      ],
      measured: [3, 2, 1, 0],
    },
  };
  const counts = await shotCounts(fixed(mixed, 'mixed', NO_NOISE), 100_000, 4);
  const exact = new Float64Array(16);
  for (const bell of [0b0000, 0b0101]) {
    exact[bell | 0b1000] = 0.5 * 0.8; // channel 3 is qubit 0: always 1
    exact[bell | 0b1010] = 0.5 * 0.2; // channel 1 is qubit 2: 1 with probability 0.2
  }
  assert.ok(chiSquare(counts, exact) < 16.3, 'three degrees of freedom, one in a thousand');
});
