import { hash } from 'node:crypto';
import { assert } from '../core/assert.ts';
import { type RawRead, wholeShots } from './backend.ts';
import { CHSH_SETTINGS, circuitDepth } from './circuit.ts';

/**
 * Circuits for machines that run native gates as they are written. Everything is made of one pulse, a quarter
 * turn about an axis in the equator, and of one entangling gate: compilers that see H·H make nothing of it,
 * and a test of the preparation would test nothing.
 */
export interface PulseCircuit {
  /**
   * Qubits are channels: qubit i gives channel i of every shot. All are measured at the end, in the Z basis.
   */
  readonly qubits: number;
  readonly operations: readonly PulseOperation[];
}

/**
 * `pulse`: exp(-i π/4 (cos φ X + sin φ Y)), φ = `eighths` · 2π/8, eighths in 0..7; what IQM calls prx(π/2, φ), IonQ gpi2(φ)
 * and Rigetti rz(-φ), rx(π/2), rz(φ). `entangle`: the machine's own two-qubit gate.
 */
type PulseOperation =
  | { readonly kind: 'pulse'; readonly qubits: readonly [number]; readonly eighths: number }
  | { readonly kind: 'entangle'; readonly qubits: readonly [number, number] };

/**
 * Two-qubit gates that entangle fully: cz; iswap; zz = exp(-i π/4 ZZ); xx and ms = exp(-i π/4 XX) (Mølmer and
 * Sørensen, with both phases 0).
 */
export const ENTANGLERS = ['cz', 'iswap', 'zz', 'ms', 'xx'] as const;
export type Entangler = (typeof ENTANGLERS)[number];

function pulse(qubit: number, eighths: number): PulseOperation {
  return { kind: 'pulse', qubits: [qubit], eighths: ((eighths % 8) + 8) % 8 };
}

const channels = (count: number) => Array.from({ length: count }, (_, channel) => channel);

/** One pulse on each qubit: every measured bit is an ideal coin. The circuit that makes entropy. */
export function superpositionPulses(qubits: number): PulseCircuit {
  return { qubits, operations: channels(qubits).map((qubit) => pulse(qubit, 0)) };
}

/**
 * The same pulse and its inverse: the state of `superpositionPulses` measured in its own basis. Ideally every
 * bit is 0; the rate of ones is the e_x of the source-independent bound (Vallone et al., arXiv:1401.7917).
 */
function xTestPulses(qubits: number): PulseCircuit {
  const prepared = superpositionPulses(qubits).operations;
  return { qubits, operations: [...prepared, ...channels(qubits).map((qubit) => pulse(qubit, 4))] };
}

/**
 * Angles on the equator in eighths of a turn: with (|00> + e^{iχ}|11>)/√2 measured along α and β, E = cos(α +
 * β - χ). These give S = E00 + E01 + E10 - E11 = 2√2.
 */
const ANGLES_A = [0, 2] as const;
const ANGLES_B = [-1, 1] as const;

/**
 * A Bell test on each pair of channels (2k, 2k + 1), all in the setting CHSH_SETTINGS[setting].
 *
 * A pulse at φ before a Z measurement measures along φ + 1/4 turn, so two of them turn E into cos(φ_a + φ_b +
 * π - χ): φ_a = α and φ_b = β + χ - π. What remains is χ. exp(-i π/4 XX)|00> has χ = -π/2. The others start
 * from |++> (pulses at π/2); cz then leaves (|0>|+> + |1>|->)/√2, which a pulse at 3π/2 on b turns into (|00>
 * - |11>)/√2: χ = π. zz, and iswap but for a SWAP of two equal qubits, are cz with a quarter turn about Z on
 * both (CZ = exp(-i π/4 ZZ) Rz(-π/2)⊗Rz(-π/2) up to a phase): the pulse on b turns with it, and χ grows by 2
 * · π/2.
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

/** Layers of operations on the longest path, measurement included. */
export function pulseDepth({ qubits, operations }: PulseCircuit): number {
  return circuitDepth({ qubits, gates: operations, measured: channels(qubits) });
}

