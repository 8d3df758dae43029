import { createHash, hash } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import { type RawRead, type StreamBackend, wholeShots } from '../backend.ts';
import { CIRCUIT_COMPILER_VERSION, superposition } from '../circuit.ts';
import {
  decimal,
  defineBackend,
  lotBitsOption,
  OptionError,
  type OptionValues,
  oneOf,
  wholeNumber,
} from '../definition.ts';
import { type ByteSource, systemBytes } from './coins.ts';
import { faultsOption, faultsText, withFaults } from './faults.ts';
import { type CheckedNoise, checkedNoise } from './noise.ts';
import { bestQubits, profileOption } from './profile.ts';
import { bellRun, plainRun, type Run, type Shots, xCheckRun } from './runs.ts';

const OPTIONS = {
  circuit: {
    meaning:
      'superposition: H on each qubit; x-check: the same with X-basis test shots beside it; bell-chsh: Bell tests on pairs of qubits',
    fallback: 'superposition',
    parse: oneOf('superposition', 'x-check', 'bell-chsh'),
  },
  qubits: {
    meaning: 'Qubits that are measured; an even number for bell-chsh',
    fallback: '16',
    parse: wholeNumber(1, 1024),
  },
  x_test_share: {
    meaning: 'x-check: test shots for each shot of raw bits',
    fallback: '0.125',
    parse: decimal(0.001, 1),
  },
  cluster_shots: {
    meaning:
      'x-check, bell-chsh: shots that share one drawn basis or setting; evidence counts these clusters, not shots',
    fallback: '1',
    parse: wholeNumber(1, 1_000_000),
  },
  profile: {
    meaning:
      'A real device to have the readout errors of: path of its IBM backend properties or IonQ characterization (JSON), or none; the qubits that are read best are used',
    fallback: 'none',
    parse: profileOption,
  },
  // A good superconducting qubit of 2026: the medians of e01 + e10 in IBM's calibration snapshots run from
  // 0.010 to 0.046, and reading a 1 as 0 (decay during readout) is the likelier error. Gates are left perfect:
  // after an H no Pauli moves P(1), so gate errors would not show in the default circuit.
  readout_e01: {
    meaning: 'Probability to read 1 for a prepared 0, where no profile says',
    fallback: '0.004',
    parse: decimal(0, 0.5),
  },
  readout_e10: {
    meaning: 'Probability to read 0 for a prepared 1, where no profile says',
    fallback: '0.006',
    parse: decimal(0, 0.5),
  },
  bias: {
    meaning: 'Tilt of every qubit: H then gives 1 with probability 1/2 + bias',
    fallback: '0',
    parse: decimal(0, 0.5),
  },
  depolarizing: {
    meaning: 'Probability that a gate is followed by a random Pauli error',
    fallback: '0',
    parse: decimal(0, 1),
  },
  faults: {
    meaning:
      'What is broken on purpose: dead-qubit:Q, correlated-pair:A,B, drift:RATE, replay, truncate, queue-delay:SECONDS, fail:KIND[,READS], with commas between them, or none',
    fallback: 'none',
    parse: faultsOption,
  },
  lot_bits: lotBitsOption,
} as const;

type Values = OptionValues<typeof OPTIONS>;

/**
 * A lot for a pool that has no seed or no pure byte: two windows of 10^6 bits in each order, and of conditioned output. It gets every verdict of a
 * whole lot in half the time of its tests. Circuits with test shots keep to whole lots: their claims need the shots.
 */
const FIRST_LOT_BITS = 2_000_000;

/**
 * The simulator as a source to configure: a device to rehearse with, on whose answers `simulated` is written.
 */
export const simulatorBackend = defineBackend({
  type: 'simulator',
  summary:
    'a simulated quantum processor with the noise of a real one; no quantum origin, and every answer says so',
  options: OPTIONS,
  create: (name, options, { clock }) => simulatorWith(name, options, clock),
});

/** `testBytes` stands in for the operating system's CSPRNG and makes the backend `deterministic`. */
export function simulatorWith(
  name: string,
  options: Values,
  clock: Clock,
  testBytes?: ByteSource,
): StreamBackend {
  const source = testBytes ?? systemBytes;
  const { noise, profile } = noiseOf(options);
  const { faults } = options;
  const sound = runOf(options, noise, source);
  if (sound.claimedMinEntropyPerBit <= 0) throw new OptionError('noise that leaves some entropy');
  return simulatorOf({
    name,
    clock,
    noise,
    deterministic: testBytes !== undefined,
    run: faults.length === 0 ? sound : withFaults(sound, faults, source),
    lotRawBits: options.lot_bits,
    ...(options.circuit === 'superposition'
      ? { firstLotRawBits: Math.min(FIRST_LOT_BITS, options.lot_bits) }
      : {}),
    ...(faults.length === 0 ? {} : { faults: faultsText(faults) }),
    ...(profile === undefined ? {} : { profile }),
  });
}

