import { bytesOfBase32 } from '../../../src/core/ids.ts';
import { ENTROPY_MODES, type EntropyMode } from '../../../src/core/vocabulary.ts';

/** What a client knows of one answer. */
export interface Answered {
  readonly certificateId: string;
  readonly requestId: string;
  readonly mode: EntropyMode;
  readonly values: number;
  readonly credits: number;
  /** True if the request had a purpose, so that the answer has a serial. */
  readonly isNumbered: boolean;
}

const ID_BYTES = 16;
/** Size of a row: two ids, two integers, the mode and whether it is numbered. */
const ROW_BYTES = 2 * ID_BYTES + 12;
const ROWS_ADDED = 1 << 14;
const ROWS_MAX = 1 << 24;

/** Every acknowledged answer in packed form, so that some millions of them fit. */
export class Acknowledged {
  readonly #buffer = new ArrayBuffer(0, { maxByteLength: ROWS_MAX * ROW_BYTES });
  readonly #view = new DataView(this.#buffer);
  count = 0;
  creditsSpent = 0;

  /** Throws when an id is not of the form that the service promises. */
  add({ certificateId, requestId, mode, values, credits, isNumbered }: Answered): void {
    const at = this.count * ROW_BYTES;
    if (at === this.#buffer.byteLength) this.#buffer.resize(at + ROWS_ADDED * ROW_BYTES);
    const ids = new Uint8Array(this.#buffer, at, 2 * ID_BYTES);
    ids.set(idBytes(certificateId, 'cert_'));
    ids.set(idBytes(requestId, 'req_'), ID_BYTES);
    this.#view.setUint32(at + 32, values);
    this.#view.setUint32(at + 36, credits);
    this.#view.setUint8(at + 40, ENTROPY_MODES.indexOf(mode));
    this.#view.setUint8(at + 41, Number(isNumbered));
    this.count++;
    this.creditsSpent += credits;
  }

  certificateId(row: number): Uint8Array {
    return new Uint8Array(this.#buffer, row * ROW_BYTES, ID_BYTES);
  }

  requestId(row: number): Uint8Array {
    return new Uint8Array(this.#buffer, row * ROW_BYTES + ID_BYTES, ID_BYTES);
  }

  facts(row: number): Omit<Answered, 'certificateId' | 'requestId'> {
    const at = row * ROW_BYTES;
    return {
      values: this.#view.getUint32(at + 32),
      credits: this.#view.getUint32(at + 36),
      mode: ENTROPY_MODES[this.#view.getUint8(at + 40)],
      isNumbered: this.#view.getUint8(at + 41) === 1,
    };
  }
}

function idBytes(text: string, prefix: string): Uint8Array {
  const bytes = text.startsWith(prefix) ? bytesOfBase32(text.slice(prefix.length)) : undefined;
  if (bytes?.length !== ID_BYTES) throw new Error(`${text} is no id that begins with ${prefix}`);
  return bytes;
}

/** Windows of this many hex digits are compared; 16 bytes repeat by chance once in 2^128. */
const WINDOW_HEX = 32;

/**
 * Finds pure bytes that were delivered twice. It remembers windows by content if their first byte ends in four zero
 * bits, so that the same bytes are remembered wherever they are. A repeated 4 KiB block is missed once in 10^114
 * ((15/16)^4080). For short runs it remembers every window.
 */
export class PureSeen {
  readonly #windows = new Map<string, string>();
  readonly #isSampled: boolean;

  constructor({ isSampled }: { readonly isSampled: boolean }) {
    this.#isSampled = isSampled;
  }

  /** Returns what is wrong if another request got the same bytes before. */
  add(hex: string, requestId: string): string | undefined {
    for (let at = 0; at + WINDOW_HEX <= hex.length; at += 2) {
      if (this.#isSampled && hex[at + 1] !== '0') continue;
      const window = hex.slice(at, at + WINDOW_HEX);
      const before = this.#windows.get(window);
      if (before !== undefined && before !== requestId)
        return `pure bytes of ${before} were delivered again to ${requestId}`;
      this.#windows.set(window, requestId);
    }
    return undefined;
  }
}
