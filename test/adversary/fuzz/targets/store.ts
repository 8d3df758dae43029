import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { pack } from 'msgpackr';
import {
  createJournal,
  filesLeftIn,
  filesOf,
  readJournal,
  recordsLeftIn,
} from '../../../../src/ledger/journal.ts';
import { LedgerError } from '../../../../src/ledger/ledger.ts';
import { decodeRun, ENTRY_BYTES, encodeSegment, readEntries } from '../../../../src/ledger/segment.ts';
import { scratchFolder } from '../../../support/scratch-folder.ts';
import { type FuzzTarget, magnitude, refusalOf } from './target.ts';

/** A stored segment is refused as damaged, or one that is stored again unchanged. */
const segment: FuzzTarget = {
  name: 'segment',
  words: [
    ...['quantum-seeded', 'pure', 'csprng', 'developer', 'pro', 'https://', '\x95', '\x93', '\x92', '\xc0'],
    ...[
      '\xdd\xff\xff\xff\xff',
      '\xdf\x00\x00\xff\xff',
      '\xc7',
      '\xd4',
      '\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00',
    ],
  ],
  seeds: () => [segmentSeed(0), segmentSeed(1), segmentSeed(3)],
  read: (input) => {
    try {
      const run = decodeRun(input);
      for (const { segment } of run) {
        assert.equal([...readEntries(segment.entries)].length, segment.count);
        assert.deepEqual(
          decodeRun(encodeSegment(segment)).map((each) => each.segment),
          [segment],
        );
      }
      return run
        .map(({ segment }) => `${segment.sources.length} sources, ${magnitude(segment.count)} entries`)
        .join('; ');
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

const FOLDER = scratchFolder();
const FILE_HEADER_BYTES = 4_096;
const FILE_BYTES = 1_024;
const HEADER_BYTES = 32;
const OWNER = { ledgerId: 1, start: 1, front: 0 };
const MAGIC = Buffer.from('qrnj', 'latin1');

/**
 * The journal of a front as a dead process left it: the input is the content of its two files after sound headers.
 * With an odd first byte, everything that looks like a record gets a right checksum, which chance does not find, and a
 * position that fits its place.
 */
const journal: FuzzTarget = {
  name: 'journal',
  words: ['qrnj', 'qrnj\0\0\0\0', '\0\0\0\0\0\0\xf0?', '\x01\0\0\0', '\x05\0\0\0'],
  seeds: () => [Buffer.from([0]), Buffer.concat([Buffer.from([1]), journalSeed()])],
  read: (input) => {
    const isSealed = ((input[0] ?? 0) & 1) === 1;
    const path = join(FOLDER, 'journal');
    createJournal(path, { ...OWNER, durability: 'fsync', fileBytes: FILE_BYTES });
    const contents = filesOf(path).map((file, slot) => {
      const content = Buffer.alloc(FILE_BYTES);
      content.set(input.subarray(1 + slot * FILE_BYTES, 1 + (slot + 1) * FILE_BYTES));
      if (isSealed) sealRecords(content, slot);
      writeFileSync(file, Buffer.concat([readFileSync(file).subarray(0, FILE_HEADER_BYTES), content]));
      return content;
    });
    const whole = contents.flatMap(recordsIn);
    const left = filesLeftIn(path, OWNER);
    assert.deepEqual(
      recordsLeftIn(left, 0)
        .map(({ payload }) => hex(payload))
        .sort(),
      whole.map(hex).sort(),
    );
    try {
      const records = readJournal(left, 0);
      for (const { payload } of records) assert.ok(whole.some((each) => hex(each) === hex(payload)));
      return `${magnitude(records.length)} records${isSealed ? '' : ' of anybody'}`;
    } catch (error) {
      assert.match((error as Error).message, / is damaged at byte /);
      return 'damage';
    }
  },
};

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function journalSeed(): Buffer {
  const content = Buffer.alloc(FILE_BYTES);
  let at = 0;
  for (const size of [5, 0, 20]) {
    MAGIC.copy(content, at);
    content.writeDoubleLE(at, at + 16);
    content.writeUInt32LE(size, at + 24);
    at += alignedBytes(HEADER_BYTES + size);
  }
  return content;
}

function alignedBytes(bytes: number): number {
  return bytes + ((8 - (bytes % 8)) % 8);
}

/** Writes a fitting position and the right checksum into everything that looks like a record. */
function sealRecords(content: Buffer, slot: number): void {
  for (let at = 0; at + HEADER_BYTES <= content.length; ) {
    const end = at + HEADER_BYTES + content.readUInt32LE(at + 24);
    if (end > content.length) break;
    content.writeDoubleLE((2 * (content[at + 8] % 4) + slot) * FILE_BYTES + at, at + 8);
    content.writeUInt32LE(crc32(content.subarray(at + 8, end)), at + 4);
    at = alignedBytes(end);
  }
}

/** Reads again in plain steps: whole records wherever they begin, none inside another. */
function recordsIn(content: Buffer, slot: number): Uint8Array[] {
  const records: Uint8Array[] = [];
  for (let at = 0; at + HEADER_BYTES <= content.length; at += 8) {
    const size = HEADER_BYTES + content.readUInt32LE(at + 24);
    const isWhole = content.subarray(at, at + 4).equals(MAGIC) && at + size <= content.length;
    if (!isWhole || content.readUInt32LE(at + 4) !== crc32(content.subarray(at + 8, at + size))) continue;
    const position = content.readDoubleLE(at + 8);
    if (position >= 0 && position % (2 * FILE_BYTES) === slot * FILE_BYTES + at)
      records.push(content.subarray(at + HEADER_BYTES, at + size));
    at += alignedBytes(size) - 8;
  }
  return records;
}

export const STORE_TARGETS: readonly FuzzTarget[] = [segment, journal];
