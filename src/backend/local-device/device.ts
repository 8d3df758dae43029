import { hash } from 'node:crypto';
import { type BigIntStats, close, constants, open } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BackendError, plainRead, type StreamBackend, wholeShots } from '../backend.ts';
import {
  anyText,
  declaredText,
  defineBackend,
  lotBitsOption,
  minEntropyOption,
  type OptionValues,
  oneOf,
  orNull,
  type SourceParts,
  wholeNumber,
} from '../definition.ts';
import { callError, DeviceReader } from './reader.ts';
import { identityOf } from './reader-protocol.ts';

const options = {
  path: { meaning: 'path of the device node, serial line or FIFO, e.g. /dev/qrandom0', parse: anyText },
  maker: { meaning: 'manufacturer of the device, as certificates show it', parse: declaredText },
  model: {
    meaning: 'model of the device, e.g. Quantis-PCIe-4M, as certificates show it',
    parse: declaredText,
  },
  serial_number: { meaning: 'serial number of the device', fallback: '', parse: orNull(declaredText) },
  min_entropy: minEntropyOption,
  origin: {
    meaning:
      'qrng-device: you declare that the device produces its bits by a quantum process; system: you do not',
    fallback: 'system',
    parse: oneOf('system', 'qrng-device'),
  },
  serial: {
    meaning:
      'speed of a serial line in baud; stty then sets the line to raw mode; if empty, the path is not a serial line',
    fallback: '',
    parse: orNull(wholeNumber(50, 12_000_000)),
  },
  discard: {
    meaning:
      'number of bytes that are discarded each time the device is opened; if empty, 4096 for a serial line and otherwise 0',
    fallback: '',
    parse: orNull(wholeNumber(0, 1024 * 1024)),
  },
  stall_ms: {
    meaning: 'number of milliseconds without data after which a read fails',
    fallback: '10000',
    parse: wholeNumber(50, 600_000),
  },
  read_timeout_ms: {
    meaning: 'number of milliseconds after which an incomplete read fails',
    fallback: '300000', // a lot of 4 Mbit at 14 kbit/s; a serial line of 115,200 baud takes 46 s
    parse: wholeNumber(1_000, 3_600_000),
  },
  lot_bits: lotBitsOption,
} as const;

export type LocalDeviceOptions = OptionValues<typeof options>;

/**
 * A generator attached to this machine. Its path proves nothing about it, so the operator declares maker, model and
 * min-entropy, and whether it is quantum.
 */
export const localDeviceBackend = defineBackend({
  type: 'device',
  summary:
    'a generator attached to this machine: a device node such as /dev/qrandom0, a serial line or a FIFO',
  options,
  create: (name, values, parts) => localDevice(name, values, parts),
});

/**
 * Drops what a serial generator says while it starts, and what has been in the line's buffer (4,096 bytes) since the
 * last read.
 */
const SERIAL_DISCARD_BYTES = 4096;

/** Parts that tests replace. */
export interface DevicePlaces {
  readonly hwRandom?: HwRandomPlace;
  readonly reader?: DeviceReader;
}

interface Found {
  readonly stats: BigIntStats;
  readonly identity: string;
  /** Null if the path is not that of the kernel's hardware generator. */
  readonly hwRandom: HwRandom | null;
}

/** For each device that this process is reading, by identity: the name of the source that reads it. */
const inUse = new Map<string, string>();

/**
 * Returns a backend that opens the generator for each read and closes it afterwards. So the device is free between
 * reads, and each read notices if another device took its place.
 */
export function localDevice(
  name: string,
  values: LocalDeviceOptions,
  { clock }: Pick<SourceParts, 'clock'>,
  { hwRandom: place = LINUX_HW_RANDOM, reader = new DeviceReader() }: DevicePlaces = {},
) {
  const { path, maker, model, serial_number, serial: baud } = values;
  const isDeclared = values.origin === 'qrng-device';
  const discardBytes = values.discard ?? (baud === null ? 0 : SERIAL_DISCARD_BYTES);
  let heldFifo: { readonly identity: string; readonly fd: number } | undefined;

  /**
   * Keeps a FIFO open between reads, without reading it. Without a reader, SIGPIPE would kill its writer, and what it
   * wrote would be lost. With O_NONBLOCK the call does not wait for a writer.
   */
  const holdFifo = async (identity: string) => {
    if (heldFifo?.identity === identity) return;
    if (heldFifo !== undefined) await promisify(close)(heldFifo.fd);
    heldFifo = undefined;
    const flags = constants.O_RDONLY | constants.O_NONBLOCK;
    heldFifo = { identity, fd: await onDevice(path, () => promisify(open)(path, flags)) };
  };

  /**
   * Reads the device if no other source of this process does. Another process may read the same device: it gets other
   * bytes, because the kernel gives each byte once. A driver that allows only one reader answers EBUSY.
   */
  const readAlone = async ({ identity, stats }: Found, bytes: number, signal: AbortSignal) => {
    const reading = inUse.get(identity);
    if (reading !== undefined) {
      throw new BackendError('retryable', `${path} is already used by the source ${reading}`);
    }
    inUse.set(identity, name);
    try {
      const isFifo = stats.isFIFO();
      if (isFifo) await holdFifo(identity);
      return await reader.read(
        { path, identity, isFifo, baud, discardBytes, bytes },
        values.stall_ms,
        signal,
      );
    } finally {
      inUse.delete(identity);
    }
  };

  return {
    kind: 'stream',
    name,
    origin: values.origin,
    isDeclared,
    quantumBackend: isDeclared ? model : 'none',
    deterministic: false,
    claimedMinEntropyPerBit: values.min_entropy,
    lotRawBits: values.lot_bits,
    readTimeoutMs: values.read_timeout_ms,

    async read(bits, signal) {
      signal.throwIfAborted();
      const shots = wholeShots(bits, 1);
      const startedAtMs = clock.wallMs();
      const found = await find(path, isDeclared, place);
      const raw = await readAlone(found, shots / 8, signal);
      await assertSameGenerator(found, place);
      const facts = { declared_by: 'operator', path, serial_number, baud, ...found.hwRandom };
      return plainRead({
        bits: raw,
        rawSha256: hash('sha256', raw, 'hex'),
        provider: maker,
        device: model,
        startedAtMs,
        finishedAtMs: clock.wallMs(),
        calibration: { ...withoutNulls(facts), discarded_bytes: discardBytes },
      });
    },

    async describe() {
      const { stats, hwRandom } = await find(path, isDeclared, place);
      return {
        path,
        kind: stats.isFIFO() ? 'FIFO' : 'character device',
        declared_maker: maker,
        declared_model: model,
        declared_serial_number: serial_number,
        baud,
        ...hwRandom,
      };
    },
  } satisfies StreamBackend;
}

