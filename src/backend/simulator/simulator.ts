import { hash } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import { fillSystemEntropy } from '../../crypto/system-entropy.ts';
import { type RawRead, type StreamBackend, wholeShots } from '../backend.ts';
import { CIRCUIT_COMPILER_VERSION, CIRCUIT_DEPTH, superposition } from '../circuit.ts';
import {
  decimal,
  defineBackend,
  lotBitsOption,
  OptionError,
  type OptionValues,
  wholeNumber,
} from '../definition.ts';
import type { ByteSource } from './coins.ts';
import { faultsOption, faultsText, withFaults } from './faults.ts';
import { claimedMinEntropyPerBit, MeasuredQubits } from './qubits.ts';

const OPTIONS = {
  qubits: {
    meaning: 'number of simulated qubits',
    fallback: '16',
    parse: wholeNumber(1, 1024),
  },
  // A good superconducting qubit of 2026: in IBM's calibration snapshots the medians of e01 + e10 are 0.010 to 0.046,
  // and reading a 1 as 0 (decay during readout) is the likelier error. Gates are perfect, since after an H no Pauli
  // error changes P(1).
  readout_e01: {
    meaning: 'probability of reading 1 for a qubit in state 0',
    fallback: '0.004',
    parse: decimal(0, 0.5),
  },
  readout_e10: {
    meaning: 'probability of reading 0 for a qubit in state 1',
    fallback: '0.006',
    parse: decimal(0, 0.5),
  },
  bias: {
    meaning: 'bias of every qubit: it is 1 with probability 1/2 + bias',
    fallback: '0',
    parse: decimal(0, 0.5),
  },
  faults: {
    meaning: 'comma-separated list of faults to simulate: dead-qubit:Q, replay or fail:KIND[,READS]; or none',
    fallback: 'none',
    parse: faultsOption,
  },
  lot_bits: lotBitsOption,
} as const;

type Values = OptionValues<typeof OPTIONS>;

/**
 * The lot for a pool that has no seed or no pure byte. It has two windows of 10^6 bits in each order, and conditioned
 * output for SP 800-22. So it is tested like a whole lot, in half the time.
 */
const FIRST_LOT_BITS = 2_000_000;

/** The simulator as a source to configure. It is for rehearsals: its answers say `simulated`. */
export const simulatorBackend = defineBackend({
  type: 'simulator',
  summary:
    'a simulated quantum processor with the noise of a real one; it is not quantum, and every answer states this',
  options: OPTIONS,
  create: (name, options, { clock }) => simulatorWith(name, options, clock),
});

/**
 * Returns a simulated device with the noise of a real one. The probabilities of its outcomes are exact. Its entropy is
 * that of the operating system's CSPRNG, so its origin is always `simulated`. `testBytes` replaces the CSPRNG in tests
 * and makes the backend `deterministic`.
 */
export function simulatorWith(
  name: string,
  options: Values,
  clock: Clock,
  testBytes?: ByteSource,
): StreamBackend {
  const source = testBytes ?? fillSystemEntropy;
  const { bias, faults, lot_bits: lotRawBits, readout_e01: e01, readout_e10: e10 } = options;
  const noise = { readout: new Array(options.qubits).fill({ e01, e10 }), bias };
  const claim = claimedMinEntropyPerBit(noise);
  if (claim <= 0) throw new OptionError('noise that leaves some entropy');
  const qubits = new MeasuredQubits(noise, source);
  const device = faults.length === 0 ? qubits : withFaults(qubits, faults);
  const { name: circuit, sha256: circuitSha256 } = superposition(options.qubits);
  const faulty = faults.length === 0 ? null : faultsText(faults);
  return {
    kind: 'stream',
    name,
    origin: 'simulated',
    quantumBackend: `simulator-statevector${faulty === null ? '' : ` (faults: ${faulty})`}`,
    deterministic: testBytes !== undefined,
    claimedMinEntropyPerBit: claim,
    lotRawBits,
    firstLotRawBits: Math.min(FIRST_LOT_BITS, lotRawBits),
    async describe() {
      return {
        device: 'statevector',
        circuit,
        qubits: options.qubits,
        readout_error: e01 + e10,
        bias,
        faults: faulty,
      };
    },
    async read(bits, signal): Promise<RawRead> {
      const startedAtMs = clock.wallMs();
      const taken = await device.take(wholeShots(bits, options.qubits), signal);
      return {
        ...taken,
        width: options.qubits,
        rawSha256: hash('sha256', taken.bits, 'hex'),
        provenance: {
          provider: 'local',
          device: 'statevector',
          jobId: null,
          circuit,
          circuitVersion: CIRCUIT_COMPILER_VERSION,
          circuitSha256,
          qubitsUsed: options.qubits,
          circuitDepth: CIRCUIT_DEPTH,
          shots: taken.shots,
          startedAtMs,
          finishedAtMs: clock.wallMs(),
          calibration: {
            readout_e01: new Array(options.qubits).fill(e01),
            readout_e10: new Array(options.qubits).fill(e10),
            bias,
          },
        },
      };
    },
  };
}
