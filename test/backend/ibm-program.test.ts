import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bellChsh, CHSH_SETTINGS, type Circuit, superposition, xCheck } from '../../src/backend/circuit.ts';
import { programsOf } from '../../src/backend/ibm/plan.ts';
import { StateVector } from '../../src/backend/simulator/state-vector.ts';
import { InvariantError } from '../../src/core/assert.ts';
import { readProgram } from '../support/providers/ibm-program.ts';

/** A processor of four qubits in a row. */
const TARGET = {
  qubits: 4,
  basisGates: ['cz', 'rz', 'sx'],
  couplingMap: [0, 1, 2].flatMap((a) => [
    [a, a + 1],
    [a + 1, a],
  ]),
};
type CircuitName = Parameters<typeof programsOf>[0]['circuit'];

const programs = (circuit: CircuitName, qubits: readonly number[]) =>
  programsOf({ circuit, qubits, deviceQubits: TARGET.qubits });

function probabilities(circuit: Circuit): Float64Array {
  const state = new StateVector(circuit.qubits);
  for (const gate of circuit.gates) state.apply(gate);
  return state.probabilities(circuit.measured);
}

/** The circuits, by channel, that the programs stand for. */
const MEANT: Readonly<Record<CircuitName, readonly Circuit[]>> = {
  superposition: [superposition(2).circuit],
  'x-check': [superposition(2).circuit, xCheck(2).circuit],
  'bell-chsh': CHSH_SETTINGS.map((setting) => bellChsh(setting).circuit),
};

for (const [name, meant] of Object.entries(MEANT)) {
  test(`the programs of ${name} have the outcomes of its circuits`, () => {
    for (const qubits of [
      [2, 1],
      [0, 1],
    ]) {
      const { texts } = programs(name as CircuitName, qubits);
      assert.equal(texts.length, meant.length);
      for (const [index, circuit] of meant.entries()) {
        const program = readProgram(texts[index], TARGET);
        assert.deepEqual(program.measured, qubits);
        const [got, expected] = [probabilities(program), probabilities(circuit)];
        got.forEach((probability, outcome) => {
          assert.ok(Math.abs(probability - expected[outcome]) < 1e-12, `outcome ${outcome} of ${index}`);
        });
      }
    }
  });
}

test('a test of x-check prepares as a superposition does, and a barrier keeps the preparation apart', () => {
  assert.equal(
    programs('x-check', [3, 1]).texts[1],
    `OPENQASM 3.0;
include "stdgates.inc";
bit[2] c;
barrier $0, $1, $2, $3;
sx $3;
sx $1;
barrier $3, $1;
rz(3.141592653589793) $3;
sx $3;
rz(3.141592653589793) $1;
sx $1;
barrier $3, $1;
c[0] = measure $3;
c[1] = measure $1;
`,
  );
});

test('the pairs of a Bell test do not touch each other', () => {
  for (const [index, text] of programs('bell-chsh', [3, 2, 0, 1]).texts.entries()) {
    const pair = probabilities(bellChsh(CHSH_SETTINGS[index]).circuit);
    probabilities(readProgram(text, TARGET)).forEach((probability, outcome) => {
      assert.ok(Math.abs(probability - pair[outcome & 3] * pair[outcome >> 2]) < 1e-12);
    });
  }
});

test('the programs keep their texts, names and depths: another text needs another version', () => {
  const kept = (['superposition', 'x-check', 'bell-chsh'] as const).map((circuit) => {
    const { name, sha256, depth } = programs(circuit, [3, 1]);
    return [name, sha256.slice(0, 16), depth];
  });
  assert.deepEqual(kept, [
    ['superposition-2', 'c9e2e3f8134f03b8', 2],
    ['superposition-2+x-check-2', '1e2dbeaf9f83c2e7', 4],
    ['bell-chsh-2', '5248d179bd2a1342', 9],
  ]);
});

test('no two channels have the same qubit, and each qubit is one of the device', () => {
  assert.throws(() => programs('superposition', [1, 1]), InvariantError);
  assert.throws(() => programs('superposition', [1, 4]), InvariantError);
  assert.throws(() => programs('bell-chsh', [1, 2, 3]), InvariantError);
});