/**
 * What a job runs, as an operator names it. A job has one part, or several that run one after the other with
 * the same number of shots each: `x-check` mixes parts that test the preparation into those that make bits,
 * `bell-chsh` mixes the four settings of a Bell test.
 */
export const PART_PLANS = ['superposition', 'x-check', 'bell-chsh'] as const;
export type PartPlan = (typeof PART_PLANS)[number];

/** `bits`: shots that are raw bits; `x-test`: test shots; 0 to 3: raw bits of a Bell test in that setting. */
export type Part = 'bits' | 'x-test' | 0 | 1 | 2 | 3;

/**
 * Programs of one job, few enough for every provider. As clusters of a witness they are too few:
 * `source-independent` and
 * `bell-witness` take thousands (docs/evidence.md). The tests still refute a preparation that errs, and bound `calibrated`.
 */
const PARTS = 16;
/** One shot in eight is a test. */
const X_TESTS = 2;

/** Parts of a job: all of them, and those whose shots are raw bits. */
export function partCounts(plan: PartPlan): { readonly all: number; readonly raw: number } {
  if (plan === 'superposition') return { all: 1, raw: 1 };
  return { all: PARTS, raw: plan === 'x-check' ? PARTS - X_TESTS : PARTS };
}

/** Shots of each part, such that the raw ones hold at least `bits` bits. */
export function shotsOfPart(plan: PartPlan, bits: number, width: number): number {
  return Math.ceil(wholeShots(bits, width) / partCounts(plan).raw);
}

/**
 * The parts of the job with this idempotency key, in the order in which they run. They are drawn from the
 * key, which is random (128 bits of the kernel's generator) and made for one job: tests are placed by
 * a shuffle, the settings of a Bell test are independent of each other. Nobody who prepares shots beforehand
 * knows them, and a repeated submission has the same.
 */
export function partsOf(plan: PartPlan, idempotencyKey: string): Part[] {
  if (plan === 'superposition') return ['bits'];
  // 48 bits of a digest: the bias of the remainder is below 2^-44.
  const draw = (part: number, bound: number) =>
    hash('sha256', `parts ${idempotencyKey} ${part}`, 'buffer').readUIntBE(0, 6) % bound;
  if (plan === 'bell-chsh') {
    return Array.from({ length: PARTS }, (_, part) => draw(part, CHSH_SETTINGS.length) as Part);
  }
  const parts = Array.from({ length: PARTS }, (_, part): Part => (part < X_TESTS ? 'x-test' : 'bits'));
  for (let last = PARTS - 1; last > 0; last--) {
    const drawn = draw(last, last + 1);
    [parts[last], parts[drawn]] = [parts[drawn], parts[last]];
  }
  return parts;
}

/** The circuit that a part runs. */
export function circuitOf(part: Part, qubits: number, entangler: Entangler | null): PulseCircuit {
  if (part === 'bits') return superpositionPulses(qubits);
  if (part === 'x-test') return xTestPulses(qubits);
  assert(entangler !== null, 'a Bell test has an entangling gate');
  return chshPulses(qubits, part, entangler);
}

/** The first of the ranked pairs that have no qubit in common, at most as many as `count` qubits make. */
export function disjointPairs(
  ranked: readonly (readonly [number, number])[],
  count: number,
): (readonly [number, number])[] {
  const chosen: (readonly [number, number])[] = [];
  const taken = new Set<number>();
  for (const pair of ranked) {
    if (2 * chosen.length + 2 > count) break;
    if (pair.some((qubit) => taken.has(qubit))) continue;
    chosen.push(pair);
    for (const qubit of pair) taken.add(qubit);
  }
  return chosen;
}

/** What one part gave: shot by shot, `width` bits each, packed as RawRead.bits. */
export interface PartShots {
  readonly part: Part;
  readonly bits: Uint8Array<ArrayBuffer>;
  readonly shots: number;
}

