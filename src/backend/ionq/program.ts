import { hash } from 'node:crypto';
import {
  decimal,
  httpUrl,
  type OptionDefinitions,
  OptionError,
  type OptionValues,
  oneOf,
  orAuto,
  secretOption,
  wholeNumber,
} from '../definition.ts';
import {
  circuitOf,
  PART_PLANS,
  type Part,
  type PartPlan,
  type PulseCircuit,
  partCounts,
  shotsOfPart,
} from '../parts.ts';

export const ionqOptions = {
  api_key: secretOption('key of the IonQ Quantum Cloud'),
  backend: { meaning: 'e.g. qpu.forte-1 or qpu.aria-1; the simulator gives no shots', parse: backendName },
  base_url: {
    meaning: 'URL of the API, with its version',
    fallback: 'https://api.ionq.co/v0.4',
    parse: httpUrl,
  },
  circuit: {
    meaning: 'superposition; x-check adds test shots to it; bell-chsh makes Bell tests of all shots',
    fallback: 'superposition',
    parse: oneOf(...PART_PLANS),
  },
  // Every system that is offered has at least so many.
  qubits: { meaning: 'qubits measured in each shot', fallback: '25', parse: wholeNumber(1, 1024) },
  shots: {
    meaning: 'shots of a job that become raw bits; a lot is qubits times shots',
    // 50,000 raw bits of 25 qubits condition to 4,224 bytes at the default claim: 64 seeds and 2,176 pure
    // bytes.
    fallback: '2000',
    // SP 800-90B §4.3: startup tests take 1,024 samples of each channel.
    parse: wholeNumber(1024, 500_000),
  },
  spare_percent: {
    meaning: 'shots asked for beyond those, in percent: shots in which an ion leaked are dropped',
    fallback: '5',
    parse: wholeNumber(0, 100),
  },
  entangler: {
    meaning: 'two-qubit gate of bell-chsh; auto: ms on Aria systems, zz on Forte systems',
    fallback: 'auto',
    parse: oneOf('auto', 'ms', 'zz'),
  },
  min_spam_fidelity: {
    meaning: 'no job below this median fidelity of state preparation and measurement; 0 asks for none',
    fallback: '0.95',
    parse: decimal(0, 1),
  },
  min_entropy: {
    meaning: 'claimed min-entropy per raw bit; auto: 0.85, and 0.55 for bell-chsh',
    fallback: 'auto',
    parse: orAuto(decimal(0.01, 1)),
  },
  // As of 2026-11, the published rates of the model by gate and shot; rates agreed with IonQ differ.
  price_per_circuit: {
    meaning: 'USD, least price of a circuit',
    fallback: '12.42',
    parse: decimal(0, 100_000),
  },
  price_per_1q: { meaning: 'USD per one-qubit gate and shot', fallback: '0.00022', parse: decimal(0, 1_000) },
  price_per_2q: {
    meaning: 'USD per two-qubit gate and shot',
    fallback: '0.000975',
    parse: decimal(0, 1_000),
  },
} as const satisfies OptionDefinitions;

export type IonqOptions = OptionValues<typeof ionqOptions>;

function backendName(text: string): string {
  if (!/^(simulator|qpu\.[a-z0-9-]+)$/.test(text)) throw new OptionError('simulator, or qpu. and a system');
  return text;
}

export function entanglerOf({ backend, circuit, entangler }: IonqOptions): 'ms' | 'zz' | null {
  if (circuit !== 'bell-chsh') return null;
  if (entangler !== 'auto') return entangler;
  if (backend.startsWith('qpu.aria')) return 'ms';
  if (backend.startsWith('qpu.forte')) return 'zz';
  throw new OptionError(`entangler: give the two-qubit gate of ${backend}`);
}

/** Shots of each part that are asked for. */
export function shotsAskedOf(options: IonqOptions, bits: number): number {
  const { circuit, qubits, spare_percent: spare } = options;
  return Math.ceil((shotsOfPart(circuit, bits, qubits) * (100 + spare)) / 100);
}

/**
 * USD for a job of that many shots a part. Nothing published says that circuits of one job share its least
 * price.
 */
