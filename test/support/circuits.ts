import type { ByteSource } from './chance.ts';

/** The shares of zeros that read as 1, and of ones that read as 0. */
export interface ReadoutError {
  readonly e01: number;
  readonly e10: number;
}

/** A gate on one qubit, by the name that a provider has for it. Angles are radians. */
export interface NativeGate {
  readonly name: string;
  readonly angles: readonly number[];
  readonly qubit: number;
}

/** A program as a provider reads it. Channel i of a shot is measured[i]. */
export interface Circuit {
  readonly gates: readonly NativeGate[];
  readonly measured: readonly number[];
}

/** Amplitudes of |0> and |1>: [re, im] each. */
type State = readonly [readonly [number, number], readonly [number, number]];

/** Applies a gate by the matrices in Braket's documentation, with √X as in OpenQASM 3, up to a global phase. */
function applied(name: string, angles: readonly number[], state: State): State {
  const chain = (...steps: readonly [string, ...number[]][]) =>
    steps.reduce((before, [gate, ...of]) => applied(gate, of, before), state);
  const [[a, b], [c, d]] = state;
  const [angle, phase] = angles;
  switch (name) {
    case 'h': {
      const r = Math.SQRT1_2;
      return [
        [(a + c) * r, (b + d) * r],
        [(a - c) * r, (b - d) * r],
      ];
    }
    case 'rz': {
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      return [state[0], [c * cos - d * sin, c * sin + d * cos]];
    }
    case 'rx':
      return chain(['h'], ['rz', angle], ['h']);
    case 'sx':
      return chain(['rx', Math.PI / 2]);
    case 'prx':
      return chain(['rz', -phase], ['rx', angle], ['rz', phase]);
    case 'gpi2':
      return chain(['prx', Math.PI / 2, angle]);
    default:
      throw new Error(`${name} is not known`);
  }
}

/** P(1) of each channel before readout: no gate here joins qubits. */
export function onesProbabilities({ gates, measured }: Circuit): number[] {
  return measured.map((qubit) => {
    const own = gates.filter((gate) => gate.qubit === qubit);
    const start: State = [
      [1, 0],
      [0, 0],
    ];
    const [, [re, im]] = own.reduce((state, { name, angles }) => applied(name, angles, state), start);
    return re * re + im * im;
  });
}

/** Shots of a circuit on a device that errs in nothing but its readout, given by channel: rows of bits. */
export function measuredRows(
  circuit: Circuit,
  readout: readonly ReadoutError[],
  outcomes: ByteSource,
  shots: number,
): number[][] {
  const ones = onesProbabilities(circuit).map((p, i) => (1 - p) * readout[i].e01 + p * (1 - readout[i].e10));
  const words = new Uint32Array(shots * ones.length);
  outcomes(new Uint8Array(words.buffer));
  return Array.from({ length: shots }, (_, shot) =>
    ones.map((p, channel) => (words[shot * ones.length + channel] < p * 2 ** 32 ? 1 : 0)),
  );
}
