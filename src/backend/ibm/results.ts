import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { inflate } from 'node:zlib';
import { listIn, numberIn, objectIn } from '../../core/json.ts';
import { BackendError } from '../backend.ts';

/** What a job was to give: one PUB of `shots` shots, with a register `c` of `width` bits. */
export interface ExpectedResult {
  readonly shots: number;
  readonly width: number;
}

/**
 * Shots that are decoded between two turns of the event loop: some 5 ms at 100 qubits (12 ns a bit on Node
 * 22).
 */
const SHOTS_PER_TURN = 4_096;

/**
 * The per-shot data of a sampler's result: bit (shot * width + i) is c[i]. Both forms are taken, whichever was asked for:
 * `samples` in hexadecimal, and Qiskit's BitArray. Refuses a result that lacks shots or has other widths
 * (permanent: the job gives nothing else), and one of counts or probabilities alone (`no_raw_shots`).
 */
export async function decodeResult(
  json: unknown,
  expected: ExpectedResult,
): Promise<Uint8Array<ArrayBuffer>> {
  const { num_bits, samples, array } = objectIn(unwrapped(registerIn(json)));
  const width = numberIn(num_bits);
  const packed = unwrapped(array);
  if (!Array.isArray(samples) && typeof packed !== 'string') throw noShots();
  if (width !== expected.width) throw incomplete(`${width ?? 'no number'} of ${expected.width} bits a shot`);
  const bits = new Uint8Array(Math.ceil((expected.shots * width) / 8));
  if (typeof packed === 'string') await decodeBitArray(packed, expected, bits);
  else await decodeSamples(listIn(samples), expected, bits);
  return bits;
}

/** Register `c` of the PUB. */
function registerIn(json: unknown): unknown {
  const result = objectIn(unwrapped(json));
  const pubs = result.results ?? result.pub_results;
  if ('quasi_dists' in result) throw noShots(); // the sampler's first version: probabilities alone
  if (!Array.isArray(pubs)) throw incomplete('a result without PUBs');
  if (pubs.length !== 1) throw incomplete(`${pubs.length} PUBs, and 1 was ordered`);
  const data = objectIn(unwrapped(objectIn(unwrapped(pubs[0])).data));
  return objectIn(data.fields ?? data).c;
}

/** Qiskit's JSON writes an object of a class as `{"__type__": …, "__value__": …}`. */
function unwrapped(value: unknown): unknown {
  const wrapper = objectIn(value);
  return '__type__' in wrapper ? wrapper.__value__ : value;
}

/** One hexadecimal number a shot, c[0] its least significant bit; leading zeros are left out. */
async function decodeSamples(
  samples: readonly unknown[],
  { shots, width }: ExpectedResult,
  bits: Uint8Array,
): Promise<void> {
  if (samples.length !== shots) throw incomplete(`${samples.length} of ${shots} shots`);
  for (let shot = 0; shot < shots; shot++) {
    if (shot % SHOTS_PER_TURN === SHOTS_PER_TURN - 1) await setImmediate();
    const sample = samples[shot];
    if (typeof sample !== 'string' || !/^0x[0-9a-f]+$/i.test(sample))
      throw incomplete('a shot that is not a number');
    setFromHex(bits, shot * width, width, sample);
  }
}

function setFromHex(bits: Uint8Array, at: number, width: number, sample: string): void {
  for (let index = sample.length - 1, channel = 0; index > 1; index--, channel += 4) {
    let digit = hexDigit(sample.charCodeAt(index));
    for (let bit = channel; digit !== 0; bit++, digit >>>= 1) {
      if ((digit & 1) === 0) continue;
      if (bit >= width) throw incomplete(`a shot of more than ${width} bits`);
      bits[(at + bit) >>> 3] |= 0x80 >>> ((at + bit) & 7);
    }
  }
}

/** Of a character that the shot's pattern let through. */
function hexDigit(code: number): number {
  return code <= 0x39 ? code - 0x30 : (code | 0x20) - 0x57;
}

