import { declaredText, declaredTextOrNull, lotBitsOption, minEntropyOption } from '../declared.ts';
import { anyText, oneOf, wholeNumber } from '../options.ts';
import { type OptionValues, sourceKind } from '../source-kind.ts';
import { Device } from './device.ts';

const options = {
  path: { meaning: 'the device node, serial line or FIFO, e.g. /dev/qrandom0', parse: anyText },
  maker: { meaning: 'who made the device', parse: declaredText },
  model: { meaning: 'which device it is, e.g. Quantis-PCIe-4M', parse: declaredText },
  serial_number: { meaning: 'serial number of the device', fallback: '', parse: declaredTextOrNull },
  min_entropy: minEntropyOption,
  origin: {
    meaning: 'qrng-device declares that the model makes its bits by a quantum process; else system',
    fallback: 'system',
    parse: oneOf('system', 'qrng-device'),
  },
  serial: {
    meaning: 'speed in baud where the path is a serial line; stty then puts it into raw mode',
    fallback: '',
    parse: (text: string) => (text === '' ? null : wholeNumber(50, 12_000_000)(text)),
  },
  discard: {
    meaning: 'bytes dropped after each opening; left out: 4096 on a serial line, 0 elsewhere',
    fallback: '',
    parse: (text: string) => (text === '' ? null : wholeNumber(0, 1024 * 1024)(text)),
  },
  stall_ms: {
    meaning: 'a read that gets nothing for so many milliseconds is given up',
    fallback: '10000',
    parse: wholeNumber(50, 600_000),
  },
  read_timeout_ms: {
    meaning: 'a read that is not whole after so many milliseconds is given up',
    fallback: '300000', // a lot of 4 Mbit at 14 kbit/s; a serial line of 115,200 baud takes 46 s
    parse: wholeNumber(1_000, 3_600_000),
  },
  lot_bits: lotBitsOption,
} as const;

export type DeviceOptions = OptionValues<typeof options>;

/**
 * A generator at this machine. The path proves nothing of what stands behind it, so maker, model and min-entropy are the
 * operator's declaration, and so is that it is quantum.
 */
export const deviceSource = sourceKind({
  type: 'device',
  summary: 'a generator at this machine: a device node such as /dev/qrandom0, a serial line or a FIFO',
  options,
  create: (name, values, parts) => new Device(name, values, parts),
});
