import fc from 'fast-check';
import type { Circuit, Gate, NamedCircuit } from '../../src/backend/circuit.ts';
import type { ByteSource } from '../../src/backend/simulator/coins.ts';
import { Measurement } from '../../src/backend/simulator/measurement.ts';
import type { ReadoutError } from '../../src/backend/simulator/noise.ts';
import { bitAt } from './shots.ts';

function gates(qubits: number): fc.Arbitrary<Gate> {
  const qubit = fc.integer({ min: 0, max: qubits - 1 });
  const fixed = fc.record({
    gate: fc.constantFrom('h', 'x', 'y', 'z'),
    qubits: fc.tuple(qubit),
  });
  const rotation = fc.record({
    gate: fc.constantFrom('ry', 'rz'),
    qubits: fc.tuple(qubit),
    angle: fc.double({ min: -7, max: 7, noNaN: true }),
  });
  if (qubits === 1) return fc.oneof(fixed, rotation);
  const joining = fc.record({
    gate: fc.constant('cx'),
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

const h = (qubit: number): Gate => ({ gate: 'h', qubits: [qubit] });
const rz = (qubit: number, angle: number): Gate => ({ gate: 'rz', qubits: [qubit], angle });
const cx = (control: number, target: number): Gate => ({ gate: 'cx', qubits: [control, target] });

/**
 * A native gate as gates of the simulator, up to a global phase: by the matrices in the documentation of Braket's gates,
 * and √X as OpenQASM 3 has it.
 */
export function plainGates(name: string, angles: readonly number[], [a, b]: readonly number[]): Gate[] {
  const zz = (angle: number) => [cx(a, b), rz(b, angle), cx(a, b)];
  const xx = (angle: number) => [h(a), h(b), ...zz(angle), h(a), h(b)];
  switch (name) {
    case 'h':
    case 'x':
      return [{ gate: name, qubits: [a] }];
    case 'rz':
      return [rz(a, angles[0])];
    case 'rx':
      return [h(a), rz(a, angles[0]), h(a)];
    case 'sx':
      return plainGates('rx', [Math.PI / 2], [a]);
    case 'prx':
      return [rz(a, -angles[1]), ...plainGates('rx', [angles[0]], [a]), rz(a, angles[1])];
    case 'gpi2':
      return plainGates('prx', [Math.PI / 2, angles[0]], [a]);
    case 'cz':
      return [h(b), cx(a, b), h(b)];
    case 'zz':
      return zz(angles[0]);
    case 'xx':
      return xx(angles[0]);
    case 'ms':
      return [rz(a, -angles[0]), rz(b, -angles[1]), ...xx(angles[2]), rz(a, angles[0]), rz(b, angles[1])];
    case 'iswap':
      return [rz(a, Math.PI / 2), rz(b, Math.PI / 2), h(a), cx(a, b), cx(b, a), h(b)];
    default:
      throw new Error(`${name} is not known`);
  }
}

/**
 * GHZ on `qubits` qubits (2 to 1,024), measured in the X basis: X⊗…⊗X stabilises the state with +1, so ideally each
 * shot has an even number of ones.
 */
export function ghzParity(qubits: number): NamedCircuit {
  const measured = Array.from({ length: qubits }, (_, qubit) => qubit);
  const chain = measured.slice(1).map((qubit) => cx(qubit - 1, qubit));
  return {
    name: `ghz-parity-${qubits}`,
    circuit: { qubits, gates: [h(0), ...chain, ...measured.map(h)], measured },
  };
}

/** A circuit on a device that errs in nothing but its readout, given by channel. */
export function measured(
  circuit: Circuit,
  readout: readonly ReadoutError[],
  outcomes: ByteSource,
): Measurement {
  return new Measurement(circuit, { readout, bias: 0, depolarizing: 0 }, outcomes);
}

/** The shots of a measurement as rows of bits, channel by channel. */
export async function measuredRows(measurement: Measurement, shots: number): Promise<number[][]> {
  const { width } = measurement;
  const bits = await measurement.take(shots, new AbortController().signal);
  return Array.from({ length: shots }, (_, shot) =>
    Array.from({ length: width }, (_, channel) => bitAt(bits, shot * width + channel)),
  );
}
