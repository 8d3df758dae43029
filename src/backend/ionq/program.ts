import { wholeShots } from '../backend.ts';
import {
  claimOption,
  decimal,
  httpUrl,
  matching,
  type OptionDefinitions,
  type OptionValues,
  secretOption,
  wholeNumber,
} from '../definition.ts';
import type { JobPlan } from '../job.ts';

export const ionqOptions = {
  api_key: secretOption('API key of the IonQ Quantum Cloud'),
  backend: {
    meaning: 'name of the quantum computer, e.g. qpu.forte-1 or qpu.aria-1',
    parse: matching(
      /^qpu\.[a-z0-9-]+$/,
      'the name of a quantum computer that starts with qpu., such as qpu.forte-1',
    ),
  },
  base_url: {
    meaning: 'base URL of the API, including its version',
    fallback: 'https://api.ionq.co/v0.4',
    parse: httpUrl,
  },
  // Every system that IonQ offers has at least 25 qubits.
  qubits: { meaning: 'number of qubits measured in each shot', fallback: '25', parse: wholeNumber(1, 1024) },
  shots: {
    meaning: 'number of shots per job that are used; a lot has qubits times shots raw bits',
    // At the default claim the 50,000 raw bits of 25 qubits give 4,224 bytes: 64 seeds and 2,176 pure bytes.
    fallback: '2000',
    // SP 800-90B §4.3: the startup tests need 1,024 samples of each channel.
    parse: wholeNumber(1024, 500_000),
  },
  spare_percent: {
    meaning:
      'additional shots per job in percent; they replace shots in which an ion leaked, which are not used',
    fallback: '5',
    parse: wholeNumber(0, 100),
  },
  min_spam_fidelity: {
    meaning:
      'minimum median fidelity of state preparation and measurement; below it no job is submitted; 0 turns the check off',
    fallback: '0.95',
    parse: decimal(0, 1),
  },
  // A fidelity F of preparing and reading a state is 1 - (e01 + e10) / 2. With F >= 0.95 a readout is a fixed answer in
  // at most 0.1 of the shots. An adversary who knows these shots guesses a bit with 0.9 · 1/2 + 0.1 = 0.55: 0.862 bits,
  // rounded down.
  min_entropy: claimOption('0.85'),
  // The published rates by gate and shot as of 2026-11. Rates agreed with IonQ differ.
  price_per_circuit: {
    meaning: 'minimum price of a circuit in USD',
    fallback: '12.42',
    parse: decimal(0, 100_000),
  },
  price_per_1q: {
    meaning: 'price of a one-qubit gate per shot in USD',
    fallback: '0.00022',
    parse: decimal(0, 1_000),
  },
} as const satisfies OptionDefinitions;

export type IonqOptions = OptionValues<typeof ionqOptions>;

/** Returns how many shots to ask for, with spare ones. */
export function shotsAskedOf({ qubits, spare_percent: spare }: IonqOptions, bits: number): number {
  return Math.ceil((wholeShots(bits, qubits) * (100 + spare)) / 100);
}

/** Returns the price in USD of a job of that many shots, with one gate on each qubit. */
export function priceOf(options: IonqOptions, shots: number): number {
  const { qubits, price_per_circuit: least, price_per_1q: oneQubit } = options;
  return least + shots * qubits * oneQubit;
}

/** Name of the metadata that holds a job's idempotency key, since the API has no other place for it. */
export const KEY_METADATA = 'qrn_key';

/**
 * Returns the `input` of a job. Native gates run as they are written, and all qubits are measured at the end. gpi2(0)
 * is a quarter turn.
 */
function inputOf(qubits: number) {
  const circuit = Array.from({ length: qubits }, (_, target) => ({ gate: 'gpi2', target, phase: 0 }));
  return { gateset: 'native', qubits, circuit } as const;
}

/**
 * Returns the body of POST /jobs. Debiasing is off, because it would combine shots of several variants of the circuit.
 */
export function jobBody({ qubits, device, shots }: JobPlan, idempotencyKey: string): string {
  return JSON.stringify({
    type: 'ionq.circuit.v1',
    name: 'qrn',
    backend: device,
    shots,
    metadata: { [KEY_METADATA]: idempotencyKey },
    settings: { error_mitigation: { debiasing: false } },
    input: inputOf(qubits.length),
  });
}

/** Returns the `input` as it is sent. */
export function programText({ qubits }: JobPlan): string {
  return JSON.stringify(inputOf(qubits.length));
}