/** Who knows the settings of a job at a provider. */
const DRAWN =
  'This service drew the settings with its system’s generator before it submitted the job; the provider’s compiler and controller had them with the job, so the device could know them before it answered.';

/**
 * The parts of a job, of each of which `shotsOrdered` shots were ordered, put together in the order in which
 * they ran. A part is a cluster of its witness. Erases what it was given.
 */
export function joinParts(
  parts: readonly PartShots[],
  width: number,
  shotsOrdered: number,
): Pick<RawRead, 'bits' | 'width' | 'shots' | 'witness'> {
  const raw = parts.filter(({ part }) => part !== 'x-test');
  const tests = parts.filter(({ part }) => part === 'x-test');
  const joined = { ...joinShots(raw, width), width };
  const tested = joinShots(tests, width);
  for (const { bits } of parts) bits.fill(0);
  if (tests.length > 0) {
    const clusters = { testedClusters: tests.length, rawClusters: raw.length, shotsOrdered, drawn: DRAWN };
    return { ...joined, witness: { kind: 'x-basis', ...tested, ...clusters } };
  }
  if (!raw.some(({ part }) => typeof part === 'number')) return joined;
  const clusterShots = Uint32Array.from(raw, ({ shots }) => shots);
  return {
    ...joined,
    witness: { kind: 'chsh', settings: settingsOf(raw), clusterShots, shotsOrdered, drawn: DRAWN },
  };
}

function settingsOf(raw: readonly PartShots[]): Uint8Array<ArrayBuffer> {
  const settings = new Uint8Array(raw.reduce((shots, part) => shots + part.shots, 0));
  let at = 0;
  for (const { part, shots } of raw) {
    assert(typeof part === 'number', 'every raw shot of a Bell test has its setting');
    settings.fill(part, at, at + shots);
    at += shots;
  }
  return settings;
}

function joinShots(parts: readonly PartShots[], width: number): Pick<RawRead, 'bits' | 'shots'> {
  const shots = parts.reduce((sum, part) => sum + part.shots, 0);
  const joined = new Uint8Array(Math.ceil((shots * width) / 8));
  let at = 0;
  for (const part of parts) {
    appendBits(joined, at, part.bits, part.shots * width);
    at += part.shots * width;
  }
  return { bits: joined, shots };
}

/** Writes `count` packed bits at bit position `at`; what is beyond them in `target` is still zero. */
function appendBits(target: Uint8Array, at: number, source: Uint8Array, count: number): void {
  const shift = at & 7;
  const first = at >>> 3;
  const bytes = Math.ceil(count / 8);
  for (let i = 0; i < bytes; i++) {
    target[first + i] |= source[i] >>> shift;
    if (shift !== 0 && first + i + 1 < target.length) target[first + i + 1] |= source[i] << (8 - shift);
  }
}

/** Packs shots one by one: bit i of a shot becomes channel i. */
export class ShotPacker {
  readonly #bits: Uint8Array<ArrayBuffer>;
  readonly #width: number;
  #shots = 0;

  /** Room for at most `shotsMax` shots. */
  constructor(width: number, shotsMax: number) {
    this.#width = width;
    this.#bits = new Uint8Array(Math.ceil((width * shotsMax) / 8));
  }

  /** `isOne(channel)` for the channels 0 to width - 1. */
  add(isOne: (channel: number) => boolean): void {
    let at = this.#shots++ * this.#width;
    for (let channel = 0; channel < this.#width; channel++, at++) {
      if (isOne(channel)) this.#bits[at >>> 3] |= 0x80 >>> (at & 7);
    }
  }

  /** What was added, as shots of `part`. */
  take(part: Part): PartShots {
    const size = Math.ceil((this.#shots * this.#width) / 8);
    return { part, bits: this.#bits.slice(0, size), shots: this.#shots };
  }
}
