import { crc32 } from 'node:zlib';
import { pack, unpack } from 'msgpackr';
import { assert } from '../core/assert.ts';
import { putBytes } from '../core/bytes.ts';
import {
  BARE_TYPES,
  type BareType,
  DATA_ENDPOINTS,
  type DataEndpoint,
  ENTROPY_MODES,
  type EntropyMode,
  type SystemGenerator,
} from '../core/vocabulary.ts';
import { ShortHashes } from '../crypto/hash-kernel.ts';
import type { EntryNote } from './label-records.ts';
import { LedgerError } from './ledger.ts';
import type { AnswerEntry, SegmentRecord } from './records.ts';
import { flawOfNotes, noteOf, type PackedNote, packedNote } from './segment-notes.ts';

/**
 * The size of a packed AnswerEntry. Numbers are little-endian. The layout is part of the stored format: a change of it needs
 * a new SEGMENT_VERSION and a reader for the old one.
 *
 *   offset size
 *        0   16  request id
 *       16   32  delivered: SHA-256(salt ‖ data), or SHA-256(salt ‖ octets)
 *       48    8  issuedAtMs, float64
 *       56    4  accountNumber
 *       60    1  lower four bits: endpoint, see ENDPOINT_CODES; upper four: what `delivered` hashes, see OCTET_CODES
 *       61    1  mode, see MODE_CODES
 *       62    2  source: index into the segment's sources
 *       64    4  valueCount
 *       68    4  deliveredBytes
 *       72    4  consumedBytes
 *       76    4  credits
 */
export const ENTRY_BYTES = 80;

const AT_DELIVERED = 16;
const AT_ISSUED = 48;
const AT_ACCOUNT = 56;
const AT_ENDPOINT = 60;
const AT_MODE = 61;
const AT_SOURCE = 62;
const AT_VALUES = 64;
const AT_DELIVERED_BYTES = 68;
const AT_CONSUMED_BYTES = 72;
const AT_CREDITS = 76;

const REQUEST_ID_BYTES = 16;
const DELIVERED_BYTES = 32;
const U16_MAX = 0xffff;
const U32_MAX = 0xffff_ffff;
/** 2^20 days after 1970, in the year 4840: the keys of usage counters have no room for later times. */
const TIME_END_MS = 2 ** 20 * 86_400_000;

/** Stored codes. They are independent of the order of the vocabulary, so reordering it changes no stored record's meaning. */
const ENDPOINT_CODES: Readonly<Record<DataEndpoint, number>> = {
  integers: 0,
  bytes: 1,
  floats: 2,
  uuid: 3,
  bitstring: 4,
  shuffle: 5,
  batch: 6,
  sample: 7,
  weighted: 8,
  strings: 9,
  sequences: 10,
  permutations: 11,
  gaussians: 12,
};
/** 0 stands for JSON. */
const OCTET_CODES: Readonly<Record<BareType, number>> = {
  int32: 1,
  float64: 2,
  uuid: 3,
  bytes: 4,
  plain: 5,
  csv: 6,
};
const MODE_CODES: Readonly<Record<EntropyMode, number>> = { 'quantum-seeded': 0, pure: 1, csprng: 2 };

/** The endpoint, mode or octet type of each stored code; undefined for codes that are not in use. */
export const ENDPOINT_OF_CODE: readonly (DataEndpoint | undefined)[] = byCode(DATA_ENDPOINTS, ENDPOINT_CODES);
export const MODE_OF_CODE: readonly (EntropyMode | undefined)[] = byCode(ENTROPY_MODES, MODE_CODES);
const OCTETS_OF_CODE: readonly (BareType | undefined)[] = byCode(BARE_TYPES, OCTET_CODES);

function byCode<W extends string>(
  words: readonly W[],
  codes: Readonly<Record<W, number>>,
): (W | undefined)[] {
  const table: (W | undefined)[] = [];
  for (const word of words) {
    assert(table[codes[word]] === undefined, `two words share the stored code of ${word}`);
    table[codes[word]] = word;
  }
  return table;
}

