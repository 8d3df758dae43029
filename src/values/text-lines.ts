import { writeLatin1 } from '../core/text-bytes.ts';
import type { TextType } from '../core/vocabulary.ts';
import type { EntropyReader } from './entropy-reader.ts';
import { isList, type ListValue } from './lists.ts';
import { drawJson } from './sample.ts';
import { jsonBytesMax, type ValueRequest, valueCount } from './value-request.ts';

/**
 * Values as text for programs that read lines. `plain`: each value as JSON prints it, strings without quotes, and a line feed
 * behind each. `csv`: RFC 4180 with a header line, one column but for sequences, lines that end in CR LF, and quotes where a value needs them.
 */
function csvHeader(request: ValueRequest): string {
  const columns = columnsOf(request);
  if (columns === 1) return 'value\r\n';
  return `${Array.from({ length: columns }, (_, i) => `value_${i + 1}`).join(',')}\r\n`;
}

/** Numbers of a sequence or of a permutation stand side by side. */
function columnsOf(request: ValueRequest): number {
  if (request.kind === 'permutations') return request.length;
  return request.kind === 'sequences' ? request.ranges.reduce((sum, { length }) => sum + length, 0) : 1;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const CR = 0x0d;
const LF = 0x0a;

/** Bytes that `drawText` needs from where it starts: an upper bound of the text and of the JSON that it is made from. */
export function textBytesMax(request: ValueRequest, type: TextType): number {
  return spareBytes(request, type) + jsonBytesMax(request);
}

/** Draws the values and writes them from `at` on; returns where the text ends. What lies behind it is zero. */
export function drawText(
  request: ValueRequest,
  type: TextType,
  reader: EntropyReader,
  target: Uint8Array,
  at: number,
): number {
  // the text moves to the front as it is rewritten, so that it never overtakes what is read
  const jsonAt = at + spareBytes(request, type);
  const jsonEnd = drawJson(request, reader, target, jsonAt);
  const start = type === 'csv' ? writeLatin1(csvHeader(request), target, at) : at;
  const end = isList(request)
    ? writeList(target.subarray(jsonAt, jsonEnd), type, target, start)
    : writeLines(target, jsonAt, jsonEnd, type, start);
  target.fill(0, end, jsonEnd);
  return end;
}

/** CSV is longer than JSON by its header and by a byte a value. */
function spareBytes(request: ValueRequest, type: TextType): number {
  return type === 'csv' ? csvHeader(request).length + valueCount(request) + 2 : 0;
}

/** Of a JSON string, or of an array of numbers or of strings that need no escape: none holds a comma or a bracket. */
function writeLines(bytes: Uint8Array, from: number, to: number, type: TextType, start: number): number {
  const isCsv = type === 'csv';
  let at = start;
  let isOpen = false;
  for (let i = from; i < to; i++) {
    const byte = bytes[i];
    if (byte === OPEN || byte === QUOTE) continue;
    isOpen = byte !== COMMA && byte !== CLOSE;
    if (isOpen) bytes[at++] = byte;
    else at = endLine(bytes, at, isCsv);
  }
  return isOpen ? endLine(bytes, at, isCsv) : at;
}

function endLine(bytes: Uint8Array, at: number, isCsv: boolean): number {
  let end = at;
  if (isCsv) bytes[end++] = CR;
  bytes[end++] = LF;
  return end;
}

/** A line for each string, or for each list of numbers: separated by blanks in plain text, and columns of CSV. */
function writeList(json: Uint8Array, type: TextType, target: Uint8Array, at: number): number {
  const list = JSON.parse(new TextDecoder().decode(json)) as ListValue[];
  const lines = list.map((value) => {
    if (typeof value === 'number') return type === 'csv' ? `${value}\r\n` : `${value}\n`;
    if (typeof value !== 'string')
      return type === 'csv' ? `${value.flat().join(',')}\r\n` : `${value.flat().join(' ')}\n`;
    return type === 'csv' ? `${quoted(value)}\r\n` : `${value}\n`;
  });
  return at + new TextEncoder().encodeInto(lines.join(''), target.subarray(at)).written;
}

/** A field of RFC 4180 §2. An empty one has quotes too: an empty line would be no record to some readers. */
function quoted(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
