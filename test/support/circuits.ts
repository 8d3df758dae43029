import fc from 'fast-check';
import type { Circuit, Gate } from '../../src/backend/circuit.ts';

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