/**
 * Packs entries one behind the other into memory that the following segments share. A buffer for each segment took a tenth of the
 * time of a commit with one answer.
 */
export class SegmentWriter {
  readonly #capacityBytes: number;
  #bytes: Uint8Array<ArrayBuffer>;
  #view: DataView;
  /** Where the open segment starts in the memory. */
  #start = 0;
  #count = 0;
  #notes: EntryNote[] = [];
  readonly #commitments = new ShortHashes((index, digest) => {
    this.#bytes.set(digest, this.#start + index * ENTRY_BYTES + AT_DELIVERED);
  });

  constructor(capacity = 256) {
    this.#capacityBytes = capacity * ENTRY_BYTES;
    this.#bytes = new Uint8Array(this.#capacityBytes);
    this.#view = new DataView(this.#bytes.buffer);
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Takes the bytes that the next entry's commitment hashes, when they are short enough. The writer then hashes them together
   * with those of other entries, and the caller appends the entry with an empty `delivered`. Returns false when they are too
   * long.
   */
  commitTo(bytes: Uint8Array, from: number, to: number): boolean {
    if (to - from > ShortHashes.bytesMax) return false;
    this.#commitments.put(bytes, from, to);
    return true;
  }

  /** Appends an entry and returns its index in the segment. Asserts that each field fits its width. */
  append(entry: AnswerEntry): number {
    const { delivered } = entry;
    assert(entry.requestId.length === REQUEST_ID_BYTES, 'a request id has 16 bytes');
    assert(delivered.length === DELIVERED_BYTES || delivered.length === 0, 'a commitment has 32 bytes');
    assert(isCount(entry.source, U16_MAX), 'source is an index below 65,536');
    assert(isCount(entry.accountNumber, U32_MAX), 'accountNumber fits 32 bits');
    assert(isCount(entry.valueCount, U32_MAX), 'valueCount fits 32 bits');
    assert(isCount(entry.deliveredBytes, U32_MAX), 'deliveredBytes fits 32 bits');
    assert(isCount(entry.consumedBytes, U32_MAX), 'consumedBytes fits 32 bits');
    assert(isCount(entry.credits, U32_MAX), 'credits fit 32 bits');
    if (this.#end + ENTRY_BYTES > this.#bytes.length) this.#moveOn();
    const at = this.#end;
    const view = this.#view;
    putBytes(entry.requestId, this.#bytes, at);
    if (delivered.length === 0) this.#commitments.keep(this.#count);
    else putBytes(delivered, this.#bytes, at + AT_DELIVERED);
    view.setFloat64(at + AT_ISSUED, entry.issuedAtMs, true);
    view.setUint32(at + AT_ACCOUNT, entry.accountNumber, true);
    const octetCode = entry.octets === undefined ? 0 : OCTET_CODES[entry.octets];
    view.setUint8(at + AT_ENDPOINT, ENDPOINT_CODES[entry.endpoint] | (octetCode << 4));
    view.setUint8(at + AT_MODE, MODE_CODES[entry.mode]);
    view.setUint16(at + AT_SOURCE, entry.source, true);
    view.setUint32(at + AT_VALUES, entry.valueCount, true);
    view.setUint32(at + AT_DELIVERED_BYTES, entry.deliveredBytes, true);
    view.setUint32(at + AT_CONSUMED_BYTES, entry.consumedBytes, true);
    view.setUint32(at + AT_CREDITS, entry.credits, true);
    if (entry.label !== undefined) this.#notes.push({ index: this.#count, label: entry.label });
    return this.#count++;
  }

  /** Returns the packed entries, a view of memory that other segments share, and empties the writer. */
  finish(): Pick<SegmentRecord, 'count' | 'entries' | 'notes'> {
    this.#commitments.finish();
    const [count, notes] = [this.#count, this.#notes];
    const entries = this.#bytes.subarray(this.#start, this.#end);
    this.#start = this.#end;
    this.#count = 0;
    if (notes.length === 0) return { count, entries };
    this.#notes = [];
    return { count, entries, notes };
  }

  get #end(): number {
    return this.#start + this.#count * ENTRY_BYTES;
  }

  /** Moves the open segment to new memory. */
  #moveOn(): void {
    const open = this.#bytes.subarray(this.#start, this.#end);
    this.#bytes = new Uint8Array(Math.max(this.#capacityBytes, 2 * open.length));
    this.#bytes.set(open);
    this.#view = new DataView(this.#bytes.buffer);
    this.#start = 0;
  }
}

function isCount(value: number, max: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= max;
}

/** Reads packed entries without making an object for each: `while (cursor.next()) …`. */
export class EntryCursor {
  readonly #view: DataView;
  readonly #bytes: Uint8Array;
  #at = -ENTRY_BYTES;

  constructor(entries: Uint8Array) {
    assert(entries.length % ENTRY_BYTES === 0, 'packed entries are a whole number of entries');
    this.#bytes = entries;
    this.#view = new DataView(entries.buffer, entries.byteOffset, entries.byteLength);
  }

  next(): boolean {
    this.#at += ENTRY_BYTES;
    return this.#at < this.#bytes.length;
  }

  /** Moves to the entry with this index; false when there is none. */
  seek(index: number): boolean {
    this.#at = index * ENTRY_BYTES;
    return index >= 0 && this.#at < this.#bytes.length;
  }

  /** Returns a view of the packed entries, 16 bytes. */
  get requestId(): Uint8Array {
    return this.#bytes.subarray(this.#at, this.#at + REQUEST_ID_BYTES);
  }

  /** Returns a view of the packed entries, 32 bytes. */
  get delivered(): Uint8Array {
    return this.#bytes.subarray(this.#at + AT_DELIVERED, this.#at + AT_DELIVERED + DELIVERED_BYTES);
  }

  get issuedAtMs(): number {
    return this.#view.getFloat64(this.#at + AT_ISSUED, true);
  }

  get accountNumber(): number {
    return this.#view.getUint32(this.#at + AT_ACCOUNT, true);
  }

  get endpointCode(): number {
    return this.#view.getUint8(this.#at + AT_ENDPOINT) & 0x0f;
  }

  /** 0 for JSON. */
  get octetCode(): number {
    return this.#view.getUint8(this.#at + AT_ENDPOINT) >> 4;
  }

  get modeCode(): number {
    return this.#view.getUint8(this.#at + AT_MODE);
  }

  get source(): number {
    return this.#view.getUint16(this.#at + AT_SOURCE, true);
  }

  get valueCount(): number {
    return this.#view.getUint32(this.#at + AT_VALUES, true);
  }

  get deliveredBytes(): number {
    return this.#view.getUint32(this.#at + AT_DELIVERED_BYTES, true);
  }

  get consumedBytes(): number {
    return this.#view.getUint32(this.#at + AT_CONSUMED_BYTES, true);
  }

  get credits(): number {
    return this.#view.getUint32(this.#at + AT_CREDITS, true);
  }

  /** Returns the entry as an object, whose byte fields are views of the packed entries. */
  entry(): AnswerEntry {
    const endpoint = ENDPOINT_OF_CODE[this.endpointCode];
    const mode = MODE_OF_CODE[this.modeCode];
    if (endpoint === undefined || mode === undefined)
      throw damaged(`has an entry with endpoint ${this.endpointCode}, mode ${this.modeCode}`);
    return {
      requestId: this.requestId,
      issuedAtMs: this.issuedAtMs,
      accountNumber: this.accountNumber,
      endpoint,
      mode,
      source: this.source,
      delivered: this.delivered,
      ...(this.octetCode === 0 ? {} : { octets: OCTETS_OF_CODE[this.octetCode] }),
      valueCount: this.valueCount,
      deliveredBytes: this.deliveredBytes,
      consumedBytes: this.consumedBytes,
      credits: this.credits,
    };
  }
}

/** Returns the entry at `index`, or undefined when there is none. */
export function readEntry(entries: Uint8Array, index: number): AnswerEntry | undefined {
  const cursor = new EntryCursor(entries);
  return cursor.seek(index) ? cursor.entry() : undefined;
}

/**
 * Yields all entries in order.
 * @internal for tests, which compare whole segments
 */
export function* readEntries(entries: Uint8Array): Generator<AnswerEntry> {
  const cursor = new EntryCursor(entries);
  while (cursor.next()) yield cursor.entry();
}

/** The first byte of every stored segment. */
const SEGMENT_VERSION = 1;

const AT_SUM = 1;
const AT_SEQUENCE = 5;
const AT_COMMITTED = 13;
const AT_COUNT = 21;
const AT_HEAD_BYTES = 25;
const HEAD_AT = 29;

/** The content of the head of a stored segment. Consecutive segments of a front mostly have the same head. */
type PackedHead = readonly [
  sources: readonly (readonly [
    EntropyMode,
    readonly string[],
    readonly (readonly [number, number, number])[],
  ])[],
  context: readonly [verifyUrlBase: string, systemGenerator: SystemGenerator],
  // absent when there are none, as in nearly every segment
  notes?: readonly PackedNote[],
];

export interface EncodedSegment {
  readonly segment: SegmentRecord;
  /** The result of encodeSegment. */
  readonly bytes: Uint8Array;
}

/**
 * Returns a segment as it is stored: version byte, CRC-32 of all that follows (uint32), sequence and time of the commit
 * (float64 each), count of entries (uint32), length of the head (uint32), head in MessagePack, packed entries. Numbers are
 * little-endian. Equal segments give equal bytes, and the bytes tell where they end. The content is checked only here: a
 * reader compares the checksum. `room` returns the memory to write to.
 */
export function encodeSegment(
  segment: SegmentRecord,
  room = (bytes: number) => new Uint8Array(bytes),
): Uint8Array {
  const flaw = flawOf(segment);
  assert(flaw === undefined, `segment ${segment.sequence}: ${flaw}`);
  const { sequence, committedAtMs, count } = segment;
  const head = headOf(segment);
  const stored = room(HEAD_AT + head.length + segment.entries.length);
  const view = new DataView(stored.buffer, stored.byteOffset);
  view.setUint8(0, SEGMENT_VERSION);
  view.setFloat64(AT_SEQUENCE, sequence, true);
  view.setFloat64(AT_COMMITTED, committedAtMs, true);
  view.setUint32(AT_COUNT, count, true);
  view.setUint32(AT_HEAD_BYTES, head.length, true);
  stored.set(head, HEAD_AT);
  stored.set(segment.entries, HEAD_AT + head.length);
  view.setUint32(AT_SUM, crc32(stored.subarray(AT_SEQUENCE)), true);
  return stored;
}

type Facts = Pick<SegmentRecord, 'sources' | 'context' | 'notes'>;

/** The head that was packed last, which most segments share. Packing took a tenth of the time of a commit with one answer. */
let packedLast: (Facts & { readonly head: Uint8Array }) | undefined;

function headOf({ sources, context, notes }: Facts): Uint8Array {
  if (notes === undefined && packedLast !== undefined && isSame(packedLast, { sources, context }))
    return packedLast.head;
  const drawSources = sources.map(({ mode, lotIds, drawn }) => {
    return [mode, lotIds, drawn.map(({ lot, offset, bytes }) => [lot, offset, bytes] as const)] as const;
  });
  const facts = [drawSources, [context.verifyUrlBase, context.systemGenerator]] as const;
  const packed: PackedHead = notes === undefined ? facts : [...facts, notes.map(packedNote)];
  const head = pack(packed);
  if (notes === undefined) packedLast = { sources, context, head };
  return head;
}

/** Whether both hold the same lists. A list is never changed, so its identity is enough. */
function isSame(a: Facts, b: Facts): boolean {
  if (a.context.verifyUrlBase !== b.context.verifyUrlBase) return false;
  if (a.context.systemGenerator !== b.context.systemGenerator) return false;
  return (
    a.sources.length === b.sources.length &&
    a.sources.every(({ mode, lotIds, drawn }, i) => {
      const other = b.sources[i];
      return mode === other.mode && lotIds === other.lotIds && drawn === other.drawn;
    })
  );
}

/**
 * Segments with consecutive sequences that are stored as one record. There are so many small segments that a record for each
 * would be most of the ledger's work.
 */
export type Run = readonly EncodedSegment[];

/** Returns the segments of a stored run, as views of one copy. Throws LedgerError `damaged` for anything else. */
export function decodeRun(stored: Uint8Array): Run {
  const own = new Uint8Array(stored);
  const run: EncodedSegment[] = [];
  let at = 0;
  do {
    const next = segmentIn(own.subarray(at), false, run.at(-1));
    run.push(next);
    at += next.bytes.length;
  } while (at < own.length);
  return run;
}

/**
 * Returns the segment that the bytes begin with; its entries are a view of them. When its head equals that of `before`, as
 * nearly always, the two share the decoded head. `isChecked` says that the caller has verified a checksum over the bytes.
 * Throws LedgerError `damaged` for anything else.
 */
export function segmentIn(
  stored: Uint8Array<ArrayBuffer>,
  isChecked: boolean,
  before: EncodedSegment | undefined,
): EncodedSegment {
  if (stored.length < HEAD_AT) throw damaged('is shorter than its head');
  const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength);
  const version = view.getUint8(0);
  if (version !== SEGMENT_VERSION)
    throw damaged(`has version ${version}, this program reads ${SEGMENT_VERSION}`);
  const count = view.getUint32(AT_COUNT, true);
  const entriesAt = HEAD_AT + view.getUint32(AT_HEAD_BYTES, true);
  const end = entriesAt + count * ENTRY_BYTES;
  const bytes = stored.subarray(0, end);
  if (bytes.length < end) throw damaged('is cut short');
  if (!isChecked && view.getUint32(AT_SUM, true) !== crc32(bytes.subarray(AT_SEQUENCE)))
    throw damaged('does not match its checksum');
  const head = stored.subarray(HEAD_AT, entriesAt);
  const hasHead = ({ segment: { entries }, bytes: all }: EncodedSegment) =>
    Buffer.compare(head, all.subarray(HEAD_AT, all.length - entries.length)) === 0;
  const segment = {
    ...(before !== undefined && hasHead(before) ? before.segment : factsIn(head)),
    sequence: view.getFloat64(AT_SEQUENCE, true),
    committedAtMs: view.getFloat64(AT_COMMITTED, true),
    count,
    entries: stored.subarray(entriesAt, end),
  };
  return { segment, bytes };
}

function damaged(what: string): LedgerError {
  return new LedgerError('damaged', `stored segment ${what}`);
}

function factsIn(head: Uint8Array): Facts {
  const [sources, [verifyUrlBase, systemGenerator], notes] = unpack(head) as PackedHead;
  return {
    sources: sources.map(([mode, lotIds, drawn]) => ({
      mode,
      lotIds,
      drawn: drawn.map(([lot, offset, bytes]) => ({ lot, offset, bytes })),
    })),
    context: { verifyUrlBase, systemGenerator },
    ...(notes === undefined ? {} : { notes: notes.map(noteOf) }),
  };
}

/** Says in words what is wrong with a segment; undefined when its parts agree. */
function flawOf(segment: SegmentRecord): string | undefined {
  const { sequence, committedAtMs, count, sources, entries } = segment;
  if (!Number.isSafeInteger(sequence) || sequence < 1)
    return `sequence ${sequence} is not a positive integer`;
  if (!(committedAtMs >= 0 && committedAtMs < TIME_END_MS)) return 'it was committed at no time';
  if (entries.length !== count * ENTRY_BYTES) return `${count} entries cannot take ${entries.length} bytes`;
  const cursor = new EntryCursor(entries);
  while (cursor.next()) {
    if (cursor.source >= sources.length) return `an entry names source ${cursor.source} of ${sources.length}`;
    if (MODE_CODES[sources[cursor.source].mode] !== cursor.modeCode)
      return 'an entry and its source differ in mode';
    if (!(cursor.issuedAtMs >= 0 && cursor.issuedAtMs < TIME_END_MS)) return 'an entry was issued at no time';
  }
  return flawOfNotes(segment.notes ?? [], count);
}
