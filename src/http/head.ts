import { STATUS_CODES } from 'node:http';
import { assert } from '../core/assert.ts';
import { STATUS_LABELS } from '../core/metrics.ts';

/**
 * Response heads are one byte string, `200 OK CRLF Name: value CRLF Name: value`. uWebSockets.js takes it as its status
 * line, so that one call serves in place of one call per field. The library appends Date, its mark and Content-Length. It
 * does not reject CR and LF in values, so this file does.
 */
export type Field = readonly [name: string, value: string];

/** Two phrases of RFC 9110 §15 that Node.js still has by their former names. */
const RENAMED: Readonly<Record<number, string>> = { 413: 'Content Too Large', 422: 'Unprocessable Content' };

/** The reason phrases of the statuses that are counted: a reply with any other would be counted in a wrong row. */
const REASONS: ReadonlyMap<number, string> = new Map(
  STATUS_LABELS.map(Number).map((status) => [status, RENAMED[status] ?? STATUS_CODES[status]!]),
);

const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/; // token, RFC 9110 §5.6.2
const FIELD_VALUE = /^[\x20-\x7e]*$/; // visible ASCII and blanks: narrower than RFC 9110 §5.5

/** Fields that the library writes itself; a second one would contradict it. */
const WRITTEN_BY_LIBRARY = new Set(['content-length', 'transfer-encoding', 'connection', 'date']);

export function reasonOf(status: number): string {
  const reason = REASONS.get(status);
  assert(reason !== undefined, `no reason phrase for status ${status}`);
  return reason;
}

/** Returns the header lines of the fields. Throws an InvariantError for a name or value that could break out of its line. */
export function linesOf(fields: readonly Field[]): string {
  let text = '';
  for (const [name, value] of fields) {
    assert(FIELD_NAME.test(name), `not a field name: ${JSON.stringify(name)}`);
    assert(!WRITTEN_BY_LIBRARY.has(name.toLowerCase()), `${name} is written by the front`);
    assert(FIELD_VALUE.test(value), `the value of ${name} holds a byte that is not visible ASCII`);
    text += `\r\n${name}: ${value}`;
  }
  return text;
}

/** Returns the head of a reply. Throws an InvariantError for a name or value that could break out of its line. */
export function headOf(status: number, fields: readonly Field[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(`${status} ${reasonOf(status)}${linesOf(fields)}`, 'latin1'));
}

/** Returns the head with more fields appended. Throws as `headOf` does. */
export function withFields(head: Uint8Array<ArrayBuffer>, fields: readonly Field[]): Uint8Array<ArrayBuffer> {
  return fields.length === 0 ? head : Buffer.concat([head, Buffer.from(linesOf(fields), 'latin1')]);
}

/** Returns true when the head has a field of this name, in exactly this spelling. */
export function hasField(head: Uint8Array, name: string): boolean {
  return Buffer.from(head.buffer, head.byteOffset, head.length).includes(`\r\n${name}: `, 'latin1');
}

const ZERO = 0x30;

export function statusOf(head: Uint8Array): number {
  return 100 * (head[0] - ZERO) + 10 * (head[1] - ZERO) + (head[2] - ZERO);
}

/** Returns true for 204 and 304, which have neither content nor Content-Length (RFC 9110 §8.6, §15.3.5, §15.4.5). */
export function hasNoContent(head: Uint8Array): boolean {
  return (head[0] === 0x32 || head[0] === 0x33) && head[1] === 0x30 && head[2] === 0x34;
}
