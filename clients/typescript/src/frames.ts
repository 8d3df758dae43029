import { clientError } from './error.ts';

/** A block of `GET /v1/stream` as it came: a JSON object, and the octets behind it. */
export interface Frame {
  readonly facts: Readonly<Record<string, unknown>>;
  readonly octets: Uint8Array<ArrayBuffer>;
}

/** Two lengths of 32 bits, little-endian: of the JSON text, and of the octets. */
const LENGTHS_BYTES = 8;
/** More than header fields take, and than any block holds: beyond it no memory is taken at a peer's word. */
const TEXT_BYTES_MAX = 65_536;
const OCTETS_BYTES_MAX = 256 * 1_048_576;

const utf8 = new TextDecoder();

/**
 * The frames of a body. Ends with it; throws `network_error` when it ends within a frame, and `invalid_answer` when it
 * holds something else. `pull` gives the next piece of the body, and undefined at its end.
 */
export async function* framesOf(pull: () => Promise<Uint8Array | undefined>): AsyncGenerator<Frame, void> {
  let piece: Uint8Array = new Uint8Array(0);
  let at = 0;

  /** The next `size` bytes in memory of their own; undefined when the body ends before the first. */
  async function take(size: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const taken = new Uint8Array(size);
    for (let filled = 0; filled < size; ) {
      if (at === piece.length) {
        const next = await pull();
        if (next === undefined) {
          if (filled === 0) return undefined;
          throw cutOff();
        }
        piece = next;
        at = 0;
      }
      const part = piece.subarray(at, at + size - filled);
      taken.set(part, filled);
      at += part.length;
      filled += part.length;
    }
    return taken;
  }

  for (;;) {
    const lengths = await take(LENGTHS_BYTES);
    if (lengths === undefined) return;
    const view = new DataView(lengths.buffer);
    const [textBytes, octetsBytes] = [view.getUint32(0, true), view.getUint32(4, true)];
    if (textBytes > TEXT_BYTES_MAX || octetsBytes > OCTETS_BYTES_MAX) throw noFrame();
    const text = await take(textBytes);
    const octets = octetsBytes === 0 ? new Uint8Array(0) : await take(octetsBytes);
    if (text === undefined || octets === undefined) throw cutOff();
    yield { facts: factsOf(text), octets };
  }
}

function factsOf(text: Uint8Array): Frame['facts'] {
  let facts: unknown;
  try {
    facts = JSON.parse(utf8.decode(text));
  } catch {
    throw noFrame(); // a SyntaxError would not name the service as its cause
  }
  if (typeof facts !== 'object' || facts === null || Array.isArray(facts)) throw noFrame();
  return facts as Frame['facts'];
}

/** The connection ended before the stream did. */
export function cutOff(): Error {
  return clientError('network_error', { message: 'The stream ended before its last frame.' });
}

function noFrame(): Error {
  return clientError('invalid_answer', { message: 'The body holds no frames of a stream.', status: 200 });
}
