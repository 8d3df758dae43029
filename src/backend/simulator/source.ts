import type { Clock } from '../../core/clock.ts';
import type { StreamBackend } from '../backend.ts';
import { superposition } from '../named-circuits.ts';
import { decimal, oneOf, wholeNumber } from '../options.ts';
import { OptionError, type OptionValues, sourceKind } from '../source-kind.ts';
import { faultsOption, faultsText, withFaults } from './faults.ts';
import { type CheckedNoise, checkedNoise } from './noise.ts';
import { bestQubits, profileOption } from './profile.ts';
import { type ByteSource, systemBytes } from './randomness.ts';
import { bellRun, plainRun, type Run, xCheckRun } from './runs.ts';
import { DEFAULT_NOISE, simulatorOf } from './simulator.ts';

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
  profile: {
    meaning:
      'A real device to have the readout errors of: path of its IBM backend properties or IonQ characterization (JSON), or none; the qubits that are read best are used',
    fallback: 'none',
    parse: profileOption,
  },
  readout_e01: {
    meaning: 'Probability to read 1 for a prepared 0, where no profile says',
    fallback: String(DEFAULT_NOISE.readout.e01),
    parse: decimal(0, 0.5),
  },
  readout_e10: {
    meaning: 'Probability to read 0 for a prepared 1, where no profile says',
    fallback: String(DEFAULT_NOISE.readout.e10),
    parse: decimal(0, 0.5),
  },
  bias: {
    meaning: 'Tilt of every qubit: H then gives 1 with probability 1/2 + bias',
    fallback: String(DEFAULT_NOISE.bias),
    parse: decimal(0, 0.5),
  },
  depolarizing: {
    meaning: 'Probability that a gate is followed by a random Pauli error',
    fallback: String(DEFAULT_NOISE.depolarizing),
    parse: decimal(0, 1),
  },
  faults: {
    meaning:
      'What is broken on purpose: dead-qubit:Q, correlated-pair:A,B, drift:RATE, replay, truncate, queue-delay:SECONDS, fail:KIND[,READS], with commas between them, or none',
    fallback: 'none',
    parse: faultsOption,
  },
} as const;

type Values = OptionValues<typeof OPTIONS>;

/** The simulator as a source to configure: a device to rehearse with, on whose answers `simulated` is written. */
export const simulatorSource = sourceKind({
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
    ...(faults.length === 0 ? {} : { faults: faultsText(faults) }),
    ...(profile === undefined ? {} : { profile }),
  });
}

function runOf(
  { circuit, qubits, x_test_share: share }: Values,
  noise: CheckedNoise,
  source: ByteSource,
): Run {
  if (circuit === 'superposition') return plainRun(superposition(qubits), noise, source);
  if (circuit === 'x-check') return xCheckRun(share, noise, source);
  if (qubits % 2 !== 0) throw new OptionError('an even number of qubits for bell-chsh');
  return bellRun(noise, source);
}

interface DeviceNoise {
  readonly noise: CheckedNoise;
  /** Facts for the provenance of reads. */
  readonly profile?: Readonly<Record<string, string | readonly number[]>>;
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
