import { assert } from '../../core/assert.ts';
import type { Gate } from '../circuit.ts';

/** 2^22 amplitudes in two Float64Arrays are 64 MiB. */
export const STATE_QUBITS_MAX = 22;

/**
 * The pure state of a few qubits: amplitude of basis state `i` is re[i] + i·im[i], and bit q of `i` is qubit
 * q. Gates act in place. test/reference/dense-unitary.ts holds the plain version that these loops are proven
 * equal to.
 */
export class StateVector {
  readonly qubits: number;
  readonly re: Float64Array;
  readonly im: Float64Array;

  /** |0…0>. */
  constructor(qubits: number) {
    assert(qubits >= 1 && qubits <= STATE_QUBITS_MAX, `a state vector has 1 to ${STATE_QUBITS_MAX} qubits`);
    this.qubits = qubits;
    this.re = new Float64Array(2 ** qubits);
    this.im = new Float64Array(2 ** qubits);
    this.re[0] = 1;
  }

  apply(gate: Gate): void {
    const [qubit] = gate.qubits;
    switch (gate.gate) {
      case 'h':
        this.#hadamard(qubit);
        break;
      case 'x':
        this.#pauliX(qubit);
        break;
      case 'y':
        this.#pauliY(qubit);
        break;
      case 'z':
        this.#pauliZ(qubit);
        break;
      case 'ry':
        this.#rotateY(qubit, gate.angle);
        break;
      case 'rz':
        this.#rotateZ(qubit, gate.angle);
        break;
      case 'cx':
        this.#controlledX(qubit, gate.qubits[1]);
        break;
    }
  }

  /** Sum of |amplitude|²: 1 up to rounding. */
  norm(): number {
    let sum = 0;
    for (let i = 0; i < this.re.length; i++) sum += this.re[i] * this.re[i] + this.im[i] * this.im[i];
    return sum;
  }

  /**
   * Outcome probabilities (Born rule) of measuring `measured` in the Z basis: entry `o` belongs to the
   * outcome whose bit i is what measured[i] gave. Qubits that are not measured are summed over.
   */
  probabilities(measured: readonly number[]): Float64Array<ArrayBuffer> {
    const outcomes = new Float64Array(2 ** measured.length);
    for (let i = 0; i < this.re.length; i++) {
      const probability = this.re[i] * this.re[i] + this.im[i] * this.im[i];
      if (probability === 0) continue;
      let outcome = 0;
      for (let bit = 0; bit < measured.length; bit++) outcome |= ((i >>> measured[bit]) & 1) << bit;
      outcomes[outcome] += probability;
    }
    return outcomes;
  }

  #hadamard(qubit: number): void {
    const { re, im } = this;
    const stride = 1 << qubit;
    for (let block = 0; block < re.length; block += 2 * stride) {
      for (let a = block, b = block + stride; a < block + stride; a++, b++) {
        const aRe = re[a];
        const aIm = im[a];
        re[a] = (aRe + re[b]) * Math.SQRT1_2;
        im[a] = (aIm + im[b]) * Math.SQRT1_2;
        re[b] = (aRe - re[b]) * Math.SQRT1_2;
        im[b] = (aIm - im[b]) * Math.SQRT1_2;
      }
    }
  }

  #pauliX(qubit: number): void {
    const stride = 1 << qubit;
    for (let block = 0; block < this.re.length; block += 2 * stride) {
      for (let a = block; a < block + stride; a++) this.#exchange(a, a + stride);
    }
  }

  /** Y = [[0, -i], [i, 0]]. */
  #pauliY(qubit: number): void {
    const { re, im } = this;
    const stride = 1 << qubit;
    for (let block = 0; block < re.length; block += 2 * stride) {
      for (let a = block, b = block + stride; a < block + stride; a++, b++) {
        const aRe = re[a];
        const aIm = im[a];
        re[a] = im[b];
        im[a] = -re[b];
        re[b] = -aIm;
        im[b] = aRe;
      }
    }
  }

  /** Z = diag(1, -1). */
  #pauliZ(qubit: number): void {
    const { re, im } = this;
    const stride = 1 << qubit;
    for (let block = stride; block < re.length; block += 2 * stride) {
      for (let b = block; b < block + stride; b++) {
        re[b] = -re[b];
        im[b] = -im[b];
      }
    }
  }

  /** Ry(θ) = [[cos θ/2, -sin θ/2], [sin θ/2, cos θ/2]]. */
  #rotateY(qubit: number, angle: number): void {
    const { re, im } = this;
    const cos = Math.cos(angle / 2);
    const sin = Math.sin(angle / 2);
    const stride = 1 << qubit;
    for (let block = 0; block < re.length; block += 2 * stride) {
      for (let a = block, b = block + stride; a < block + stride; a++, b++) {
        const aRe = re[a];
        const aIm = im[a];
        re[a] = cos * aRe - sin * re[b];
        im[a] = cos * aIm - sin * im[b];
        re[b] = sin * aRe + cos * re[b];
        im[b] = sin * aIm + cos * im[b];
      }
    }
  }

  /** Rz(θ) = diag(e^{-iθ/2}, e^{iθ/2}). */
  #rotateZ(qubit: number, angle: number): void {
    const { re, im } = this;
    const cos = Math.cos(angle / 2);
    const stride = 1 << qubit;
    for (let i = 0; i < re.length; i++) {
      const sin = (i & stride) === 0 ? -Math.sin(angle / 2) : Math.sin(angle / 2);
      const iRe = re[i];
      re[i] = cos * iRe - sin * im[i];
      im[i] = sin * iRe + cos * im[i];
    }
  }

  /** Visits the quarter of the basis states in which both qubits are 0. */
  #controlledX(control: number, target: number): void {
    const controlBit = 1 << control;
    const targetBit = 1 << target;
    const low = Math.min(controlBit, targetBit);
    const high = Math.max(controlBit, targetBit);
    for (let outer = 0; outer < this.re.length; outer += 2 * high) {
      for (let inner = outer; inner < outer + high; inner += 2 * low) {
        for (let i = inner; i < inner + low; i++) this.#exchange(i | controlBit, i | controlBit | targetBit);
      }
    }
  }

  #exchange(a: number, b: number): void {
    const aRe = this.re[a];
    const aIm = this.im[a];
    this.re[a] = this.re[b];
    this.im[a] = this.im[b];
    this.re[b] = aRe;
    this.im[b] = aIm;
  }
}
