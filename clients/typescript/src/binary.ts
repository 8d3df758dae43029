import type {
  BinaryAnswer,
  BinaryBatchData,
  BinaryBatchType,
  BinaryBytesData,
  BinaryValues,
  EntropyMetadata,
  EntropyMode,
  Origin,
} from './answers.ts';
import { clientError, type RawResponse } from './error.ts';

/**
 * Reads answers of type application/octet-stream: the body holds only the values, and header fields hold the metadata.
 */

const OCTETS = 'application/octet-stream';
const UUID_BYTES = 16;

const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** An answer in octets: the body, and what its header fields say. */
export interface OctetReply {
  readonly octets: Uint8Array<ArrayBuffer>;
  readonly entropy: EntropyMetadata;
  readonly metadata: BinaryAnswer<unknown>['metadata'];
  readonly durationMs: number;
  readonly requestUuid: string;
  readonly credits: BinaryAnswer<unknown>['credits'];
}

/** Reads the metadata of a reply. Throws `invalid_answer` when a header field is missing. */
export function octetReply({ headers, body, status }: RawResponse): OctetReply {
  const field = (name: string): string => {
    const value = headers.get(name);
    if (value !== null) return value;
    // a browser may read only the fields that the service exposes (CORS)
    throw clientError('invalid_answer', { message: `The answer has no readable field ${name}.`, status });
  };
  const count = (name: string): number => Number(field(name));
  const mediaType = headers.get('content-type') ?? '';
  if (mediaType !== OCTETS) {
    throw clientError('invalid_answer', { message: `The answer is ${mediaType}, not ${OCTETS}.`, status });
  }
  const requestUuid = field('x-request-id');
  const durationMs = count('x-processing-time-ms');
  const backend = field('x-quantum-backend');
  return {
    octets: body,
    entropy: { entropy_mode: field('x-entropy-mode') as EntropyMode, quantum_source: backend },
    metadata: {
      request_id: requestIdOf(requestUuid),
      timestamp: field('x-timestamp'),
      lang_circuit: field('x-lang-circuit'),
      lang_version: field('x-lang-version'),
      quantum_backend: backend,
      entropy_origin: field('x-entropy-origin') as Origin,
      nist_verified: field('x-nist-verified') === 'true',
      certificate_id: field('x-certificate-id'),
      certificate_salt: field('x-certificate-salt'),
      verify_url: field('x-verify-url'),
      processing_time_ms: durationMs,
      entropy_consumed_bytes: count('x-entropy-consumed-bytes'),
    },
    durationMs,
    requestUuid,
    credits: {
      remaining: count('x-quantum-credits-remaining'),
      used: count('x-quantum-credits-used'),
    },
  };
}

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';

/** Returns the UUID's bits as `req_` and 26 characters of Crockford's base32. */
export function requestIdOf(uuid: string): string {
  let bits = BigInt(`0x${uuid.replaceAll('-', '')}`);
  let text = '';
  for (let i = 0; i < 26; i++) {
    text = BASE32.charAt(Number(bits & 31n)) + text;
    bits >>= 5n;
  }
  return `req_${text}`;
}

/**
 * Returns the values of a batch as a typed array, without a copy on a little-endian machine, because the wire is
 * little-endian. Throws `invalid_answer` when the octets are not `count` values.
 */
export function batchValues<T extends BinaryBatchType>(
  type: T,
  count: number,
  octets: Uint8Array<ArrayBuffer>,
  littleEndian = LITTLE_ENDIAN,
): BinaryValues[T] {
  const width = octets.length / count;
  const widths: readonly number[] = WIDTHS[type] ?? [Math.floor(width)];
  if (width === 0 || !widths.includes(width)) {
    const message = `${octets.length} bytes are not ${count} values of the type ${type}.`;
    throw clientError('invalid_answer', { message, status: 200 });
  }
  if (type === 'bytes' || type === 'uuid') return octets as BinaryValues[T];
  const { buffer } = littleEndian ? octets : swapped(octets, width);
  return (width === INT32_BYTES ? new Int32Array(buffer) : new Float64Array(buffer)) as BinaryValues[T];
}

const INT32_BYTES = 4;
const FLOAT64_BYTES = 8;
/**
 * The bytes of a value. Integers are float64 when int32 cannot hold the range. A value of type bytes has any length.
 */
const WIDTHS: Readonly<Partial<Record<BinaryBatchType, readonly number[]>>> = {
  integers: [INT32_BYTES, FLOAT64_BYTES],
  floats: [FLOAT64_BYTES],
  uuid: [UUID_BYTES],
};

/** Returns the values as the octets that the service sent. */
export function octetsOf(
  data: BinaryBytesData | BinaryBatchData<BinaryBatchType>,
  littleEndian = LITTLE_ENDIAN,
): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength, BYTES_PER_ELEMENT } = 'bytes' in data ? data.bytes : data.values;
  const octets = new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
  return littleEndian ? octets : swapped(octets, BYTES_PER_ELEMENT);
}

/** Returns a copy in which the bytes of each value of `width` bytes are reversed. */
function swapped(octets: Uint8Array<ArrayBuffer>, width: number): Uint8Array<ArrayBuffer> {
  const turned = octets.slice();
  for (let at = 0; at < turned.length; at += width) turned.subarray(at, at + width).reverse();
  return turned;
}

/** Returns 16 bytes in the 8-4-4-4-12 form of RFC 9562. */
export function uuidText(bytes: Uint8Array): string {
  return hexOf(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function hexOf(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += HEX[byte];
  return text;
}
