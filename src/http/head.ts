import { assert, InvariantError } from '../core/assert.ts';
import { writeLatin1, writeNumber, writeUuid } from '../core/text-bytes.ts';

/**
 * Response heads as one byte string, `200 OK CRLF Name: value CRLF Name: value`, which uWebSockets.js takes
 * as its status line: one call into the library in place of one per field. The library appends Date, its mark
 * and Content-Length. It does not look for CR and LF, so this file does.
 */
export type Field = readonly [name: string, value: string];

/** RFC 9110 §15, for the statuses that the service sends. */
const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
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
  return new Uint8Array(Buffer.from(`${status} ${reasonOf(status)}${linesOf(fields)}`, 'latin1'));
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

const LAST_VISIBLE = 0x7e;
const BLANK = 0x20;
const ZERO = 0x30;
const UUID_WIDTH = 36;
const NUMBER_WIDTH_MAX = 16; // 2^53 - 1

/** The beginning of a line whose value changes with every reply: `CR LF name: blank`. */
export type FieldLabel = Uint8Array;

/** Made once for each field. Throws an InvariantError as `headOf` does. */
export function fieldLabel(name: string): FieldLabel {
  return new Uint8Array(Buffer.from(linesOf([[name, '']]), 'latin1'));
}

/**
 * A head whose first lines are made once, and whose last lines are written anew for each reply, without a
 * string between. Every value has its own length, because many readers of logs and proxies do not strip
 * padding. The library copies a head when it is sent, so one template serves all replies of a thread.
 */
export class HeadTemplate {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #fixedBytes: number;
  /** By length: a view costs as much as all numbers of a head. */
  readonly #views: Uint8Array<ArrayBuffer>[] = [];
  #end: number;

  /** `roomBytes` is what the changing lines take at most. */
  constructor(status: number, fields: readonly Field[], roomBytes: number) {
    const fixed = headOf(status, fields);
    this.#bytes = new Uint8Array(fixed.length + roomBytes);
    this.#bytes.set(fixed);
    this.#fixedBytes = fixed.length;
    this.#end = fixed.length;
  }

  /** The head as it stands; valid until the next `restart`. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return (this.#views[this.#end - this.#fixedBytes] ??= this.#bytes.subarray(0, this.#end));
  }

  /** Forgets the lines of the reply before. */
  restart(): void {
    this.#end = this.#fixedBytes;
  }

  /** Adds a whole number from 0 to 2^53 - 1. Throws an InvariantError, and adds nothing, for another. */
  addNumber(label: FieldLabel, value: number): void {
    assert(Number.isSafeInteger(value) && value >= 0, `not a number that a head can hold: ${value}`);
    const at = this.#begin(label, NUMBER_WIDTH_MAX);
    this.#end = writeNumber(value, this.#bytes, at);
  }

  /** Adds visible ASCII. Throws an InvariantError, and adds nothing, for other text. */
  addText(label: FieldLabel, text: string): void {
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code < BLANK || code > LAST_VISIBLE) refuse(text);
    }
    const at = this.#begin(label, text.length);
    this.#end = writeLatin1(text, this.#bytes, at);
  }

  /** Adds visible ASCII, a number, visible ASCII and a number in a row. The texts are constants. */
  addLabelled(label: FieldLabel, first: string, one: number, second: string, two: number): void {
    let at = this.#begin(label, first.length + second.length + 2 * NUMBER_WIDTH_MAX);
    const bytes = this.#bytes;
    at = writeNumber(one, bytes, writeLatin1(first, bytes, at));
    this.#end = writeNumber(two, bytes, writeLatin1(second, bytes, at));
  }

  /** Adds 16 bytes in the 8-4-4-4-12 form of RFC 9562. */
  addUuid(label: FieldLabel, id: Uint8Array): void {
    const at = this.#begin(label, UUID_WIDTH);
    this.#end = writeUuid(id, this.#bytes, at);
  }

  /** Where the value begins; `valueBytesMax` must fit behind the label. */
  #begin(label: FieldLabel, valueBytesMax: number): number {
    const at = this.#end + label.length;
    assert(at + valueBytesMax <= this.#bytes.length, 'the changing lines of a head keep to their room');
    this.#bytes.set(label, this.#end);
    return at;
  }
}

/** Out of line, so that the message is only built when it is needed. */
function refuse(text: string): never {
  throw new InvariantError(`not visible ASCII: ${JSON.stringify(text)}`);
}

/** 204 and 304 have neither content nor Content-Length (RFC 9110 §8.6, §15.3.5, §15.4.5). */
export function hasNoContent(head: Uint8Array): boolean {
  return (head[0] === 0x32 || head[0] === 0x33) && head[1] === 0x30 && head[2] === 0x34;
}

/** No account pays for a refusal: one that has used up its rate would else take the loop from those that pay. */
export function isClientError(head: Uint8Array): boolean {
  return head[0] === 0x34;
}
