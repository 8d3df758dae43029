import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bellChsh, CHSH_SETTINGS, type Circuit, superposition, xCheck } from '../../src/backend/circuit.ts';
import { BASIS_GATES, inBasis, physicalText, placed } from '../../src/backend/ibm/plan.ts';
import { StateVector } from '../../src/backend/simulator/state-vector.ts';
import { InvariantError } from '../../src/core/assert.ts';
import { circuits } from '../support/circuits.ts';

function probabilities(circuit: Circuit): Float64Array {
  const state = new StateVector(circuit.qubits);
  for (const gate of circuit.gates) state.apply(gate);
  return state.probabilities(circuit.measured);
}

const written = ({ gates }: Circuit) =>
  gates.map((gate) => ('angle' in gate ? `${gate.gate}(${gate.angle.toFixed(4)})` : gate.gate)).join(' ');

test('a circuit in the basis has the same outcomes and no other gates', () => {
  fc.assert(
    fc.property(circuits(4, 16), (circuit) => {
      const basis = inBasis(circuit);
      assert.ok(basis.gates.every(({ gate }) => BASIS_GATES.includes(gate)));
      const [got, expected] = [probabilities(basis), probabilities(circuit)];
      got.forEach((probability, outcome) => {
        assert.ok(Math.abs(probability - expected[outcome]) < 1e-9, `outcome ${outcome}`);
      });
    }),
    { seed: 1701, numRuns: 300 },
  );
});

test('H before a measurement is one pulse, and H twice is three gates', () => {
  assert.equal(written(inBasis(superposition(2).circuit)), 'sx sx');
  assert.equal(written(inBasis(xCheck(1).circuit)), 'sx rz(3.1416) sx');
});

test('each CHSH setting has one cz, and a turn by nothing costs nothing', () => {
  for (const setting of CHSH_SETTINGS) {
    const { gates } = inBasis(bellChsh(setting).circuit);
    assert.equal(gates.filter(({ gate }) => gate === 'cz').length, 1);
    const pulsesOfA = gates.filter(({ gate, qubits }) => gate === 'sx' && qubits[0] === 0).length;
    assert.equal(pulsesOfA, setting[0] === 0 ? 1 : 2);
  }
});

test('the text names physical qubits and begins with a barrier over the whole device', () => {
  const circuit = placed(inBasis(superposition(2).circuit), [3, 1], 5);
  assert.equal(
    physicalText(circuit),
    `OPENQASM 3.0;
include "stdgates.inc";
bit[2] c;
barrier $0, $1, $2, $3, $4;
sx $3;
sx $1;
barrier $3, $1;
c[0] = measure $3;
c[1] = measure $1;
`,
  );
});

test('a layout gives each qubit a place of its own on the device', () => {
  const { circuit } = superposition(2);
  assert.throws(() => placed(circuit, [1], 5), InvariantError);
  assert.throws(() => placed(circuit, [1, 1], 5), InvariantError);
  assert.throws(() => placed(circuit, [1, 5], 5), InvariantError);
});
