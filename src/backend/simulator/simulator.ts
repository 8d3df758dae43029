import { createHash, hash } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import type { Provenance, RawRead, SourceFacts, StreamBackend } from '../backend.ts';
import { assertCircuit, CIRCUIT_COMPILER_VERSION } from '../circuit.ts';
import { type NamedCircuit, superposition } from '../named-circuits.ts';
import { wholeShots } from '../shots.ts';
import { type CheckedNoise, checkedNoise, type Noise } from './noise.ts';
import { type ByteSource, systemBytes } from './randomness.ts';
import { plainRun, type Run, type Shots } from './runs.ts';

export interface SimulatorOptions {
  readonly clock: Clock;
  /** Default: superposition-16. */
  readonly circuit?: NamedCircuit;
  /** What is left out is taken from DEFAULT_NOISE. */
  readonly noise?: Partial<Noise>;
  /** Stands in for the operating system's CSPRNG and makes the backend `deterministic`. For tests. */
  readonly testBytes?: ByteSource;
}

/**
 * A good superconducting qubit of 2026: the medians of e01 + e10 in IBM's calibration snapshots run from
 * 0.010 to 0.046, and reading a 1 as 0 (decay during readout) is the likelier error. Gates are left perfect:
 * after an H no Pauli moves P(1), so gate errors would not show in the default circuit.
 */
export const DEFAULT_NOISE = Object.freeze({
  readout: Object.freeze({ e01: 0.004, e10: 0.006 }),
  bias: 0,
  depolarizing: 0,
}) satisfies Noise;

/** The simulator of one circuit. */
export function createSimulator(options: SimulatorOptions): StreamBackend {
  const named = options.circuit ?? superposition(16);
  assertCircuit(named.circuit);
  const noise = checkedNoise({ ...DEFAULT_NOISE, ...options.noise }, named.circuit.measured.length);
  return simulatorOf({
    name: 'simulator',
    run: plainRun(named, noise, options.testBytes ?? systemBytes),
    noise,
    clock: options.clock,
    deterministic: options.testBytes !== undefined,
  });
}

export interface SimulatorParts {
  /** Under which it is configured. */
  readonly name: string;
  readonly run: Run;
  readonly noise: CheckedNoise;
  readonly clock: Clock;
  readonly deterministic: boolean;
  /** What is wrong with the simulated device on purpose, as `quantum_backend` prints it. */
  readonly faults?: string;
  /** Of which real device the noise is. */
  readonly profile?: Readonly<Record<string, string | readonly number[]>>;
}

/**
 * A state-vector simulator with the noise of a device. Its circuit and noise are exact; its entropy is that
 * of the operating system's CSPRNG, so its origin is `simulated` and stays so.
 */
export function simulatorOf(parts: SimulatorParts): StreamBackend {
  const { name, run, clock, deterministic, faults } = parts;
  const facts = provenanceFacts(parts);
  return {
    kind: 'stream',
    name,
    origin: 'simulated',
    quantumBackend: `simulator-statevector${faults === undefined ? '' : ` (faults: ${faults})`}`,
    deterministic,
    claimedMinEntropyPerBit: run.claimedMinEntropyPerBit,
    async describe() {
      return describeSimulator(parts);
    },
    async read(bits, signal): Promise<RawRead> {
      const startedAtMs = clock.wallMs();
      const taken = await run.take(wholeShots(bits, run.width), signal);
      const { shots } = taken;
      return {
        ...taken,
        width: run.width,
        rawSha256: rawSha256(taken),
        provenance: { ...facts, shots, startedAtMs, finishedAtMs: clock.wallMs() },
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

function describeSimulator({ run, noise, faults, profile }: SimulatorParts): SourceFacts {
  const errors = noise.readout.map(({ e01, e10 }) => e01 + e10);
  return {
    device: 'statevector',
    circuit: run.circuit.name,
    qubits: run.circuit.qubits,
    readout_error_max: Math.max(...errors),
    bias: noise.bias,
    depolarizing: noise.depolarizing,
    profile: typeof profile?.['profile'] === 'string' ? profile['profile'] : null,
    faults: faults ?? null,
  };
}

type ReadFacts = 'shots' | 'startedAtMs' | 'finishedAtMs';

function provenanceFacts({ run, noise, profile }: SimulatorParts): Omit<Provenance, ReadFacts> {
  return {
    provider: 'local',
    device: 'statevector',
    jobId: null,
    circuit: run.circuit.name,
    circuitVersion: CIRCUIT_COMPILER_VERSION,
    circuitSha256: run.circuit.sha256,
    qubitsUsed: run.circuit.qubits,
    circuitDepth: run.circuit.depth,
    calibration: {
      ...profile,
      readout_e01: noise.readout.map(({ e01 }) => e01),
      readout_e10: noise.readout.map(({ e10 }) => e10),
      bias: noise.bias,
      depolarizing: noise.depolarizing,
    },
  };
}
