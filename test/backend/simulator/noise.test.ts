import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bellChsh, type Circuit, superposition, xCheck } from '../../../src/backend/circuit.ts';
import { RandomWords } from '../../../src/backend/simulator/coins.ts';
import { coinProbability, OutcomeSampler } from '../../../src/backend/simulator/measurement.ts';
import {
  type CheckedNoise,
  checkedNoise,
  claimedMinEntropyPerBit,
  componentsOf,
  ErrorClock,
} from '../../../src/backend/simulator/noise.ts';
import { exactDistribution, exactGuessingProbability } from '../../reference/exact-noise.ts';
import { fixedBytes } from '../../support/backends.ts';
import { chiSquare } from '../../support/chi-square.ts';
import { circuits, ghzParity } from '../../support/circuits.ts';

const errorRate = fc.double({ min: 0, max: 0.3, noNaN: true });
const bias = fc.double({ min: -0.4, max: 0.4, noNaN: true });

function noises(width: number): fc.Arbitrary<CheckedNoise> {
  return fc.record({
    readout: fc.array(fc.record({ e01: errorRate, e10: errorRate }), { minLength: width, maxLength: width }),
    bias,
    depolarizing: errorRate,
  });
}

const noisyCircuits = circuits(3, 3).chain((circuit) =>
  fc.record({ circuit: fc.constant(circuit), noise: noises(circuit.measured.length) }),
);

test('has a closed form for one qubit that is the sum over all error histories', () => {
  const gatesOnOne = circuits(1, 4).chain((circuit) =>
    fc.record({ circuit: fc.constant(circuit), noise: noises(1) }),
  );
  fc.assert(
    fc.property(gatesOnOne, ({ circuit, noise }) => {
      const [component] = componentsOf(circuit);
      const [, exact] = exactDistribution(component, noise);
      assert.ok(Math.abs(coinProbability(component, noise) - exact) < 1e-12);
    }),
    { numRuns: 100, seed: 20_264 },
  );
});

function drawn(circuit: Circuit, noise: CheckedNoise, shots: number, label: string) {
  const [component] = componentsOf(circuit);
  const sampler = new OutcomeSampler(component, noise, new RandomWords(fixedBytes(label)));
  const counts = new Uint32Array(2 ** component.measured.length);
  for (let shot = 0; shot < shots; shot++) counts[sampler.draw()]++;
  return { counts, exact: exactDistribution(component, noise) };
}

/** Seven degrees of freedom: 24.3 is exceeded once in a thousand labels, and the label is fixed. */
const CHI_SQUARE_7 = 24.3;

test('draws trajectories of several qubits from the exact mixture', () => {
  const noise: CheckedNoise = {
    readout: [
      { e01: 0.02, e10: 0.05 },
      { e01: 0, e10: 0.1 },
      { e01: 0.03, e10: 0 },
    ],
    bias: 0.1,
    depolarizing: 0.15,
  };
  const circuit: Circuit = {
    qubits: 3,
    gates: [
      { gate: 'ry', qubits: [0], angle: 0.7 },
      { gate: 'cx', qubits: [0, 2] },
      { gate: 'cx', qubits: [2, 1] },
      { gate: 'h', qubits: [1] },
    ],
    measured: [1, 0, 2],
  };
  const { counts, exact } = drawn(circuit, noise, 200_000, 'mixture');
  assert.ok(chiSquare(counts, exact) < CHI_SQUARE_7, `${chiSquare(counts, exact)}`);
  const without = drawn(circuit, { ...noise, depolarizing: 0 }, 200_000, 'mixture');
  assert.ok(chiSquare(without.counts, without.exact) < CHI_SQUARE_7);
  // The canary: draws without gate errors do not pass for draws with them.
  assert.ok(chiSquare(without.counts, exact) > 1000);
});

