import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import { pack } from 'msgpackr';
import { readJournal } from '../../../../src/ledger/journal.ts';
import { LedgerError } from '../../../../src/ledger/ledger.ts';
import { decodeSegment, ENTRY_BYTES, encodeSegment, readEntries } from '../../../../src/ledger/segment.ts';
import { scratchFile } from './scratch.ts';
import { type FuzzTarget, magnitude, refusalOf } from './target.ts';

/** A stored segment: refused as damaged, or one that is stored again as the same. */
const segment: FuzzTarget = {
  name: 'segment',
  words: [
    'quantum-seeded',
    'pure',
    'csprng',
    'developer',
    'pro',
    'https://',
    '\x95',
    '\x93',
    '\x92',
    '\xc0',
    '\xdd\xff\xff\xff\xff',
    '\xdf\x00\x00\xff\xff',
    '\xc7',
    '\xd4',
    '\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00',
  ],
  seeds: () => [segmentSeed(0), segmentSeed(1), segmentSeed(3)],
  read: (input) => {
    try {
      const decoded = decodeSegment(input);
      const entries = [...readEntries(decoded.entries)];
      assert.equal(entries.length, decoded.count);
      assert.deepEqual(decodeSegment(encodeSegment(decoded)), decoded);
      return `${decoded.sources.length} sources, ${magnitude(decoded.count)} entries`;
    } catch (error) {
      return refusalOf(error, LedgerError, ({ reason, message }: LedgerError) => {
        assert.equal(reason, 'damaged');
        return message.replaceAll(/-?\d[\d.e+]*|NaN|Infinity/g, 'N');
      });
    }
  },
};

function segmentSeed(count: number): Uint8Array {
  const entries = new Uint8Array(count * ENTRY_BYTES);
  const head = pack([
    7,
    1_700_000_000_000,
    count,
    [
      ['pure', ['lot_a', 'lot_b'], null],
      ['quantum-seeded', ['lot_a'], ['pro', 3]],
    ],
    ['https://example.org/verify', 'x'],
  ]);
  for (let i = 0; i < count; i++) {
    new DataView(entries.buffer).setFloat64(i * ENTRY_BYTES + 48, 1_700_000_000_000, true);
    entries[i * ENTRY_BYTES + 61] = i % 2 === 0 ? 1 : 0; // pure, seeded
    entries[i * ENTRY_BYTES + 62] = i % 2;
  }
  const headAt = Buffer.from([1, head.length, 0, 0, 0]);
  return Buffer.concat([headAt, head, entries]);
}

const HALF_BYTES = 512;
const HEADER_BYTES = 32;
const MAGIC = Buffer.from('qrnj', 'latin1');

/**
 * A journal of two halves as a dead process left it. An even first byte: the file is the rest of the input. An odd one: the
 * rest says where records lie, and checksums, which chance does not find, are put in.
 */
const journal: FuzzTarget = {
  name: 'journal',
  words: ['qrnj', 'qrnj\0\0\0\0', '\0\0\0\0\0\0\xf0?', '\x01\0\0\0', '\x05\0\0\0'],
  seeds: () => [Buffer.from([0]), Buffer.concat([Buffer.from([1]), journalSeed()])],
  read: (input) => {
    const content = Buffer.from(input.subarray(1));
    const isSealed = ((input[0] ?? 0) & 1) === 1;
    if (isSealed) sealRecords(content);
    const path = scratchFile('journal', content);
    const leftover = readJournal(path, HALF_BYTES);
    assert.deepEqual(leftover.map(hex).sort(), recordsIn(content).map(hex).sort());
    return `${magnitude(leftover.length)} records${isSealed ? '' : ' of anybody'}`;
  },
};

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function journalSeed(): Buffer {
  const content = Buffer.alloc(2 * HALF_BYTES);
  let at = 0;
  for (const [index, size] of [5, 0, 20].entries()) {
    MAGIC.copy(content, at);
    content.writeDoubleLE(1, at + 8);
    content.writeUInt32LE(index, at + 16);
    content.writeUInt32LE(size, at + 20);
    at += HEADER_BYTES + size;
  }
  MAGIC.copy(content, HALF_BYTES);
  content.writeDoubleLE(2, HALF_BYTES + 8);
  content.writeUInt32LE(4, HALF_BYTES + 20);
  return content;
}

/**
 * Writes the right checksum into each thing that looks like a record, one behind the other, and makes its generation one that
 * a journal gives out: a whole number above 0, even in the first half and odd in the second.
 */
function sealRecords(content: Buffer): void {
  const halves = [content.subarray(0, HALF_BYTES), content.subarray(HALF_BYTES, 2 * HALF_BYTES)];
  for (const [parity, half] of halves.entries()) {
    for (let at = 0; at + HEADER_BYTES <= half.length; ) {
      const end = at + HEADER_BYTES + half.readUInt32LE(at + 20);
      if (end > half.length) break;
      half.writeDoubleLE(2 + parity + 2 * (half[at + 8] % 4), at + 8);
      half.writeUInt32LE(crc32(half.subarray(at + 8, end)), at + 4);
      at = end;
    }
  }
}

/** The same reading once more, in plain steps: the run of whole records at the start of each half. */
function recordsIn(content: Buffer): Uint8Array[] {
  const records: Uint8Array[] = [];
  for (const half of [content.subarray(0, HALF_BYTES), content.subarray(HALF_BYTES, 2 * HALF_BYTES)]) {
    let rest = half;
    let first: bigint | undefined;
    for (let index = 0; rest.length >= HEADER_BYTES; index++) {
      const size = HEADER_BYTES + rest.readUInt32LE(20);
      const isWhole = rest.subarray(0, 4).equals(MAGIC) && size <= rest.length;
      if (!isWhole || rest.readUInt32LE(4) !== crc32(rest.subarray(8, size))) break;
      const generation = rest.readBigUInt64LE(8);
      if (rest.readUInt32LE(16) !== index || (first ??= generation) !== generation) break;
      records.push(rest.subarray(HEADER_BYTES, size));
      rest = rest.subarray(size);
    }
  }
  return records;
}

export const STORE_TARGETS: readonly FuzzTarget[] = [segment, journal];
