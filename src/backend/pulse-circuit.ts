import { assert } from '../core/assert.ts';
import { CHSH_SETTINGS } from './named-circuits.ts';

/**
 * Circuits for machines that run native gates as they are written. Everything is made of one pulse, a quarter turn about
 * an axis in the equator, and of one entangling gate: compilers that see H·H make nothing of it, and a test of the
 * preparation would test nothing.
 */
export interface PulseCircuit {
  /** Qubits are channels: qubit i gives channel i of every shot. All are measured at the end, in the Z basis. */
  readonly qubits: number;
  readonly operations: readonly PulseOperation[];
}

/**
 * `pulse`: exp(-i π/4 (cos φ X + sin φ Y)), φ = `eighths` · 2π/8, eighths in 0..7; what IQM calls prx(π/2, φ), IonQ gpi2(φ)
 * and Rigetti rz(-φ), rx(π/2), rz(φ). `entangle`: the machine's own two-qubit gate.
 */
type PulseOperation =
  | { readonly kind: 'pulse'; readonly qubit: number; readonly eighths: number }
  | { readonly kind: 'entangle'; readonly qubits: readonly [number, number] };

/**
 * Two-qubit gates that entangle fully: cz; iswap; zz = exp(-i π/4 ZZ); xx and ms = exp(-i π/4 XX) (Mølmer and Sørensen,
 * with both phases 0).
 */
export const ENTANGLERS = ['cz', 'iswap', 'zz', 'ms', 'xx'] as const;
export type Entangler = (typeof ENTANGLERS)[number];

function pulse(qubit: number, eighths: number): PulseOperation {
  return { kind: 'pulse', qubit, eighths: ((eighths % 8) + 8) % 8 };
}

const channels = (count: number) => Array.from({ length: count }, (_, channel) => channel);

/** One pulse on each qubit: every measured bit is an ideal coin. The circuit that makes entropy. */
export function superpositionPulses(qubits: number): PulseCircuit {
  return { qubits, operations: channels(qubits).map((qubit) => pulse(qubit, 0)) };
}

/**
 * The same pulse and its inverse: the state of `superpositionPulses` measured in its own basis. Ideally every bit is 0; the
 * rate of ones is the e_x of the source-independent bound (Vallone et al., arXiv:1401.7917).
 */
export function xTestPulses(qubits: number): PulseCircuit {
  const prepared = superpositionPulses(qubits).operations;
  return { qubits, operations: [...prepared, ...channels(qubits).map((qubit) => pulse(qubit, 4))] };
}

/**
 * Angles on the equator in eighths of a turn: with (|00> + e^{iχ}|11>)/√2 measured along α and β, E = cos(α + β - χ). These
 * give S = E00 + E01 + E10 - E11 = 2√2.
 */
const ANGLES_A = [0, 2] as const;
const ANGLES_B = [-1, 1] as const;

/**
 * A Bell test on each pair of channels (2k, 2k + 1), all in the setting CHSH_SETTINGS[setting].
 *
 * A pulse at φ before a Z measurement measures along φ + 1/4 turn, so two of them turn E into cos(φ_a + φ_b + π - χ):
 * φ_a = α and φ_b = β + χ - π. What remains is χ. exp(-i π/4 XX)|00> has χ = -π/2. The others start from |++> (pulses at π/2);
 * cz then leaves (|0>|+> + |1>|->)/√2, which a pulse at 3π/2 on b turns into (|00> - |11>)/√2: χ = π. zz, and iswap but for
 * a SWAP of two equal qubits, are cz with a quarter turn about Z on both (CZ = exp(-i π/4 ZZ) Rz(-π/2)⊗Rz(-π/2) up to a phase):
 * the pulse on b turns with it, and χ grows by 2 · π/2.
 */
export function chshPulses(qubits: number, setting: number, entangler: Entangler): PulseCircuit {
  assert(qubits >= 2 && qubits % 2 === 0, 'a Bell test takes pairs of qubits');
  const [a, b] = CHSH_SETTINGS[setting];
  const operations: PulseOperation[] = [];
  for (let first = 0; first < qubits; first += 2) {
    const { steps, chi } = bellPair(first, first + 1, entangler);
    operations.push(...steps, pulse(first, ANGLES_A[a]), pulse(first + 1, ANGLES_B[b] + chi - 4));
  }
  return { qubits, operations };
}

function bellPair(a: number, b: number, entangler: Entangler): { steps: PulseOperation[]; chi: number } {
  const entangle: PulseOperation = { kind: 'entangle', qubits: [a, b] };
  if (entangler === 'xx' || entangler === 'ms') return { steps: [entangle], chi: -2 };
  const quarter = entangler === 'cz' ? 0 : 2;
  return { steps: [pulse(a, 2), pulse(b, 2), entangle, pulse(b, 6 + quarter)], chi: 4 + 2 * quarter };
}

/** Layers of operations on the longest path, measurement included, as `circuitDepth` counts them. */
export function pulseDepth({ qubits, operations }: PulseCircuit): number {
  const layerOf = new Uint32Array(qubits);
  for (const operation of operations) {
    const acted = operation.kind === 'pulse' ? [operation.qubit] : operation.qubits;
    const layer = acted.reduce((deepest, qubit) => Math.max(deepest, layerOf[qubit]), 0);
    for (const qubit of acted) layerOf[qubit] = layer + 1;
  }
  return layerOf.reduce((deepest, layer) => Math.max(deepest, layer), 0) + 1;
}