export function priceOf(options: IonqOptions, shots: number): number {
  const {
    circuit,
    qubits,
    price_per_circuit: least,
    price_per_1q: oneQubit,
    price_per_2q: twoQubit,
  } = options;
  const { ones, twos } = gatesOf(circuit, qubits);
  return partCounts(circuit).all * (least + shots * (ones * oneQubit + twos * twoQubit));
}

/** Gates of the part that has most: each qubit's pulses, and a pair's entangling gate. */
export function gatesOf(circuit: PartPlan, qubits: number): { readonly ones: number; readonly twos: number } {
  if (circuit === 'bell-chsh') return { ones: (5 * qubits) / 2, twos: qubits / 2 };
  return { ones: circuit === 'x-check' ? 2 * qubits : qubits, twos: 0 };
}

/**
 * A fidelity of F in preparing and reading a state is 1 - (e01 + e10) / 2: with F >= 0.95 a readout is a
 * fixed answer in at most 0.1 of the shots. Who knows when it is guesses a coin with 0.9 · 1/2 + 0.1 = 0.55:
 * 0.862 bits. A pair of a Bell test, whose likeliest outcome has (1 + 1/√2) / 4, is guessed with 0.81 · 0.427
 * + 0.18 · 0.5 + 0.01 = 0.446: 0.58 bits each. Both are rounded down.
 */
const CLAIMS: Readonly<Record<PartPlan, number>> = {
  superposition: 0.85,
  'x-check': 0.85,
  'bell-chsh': 0.55,
};

export function claimOf({ circuit, min_entropy: claim }: IonqOptions): number {
  return claim === 'auto' ? CLAIMS[circuit] : claim;
}

/** `lang_version` of what this file writes: grows whenever the text of an unchanged circuit would change. */
export const IONQ_PROGRAM_VERSION = '1.0.0';

/** The metadata of a job that holds its idempotency key: the API has no other place for one. */
export const KEY_METADATA = 'qrn_key';

export interface Program {
  readonly qubits: number;
  readonly parts: readonly Part[];
  readonly entangler: 'ms' | 'zz' | null;
}

/** The name of a part's circuit, by which its result is known again. */
export function partName(index: number): string {
  return `part-${String(index).padStart(2, '0')}`;
}

/** `input` of a job: native gates, which run as they are written; all qubits are measured at the end. */
function inputOf({ qubits, parts, entangler }: Program) {
  const circuits = parts.map((part) => nativeGates(circuitOf(part, qubits, entangler), entangler));
  if (circuits.length === 1) return { gateset: 'native', qubits, circuit: circuits[0] } as const;
  const named = circuits.map((circuit, index) => ({ name: partName(index), circuit }));
  return { gateset: 'native', qubits, circuits: named } as const;
}

/**
 * IonQ counts angles in turns. ms takes a phase for each ion; its angle of 1/4 entangles fully, as that of
 * zz.
 */
function nativeGates({ operations }: PulseCircuit, entangler: 'ms' | 'zz' | null) {
  return operations.map((operation) => {
    if (operation.kind === 'pulse') {
      return { gate: 'gpi2', target: operation.qubits[0], phase: operation.eighths / 8 };
    }
    const { qubits: targets } = operation;
    return entangler === 'ms'
      ? { gate: 'ms', targets, phases: [0, 0], angle: 0.25 }
      : { gate: 'zz', targets, angle: 0.25 };
  });
}

/**
 * The body of POST /jobs. Debiasing is off: it spreads the shots over variants of the circuit and gives back
 * what it made of them.
 */
export function jobBody(program: Program, backend: string, shots: number, idempotencyKey: string): string {
  return JSON.stringify({
    type: program.parts.length === 1 ? 'ionq.circuit.v1' : 'ionq.multi-circuit.v1',
    name: 'qrn',
    backend,
    shots,
    metadata: { [KEY_METADATA]: idempotencyKey },
    settings: { error_mitigation: { debiasing: false } },
    input: inputOf(program),
  });
}

/** SHA-256 (hex) of `input` as it is sent. */
export function inputSha256(program: Program): string {
  return hash('sha256', JSON.stringify(inputOf(program)), 'hex');
}
