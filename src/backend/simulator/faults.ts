import { BackendError, type BackendErrorKind } from '../backend.ts';
import { OptionError } from '../definition.ts';
import type { Shots } from '../shots.ts';
import type { MeasuredQubits } from './qubits.ts';

/**
 * Faults of the simulated device and of its provider, which show the health tests, the collector and the alarms at
 * work. The simulator's claims do not change, since a broken device does not know that it is broken.
 */
export type Fault =
  /** The qubit always reads 0. */
  | { readonly kind: 'dead-qubit'; readonly qubit: number }
  /** Every read after the first gives the bits of the first. */
  | { readonly kind: 'replay' }
  /** The first `reads` reads fail with this kind of BackendError. */
  | { readonly kind: 'fail'; readonly error: BackendErrorKind; readonly reads: number };

const ERROR_KINDS: readonly BackendErrorKind[] = ['retryable', 'quota', 'auth', 'permanent', 'no_raw_shots'];

const EXPECTED = `none, or of dead-qubit:Q, replay, fail:KIND[,READS] (KIND: ${ERROR_KINDS.join(', ')}), with commas between them`;

/** Parses the option, e.g. `dead-qubit:3,fail:quota,2`. A part that begins with a letter begins a fault. */
export function faultsOption(text: string): readonly Fault[] {
  return text === 'none' ? [] : text.split(/,(?=[a-z])/).map(parsedFault);
}

function parsedFault(text: string): Fault {
  const [, qubit] = /^dead-qubit:(\d{1,4})$/.exec(text) ?? [];
  if (qubit !== undefined) return { kind: 'dead-qubit', qubit: Number(qubit) };
  if (text === 'replay') return { kind: text };
  const [, kind, reads] = /^fail:([a-z_]+)(?:,(\d{1,9}))?$/.exec(text) ?? [];
  const error = ERROR_KINDS.find((each) => each === kind);
  if (error === undefined) throw new OptionError(EXPECTED);
  return { kind: 'fail', error, reads: reads === undefined ? Number.POSITIVE_INFINITY : Number(reads) };
}

/** Returns the faults as the option writes them. `quantum_backend` prints this text. */
export function faultsText(faults: readonly Fault[]): string {
  return faults.map(faultText).join(', ');
}

function faultText(fault: Fault): string {
  if (fault.kind === 'dead-qubit') return `dead-qubit:${fault.qubit}`;
  if (fault.kind === 'replay') return fault.kind;
  return `fail:${fault.error}${Number.isFinite(fault.reads) ? `,${fault.reads}` : ''}`;
}

type Device = Pick<MeasuredQubits, 'width' | 'take'>;

/** Returns the device with these faults. Throws an OptionError for qubits that it does not have. */
export function withFaults(device: Device, faults: readonly Fault[]): Device {
  const { width } = device;
  const dead = faults.flatMap((fault) => (fault.kind === 'dead-qubit' ? [fault.qubit] : []));
  if (dead.some((qubit) => qubit >= width)) throw new OptionError(`faults of qubits 0 to ${width - 1}`);
  let reads = 0;
  let first: Shots | undefined;
  return {
    width,
    async take(asked, signal) {
      reads++;
      const failure = faults.find((fault) => fault.kind === 'fail' && reads <= fault.reads);
      if (failure?.kind === 'fail') {
        throw new BackendError(failure.error, `simulated fault ${faultText(failure)}`);
      }
      if (first !== undefined) return structuredClone(first);
      const taken = await device.take(asked, signal);
      for (const qubit of dead) {
        for (let at = qubit; at < taken.shots * width; at += width)
          taken.bits[at >>> 3] &= ~(0x80 >>> (at & 7));
      }
      if (faults.some(({ kind }) => kind === 'replay')) first = structuredClone(taken);
      return taken;
    },
  };
}
