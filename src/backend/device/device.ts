import { hash } from 'node:crypto';
import { type BigIntStats, close, constants, open } from 'node:fs';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Clock } from '../../core/clock.ts';
import type { Origin } from '../../core/vocabulary.ts';
import {
  BackendError,
  type Provenance,
  type RawRead,
  type SourceFacts,
  type StreamBackend,
} from '../backend.ts';
import { SeenReads } from '../seen-reads.ts';
import { wholeShots } from '../shots.ts';
import type { SourceParts } from '../source-kind.ts';
import {
  assertGenerator,
  type HwRandom,
  type HwRandomPlace,
  hwRandomFacts,
  LINUX_HW_RANDOM,
} from './hw-random.ts';
import { callError, DeviceReader } from './reader.ts';
import { identityOf } from './reader-protocol.ts';
import type { DeviceOptions } from './source.ts';

/** What a serial generator says while it starts, and what lay in the line's buffer (4,096 bytes) since it was last read. */
const SERIAL_DISCARD_BYTES = 4096;

/** Where the machine has its things; tests put their own in place. */
export interface DeviceSurroundings {
  readonly hwRandom?: HwRandomPlace;
  readonly reader?: DeviceReader;
}

interface Found {
  readonly stats: BigIntStats;
  readonly identity: string;
  /** Null when the path is not that of the kernel's hardware generator. */
  readonly hwRandom: HwRandom | null;
}

/** Devices that are being read in this process, by identity, with the source that does. */
const inUse = new Map<string, string>();

/** A generator that is opened for each read and closed after it: between reads it is free, and is told from another. */
export class Device implements StreamBackend {
  readonly kind = 'stream';
  readonly name: string;
  readonly origin: Origin;
  readonly quantumBackend: string;
  readonly deterministic = false;
  readonly claimedMinEntropyPerBit: number;
  readonly lotRawBits: number;
  readonly readTimeoutMs: number;
  readonly #values: DeviceOptions;
  readonly #discardBytes: number;
  readonly #clock: Clock;
  readonly #place: HwRandomPlace;
  readonly #reader: DeviceReader;
  readonly #seen: SeenReads;
  #heldFifo: { readonly identity: string; readonly fd: number } | undefined;

  constructor(
    name: string,
    values: DeviceOptions,
    { clock, memory }: SourceParts,
    { hwRandom = LINUX_HW_RANDOM, reader = new DeviceReader() }: DeviceSurroundings = {},
  ) {
    this.name = name;
    this.origin = values.origin;
    this.quantumBackend = values.origin === 'qrng-device' ? values.model : 'none';
    this.claimedMinEntropyPerBit = values.min_entropy;
    this.lotRawBits = values.lot_bits;
    this.readTimeoutMs = values.read_timeout_ms;
    this.#values = values;
    this.#discardBytes = values.discard ?? (values.serial === null ? 0 : SERIAL_DISCARD_BYTES);
    this.#clock = clock;
    this.#place = hwRandom;
    this.#reader = reader;
    this.#seen = new SeenReads(memory, values.min_entropy);
  }

  async read(bits: number, signal: AbortSignal): Promise<RawRead> {
    signal.throwIfAborted();
    const shots = wholeShots(bits, 1);
    const startedAtMs = this.#clock.wallMs();
    const found = await this.#find();
    const raw = await this.#readAlone(found, shots / 8, signal);
    const rawSha256 = hash('sha256', raw, 'hex');
    await this.#assertSameGenerator(found);
    await this.#seen.admit(rawSha256, shots);
    const provenance = this.#provenance(found, shots, startedAtMs);
    return { bits: raw, width: 1, shots, rawSha256, provenance };
  }

  async describe(): Promise<SourceFacts> {
    const { stats, hwRandom } = await this.#find();
    const { path, maker, model, serial_number, serial } = this.#values;
    return {
      path,
      kind: stats.isFIFO() ? 'FIFO' : 'character device',
      declared_maker: maker,
      declared_model: model,
      declared_serial_number: serial_number,
      baud: serial,
      ...hwRandom,
    };
  }

