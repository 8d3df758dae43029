import { setImmediate } from 'node:timers/promises';
import { systemWait } from '../../core/clock.ts';
import { BackendError, type BackendErrorKind } from '../backend.ts';
import { OptionError } from '../definition.ts';
import type { Shots } from '../shots.ts';
import { type ByteSource, Coins, RandomWords } from './coins.ts';
import type { MeasuredQubits } from './qubits.ts';

/**
 * Faults of the simulated device and of its provider, to see the health tests, the collector and the alarms
 * at work. The simulator's claims stay as they were: a broken device does not know that it is.
 */
export type Fault =
  /** The qubit reads 0 whatever its state is. */
  | { readonly kind: 'dead-qubit'; readonly qubit: number }
  /** The second qubit shows what the first one shows. */
  | { readonly kind: 'correlated-pair'; readonly first: number; readonly second: number }
  /** A 0 turns into a 1 with a probability that grows by this much every million shots. */
  | { readonly kind: 'drift'; readonly perMillionShots: number }
  /** Every read after the first gives the first one's bits. */
  | { readonly kind: 'replay' }
  /** Half of the shots that were asked for. */
  | { readonly kind: 'truncate' }
  | { readonly kind: 'queue-delay'; readonly seconds: number }
  /** The first reads, or all, fail with this kind of BackendError. */
  | { readonly kind: 'fail'; readonly error: BackendErrorKind; readonly reads: number };

const ERROR_KINDS: readonly BackendErrorKind[] = ['retryable', 'quota', 'auth', 'permanent', 'no_raw_shots'];

const EXPECTED =
  'none, or of dead-qubit:Q, correlated-pair:A,B, drift:RATE, replay, truncate, queue-delay:SECONDS, ' +
  `fail:KIND[,READS] (KIND: ${ERROR_KINDS.join(', ')}), with commas between them`;

/** Parses the option, e.g. `dead-qubit:3,correlated-pair:4,5`: what begins with a letter begins a fault. */
export function faultsOption(text: string): readonly Fault[] {
  if (text === 'none') return [];
  return text.split(/,(?=[a-z])/).map(parsedFault);
}

function parsedFault(text: string): Fault {
  const [, kind, rest] = /^([a-z-]+)(?::(.*))?$/.exec(text) ?? [];
  const [first, second, ...more] = rest?.split(',') ?? [];
  const refuse = () => {
    throw new OptionError(EXPECTED);
  };
  const whole = (part: string | undefined) =>
    part !== undefined && /^\d{1,9}$/.test(part) ? Number(part) : refuse();
  const decimal = (part: string | undefined) =>
    part !== undefined && /^\d{1,9}(\.\d{1,9})?$/.test(part) ? Number(part) : refuse();
  if (more.length > 0) return refuse();
  if (kind === 'correlated-pair') return { kind, first: whole(first), second: whole(second) };
  if (kind === 'fail') {
    const error = ERROR_KINDS.find((each) => each === first) ?? refuse();
    return { kind, error, reads: second === undefined ? Number.POSITIVE_INFINITY : whole(second) };
  }
  if (second !== undefined) return refuse();
  if (kind === 'dead-qubit') return { kind, qubit: whole(first) };
  if (kind === 'drift') return { kind, perMillionShots: decimal(first) };
  if (kind === 'queue-delay') return { kind, seconds: decimal(first) };
  if ((kind === 'replay' || kind === 'truncate') && first === undefined) return { kind };
  return refuse();
}

/** As the option writes them; what `quantum_backend` prints. */
export function faultsText(faults: readonly Fault[]): string {
  return faults.map(faultText).join(', ');
}

function faultText(fault: Fault): string {
  switch (fault.kind) {
    case 'dead-qubit':
      return `dead-qubit:${fault.qubit}`;
    case 'correlated-pair':
      return `correlated-pair:${fault.first},${fault.second}`;
    case 'drift':
      return `drift:${fault.perMillionShots}`;
    case 'queue-delay':
      return `queue-delay:${fault.seconds}`;
    case 'fail':
      return `fail:${fault.error}${Number.isFinite(fault.reads) ? `,${fault.reads}` : ''}`;
    default:
      return fault.kind;
  }
}

