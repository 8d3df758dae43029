import { hash } from 'node:crypto';
import { assert } from '../../core/assert.ts';
import { drawSystemInteger } from '../../crypto/system-entropy.ts';
import { wholeShots } from '../backend.ts';
import {
  assertCircuit,
  bellChsh,
  CHSH_SETTINGS,
  type Circuit,
  circuitDepth,
  type Gate,
  superposition,
  xCheck,
} from '../circuit.ts';

export const CIRCUITS = ['superposition', 'x-check', 'bell-chsh'] as const;
export type CircuitName = (typeof CIRCUITS)[number];
/** `json`: hexadecimal samples; `qiskit`: a compressed array, a fourth of the size. */
export const RESULT_FORMS = ['json', 'qiskit'] as const;
type ResultForm = (typeof RESULT_FORMS)[number];

/** All that a job's results mean. Kept before the job is submitted: without it they are not read. */
export interface Plan {
  readonly device: string;
  readonly circuit: CircuitName;
  /** Min-entropy per raw bit that was claimed. */
  readonly claim: number;
  readonly isSimulator: boolean;
  readonly deviceQubits: number;
  /** The qubit that gives channel i. For `bell-chsh` channels 2k and 2k + 1 are pair k. */
  readonly qubits: readonly number[];
  /** Of every PUB. */
  readonly shotsPerPub: number;
  /** The program of each PUB, in the order of the job: see `programsOf`. */
  readonly order: readonly number[];
  readonly form: ResultForm;
  readonly isPrivate: boolean;
  readonly plannedAtMs: number;
  /** By channel, as published when the qubits were chosen. */
  readonly e01: readonly number[];
  readonly e10: readonly number[];
  readonly calibrationDate: string | null;
}

/**
 * PUBs of a job that interleaves programs. As clusters of a witness they are too few for `source-independent`
 * and
 * `bell-witness`, which take thousands (docs/evidence.md). They are of equal size and in random order, so that neither drift over the job nor
 * a processor that looked at their size would favour a program; each costs IBM a moment to load, which is why
 * they are few.
 */
const INTERLEAVED_PUBS = 16;

/** How a job's shots are divided over its PUBs. */
export interface Layout {
  readonly shotsPerPub: number;
  readonly order: readonly number[];
}

/**
 * PUBs that hold at least `bits` raw bits of `width` channels; `testShare` is that of the X-basis tests among
 * them.
 */
export function layoutOf(circuit: CircuitName, bits: number, width: number, testShare: number): Layout {
  const shots = wholeShots(bits, width);
  if (circuit === 'superposition') return { shotsPerPub: shots, order: [0] };
  if (circuit === 'bell-chsh') {
    // Independent of each other, as the bounds on local devices take them.
    const order = Array.from({ length: INTERLEAVED_PUBS }, () => drawSystemInteger(CHSH_SETTINGS.length));
    return { shotsPerPub: Math.ceil(shots / INTERLEAVED_PUBS), order };
  }
  const tests = Math.max(1, Math.round(testShare * INTERLEAVED_PUBS));
  assert(tests < INTERLEAVED_PUBS, 'a job measures something beside its tests');
  const order = Array.from({ length: INTERLEAVED_PUBS }, (_, pub) => (pub < tests ? X_TEST : GENERATION));
  return { shotsPerPub: Math.ceil(shots / (INTERLEAVED_PUBS - tests)), order: shuffled(order) };
}

/** Indices of programs of `x-check`. */
const GENERATION = 0;
export const X_TEST = 1;

/** Fisher and Yates, with the operating system's randomness: a test that is foreseen is none. */
function shuffled(order: number[]): number[] {
  for (let last = order.length - 1; last > 0; last--) {
    const other = drawSystemInteger(last + 1);
    [order[last], order[other]] = [order[other], order[last]];
  }
  return order;
}

export function totalShots({ shotsPerPub, order }: Layout): number {
  return shotsPerPub * order.length;
}

/** What runs on the processor. */
export interface Programs {
  /** `lang_circuit`. */
  readonly name: string;
  /**
   * OpenQASM 3 on physical qubits; PUBs refer to them by index. For `bell-chsh` one for each of
   * CHSH_SETTINGS.
   */
  readonly texts: readonly string[];
  /** SHA-256 (hex) of the texts, joined in this order. */
  readonly sha256: string;
  /** Of the deepest. */
  readonly depth: number;
}

