import type { Gate } from '../../src/backend/circuit.ts';

/** A complex number; matrices are rows of them. */
export interface Complex {
  readonly re: number;
  readonly im: number;
}
type Matrix = readonly (readonly Complex[])[];

const c = (re: number, im = 0): Complex => ({ re, im });
const times = (a: Complex, b: Complex) => c(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
const plus = (a: Complex, b: Complex) => c(a.re + b.re, a.im + b.im);
const turn = (angle: number) => c(Math.cos(angle), Math.sin(angle));
const [zero, one, i] = [c(0), c(1), c(0, 1)];
const root = c(Math.SQRT1_2);

/** The matrix of each gate, as the textbook prints it. Two-qubit rows are |first second> = 00, 01, 10, 11. */
function matrixOf(gate: Gate): Matrix {
  const half = 'angle' in gate ? gate.angle / 2 : 0;
  const [cos, sin] = [Math.cos(half), Math.sin(half)];
  const matrices: Record<Gate['gate'], Matrix> = {
    h: [
      [root, root],
      [root, c(-Math.SQRT1_2)],
    ],
    x: [
      [zero, one],
      [one, zero],
    ],
    y: [
      [zero, c(0, -1)],
      [i, zero],
    ],
    z: [
      [one, zero],
      [zero, c(-1)],
    ],
    ry: [
      [c(cos), c(-sin)],
      [c(sin), c(cos)],
    ],
    rz: [
      [turn(-half), zero],
      [zero, turn(half)],
    ],
    cx: [
      [one, zero, zero, zero],
      [zero, one, zero, zero],
      [zero, zero, zero, one],
      [zero, zero, one, zero],
    ],
  };
  return matrices[gate.gate];
}

/** The slow obvious twin of StateVector: each amplitude of the next state is a full sum over the last one. */
export function denseState(qubits: number, gates: readonly Gate[]): Complex[] {
  let state: Complex[] = Array.from({ length: 2 ** qubits }, (_, index) => (index === 0 ? one : zero));
  for (const gate of gates) {
    const matrix = matrixOf(gate);
    const touched = gate.qubits.reduce((mask, qubit) => mask | (1 << qubit), 0);
    const rowOf = (basis: number) => gate.qubits.reduce((row, qubit) => 2 * row + ((basis >> qubit) & 1), 0);
    const last = state;
    state = last.map((_, to) =>
      last.reduce(
        (sum, amplitude, from) =>
          (from & ~touched) === (to & ~touched)
            ? plus(sum, times(matrix[rowOf(to)][rowOf(from)], amplitude))
            : sum,
        zero,
      ),
    );
  }
  return state;
}
