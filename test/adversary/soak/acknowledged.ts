import { bytesOfBase32 } from '../../../src/core/ids.ts';
import { ENTROPY_MODES } from '../../../src/core/vocabulary.ts';

/** What a client holds in its hands of one answer. */
export interface Answered {
  readonly certificateId: string;
  readonly requestId: string;
  readonly mode: (typeof ENTROPY_MODES)[number];
  readonly values: number;
  readonly credits: number;
}

const ID_BYTES = 16;
const FIRST_ROWS = 1 << 14;

/** Every answer that was acknowledged, in columns: some millions of them fit. */
export class Acknowledged {
  #rows = 0;
  #certificateIds = new Uint8Array(FIRST_ROWS * ID_BYTES);
  #requestIds = new Uint8Array(FIRST_ROWS * ID_BYTES);
  #modes = new Uint8Array(FIRST_ROWS);
  #values = new Uint32Array(FIRST_ROWS);
  #credits = new Uint32Array(FIRST_ROWS);
  creditsSpent = 0;

  get count(): number {
    return this.#rows;
  }

  /** Throws when an id is not of the form that the service promises. */
  add({ certificateId, requestId, mode, values, credits }: Answered): void {
    if (this.#rows === this.#modes.length) this.#grow();
    const row = this.#rows++;
    this.#certificateIds.set(idBytes(certificateId, 'cert_'), row * ID_BYTES);
    this.#requestIds.set(idBytes(requestId, 'req_'), row * ID_BYTES);
    this.#modes[row] = ENTROPY_MODES.indexOf(mode);
    this.#values[row] = values;
    this.#credits[row] = credits;
    this.creditsSpent += credits;
  }

  certificateId(row: number): Uint8Array {
    return this.#certificateIds.subarray(row * ID_BYTES, (row + 1) * ID_BYTES);
  }

  requestId(row: number): Uint8Array {
    return this.#requestIds.subarray(row * ID_BYTES, (row + 1) * ID_BYTES);
  }

  mode(row: number): Answered['mode'] {
    return ENTROPY_MODES[this.#modes[row]];
  }

  values(row: number): number {
    return this.#values[row];
  }

  credits(row: number): number {
    return this.#credits[row];
  }

  #grow(): void {
    this.#certificateIds = doubled(this.#certificateIds);
    this.#requestIds = doubled(this.#requestIds);
    this.#modes = doubled(this.#modes);
    this.#values = doubled(this.#values);
    this.#credits = doubled(this.#credits);
  }
}

function idBytes(text: string, prefix: string): Uint8Array {
  const bytes = text.startsWith(prefix) ? bytesOfBase32(text.slice(prefix.length)) : undefined;
  if (bytes?.length !== ID_BYTES) throw new Error(`${text} is no id that begins with ${prefix}`);
  return bytes;
}

function doubled<T extends Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer>>(column: T): T {
  const larger = new (column.constructor as new (length: number) => T)(2 * column.length);
  larger.set(column);
  return larger;
}

/** Windows of this many bytes are compared. */
const WINDOW_HEX = 32;

/**
 * Looks for pure bytes that came twice. Windows are remembered where their first byte ends in four zero bits: by their
 * content, so that the same bytes are remembered wherever they stand, and a 4 KiB block that comes again is found but
 * once in 10^114 ((15/16)^4080).
 */
export class PureSeen {
  readonly #windows = new Map<string, string>();

  /** The request that got the same bytes before, if any did. */
  add(hex: string, requestId: string): string | undefined {
    for (let at = 0; at + WINDOW_HEX <= hex.length; at += 2) {
      if (hex[at + 1] !== '0') continue;
      const window = hex.slice(at, at + WINDOW_HEX);
      const before = this.#windows.get(window);
      if (before !== undefined && before !== requestId) return before;
      this.#windows.set(window, requestId);
    }
    return undefined;
  }
}
