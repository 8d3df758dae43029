import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bellChsh, CHSH_SETTINGS, type Gate } from '../../../src/backend/circuit.ts';
import { STATE_QUBITS_MAX, StateVector } from '../../../src/backend/simulator/state-vector.ts';
import { denseState } from '../../reference/dense-unitary.ts';
import { circuits, ghzParity, plainGates } from '../../support/circuits.ts';

const TOLERANCE = 1e-12;

function stateAfter(qubits: number, gates: readonly Gate[]): StateVector {
  const state = new StateVector(qubits);
  for (const gate of gates) state.apply(gate);
  return state;
}

function assertClose(actual: ArrayLike<number>, expected: readonly number[]): void {
  assert.equal(actual.length, expected.length);
  expected.forEach((value, index) => {
    assert.ok(
      Math.abs(actual[index] - value) < TOLERANCE,
      `entry ${index}: ${actual[index]}, expected ${value}`,
    );
  });
}

test('every gate, on every qubit, is its textbook matrix', () => {
  fc.assert(
    fc.property(circuits(4, 20), ({ qubits, gates }) => {
      const fast = stateAfter(qubits, gates);
      const dense = denseState(qubits, gates);
      assertClose(
        fast.re,
        dense.map(({ re }) => re),
      );
      assertClose(
        fast.im,
        dense.map(({ im }) => im),
      );
      assert.ok(Math.abs(fast.norm() - 1) < TOLERANCE);
    }),
    { numRuns: 150, seed: 20_261 },
  );
});

test('measures GHZ as all zeros or all ones, and an even number of ones in the X basis', () => {
  const chain = ghzParity(5).circuit.gates.slice(0, 5);
  const z = new Array(32).fill(0);
  z[0] = z[31] = 0.5;
  assertClose(stateAfter(5, chain).probabilities([0, 1, 2, 3, 4]), z);
  const parity = stateAfter(5, ghzParity(5).circuit.gates).probabilities([0, 1, 2, 3, 4]);
  const isEven = (outcome: number) => outcome.toString(2).replaceAll('0', '').length % 2 === 0;
  assertClose(
    parity,
    Array.from({ length: 32 }, (_, outcome) => (isEven(outcome) ? 1 / 16 : 0)),
  );
});

test('measures W as exactly one of three, each a third of the time', () => {
  const controlledH: Gate[] = [
    { gate: 'ry', qubits: [1], angle: -Math.PI / 4 },
    ...plainGates('cz', [], [0, 1]),
    { gate: 'ry', qubits: [1], angle: Math.PI / 4 },
  ];
  const gates: Gate[] = [
    { gate: 'ry', qubits: [0], angle: 2 * Math.acos(Math.sqrt(1 / 3)) },
    ...controlledH,
    { gate: 'cx', qubits: [1, 2] },
    { gate: 'cx', qubits: [0, 1] },
    { gate: 'x', qubits: [0] },
  ];
  const third = 1 / 3;
  assertClose(stateAfter(3, gates).probabilities([0, 1, 2]), [0, third, third, 0, third, 0, 0, 0]);
});

test('correlates a Bell pair at angles a and b by cos(a - b), and S is 2 sqrt 2', () => {
  const correlation = CHSH_SETTINGS.map((setting) => {
    const [p00, p10, p01, p11] = stateAfter(2, bellChsh(setting).circuit.gates).probabilities([0, 1]);
    return p00 + p11 - p01 - p10;
  });
  assertClose(correlation, [Math.SQRT1_2, Math.SQRT1_2, Math.SQRT1_2, -Math.SQRT1_2]);
});

test('unmeasured qubits are summed over, and the order of measurement is the order of bits', () => {
  const gates: Gate[] = [
    { gate: 'h', qubits: [0] },
    { gate: 'x', qubits: [2] },
  ];
  const state = stateAfter(3, gates);
  assertClose(state.probabilities([2, 0]), [0, 0.5, 0, 0.5]);
  assertClose(state.probabilities([0, 2]), [0, 0, 0.5, 0.5]);
  assertClose(state.probabilities([1]), [1, 0]);
});

test('the norm stays 1 through a deep circuit', () => {
  const layer: Gate[] = [];
  for (let qubit = 0; qubit < 10; qubit++) {
    layer.push(
      { gate: 'ry', qubits: [qubit], angle: 0.3 + qubit },
      { gate: 'rz', qubits: [qubit], angle: 0.3 + qubit },
      { gate: 'cx', qubits: [qubit, (qubit + 1) % 10] },
    );
  }
  const state = stateAfter(10, new Array(20).fill(layer).flat());
  assert.ok(Math.abs(state.norm() - 1) < TOLERANCE);
});

test('a state larger than memory is refused', () => {
  assert.throws(() => new StateVector(STATE_QUBITS_MAX + 1), /1 to 22 qubits/);
});
