import { BackendError } from './backend.ts';

/** A two-dimensional array of bytes in NumPy's .npy format. */
export interface ByteMatrix {
  readonly rows: number;
  readonly columns: number;
  /** Row after row. */
  readonly data: Uint8Array;
}

const MAGIC = '\x93NUMPY';

/**
 * Reads .npy versions 1 to 3 (NumPy Enhancement Proposal 1, "Format Specification"): magic, version, length of the header,
 * the header as a Python literal, the data. Only C-ordered matrices of uint8 are taken; anything else is refused.
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
