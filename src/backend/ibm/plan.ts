import { hash, randomInt } from 'node:crypto';
import { assert } from '../../core/assert.ts';
import { type Circuit, circuitDepth, type Gate } from '../circuit.ts';
import { bellChsh, CHSH_SETTINGS, superposition, xCheck } from '../named-circuits.ts';
import { inBasis, physicalText, placed } from '../physical-circuit.ts';
import { wholeShots } from '../shots.ts';

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
 * PUBs of a job that interleaves programs. They are of equal size and in random order, so that neither drift over the job nor
 * a processor that looked at their size would favour a program; each costs IBM a moment to load, which is why they are few.
 */
const INTERLEAVED_PUBS = 16;

/** How a job's shots are divided over its PUBs. */
export interface Layout {
  readonly shotsPerPub: number;
  readonly order: readonly number[];
}

/** PUBs that hold at least `bits` raw bits of `width` channels; `testShare` is that of the X-basis tests among them. */
export function layoutOf(circuit: CircuitName, bits: number, width: number, testShare: number): Layout {
  const shots = wholeShots(bits, width);
  if (circuit === 'superposition') return { shotsPerPub: shots, order: [0] };
  if (circuit === 'bell-chsh') {
    const order = Array.from({ length: INTERLEAVED_PUBS }, (_, pub) => pub % CHSH_SETTINGS.length);
    return { shotsPerPub: Math.ceil(shots / INTERLEAVED_PUBS), order: shuffled(order) };
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
    const other = randomInt(last + 1);
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
  /** OpenQASM 3 on physical qubits; PUBs refer to them by index. For `bell-chsh` one for each of CHSH_SETTINGS. */
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

/** The plan in a job's memo; null when it holds none. */
export function planIn(memo: string): Plan | null {
  return memo === '' ? null : (JSON.parse(memo) as Plan);
}