const inflated = promisify(inflate);
/** NumPy pads its header to a multiple of 64 bytes; a matrix's takes 128. */
const NPY_HEADER_BYTES_MAX = 1_024;

/**
 * Base64 of zlib of .npy: a row a shot, big-endian, so that the last byte holds c[0] to c[7], c[0] its lowest
 * bit.
 */
async function decodeBitArray(
  packed: string,
  { shots, width }: ExpectedResult,
  bits: Uint8Array,
): Promise<void> {
  const columns = Math.ceil(width / 8);
  const matrix = readByteMatrix(await inflatedWithin(packed, shots * columns + NPY_HEADER_BYTES_MAX));
  if (matrix.rows !== shots) throw incomplete(`${matrix.rows} of ${shots} shots`);
  if (matrix.columns !== columns) throw incomplete(`${matrix.columns} of ${columns} bytes a shot`);
  const unused = (0xff << (width - 8 * (columns - 1))) & 0xff;
  for (let shot = 0; shot < shots; shot++) {
    if (shot % SHOTS_PER_TURN === SHOTS_PER_TURN - 1) await setImmediate();
    const at = shot * width;
    const last = (shot + 1) * columns - 1;
    if ((matrix.data[shot * columns] & unused) !== 0) throw incomplete(`a shot of more than ${width} bits`);
    for (let channel = 0; channel < width; channel++) {
      const bit = (matrix.data[last - (channel >>> 3)] >>> (channel & 7)) & 1;
      bits[(at + channel) >>> 3] |= bit << (7 - ((at + channel) & 7));
    }
  }
}

/** A compressed result that grows beyond what the job can have given is not unpacked. */
async function inflatedWithin(packed: string, bytesMax: number): Promise<Uint8Array> {
  try {
    return await inflated(Buffer.from(packed, 'base64'), { maxOutputLength: bytesMax });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw incomplete(`an array of more than ${bytesMax} bytes`);
    if (code?.startsWith('Z_')) throw incomplete(`an array that does not unpack (${code})`);
    throw error;
  }
}

function noShots(): BackendError {
  return new BackendError('no_raw_shots', 'IBM Quantum gave no per-shot data of register c');
}

function incomplete(what: string): BackendError {
  return new BackendError('permanent', `IBM Quantum gave ${what}`);
}

/** A two-dimensional array of bytes in NumPy's .npy format. */
export interface ByteMatrix {
  readonly rows: number;
  readonly columns: number;
  /** Row after row. */
  readonly data: Uint8Array;
}

const MAGIC = '\x93NUMPY';

/**
 * Reads .npy versions 1 to 3 (NumPy Enhancement Proposal 1, "Format Specification"): magic, version, length
 * of the header, the header as a Python literal, the data. Only C-ordered matrices of uint8 are taken;
 * anything else is refused.
 */
export function readByteMatrix(npy: Uint8Array): ByteMatrix {
  const bytes = Buffer.from(npy.buffer, npy.byteOffset, npy.byteLength);
  if (bytes.length < 12 || bytes.toString('latin1', 0, 6) !== MAGIC) throw refused('no .npy file');
  const headerAt = bytes[6] === 1 ? 10 : 12;
  const dataAt = headerAt + (bytes[6] === 1 ? bytes.readUInt16LE(8) : bytes.readUInt32LE(8));
  if (dataAt > bytes.length) throw refused('a header that is cut off');
  const header = bytes.toString('latin1', headerAt, dataAt);
  const isBytes = /'descr':\s*'[|<>=]?u1'/.test(header) && /'fortran_order':\s*False/.test(header);
  const shape = /'shape':\s*\((\d{1,10}),\s*(\d{1,10}),?\s*\)/.exec(header);
  if (!isBytes || shape === null) throw refused('no C-ordered matrix of uint8');
  const rows = Number(shape[1]);
  const columns = Number(shape[2]);
  if (bytes.length - dataAt !== rows * columns) throw refused(`data that is no ${rows} by ${columns} bytes`);
  return { rows, columns, data: bytes.subarray(dataAt) };
}

function refused(what: string): BackendError {
  return new BackendError('permanent', `the result's array is ${what}`);
}
