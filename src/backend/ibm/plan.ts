import { hash } from 'node:crypto';
import { assert } from '../../core/assert.ts';
import { drawSystemInteger } from '../../crypto/system-entropy.ts';
import { wholeShots } from '../backend.ts';
import { CHSH_SETTINGS, type ChshSetting, circuitDepth } from '../circuit.ts';
import type { JobPlan } from '../job.ts';
import type { Part, PartPlan } from '../parts.ts';

/** `json`: hexadecimal samples; `qiskit`: a compressed array, a fourth of the size. */
export const RESULT_FORMS = ['json', 'qiskit'] as const;
type ResultForm = (typeof RESULT_FORMS)[number];

/** All that a job's results mean. Kept before the job is submitted: without it they are not read. */
export interface Plan extends JobPlan {
  readonly device: string;
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
export function layoutOf(circuit: PartPlan, bits: number, width: number, testShare: number): Layout {
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
const X_TEST = 1;

/** What the shots of that program are. */
export function partOf(circuit: PartPlan, program: number): Part {
  if (circuit === 'bell-chsh') return program as Part;
  return circuit === 'x-check' && program === X_TEST ? 'x-test' : 'bits';
}

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

export function programsOf(plan: Pick<Plan, 'circuit' | 'qubits' | 'deviceQubits'>): Programs {
  const { circuit, qubits } = plan;
  const channels = qubits.map((_, channel) => channel);
  const programs = statementsOf(circuit, channels);
  const texts = programs.map((statements) => physicalText(statements, plan));
  const depths = programs.map((statements) => {
    const gates = statements.filter(({ call }) => call !== BARRIER);
    return circuitDepth({ qubits: qubits.length, gates, measured: channels });
  });
  return {
    name:
      circuit === 'x-check'
        ? `superposition-${qubits.length}+x-check-${qubits.length}`
        : `${circuit}-${qubits.length}`,
    texts,
    sha256: hash('sha256', texts.join(''), 'hex'),
    depth: Math.max(...depths),
  };
}

/** Version of the texts: another text for an unchanged circuit is another version. */
export const PHYSICAL_COMPILER_VERSION = '1.0.0';

/** What every program needs of IBM's processors, and what Bell tests need besides. */
export const BASIS_GATES = ['rz', 'sx'] as const;
export const ENTANGLING_GATE = 'cz';

/** A gate of the processor, or a barrier, and the channels on whose qubits it acts. */
interface Statement {
  readonly call: string;
  readonly qubits: readonly number[];
}

const BARRIER = 'barrier';
const { PI } = Math;
const sx = (channel: number): Statement => ({ call: 'sx', qubits: [channel] });
const rz = (channel: number, angle: number): Statement => ({ call: `rz(${angle})`, qubits: [channel] });
const cz = (a: number, b: number): Statement => ({ call: 'cz', qubits: [a, b] });

/**
 * The circuits of circuit.ts as the processor runs them, up to phases that no outcome shows. H is
 * Rz(π/2) √X Rz(π/2): on |0> and before a measurement the turns about Z do nothing, so that H is one sx, and
 * H twice is sx, rz(π), sx.
 */
function statementsOf(circuit: PartPlan, channels: readonly number[]): Statement[][] {
  if (circuit === 'bell-chsh') return CHSH_SETTINGS.map((setting) => bellTests(setting, channels.length));
  const superposition = channels.map(sx);
  if (circuit === 'superposition') return [superposition];
  // The barrier keeps a compiler from making one gate of the preparation and of what tests it.
  const turnedBack = channels.flatMap((channel) => [rz(channel, PI), sx(channel)]);
  return [superposition, [...superposition, { call: BARRIER, qubits: channels }, ...turnedBack]];
}

/**
 * `bellChsh` on the channels 2k and 2k + 1. CX is H on the second, cz, and H on the second again; the turns
 * about Z between two pulses add up. Ry(-π/2) before a measurement is one pulse, and Ry(∓π/4) is two:
 * Ry(θ) = Rz(π) √X Rz(θ + π) √X (McKay et al., arXiv:1612.00858, eq. 2.7).
 */
function bellTests([a, b]: ChshSetting, width: number): Statement[] {
  assert(width % 2 === 0, 'Bell tests are made of pairs');
  const pairs = Array.from({ length: width / 2 }, (_, pair) => [2 * pair, 2 * pair + 1] as const);
  const angle = b === 0 ? (3 / 4) * PI : (-3 / 4) * PI;
  return [
    ...pairs.map(([first]) => sx(first)),
    ...pairs.flatMap(([first, second]) => [sx(second), cz(first, second), rz(second, PI), sx(second)]),
    ...pairs.flatMap(([first]) => (a === 0 ? [] : [rz(first, PI), sx(first)])),
    ...pairs.flatMap(([, second]) => [rz(second, PI / 2), sx(second), rz(second, angle), sx(second)]),
  ];
}

/**
 * OpenQASM 3 on physical qubits (`$n`, specification 3.0, Physical Qubits), one statement a line: nothing is
 * left to a transpiler. The leading barrier names every qubit of the device, so that whoever builds the
 * circuit from the text gives it the device's width; the last has all qubits measured at once.
 */
function physicalText(
  statements: readonly Statement[],
  { qubits, deviceQubits }: Pick<Plan, 'qubits' | 'deviceQubits'>,
): string {
  assert(new Set(qubits).size === qubits.length, 'each channel has a qubit of its own');
  assert(Math.max(...qubits) < deviceQubits, 'the device has each qubit');
  const named = (physical: readonly number[]) => physical.map((qubit) => `$${qubit}`).join(', ');
  const all = Array.from({ length: deviceQubits }, (_, qubit) => qubit);
  return [
    'OPENQASM 3.0;',
    'include "stdgates.inc";',
    `bit[${qubits.length}] c;`,
    `${BARRIER} ${named(all)};`,
    ...statements.map(
      ({ call, qubits: channels }) => `${call} ${named(channels.map((channel) => qubits[channel]))};`,
    ),
    `${BARRIER} ${named(qubits)};`,
    ...qubits.map((qubit, channel) => `c[${channel}] = measure $${qubit};`),
    '',
  ].join('\n');
}