  /** Looks at what the path names, without opening it. */
  async #find(): Promise<Found> {
    const { path } = this.#values;
    const stats = await onDevice(path, () => stat(path, { bigint: true }));
    if (stats.isFile()) {
      throw new BackendError('permanent', `${path} is a regular file: a source of type replay reads files`);
    }
    if (!stats.isCharacterDevice() && !stats.isFIFO()) {
      throw new BackendError('permanent', `${path} is neither a character device nor a FIFO`);
    }
    const hwRandom = (await this.#isHwRandom(stats)) ? await hwRandomFacts(this.#place) : null;
    if (hwRandom !== null) assertGenerator(hwRandom, this.origin === 'qrng-device');
    return { stats, identity: identityOf(stats), hwRandom };
  }

  /** By number, since a link or another node may name the same device. */
  async #isHwRandom(stats: BigIntStats): Promise<boolean> {
    if (!stats.isCharacterDevice()) return false;
    try {
      const node = await stat(this.#place.node, { bigint: true });
      return node.isCharacterDevice() && node.rdev === stats.rdev;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
      throw error;
    }
  }

  /**
   * One reader at a time in this process. Another process that reads the same device takes other bytes: the kernel gives
   * each byte once, and a driver that wants one reader alone says EBUSY.
   */
  async #readAlone(found: Found, bytes: number, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    const { path, serial: baud, stall_ms: stallMs } = this.#values;
    const { identity, stats } = found;
    const reading = inUse.get(identity);
    if (reading !== undefined) {
      throw new BackendError('retryable', `${path} is being read by the source ${reading}`);
    }
    inUse.set(identity, this.name);
    try {
      const isFifo = stats.isFIFO();
      if (isFifo) await this.#holdFifo(identity);
      const order = { path, identity, isFifo, baud, discardBytes: this.#discardBytes, bytes };
      return await this.#reader.read(order, stallMs, signal);
    } finally {
      inUse.delete(identity);
    }
  }

  /**
   * Keeps a FIFO open between reads, unread: without a reader its writer would die of SIGPIPE, and what it wrote would be
   * lost. O_NONBLOCK: the open waits for no writer.
   */
  async #holdFifo(identity: string): Promise<void> {
    if (this.#heldFifo?.identity === identity) return;
    if (this.#heldFifo !== undefined) await promisify(close)(this.#heldFifo.fd);
    this.#heldFifo = undefined;
    const { path } = this.#values;
    const flags = constants.O_RDONLY | constants.O_NONBLOCK;
    this.#heldFifo = { identity, fd: await onDevice(path, () => promisify(open)(path, flags)) };
  }

  /** The kernel may change the generator behind `/dev/hwrng` at any time: then nobody knows whose bits these are. */
  async #assertSameGenerator({ hwRandom }: Found): Promise<void> {
    if (hwRandom === null) return;
    const { rng_current: now } = await hwRandomFacts(this.#place);
    if (now === hwRandom.rng_current) return;
    throw new BackendError(
      'retryable',
      `rng_current went from ${hwRandom.rng_current} to ${now} during a read`,
    );
  }

  #provenance({ hwRandom }: Found, shots: number, startedAtMs: number): Provenance {
    const { maker, model, path, serial_number, serial } = this.#values;
    const facts = { declared_by: 'operator', path, serial_number, baud: serial, ...hwRandom };
    return {
      provider: maker,
      device: model,
      jobId: null,
      circuit: 'none',
      circuitVersion: 'none',
      circuitSha256: null,
      qubitsUsed: 0,
      circuitDepth: 0,
      shots,
      startedAtMs,
      finishedAtMs: this.#clock.wallMs(),
      calibration: { ...withoutNulls(facts), discarded_bytes: this.#discardBytes },
    };
  }
}

/** Turns what a system call says of a device into the error that it means. */
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
  const isKnown = (fact: [string, string | number | null]): fact is [string, string | number] =>
    fact[1] !== null;
  return Object.fromEntries(Object.entries(facts).filter(isKnown));
}