type Device = Pick<MeasuredQubits, 'width' | 'take'>;

/** The device with these faults. Throws an OptionError for qubits that it does not have. */
export function withFaults(device: Device, faults: readonly Fault[], source: ByteSource): Device {
  for (const fault of faults) {
    const named = fault.kind === 'dead-qubit' ? [fault.qubit] : [];
    if (fault.kind === 'correlated-pair') named.push(fault.first, fault.second);
    if (named.some((qubit) => qubit >= device.width)) {
      throw new OptionError(`faults of qubits 0 to ${device.width - 1}`);
    }
  }
  return new FaultyDevice(device, faults, source);
}

class FaultyDevice implements Device {
  readonly width: number;
  readonly #device: Device;
  readonly #faults: readonly Fault[];
  readonly #words: RandomWords;
  #reads = 0;
  #shots = 0;
  #first: Shots | undefined;

  constructor(device: Device, faults: readonly Fault[], source: ByteSource) {
    this.width = device.width;
    this.#device = device;
    this.#faults = faults;
    this.#words = new RandomWords(source);
  }

  async take(asked: number, signal: AbortSignal): Promise<Shots> {
    this.#reads++;
    for (const fault of this.#faults) {
      if (fault.kind === 'queue-delay') await systemWait(fault.seconds * 1000, signal);
      if (fault.kind === 'fail' && this.#reads <= fault.reads) {
        throw new BackendError(fault.error, `simulated fault ${faultText(fault)}`);
      }
    }
    if (this.#first !== undefined) return structuredClone(this.#first);
    const shots = this.#has('truncate') ? Math.ceil(asked / 2) : asked;
    const taken = await this.#device.take(shots, signal);
    await this.#spoil(taken.bits, shots);
    this.#shots += shots;
    if (this.#has('replay')) this.#first = structuredClone(taken);
    return taken;
  }

  #has(kind: Fault['kind']): boolean {
    return this.#faults.some((fault) => fault.kind === kind);
  }

  /** Whole bytes of shots between two turns of the event loop. */
  async #spoil(bits: Uint8Array, shots: number): Promise<void> {
    for (let from = 0; from < shots; from += SLICE_SHOTS) {
      if (from > 0) await setImmediate();
      const count = Math.min(SLICE_SHOTS, shots - from);
      const { width } = this;
      const end = (from + count) * width;
      const slice = bits.subarray((from * width) / 8, Math.ceil(end / 8));
      for (const fault of this.#faults) this.#apply(fault, slice, count, from);
    }
  }

  #apply(fault: Fault, bits: Uint8Array, shots: number, shotsBefore: number): void {
    const { width } = this;
    if (fault.kind === 'dead-qubit') {
      for (let at = fault.qubit; at < shots * width; at += width) setBit(bits, at, 0);
    }
    if (fault.kind === 'correlated-pair') {
      for (let at = 0; at < shots * width; at += width) {
        setBit(bits, at + fault.second, bitAt(bits, at + fault.first));
      }
    }
    if (fault.kind === 'drift') {
      const probability = Math.min(1, ((this.#shots + shotsBefore) / 1e6) * fault.perMillionShots);
      const flips = new Uint8Array(bits.length);
      new Coins(new Array(width).fill(probability)).fill(flips, 0, shots, this.#words);
      for (let i = 0; i < bits.length; i++) bits[i] |= flips[i];
      this.#words.eraseUsed();
    }
  }
}

/** A multiple of 8, so that slices are whole bytes: half a millisecond for 16 qubits. */
const SLICE_SHOTS = 8192;

function bitAt(bits: Uint8Array, position: number): number {
  return (bits[position >>> 3] >>> (7 - (position & 7))) & 1;
}

function setBit(bits: Uint8Array, position: number, value: number): void {
  const mask = 0x80 >>> (position & 7);
  if (value === 1) bits[position >>> 3] |= mask;
  else bits[position >>> 3] &= ~mask;
}