export function programsOf({
  circuit,
  qubits,
  deviceQubits,
}: Pick<Plan, 'circuit' | 'qubits' | 'deviceQubits'>): Programs {
  const { name, circuits } = abstractPrograms(circuit, qubits.length);
  const physical = circuits.map((each) => placed(inBasis(each), qubits, deviceQubits));
  const texts = physical.map((each, program) =>
    physicalText(each, circuit === 'x-check' && program === X_TEST ? qubits.length : undefined),
  );
  return {
    name,
    texts,
    sha256: hash('sha256', texts.join(''), 'hex'),
    depth: physical.reduce((deepest, each) => Math.max(deepest, circuitDepth(each)), 0),
  };
}

function abstractPrograms(circuit: CircuitName, width: number): { name: string; circuits: Circuit[] } {
  const generation = superposition(width);
  if (circuit === 'superposition') return { name: generation.name, circuits: [generation.circuit] };
  if (circuit === 'x-check') {
    const check = xCheck(width);
    return { name: `${generation.name}+${check.name}`, circuits: [generation.circuit, check.circuit] };
  }
  assert(width % 2 === 0, 'Bell tests are made of pairs');
  const circuits = CHSH_SETTINGS.map((setting) => sideBySide(bellChsh(setting).circuit, width / 2));
  return { name: `bell-chsh-${width}`, circuits };
}

/** `copies` of a circuit, each on qubits of its own. */
function sideBySide(circuit: Circuit, copies: number): Circuit {
  const firsts = Array.from({ length: copies }, (_, copy) => copy * circuit.qubits);
  const shifted = (gate: Gate, by: number) =>
    ({ ...gate, qubits: gate.qubits.map((qubit) => qubit + by) }) as unknown as Gate; // as many as before
  return {
    qubits: circuit.qubits * copies,
    gates: circuit.gates.flatMap((gate) => firsts.map((first) => shifted(gate, first))),
    measured: firsts.flatMap((first) => circuit.measured.map((qubit) => qubit + first)),
  };
}

/** Version of what this file makes of a circuit: another text for an unchanged circuit is another version. */
export const PHYSICAL_COMPILER_VERSION = '1.0.0';

const { PI } = Math;
/** Below this an rz does nothing: sums of a few multiples of π/4 are exact to 2^-50. */
const ANGLE_MIN = 1e-12;

/**
 * What IBM's Heron and Nighthawk processors run as it is (`basis_gates` of their configuration, but for the
 * idle `id`).
 */
export const BASIS_GATES: readonly Gate['gate'][] = ['cz', 'rz', 'sx', 'x'];

const sx = (qubit: number): Gate => ({ gate: 'sx', qubits: [qubit] });
const rz = (qubit: number, angle: number): Gate => ({ gate: 'rz', qubits: [qubit], angle });

/**
 * The same circuit in the basis {cz, rz, sx, x}, up to global phases: no outcome's probability changes. An rz
 * is a change of frame: it is carried past diagonal gates to the next pulse, added to others on the way, and
 * left out where it does nothing, on |0> and before a measurement. So H becomes one sx, and H·H becomes sx,
 * rz(π), sx.
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
 * Ry(θ) = Rz(π) √X Rz(θ + π) √X up to phase (McKay et al., arXiv:1612.00858, eq. 2.7). One pulse is enough
 * for a quarter turn, HZ = Ry(π/2) and ZH = Ry(-π/2), and none for a whole one.
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
  // as many as before
  return { ...gate, qubits: gate.qubits.map((qubit) => layout[qubit]) } as unknown as Gate;
}

/**
 * OpenQASM 3 on physical qubits (`$n`, specification 3.0, Physical Qubits), one statement a line: nothing is
 * left to a transpiler. The leading barrier names every qubit of the device, so that whoever builds the
 * circuit from the text gives it the device's width; the last has all qubits measured at once. One more may
 * stand after the first `prepared` gates: what comes then is not made one with the preparation that it is to
 * test.
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
