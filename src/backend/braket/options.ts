import {
  claimOption,
  decimal,
  httpUrl,
  matching,
  type OptionDefinitions,
  OptionError,
  type OptionValues,
  orAuto,
  orNull,
  wholeNumber,
} from '../definition.ts';

export const braketOptions = {
  device: {
    meaning: 'ARN of the device, e.g. arn:aws:braket:eu-north-1::device/qpu/iqm/Garnet',
    parse: deviceArn,
  },
  bucket: {
    meaning: 'S3 bucket for the results, in the region of the device',
    parse: matching(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'the name of an S3 bucket'),
  },
  prefix: {
    meaning: 'key prefix of the results in the bucket',
    fallback: 'qrn',
    parse: matching(
      /^[\w.-]+(\/[\w.-]+)*$/,
      'letters, digits, dots, underscores and hyphens, with / between parts',
    ),
  },
  region: {
    meaning: 'AWS region; if empty, the region of the ARN',
    fallback: '',
    parse: matching(/^[a-z0-9-]*$/, 'the name of an AWS region'),
  },
  endpoint: {
    meaning: 'URL of Amazon Braket; if empty, that of the region',
    fallback: '',
    parse: orNull(httpUrl),
  },
  s3_endpoint: {
    meaning: 'URL of Amazon S3; if empty, that of the region',
    fallback: '',
    parse: orNull(httpUrl),
  },
  qubits: { meaning: 'number of qubits measured in each shot', fallback: '16', parse: wholeNumber(1, 1024) },
  shots: {
    meaning: 'number of shots per task; a lot has qubits times shots raw bits',
    // At the default claim the 32,000 raw bits of 16 qubits give 2,208 bytes: 34 seeds and 1,120 pure bytes.
    fallback: '2000',
    // SP 800-90B §4.3: the startup tests need 1,024 samples of each channel.
    parse: wholeNumber(1024, 200_000),
  },
  min_readout_fidelity: {
    meaning: 'minimum published readout fidelity of a qubit, 0.5 to 1; other qubits are not used',
    fallback: '0.9',
    parse: decimal(0.5, 1),
  },
  // A readout fidelity F is 1 - (e01 + e10) / 2. With F >= 0.9 a readout is a fixed answer in at most 0.2 of the shots.
  // An adversary who knows these shots guesses a bit with 0.8 · 1/2 + 0.2 = 0.6: 0.737 bits, rounded down.
  min_entropy: claimOption('0.7'),
  price_per_task: { meaning: 'price of a task in USD', fallback: '0.30', parse: decimal(0, 1_000) },
  price_per_shot: {
    meaning: 'price of a shot in USD; auto: the price of the device as of November 2026, if it is known',
    fallback: 'auto',
    parse: orAuto(decimal(0, 1_000)),
  },
} as const satisfies OptionDefinitions;

export type BraketOptions = OptionValues<typeof braketOptions>;

/** The parts of a device's ARN. */
interface DeviceArn {
  readonly arn: string;
  /** Empty for simulators, which every region has. */
  readonly region: string;
  readonly isSimulator: boolean;
  /** e.g. `iqm/Garnet`. */
  readonly name: string;
}

function deviceArn(text: string): DeviceArn {
  const match =
    /^arn:aws[\w-]*:braket:([a-z0-9-]*)::device\/(qpu|quantum-simulator)\/([\w.-]+\/[\w.-]+)$/.exec(text);
  if (match === null) throw new OptionError('the ARN of a Braket QPU or simulator');
  const [arn, region, type, name] = match;
  return { arn, region, isSimulator: type === 'quantum-simulator', name };
}

/**
 * USD per shot as of 2026-11, from the devices' own `deviceCost` and the price list. Prices change: a task is not sent
 * to a device that publishes a higher price (plan.ts).
 */
const PRICES_PER_SHOT: ReadonlyMap<string, number> = new Map([
  ['ionq/Aria-1', 0.03],
  ['ionq/Forte-1', 0.08],
  ['ionq/Forte-Enterprise-1', 0.08],
  ['iqm/Garnet', 0.00145],
  ['rigetti/Ankaa-3', 0.0009],
  ['rigetti/Cepheus-1-108Q', 0.000425],
]);

/**
 * Returns the price of a shot. A simulator counts as free: it is billed by the minute, which comes to some cents here.
 */
export function pricePerShot({ device, price_per_shot: price }: BraketOptions): number {
  if (price !== 'auto') return price;
  if (device.isSimulator) return 0;
  const known = PRICES_PER_SHOT.get(device.name);
  if (known === undefined)
    throw new OptionError(`price_per_shot must be set, because the price of ${device.name} is not known`);
  return known;
}