function runOf(
  { circuit, qubits, x_test_share: share, cluster_shots: clusterShots }: Values,
  noise: CheckedNoise,
  source: ByteSource,
): Run {
  if (circuit === 'superposition') return plainRun(superposition(qubits), noise, source);
  if (circuit === 'x-check') return xCheckRun(share, clusterShots, noise, source);
  if (qubits % 2 !== 0) throw new OptionError('an even number of qubits for bell-chsh');
  return bellRun(clusterShots, noise, source);
}

interface DeviceNoise {
  readonly noise: CheckedNoise;
  readonly profile?: ProfileFacts;
}

/** Of which device the noise is, and of which of its qubits: facts for the provenance of reads. */
interface ProfileFacts {
  readonly profile: string;
  readonly date?: string;
  readonly qubits: readonly number[];
}

function noiseOf({ qubits, profile, bias, depolarizing, readout_e01, readout_e10 }: Values): DeviceNoise {
  if (profile === null) {
    const readout = { e01: readout_e01, e10: readout_e10 };
    return { noise: checkedNoise({ readout, bias, depolarizing }, qubits) };
  }
  const { device, date } = profile;
  if (profile.readout.length < qubits) {
    throw new OptionError(`at most ${profile.readout.length} qubits, which ${device} has`);
  }
  const chosen = bestQubits(profile, qubits);
  const readout = chosen.map((qubit) => profile.readout[qubit]);
  const broken = readout.findIndex(({ e01, e10 }) => e01 + e10 > 1);
  if (broken >= 0) throw new OptionError(`fewer qubits: ${device} reads qubit ${chosen[broken]} wrong`);
  return {
    noise: checkedNoise({ readout, bias, depolarizing }, qubits),
    profile: { profile: device, ...(date === null ? {} : { date }), qubits: chosen },
  };
}

export interface SimulatorParts {
  /** Under which it is configured. */
  readonly name: string;
  readonly run: Run;
  readonly noise: CheckedNoise;
  readonly clock: Clock;
  readonly deterministic: boolean;
  /** Raw bits of one lot; the pool's default when left out. */
  readonly lotRawBits?: number;
  /** See Backend. */
  readonly firstLotRawBits?: number;
  /** What is wrong with the simulated device on purpose, as `quantum_backend` prints it. */
  readonly faults?: string;
  /** Of which real device the noise is. */
  readonly profile?: ProfileFacts;
}

/**
 * A state-vector simulator with the noise of a device. Its circuit and noise are exact; its entropy is that
 * of the operating system's CSPRNG, so its origin is `simulated` and stays so.
 */
export function simulatorOf(parts: SimulatorParts): StreamBackend {
  const { name, run, noise, clock, deterministic, lotRawBits, firstLotRawBits, faults, profile } = parts;
  const { name: circuit, sha256: circuitSha256, qubits, depth: circuitDepth } = run.circuit;
  const { readout, bias, depolarizing } = noise;
  return {
    kind: 'stream',
    name,
    origin: 'simulated',
    quantumBackend: `simulator-statevector${faults === undefined ? '' : ` (faults: ${faults})`}`,
    deterministic,
    claimedMinEntropyPerBit: run.claimedMinEntropyPerBit,
    ...(lotRawBits === undefined ? {} : { lotRawBits }),
    ...(firstLotRawBits === undefined ? {} : { firstLotRawBits }),
    async describe() {
      return {
        device: 'statevector',
        circuit,
        qubits,
        readout_error_max: Math.max(...readout.map(({ e01, e10 }) => e01 + e10)),
        bias,
        depolarizing,
        profile: profile?.profile ?? null,
        faults: faults ?? null,
      };
    },
    async read(bits, signal): Promise<RawRead> {
      const startedAtMs = clock.wallMs();
      const taken = await run.take(wholeShots(bits, run.width), signal);
      return {
        ...taken,
        width: run.width,
        rawSha256: rawSha256(taken),
        provenance: {
          provider: 'local',
          device: 'statevector',
          jobId: null,
          circuit,
          circuitVersion: CIRCUIT_COMPILER_VERSION,
          circuitSha256,
          qubitsUsed: qubits,
          circuitDepth,
          shots: taken.shots,
          startedAtMs,
          finishedAtMs: clock.wallMs(),
          calibration: {
            ...profile,
            readout_e01: readout.map(({ e01 }) => e01),
            readout_e10: readout.map(({ e10 }) => e10),
            bias,
            depolarizing,
          },
        },
      };
    },
  };
}

/** What was delivered is the raw bits and, behind them, the test shots or settings. */
function rawSha256({ bits, witness }: Shots): string {
  if (witness === undefined) return hash('sha256', bits, 'hex');
  const whole = createHash('sha256').update(bits);
  return whole.update(witness.kind === 'x-basis' ? witness.bits : witness.settings).digest('hex');
}