/** Examines what the path names, without opening it. */
async function find(path: string, isDeclared: boolean, place: HwRandomPlace): Promise<Found> {
  const stats = await onDevice(path, () => stat(path, { bigint: true }));
  if (stats.isFile()) {
    throw new BackendError('permanent', `${path} is a regular file: a source of type replay reads files`);
  }
  if (!stats.isCharacterDevice() && !stats.isFIFO()) {
    throw new BackendError('permanent', `${path} is neither a character device nor a FIFO`);
  }
  const hwRandom = (await isHwRandom(stats, place)) ? await hwRandomFacts(place) : null;
  if (hwRandom !== null) assertGenerator(hwRandom, isDeclared);
  return { stats, identity: identityOf(stats), hwRandom };
}

/** Returns whether it is the kernel's generator, by its device number: a link or another node may name it. */
async function isHwRandom(stats: BigIntStats, { node }: HwRandomPlace): Promise<boolean> {
  const known = stats.isCharacterDevice() ? await unlessMissing(stat(node, { bigint: true })) : null;
  return known?.isCharacterDevice() === true && known.rdev === stats.rdev;
}

/** Rejects if the kernel changed the generator behind `/dev/hwrng`: then it is unknown which one gave the bits. */
async function assertSameGenerator({ hwRandom }: Found, place: HwRandomPlace): Promise<void> {
  if (hwRandom === null) return;
  const { rng_current: now } = await hwRandomFacts(place);
  if (now === hwRandom.rng_current) return;
  throw new BackendError(
    'retryable',
    `rng_current changed from ${hwRandom.rng_current} to ${now} during a read`,
  );
}

/** Makes a system call on a device. Rejects with the error that a failure of the call means. */
async function onDevice<T>(path: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw callError(path, String(error.code), error.message);
  }
}

function withoutNulls(
  facts: Readonly<Record<string, string | number | null>>,
): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(facts).flatMap(([name, fact]) => (fact === null ? [] : [[name, fact]])),
  );
}

/** Where the hardware generators of Linux are. Tests use other places. */
interface HwRandomPlace {
  /** The node that reads from the generator in use, `/dev/hwrng`. */
  readonly node: string;
  /**
   * Folder of the hw_random core's attributes, `/sys/class/misc/hw_random` (Documentation/admin-guide/hw_random.rst).
   */
  readonly attributes: string;
}

const LINUX_HW_RANDOM: HwRandomPlace = {
  node: '/dev/hwrng',
  attributes: '/sys/class/misc/hw_random',
};

/** What the kernel says of the generators behind `/dev/hwrng`. Missing facts are null. */
interface HwRandom {
  readonly rng_current: string | null;
  readonly rng_available: string | null;
  /** The kernel's estimate of entropy per 1,024 bits. */
  readonly rng_quality: number | null;
}

async function hwRandomFacts({ attributes }: HwRandomPlace): Promise<HwRandom> {
  const [current, available, quality] = await Promise.all(
    ['rng_current', 'rng_available', 'rng_quality'].map((name) => attribute(join(attributes, name))),
  );
  return {
    rng_current: current,
    rng_available: available,
    rng_quality: quality !== null && /^\d+$/.test(quality) ? Number(quality) : null,
  };
}

/** Resolves to an attribute; null if the kernel does not have it. `rng_quality` came with Linux 6.2. */
async function attribute(path: string): Promise<string | null> {
  return (await unlessMissing(readFile(path, 'latin1')))?.trim() ?? null;
}

async function unlessMissing<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Generators that are not quantum devices, whatever the operator declares: a TPM, and the generator of a virtual
 * machine's host.
 */
const NOT_QUANTUM = /^(tpm-rng|virtio_rng)/;

/** Refuses a generator that is not there, or that cannot be what it is declared to be. */
function assertGenerator({ rng_current: current }: HwRandom, isDeclaredQuantum: boolean): void {
  if (current === 'none')
    throw new BackendError('retryable', 'rng_current is none: no generator is plugged in');
  if (current !== null && isDeclaredQuantum && NOT_QUANTUM.test(current)) {
    throw new BackendError(
      'permanent',
      `rng_current is ${current}, which is not a quantum device as declared`,
    );
  }
}
