import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bellChsh, superposition } from '../../../src/backend/circuit.ts';
import { componentsOf, outcomeProbabilities } from '../../../src/backend/simulator/noise.ts';
import { StateVector } from '../../../src/backend/simulator/state-vector.ts';
import { circuits } from '../../support/circuits.ts';

test('the outcomes of the components multiply to those of the whole circuit', () => {
  fc.assert(
    fc.property(circuits(6, 8), (circuit) => {
      const whole = new StateVector(circuit.qubits);
      for (const gate of circuit.gates) whole.apply(gate);
      const expected = whole.probabilities(circuit.measured);
      const parts = componentsOf(circuit).map((part) => ({
        ...part,
        probabilities: outcomeProbabilities(part, 0),
      }));
      for (let shot = 0; shot < expected.length; shot++) {
        let product = 1;
        for (const { channels, probabilities } of parts) {
          product *=
            probabilities[channels.reduce((sum, channel, bit) => sum | (((shot >> channel) & 1) << bit), 0)];
        }
        assert.ok(
          Math.abs(product - expected[shot]) < 1e-12,
          `outcome ${shot}: ${product}, expected ${expected[shot]}`,
        );
      }
    }),
    { numRuns: 150, seed: 20_262 },
  );
});

test('a product circuit falls into qubits, an entangled one stays whole, unmeasured parts go', () => {
  assert.equal(componentsOf(superposition(156).circuit).length, 156);
  assert.deepEqual(
    componentsOf(bellChsh([0, 0]).circuit).map(({ qubits, channels }) => [qubits, channels]),
    [[2, [0, 1]]],
  );
  const partly = componentsOf({
    qubits: 4,
    gates: [
      { gate: 'cx', qubits: [3, 1] },
      { gate: 'h', qubits: [0] },
    ],
    measured: [3, 2],
  });
  assert.deepEqual(partly, [
    { qubits: 2, gates: [{ gate: 'cx', qubits: [1, 0] }], measured: [1], channels: [0] },
    { qubits: 1, gates: [], measured: [0], channels: [1] },
  ]);
});
