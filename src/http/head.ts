import { assert, InvariantError } from '../core/assert.ts';
import { decimalDigits, writeLatin1, writeNumber, writeUuid } from '../core/text-bytes.ts';

/**
 * Response heads as one byte string, `200 OK CRLF Name: value CRLF Name: value`, which uWebSockets.js takes
 * as its status line: one call into the library in place of one per field. The library appends Date, its mark
 * and Content-Length. It does not look for CR and LF, so this file does.
 */
export type Field = readonly [name: string, value: string];

/** RFC 9110 §15, for the statuses that the service sends. */
const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  204: 'No Content',
  301: 'Moved Permanently',
  302: 'Found',
  304: 'Not Modified',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/; // token, RFC 9110 §5.6.2
const FIELD_VALUE = /^[\x20-\x7e]*$/; // visible ASCII and blanks: narrower than RFC 9110 §5.5, enough for us

/** Fields that the library writes itself; a second one would contradict it. */
const WRITTEN_BY_LIBRARY = new Set(['content-length', 'transfer-encoding', 'connection', 'date']);

export function reasonOf(status: number): string {
  const reason = REASONS[status];
  assert(reason !== undefined, `no reason phrase for status ${status}`);
  return reason;
}

function headText(status: number, fields: readonly Field[]): string {
  return `${status} ${reasonOf(status)}${linesOf(fields)}`;
}

function linesOf(fields: readonly Field[]): string {
  let text = '';
  for (const [name, value] of fields) {
    assert(FIELD_NAME.test(name), `not a field name: ${JSON.stringify(name)}`);
    assert(!WRITTEN_BY_LIBRARY.has(name.toLowerCase()), `${name} is written by the front`);
    assert(FIELD_VALUE.test(value), `the value of ${name} holds a byte that is not visible ASCII`);
    text += `\r\n${name}: ${value}`;
  }
  return text;
}

/** The head of a reply. Throws an InvariantError for a name or value that could break out of its line. */
export function headOf(status: number, fields: readonly Field[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(headText(status, fields), 'latin1'));
}

/** The head with more fields behind it. Throws as `headOf` does. */
export function withFields(head: Uint8Array, fields: readonly Field[]): Uint8Array {
  return fields.length === 0 ? head : Buffer.concat([head, Buffer.from(linesOf(fields), 'latin1')]);
}

/** Whether the head has a field of this name, spelt as it was made. */
export function hasField(head: Uint8Array, name: string): boolean {
  return Buffer.from(head.buffer, head.byteOffset, head.length).includes(`\r\n${name}: `, 'latin1');
}

/** The status that a head begins with. */
export function statusOf(head: Uint8Array): number {
  return 100 * (head[0] - ZERO) + 10 * (head[1] - ZERO) + (head[2] - ZERO);
}

/** A field of a template whose value changes with every reply: right-aligned in `width` bytes. */
export interface PatchField {
  readonly name: string;
  readonly width: number;
}

/**
 * A head that is made once and patched in place for each reply. Patched values are padded with leading
 * blanks, which are optional white space and no part of the value (RFC 9110 §5.5). The library copies a head
 * when it is sent, so one template serves all replies of a thread.
 */
export class HeadTemplate {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly #slots = new Map<string, HeadSlot>();

  constructor(status: number, fields: readonly Field[], patched: readonly PatchField[]) {
    const blank = patched.map(({ name, width }): Field => [name, ' '.repeat(width)]);
    this.bytes = headOf(status, [...fields, ...blank]);
    let end = this.bytes.length;
    for (const { name, width } of [...patched].reverse()) {
      assert(width >= 1 && Number.isInteger(width), `the width of ${name} is a positive whole number`);
      assert(!this.#slots.has(name), `${name} is patched once`);
      this.#slots.set(name, new HeadSlot(name, this.bytes, end - width, width));
      end -= width + name.length + 4; // CR LF, colon, blank
    }
  }

  /** The place of one patched field. Look it up once, keep it, patch it per reply. */
  slot(name: string): HeadSlot {
    const slot = this.#slots.get(name);
    assert(slot !== undefined, `${name} is not a patched field`);
    return slot;
  }
}

const BLANK = 0x20;
const ZERO = 0x30;
const LAST_VISIBLE = 0x7e;
const UUID_WIDTH = 36;

/** Writes one patched value without allocating. */
export class HeadSlot {
  readonly #name: string;
  readonly #bytes: Uint8Array;
  readonly #start: number;
  readonly #end: number;
  /** The first number with too many digits. */
  readonly #limit: number;

  constructor(name: string, bytes: Uint8Array, start: number, width: number) {
    this.#name = name;
    this.#bytes = bytes;
    this.#start = start;
    this.#end = start + width;
    this.#limit = 10 ** width;
  }

  /**
   * Sets a whole number of at least 0. Throws an InvariantError, with the old value kept, when it does not
   * fit.
   */
  setNumber(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0 || value >= this.#limit) this.#refuse(value);
    const bytes = this.#bytes;
    let at = this.#end;
    let rest = value;
    while (rest > 0x7fff_ffff) {
      const tenth = Math.floor(rest / 10); // beyond 31 bits an integer division would wrap
      bytes[--at] = ZERO + (rest - tenth * 10);
      rest = tenth;
    }
    do {
      const tenth = (rest / 10) | 0;
      bytes[--at] = ZERO + (rest - tenth * 10);
      rest = tenth;
    } while (rest > 0);
    while (at > this.#start) bytes[--at] = BLANK;
  }

  /**
   * Sets visible ASCII. Throws an InvariantError, with the old value kept, for anything else or when it is
   * too long.
   */
  setText(text: string): void {
    const length = text.length;
    if (length > this.#end - this.#start) this.#refuse(text);
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code < BLANK || code > LAST_VISIBLE) this.#refuse(text);
    }
    const from = this.#end - length;
    this.#bytes.fill(BLANK, this.#start, from);
    for (let i = 0; i < length; i++) this.#bytes[from + i] = text.charCodeAt(i);
  }

  /**
   * Sets visible ASCII, a number, visible ASCII and a number in a row, without a string between. Throws as
   * `setText` and `setNumber` do, but may leave a part of the value behind.
   */
  setLabelled(first: string, one: number, second: string, two: number): void {
    const length = first.length + decimalDigits(one) + second.length + decimalDigits(two);
    if (length > this.#end - this.#start) this.#refuse(`${first}${one}${second}${two}`);
    const from = this.#end - length;
    this.#bytes.fill(BLANK, this.#start, from);
    let at = writeLatin1(first, this.#bytes, from);
    at = writeLatin1(second, this.#bytes, writeNumber(one, this.#bytes, at));
    writeNumber(two, this.#bytes, at);
  }

  /** Sets 16 bytes in the 8-4-4-4-12 form of RFC 9562; the slot has 36 bytes. */
  setUuid(id: Uint8Array): void {
    if (this.#end - this.#start !== UUID_WIDTH) this.#refuse('a UUID');
    writeUuid(id, this.#bytes, this.#start);
  }

  /** Out of line, so that the message is only built when it is needed. */
  #refuse(value: number | string): never {
    const width = this.#end - this.#start;
    throw new InvariantError(
      `${this.#name}: ${JSON.stringify(value)} does not fit ${width} bytes of visible ASCII`,
    );
  }
}