test('holds at its limits: gates that always fail, readouts that always answer the same', () => {
  const always = checkedNoise({ readout: { e01: 1, e10: 0 }, bias: 0, depolarizing: 0 }, 3);
  assert.deepEqual([...drawn(ghzParity(3).circuit, always, 100, 'stuck').counts], [0, 0, 0, 0, 0, 0, 0, 100]);
  const failing = checkedNoise({ readout: { e01: 0, e10: 0 }, bias: 0, depolarizing: 1 }, 2);
  const bell = drawn(bellChsh([0, 0]).circuit, failing, 50_000, 'failing');
  assert.ok(chiSquare(bell.counts, bell.exact) < 16.3); // three degrees of freedom, one in a thousand
});

test('errors come at the rate that was asked for, on one-qubit and two-qubit gates alike', () => {
  const { gates } = ghzParity(4).circuit; // H, three CX, four H
  const clock = new ErrorClock(gates, 0.01, new RandomWords(fixedBytes('rate')));
  const shots = 100_000;
  const perGate = new Uint32Array(gates.length);
  const perPauli = new Uint32Array(15);
  for (let shot = 0; shot < shots; shot++) {
    for (const { gate, pauli } of clock.nextShot()) {
      perGate[gate]++;
      if (gates[gate].qubits.length === 2) perPauli[pauli - 1]++;
      else assert.ok(pauli <= 3);
    }
  }
  for (const count of perGate) {
    const z = (count - shots * 0.01) / Math.sqrt(shots * 0.01 * 0.99);
    assert.ok(Math.abs(z) < 4, `${z} standard deviations off`);
  }
  // 14 degrees of freedom, one in a thousand.
  assert.ok(chiSquare(perPauli, new Float64Array(15).fill(1 / 15)) < 36.1);
});

test('the claim of the default circuit is 1 - log2(1 + e01 + e10)', () => {
  const components = componentsOf(superposition(16).circuit);
  const noise = checkedNoise({ readout: { e01: 0.004, e10: 0.006 }, bias: 0, depolarizing: 0 }, 16);
  assert.ok(Math.abs(claimedMinEntropyPerBit(components, noise) - (1 - Math.log2(1.01))) < 1e-12);
});

test('the claim is that of the worst qubit', () => {
  const components = componentsOf(superposition(3).circuit);
  const readout = [
    { e01: 0, e10: 0 },
    { e01: 0.2, e10: 0.1 },
    { e01: 0, e10: 0.1 },
  ];
  const claim = claimedMinEntropyPerBit(components, { readout, bias: 0, depolarizing: 0 });
  assert.ok(Math.abs(claim - (1 - Math.log2(1.3))) < 1e-12);
});

test('a circuit without randomness claims none', () => {
  const noise = checkedNoise({ readout: { e01: 0.01, e10: 0.01 }, bias: 0, depolarizing: 0.01 }, 4);
  assert.equal(claimedMinEntropyPerBit(componentsOf(xCheck(4).circuit), noise), 0);
});

test('the claim never exceeds what is left to one who knows the noise, nor what is seen from outside', () => {
  fc.assert(
    fc.property(noisyCircuits, ({ circuit, noise }) => {
      const components = componentsOf(circuit);
      const claim = claimedMinEntropyPerBit(components, noise);
      for (const component of components) {
        const bits = component.measured.length;
        assert.ok(claim <= -Math.log2(exactGuessingProbability(component, noise)) / bits + 1e-12);
        assert.ok(claim <= -Math.log2(Math.max(...exactDistribution(component, noise))) / bits + 1e-12);
      }
    }),
    { numRuns: 150, seed: 20_265 },
  );
});

test('noise that is not made of probabilities is refused', () => {
  const sound = { readout: { e01: 0, e10: 0 }, bias: 0, depolarizing: 0 };
  for (const wrong of [
    { ...sound, readout: { e01: -0.1, e10: 0 } },
    { ...sound, readout: { e01: 0.6, e10: 0.6 } },
    { ...sound, readout: { e01: Number.NaN, e10: 0 } },
    { ...sound, readout: [sound.readout] },
    { ...sound, bias: 0.51 },
    { ...sound, depolarizing: 1.1 },
  ]) {
    assert.throws(() => checkedNoise(wrong, 2), /InvariantError/);
  }
});
