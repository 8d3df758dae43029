import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { assert } from '../../core/assert.ts';
import type { Clock } from '../../core/clock.ts';
import type { Provenance, RawRead, StreamBackend } from '../backend.ts';
import { assertCircuit, CIRCUIT_COMPILER_VERSION, circuitDepth, circuitSha256 } from '../circuit.ts';
import { type NamedCircuit, superposition } from '../named-circuits.ts';
import { MAX_READ_BITS, wholeShots } from '../shots.ts';
import { Coins } from './coins.ts';
import { type Component, componentsOf } from './components.ts';
import { claimedMinEntropyPerBit } from './entropy-claim.ts';
import { type CheckedNoise, checkedNoise, type Noise } from './noise.ts';
import { type ByteSource, RandomWords, systemBytes } from './randomness.ts';
import { coinProbability, OutcomeSampler } from './sampler.ts';
import { STATE_QUBITS_MAX } from './state-vector.ts';

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
export const DEFAULT_NOISE: Noise = Object.freeze({
  readout: Object.freeze({ e01: 0.004, e10: 0.006 }),
  bias: 0,
  depolarizing: 0,
});

/**
 * Work between two turns of the event loop, in nanoseconds as estimated below; about 5 ms. The weights are
 * rounded up from reads of 4 Mbit, timed in a loop on Node 22: 1.6 ns a bit of superposition-16, 95 ns a shot
 * of ghz-parity-8; the first use of an error history costs its state vector on top.
 */
const SLICE_NS = 5_000_000;
const COIN_NS = 4;
const DRAW_NS = 100;

/**
 * A state-vector simulator with the noise of a device. Its circuit and noise are exact; its entropy is that
 * of the operating system's CSPRNG, so its origin is `simulated` and stays so.
 */
export function createSimulator(options: SimulatorOptions): StreamBackend {
  const named = options.circuit ?? superposition(16);
  assertCircuit(named.circuit);
  const noise = checkedNoise({ ...DEFAULT_NOISE, ...options.noise }, named.circuit.measured.length);
  const components = componentsOf(named.circuit);
  for (const { qubits } of components) {
    assert(qubits <= STATE_QUBITS_MAX, `${named.name}: gates join more than ${STATE_QUBITS_MAX} qubits`);
  }
  const measurement = new Measurement(components, noise, options.testBytes ?? systemBytes);
  const facts = provenanceFacts(named, noise);
  return {
    kind: 'stream',
    name: 'simulator',
    origin: 'simulated',
    quantumBackend: 'simulator-statevector',
    deterministic: options.testBytes !== undefined,
    claimedMinEntropyPerBit: claimedMinEntropyPerBit(components, noise),
    async read(bits, signal): Promise<RawRead> {
      const startedAtMs = options.clock.wallMs();
      const shots = wholeShots(bits, measurement.width);
      const measured = await measurement.take(shots, signal);
      return {
        bits: measured,
        width: measurement.width,
        shots,
        rawSha256: hash('sha256', measured, 'hex'),
        provenance: { ...facts, shots, startedAtMs, finishedAtMs: options.clock.wallMs() },
      };
    },
  };
}

type ReadFacts = 'shots' | 'startedAtMs' | 'finishedAtMs';

function provenanceFacts(named: NamedCircuit, noise: CheckedNoise): Omit<Provenance, ReadFacts> {
  return {
    provider: 'local',
    device: 'statevector',
    jobId: null,
    circuit: named.name,
    circuitVersion: CIRCUIT_COMPILER_VERSION,
    circuitSha256: circuitSha256(named.circuit),
    qubitsUsed: named.circuit.qubits,
    circuitDepth: circuitDepth(named.circuit),
    calibration: {
      readout_e01: noise.readout.map(({ e01 }) => e01),
      readout_e10: noise.readout.map(({ e10 }) => e10),
      bias: noise.bias,
      depolarizing: noise.depolarizing,
    },
  };
}

/** The terminal measurement of all components, any number of shots of it. */
class Measurement {
  readonly width: number;
  readonly #coins: Coins;
  readonly #samplers: readonly OutcomeSampler[];
  readonly #words: RandomWords;
  readonly #shotsPerSlice: number;

  constructor(components: readonly Component[], noise: CheckedNoise, source: ByteSource) {
    this.width = noise.readout.length;
    this.#words = new RandomWords(source);
    // Channels of larger components are coins that always show 0; their outcomes are set on top.
    const heads = new Array<number>(this.width).fill(0);
    const samplers: OutcomeSampler[] = [];
    for (const component of components) {
      if (component.qubits === 1) heads[component.channels[0]] = coinProbability(component, noise);
      else samplers.push(new OutcomeSampler(component, noise, this.#words));
    }
    this.#coins = new Coins(heads);
    this.#samplers = samplers;
    const nsPerShot = this.width * COIN_NS + samplers.length * DRAW_NS;
    // Whole words of 32 shots: each slice then starts where the coins' pattern of channels starts.
    this.#shotsPerSlice = 32 * Math.max(1, Math.floor(SLICE_NS / nsPerShot / 32));
  }

  /**
   * Packed as RawRead says. Gives the event loop a turn between slices; an aborted signal rejects with its
   * reason.
   */
  async take(shots: number, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    signal.throwIfAborted();
    const bits = new Uint8Array(Math.ceil((shots * this.width) / 8));
    for (let shot = 0; shot < shots; shot += this.#shotsPerSlice) {
      if (shot > 0) {
        await setImmediate();
        signal.throwIfAborted();
      }
      this.#measure(bits, shot, Math.min(this.#shotsPerSlice, shots - shot));
    }
    return bits;
  }

  #measure(bits: Uint8Array, firstShot: number, shots: number): void {
    this.#coins.fill(bits, (firstShot * this.width) / 8, shots, this.#words);
    for (const sampler of this.#samplers) {
      for (let shot = firstShot; shot < firstShot + shots; shot++) {
        const outcome = sampler.draw();
        sampler.channels.forEach((channel, position) => {
          const at = shot * this.width + channel;
          bits[at >>> 3] |= ((outcome >>> position) & 1) << (7 - (at & 7));
        });
      }
    }
    this.#words.eraseUsed();
  }
}

assert(MAX_READ_BITS <= 2 ** 31, 'bit positions of a read are exact in 32-bit shifts');
