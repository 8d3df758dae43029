import { assert } from '../core/assert.ts';
import { assertCircuit, type Circuit, type Gate } from './circuit.ts';

/** Version of what this file makes of a circuit: another text for an unchanged circuit is another version. */
export const PHYSICAL_COMPILER_VERSION = '1.0.0';

const { PI } = Math;
/** Below this an rz does nothing: sums of a few multiples of π/4 are exact to 2^-50. */
const ANGLE_MIN = 1e-12;

/** What IBM's Heron and Nighthawk processors run as it is (`basis_gates` of their configuration, but for the idle `id`). */
export const BASIS_GATES: readonly Gate['gate'][] = ['cz', 'rz', 'sx', 'x'];

const sx = (qubit: number): Gate => ({ gate: 'sx', qubits: [qubit] });
const rz = (qubit: number, angle: number): Gate => ({ gate: 'rz', qubits: [qubit], angle });

/**
 * The same circuit in the basis {cz, rz, sx, x}, up to global phases: no outcome's probability changes. An rz is a
 * change of frame: it is carried past diagonal gates to the next pulse, added to others on the way, and left out where it
 * does nothing, on |0> and before a measurement. So H becomes one sx, and H·H becomes sx, rz(π), sx.
 */
export function inBasis(circuit: Circuit): Circuit {
  assertCircuit(circuit);
  const gates: Gate[] = [];
  const frames = new Float64Array(circuit.qubits);
  const touched = new Uint8Array(circuit.qubits);
  for (const gate of circuit.gates.flatMap(basisGates)) {
    const [qubit] = gate.qubits;
    if (gate.gate === 'rz') {
      frames[qubit] += gate.angle;
      continue;
    }
    if (gate.gate !== 'cz') {
      const angle = principalAngle(frames[qubit]);
      if (touched[qubit] === 1 && Math.abs(angle) > ANGLE_MIN) gates.push(rz(qubit, angle));
      frames[qubit] = 0;
      touched[qubit] = 1;
    }
    gates.push(gate);
  }
  return { ...circuit, gates };
}

/** One gate in the basis, its parts in the order in which they act. */
function basisGates(gate: Gate): Gate[] {
  const [qubit] = gate.qubits;
  switch (gate.gate) {
    case 'cz':
    case 'rz':
    case 'sx':
    case 'x':
      return [gate];
    case 'h':
      return hadamard(qubit);
    case 'y': // iXZ
      return [rz(qubit, PI), { gate: 'x', qubits: [qubit] }];
    case 'z':
      return [rz(qubit, PI)];
    case 's':
      return [rz(qubit, PI / 2)];
    case 't':
      return [rz(qubit, PI / 4)];
    case 'rx': // Rz(-π/2) Ry(θ) Rz(π/2)
      return [rz(qubit, PI / 2), ...rotationY(qubit, gate.angle), rz(qubit, -PI / 2)];
    case 'ry':
      return rotationY(qubit, gate.angle);
    case 'cx':
      return controlledX(qubit, gate.qubits[1]);
    case 'swap': {
      const [a, b] = gate.qubits;
      return [...controlledX(a, b), ...controlledX(b, a), ...controlledX(a, b)];
    }
  }
}

function hadamard(qubit: number): Gate[] {
  return [rz(qubit, PI / 2), sx(qubit), rz(qubit, PI / 2)];
}

function controlledX(control: number, target: number): Gate[] {
  return [...hadamard(target), { gate: 'cz', qubits: [control, target] }, ...hadamard(target)];
}

/**
 * Ry(θ) = Rz(π) √X Rz(θ + π) √X up to phase (McKay et al., arXiv:1612.00858, eq. 2.7). One pulse is enough for a quarter
 * turn, HZ = Ry(π/2) and ZH = Ry(-π/2), and none for a whole one.
 */
function rotationY(qubit: number, angle: number): Gate[] {
  const turn = principalAngle(angle);
  if (Math.abs(turn) <= ANGLE_MIN) return [];
  if (Math.abs(turn - PI / 2) <= ANGLE_MIN) return [rz(qubit, PI), ...hadamard(qubit)];
  if (Math.abs(turn + PI / 2) <= ANGLE_MIN) return [...hadamard(qubit), rz(qubit, PI)];
  return [sx(qubit), rz(qubit, turn + PI), sx(qubit), rz(qubit, PI)];
}

/** The same angle in (-π, π]. */
function principalAngle(angle: number): number {
  return angle - 2 * PI * Math.ceil(angle / (2 * PI) - 0.5);
}

/** The circuit on a device of `deviceQubits` qubits: qubit i becomes the device's qubit layout[i]. */
export function placed(circuit: Circuit, layout: readonly number[], deviceQubits: number): Circuit {
  assert(layout.length === circuit.qubits, 'each qubit of the circuit has a place');
  const moved: Circuit = {
    qubits: deviceQubits,
    gates: circuit.gates.map((gate) => movedGate(gate, layout)),
    measured: circuit.measured.map((qubit) => layout[qubit]),
  };
  assertCircuit(moved);
  return moved;
}

function movedGate(gate: Gate, layout: readonly number[]): Gate {
  return { ...gate, qubits: gate.qubits.map((qubit) => layout[qubit]) } as unknown as Gate; // as many as before
}

/**
 * OpenQASM 3 on physical qubits (`$n`, specification 3.0, Physical Qubits), one statement a line: nothing is left to a
 * transpiler. The leading barrier names every qubit of the device, so that whoever builds the circuit from the text gives
 * it the device's width; the last has all qubits measured at once. One more may stand after the first `prepared` gates: what
 * comes then is not made one with the preparation that it is to test.
 */
export function physicalText(circuit: Circuit, prepared?: number): string {
  assertCircuit(circuit);
  const named = (qubits: readonly number[]) => qubits.map((qubit) => `$${qubit}`).join(', ');
  const all = Array.from({ length: circuit.qubits }, (_, qubit) => qubit);
  const lines = ['OPENQASM 3.0;', 'include "stdgates.inc";', `bit[${circuit.measured.length}] c;`];
  lines.push(`barrier ${named(all)};`);
  circuit.gates.forEach((gate, index) => {
    if (index === prepared) lines.push(`barrier ${named(circuit.measured)};`);
    const angle = 'angle' in gate ? `(${gate.angle + 0})` : '';
    lines.push(`${gate.gate}${angle} ${named(gate.qubits)};`);
  });
  lines.push(`barrier ${named(circuit.measured)};`);
  circuit.measured.forEach((qubit, channel) => {
    lines.push(`c[${channel}] = measure $${qubit};`);
  });
  return `${lines.join('\n')}\n`;
}
