import { escapeBytes, unescaped, writeLatin1 } from '../core/text-bytes.ts';
import type { TextType } from '../core/vocabulary.ts';
import type { EntropyReader } from './entropy-reader.ts';
import { drawJson } from './sample.ts';
import { jsonBytesMax, type ValueRequest, valueCount } from './value-request.ts';

/**
 * Values as text for programs that read lines. `plain` is each value as JSON prints it, strings without quotes, and a
 * line feed after each. `csv` is RFC 4180 with a header line, one column except for sequences and permutations, lines
 * that end in CR LF, and quotes where a value needs them. This function returns the header line.
 */
function csvHeader(request: ValueRequest): string {
  const columns = columnsOf(request);
  if (columns === 1) return 'value\r\n';
  return `${Array.from({ length: columns }, (_, i) => `value_${i + 1}`).join(',')}\r\n`;
}

/** Returns the count of columns: the numbers of a sequence or of a permutation share a line. */
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
const BLANK = 0x20;
const BACKSLASH = 0x5c;
const LETTER_N = 0x6e;
const LETTER_R = 0x72;

/** Returns the bytes that `drawText` needs: an upper bound of the text and of the JSON that it is made from. */
export function textBytesMax(request: ValueRequest, type: TextType): number {
  return spareBytes(request, type) + jsonBytesMax(request);
}

/** Draws the values and writes them from `at` on; returns the end of the text. Zeroes the memory after it. */
export function drawText(
  request: ValueRequest,
  type: TextType,
  reader: EntropyReader,
  target: Uint8Array,
  at: number,
): number {
  // Rewriting moves the text towards the front, so the writer never overtakes the reader.
  const jsonAt = at + spareBytes(request, type);
  const jsonEnd = drawJson(request, reader, target, jsonAt);
  const start = type === 'csv' ? writeLatin1(csvHeader(request), target, at) : at;
  const end = isOfTexts(request)
    ? writeTexts(target, jsonAt, jsonEnd, type, start)
    : writeLines(target, jsonAt, jsonEnd, type, start);
  target.fill(0, end, jsonEnd);
  return end;
}

/** Returns by how many bytes CSV may be longer than JSON: its header and a byte for each value. */
function spareBytes(request: ValueRequest, type: TextType): number {
  return type === 'csv' ? csvHeader(request).length + valueCount(request) + 2 : 0;
}

/** Tells whether the values are strings made from the caller's text, which may hold any character. */
function isOfTexts({ kind }: ValueRequest): boolean {
  return kind === 'strings' || kind === 'shuffle' || kind === 'sample' || kind === 'weighted';
}

/**
 * Rewrites a JSON string, or an array of strings that need no escape, of numbers or of lists of numbers. A list of lists
 * becomes one line, with blanks between its numbers in plain text and with columns in CSV.
 */
function writeLines(bytes: Uint8Array, from: number, to: number, type: TextType, start: number): number {
  const isCsv = type === 'csv';
  let at = start;
  let depth = 0;
  let isOpen = false;
  for (let i = from; i < to; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) continue;
    if (byte === OPEN) depth++;
    else if (byte === COMMA && depth > 1) bytes[at++] = isCsv ? COMMA : BLANK;
    else if (byte !== COMMA && byte !== CLOSE) {
      bytes[at++] = byte;
      isOpen = true;
    } else {
      if (byte === CLOSE) depth--;
      if (isOpen && depth <= 1) {
        at = endLine(bytes, at, isCsv);
        isOpen = false;
      }
    }
  }
  return isOpen ? endLine(bytes, at, isCsv) : at;
}

function endLine(bytes: Uint8Array, at: number, isCsv: boolean): number {
  let end = at;
  if (isCsv) bytes[end++] = CR;
  bytes[end++] = LF;
  return end;
}

/** Writes a line for each string of a JSON array. */
function writeTexts(bytes: Uint8Array, from: number, to: number, type: TextType, start: number): number {
  const isCsv = type === 'csv';
  let at = start;
  for (let i = from + 1; i < to; ) {
    const isQuoted = isCsv && needsQuotes(bytes, i + 1);
    if (isQuoted) bytes[at++] = QUOTE;
    for (i++; bytes[i] !== QUOTE; ) {
      const isEscape = bytes[i] === BACKSLASH;
      const byte = isEscape ? unescaped(bytes, i) : bytes[i];
      i += isEscape ? escapeBytes(bytes, i) : 1;
      if (isQuoted && byte === QUOTE) bytes[at++] = QUOTE;
      bytes[at++] = byte;
    }
    if (isQuoted) bytes[at++] = QUOTE;
    at = endLine(bytes, at, isCsv);
    i += 2; // skips the closing quote, and a comma or the bracket
  }
  return at;
}

/**
 * Tells whether the field whose JSON string begins at `start` needs quotes (RFC 4180 §2). An empty field gets quotes too,
 * because some readers do not take an empty line for a record.
 */
function needsQuotes(bytes: Uint8Array, start: number): boolean {
  if (bytes[start] === QUOTE) return true;
  for (let i = start; bytes[i] !== QUOTE; i++) {
    if (bytes[i] === COMMA) return true;
    if (bytes[i] !== BACKSLASH) continue;
    const letter = bytes[++i];
    if (letter === QUOTE || letter === LETTER_N || letter === LETTER_R) return true;
  }
  return false;
}
