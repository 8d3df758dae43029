import fc from 'fast-check';
import type { Circuit, Gate, NamedCircuit } from '../../src/backend/circuit.ts';

function gates(qubits: number): fc.Arbitrary<Gate> {
  const qubit = fc.integer({ min: 0, max: qubits - 1 });
  const fixed = fc.record({
    gate: fc.constantFrom('h', 'x', 'y', 'z', 's', 't', 'sx'),
    qubits: fc.tuple(qubit),
  });
  const rotation = fc.record({
    gate: fc.constantFrom('rx', 'ry', 'rz'),
    qubits: fc.tuple(qubit),
    angle: fc.double({ min: -7, max: 7, noNaN: true }),
  });
  if (qubits === 1) return fc.oneof(fixed, rotation);
  const joining = fc.record({
    gate: fc.constantFrom('cx', 'cz', 'swap'),
    qubits: fc.tuple(qubit, qubit).filter(([a, b]) => a !== b),
  });
  return fc.oneof(fixed, rotation, joining);
}

/**
 * Any circuit of up to `qubitsMax` qubits and `gatesMax` gates that measures some of its qubits in some
 * order.
 */
export function circuits(qubitsMax: number, gatesMax: number): fc.Arbitrary<Circuit> {
  return fc.integer({ min: 1, max: qubitsMax }).chain((qubits) =>
    fc.record({
      qubits: fc.constant(qubits),
      gates: fc.array(gates(qubits), { maxLength: gatesMax }),
      measured: fc.shuffledSubarray(
        Array.from({ length: qubits }, (_, qubit) => qubit),
        { minLength: 1 },
      ),
    }),
  );
}

/**
 * GHZ on `qubits` qubits (2 to 1,024), measured in the X basis: X⊗…⊗X stabilises the state with +1, so ideally each
 * shot has an even number of ones.
 */
export function ghzParity(qubits: number): NamedCircuit {
  const measured = Array.from({ length: qubits }, (_, qubit) => qubit);
  const h = (qubit: number): Gate => ({ gate: 'h', qubits: [qubit] });
  const chain = measured.slice(1).map((qubit): Gate => ({ gate: 'cx', qubits: [qubit - 1, qubit] }));
  return {
    name: `ghz-parity-${qubits}`,
    version: '1.0.0',
    circuit: { qubits, gates: [h(0), ...chain, ...measured.map(h)], measured },
  };
}
