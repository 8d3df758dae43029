import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { InvariantError } from '../../src/core/assert.ts';
import { concatBytes, fromHex, toHex } from '../../src/core/bytes.ts';
import { BARE_TYPES, DATA_ENDPOINTS, ENTROPY_MODES } from '../../src/core/vocabulary.ts';
import { ShortHashes } from '../../src/crypto/hash-kernel.ts';
import { sha256 } from '../../src/crypto/sha256.ts';
import type { AnswerLabel } from '../../src/ledger/label-records.ts';
import { LedgerError } from '../../src/ledger/ledger.ts';
import type { AnswerEntry, SegmentRecord } from '../../src/ledger/records.ts';
import {
  decodeRun,
  ENTRY_BYTES,
  EntryCursor,
  encodeSegment,
  readEntries,
  readEntry,
  SegmentWriter,
} from '../../src/ledger/segment.ts';
import { entry, filledSegment, segment, source } from '../support/ledger-records.ts';

const u32 = fc.nat({ max: 0xffff_ffff });
const anyPlainEntry: fc.Arbitrary<AnswerEntry> = fc.record({
  requestId: fc.uint8Array({ minLength: 16, maxLength: 16 }),
  issuedAtMs: fc.nat({ max: Date.UTC(4000, 0) }),
  accountNumber: u32,
  endpoint: fc.constantFrom(...DATA_ENDPOINTS),
  mode: fc.constantFrom(...ENTROPY_MODES),
  source: fc.nat({ max: 0xffff }),
  delivered: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  valueCount: u32,
  deliveredBytes: u32,
  consumedBytes: u32,
  credits: u32,
});
const anyEntry = fc
  .tuple(anyPlainEntry, fc.constantFrom(undefined, ...BARE_TYPES))
  .map(([each, octets]): AnswerEntry => (octets === undefined ? each : { ...each, octets }));

suite('packed entries', () => {
  test('every entry is read back as it was appended', () => {
    const property = fc.property(fc.array(anyEntry, { maxLength: 40 }), (entries) => {
      const writer = new SegmentWriter(1);
      for (const [i, each] of entries.entries()) assert.equal(writer.append(each), i);
      const packed = writer.finish();
      assert.equal(packed.count, entries.length);
      assert.equal(packed.entries.length, entries.length * ENTRY_BYTES);
      assert.deepEqual([...readEntries(packed.entries)].map(plain), entries.map(plain));
      for (const [i, each] of entries.entries())
        assert.deepEqual(plain(readEntry(packed.entries, i)), plain(each));
      assert.equal(readEntry(packed.entries, entries.length), undefined);
      assert.equal(readEntry(packed.entries, -1), undefined);
    });
    fc.assert(property, { numRuns: 100 });
  });

  test('an entry without a commitment gets the one that was put for it, whatever the others have', () => {
    const salt = new Uint8Array(32).fill(7);
    const step = fc.record({
      each: anyEntry,
      data: fc.uint8Array({ maxLength: 500 }),
      isGiven: fc.boolean(),
    });
    const property = fc.property(
      fc.array(fc.array(step, { maxLength: 20 }), { minLength: 1 }),
      (segments) => {
        const writer = new SegmentWriter(1);
        for (const steps of segments) {
          const due = steps.map(({ each, data, isGiven }) => {
            const size = salt.length + data.length;
            const isShort = writer.commitTo(Uint8Array.of(1, ...salt, ...data, 2), 1, 1 + size);
            assert.equal(isShort, size <= ShortHashes.bytesMax);
            const isPut = isShort && !isGiven;
            writer.append(isPut ? { ...each, delivered: new Uint8Array(0) } : each);
            return toHex(isPut ? sha256(concatBytes(salt, data)) : each.delivered);
          });
          const { entries } = writer.finish();
          assert.deepEqual(
            [...readEntries(entries)].map(({ delivered }) => toHex(delivered)),
            due,
          );
        }
      },
    );
    fc.assert(property);
  });

  test('the layout is fixed: other bytes would be another format', () => {
    const writer = new SegmentWriter();
    writer.append({
      requestId: fromHex('000102030405060708090a0b0c0d0e0f'),
      issuedAtMs: 1_700_000_000_000,
      accountNumber: 0x01020304,
      endpoint: 'batch',
      mode: 'pure',
      source: 0x0506,
      delivered: new Uint8Array(32).fill(0xdd),
      valueCount: 0x0708090a,
      deliveredBytes: 0x0b0c0d0e,
      consumedBytes: 0x0f101112,
      credits: 0x13141516,
    });
    const expected = [
      '000102030405060708090a0b0c0d0e0f',
      'dd'.repeat(32),
      '00008056febc7842', // float64 of 1,700,000,000,000, little-endian
      ...['04030201', '06', '01', '0605', '0a090807', '0e0d0c0b', '1211100f', '16151413'],
    ];
    assert.equal(toHex(writer.finish().entries), expected.join(''));
  });

  test('stored codes of endpoints, modes and octet types never change', () => {
    const codes = (words: readonly Partial<AnswerEntry>[]) => {
      const { entries } = segment(
        1,
        words.map((word, i) => entry(i, word)),
        { sources: ENTROPY_MODES.map((m) => source(m)) },
      );
      const cursor = new EntryCursor(entries);
      return words.map(() => cursor.next() && [cursor.endpointCode, cursor.modeCode]);
    };
    const endpoints = ['integers', 'bytes', 'floats', 'uuid', 'bitstring', 'shuffle', 'batch'] as const;
    assert.deepEqual(
      codes(endpoints.map((endpoint) => ({ endpoint }))),
      endpoints.map((_, code) => [code, 2]),
    );
    const modes = ['quantum-seeded', 'pure', 'csprng'] as const;
    assert.deepEqual(
      codes(modes.map((mode) => ({ mode }))),
      modes.map((_, code) => [0, code]),
    );
    const types = [undefined, 'int32', 'float64', 'uuid', 'bytes', 'plain', 'csv'] as const;
    const stored = types.map((octets, i) => entry(i, { endpoint: 'batch', octets }));
    const { entries } = segment(1, stored, { sources: [source('csprng')] });
    const bytes = types.map((_, i) => entries[i * ENTRY_BYTES + 60]);
    assert.deepEqual(bytes, [0x06, 0x16, 0x26, 0x36, 0x46, 0x56, 0x66]);
    assert.deepEqual(
      [...readEntries(entries)].map(({ octets }) => octets),
      types,
    );
  });

  test('a writer is empty after finish and does not change what it returned', () => {
    const writer = new SegmentWriter(2);
    const salted = new Uint8Array(40).fill(9);
    const given = [1, 3, 0, 2, 5, 1, 1, 4].map((count, n) => {
      for (let i = 0; i < count; i++) {
        writer.commitTo(salted, 0, salted.length);
        writer.append(entry(10 * n + i, { delivered: new Uint8Array(0) }));
      }
      assert.equal(writer.count, count);
      const due = Array.from({ length: count }, (_, i) => entry(10 * n + i, { delivered: sha256(salted) }));
      return { due, entries: writer.finish().entries };
    });
    assert.equal(writer.count, 0);
    for (const { due, entries } of given)
      assert.deepEqual([...readEntries(entries)].map(plain), due.map(plain));
  });

  test('a field that exceeds its width is refused before anything is written', () => {
    const writer = new SegmentWriter();
    const wrong: Partial<AnswerEntry>[] = [
      { requestId: new Uint8Array(15) },
      { delivered: new Uint8Array(31) },
      { source: 65_536 },
      { credits: -1 },
      { valueCount: 2 ** 32 },
      { deliveredBytes: 1.5 },
    ];
    for (const more of wrong) assert.throws(() => writer.append(entry(1, more)), InvariantError);
    assert.equal(writer.count, 0);
  });
});

suite('stored segments', () => {
  const sample = () => {
    const entries = [entry(1, { mode: 'pure', credits: 3 }), entry(2, { mode: 'quantum-seeded', source: 1 })];
    return segment(77, entries, { sources: [source('pure', [1, 2]), source('quantum-seeded', [2])] });
  };

  test('a segment is read back unchanged, and equal segments have equal bytes', () => {
    const stored = encodeSegment(sample());
    assert.deepEqual(decodeSegment(stored), sample());
    assert.equal(toHex(encodeSegment(sample())), toHex(stored));
    assert.deepEqual(decodeSegment(encodeSegment(filledSegment(1, 0))), filledSegment(1, 0));
  });

  test('a segment has its own head, whatever it shares with the one before it', () => {
    const { sources, context } = sample();
    const other = { ...sources[1], drawn: [{ lot: 0, offset: 32, bytes: 32 }] };
    const label = { isPublic: true, purpose: 'raffle', series: 'series_a' };
    const changes: Partial<SegmentRecord>[] = [
      { sources: [sources[0], other] },
      { sources: [sources[0], { ...other, lotIds: [...other.lotIds, 'lot_other'] }] },
      { sources: [...sources, other] },
      { context: { ...context, verifyUrlBase: 'https://other.example' } },
      { context: { ...context, systemGenerator: 'openssl' } },
      { notes: [{ index: 0, label }] },
      {},
    ];
    for (const change of changes) {
      for (const each of [
        { ...sample(), sources },
        { ...sample(), sources, ...change },
      ])
        assert.deepEqual(decodeSegment(encodeSegment(each)), each);
    }
  });

  test('the system generator is kept', () => {
    for (const systemGenerator of ['kernel', 'openssl'] as const) {
      const written = { ...sample(), context: { verifyUrlBase: 'https://verify.example', systemGenerator } };
      assert.deepEqual(decodeSegment(encodeSegment(written)).context, written.context);
    }
  });

  test('the first byte is the version, and another version is reported', () => {
    const stored = encodeSegment(sample());
    assert.equal(stored[0], 1);
    stored[0] = 2;
    assert.throws(() => decodeSegment(stored), /version 2, this program reads 1/);
  });

  test('truncated or changed bytes are never decoded', () => {
    const stored = encodeSegment(sample());
    for (let at = 0; at < stored.length; at++) {
      assert.throws(() => decodeSegment(stored.slice(0, at)), isDamage, `cut to ${at}`);
      const changed = stored.with(at, stored[at] ^ 0x10);
      assert.throws(() => decodeSegment(changed), isDamage, `changed at ${at}`);
    }
  });

  test('a segment whose parts contradict each other is not encoded', () => {
    const good = sample();
    const noted = (...notes: [index: number, label: Partial<AnswerLabel>][]): SegmentRecord => {
      return {
        ...good,
        notes: notes.map(([index, label]) => ({ index, label: { isPublic: true, ...label } })),
      };
    };
    const secret = { isPublic: false, purposeCommitment: 'ab'.repeat(32) };
    const sound = noted([0, { userData: 'x' }], [1, { ...secret, series: 'series_a' }]);
    assert.deepEqual(decodeSegment(encodeSegment(sound)), sound);
    const wrong: SegmentRecord[] = [
      noted([-1, {}]),
      noted([2, {}]),
      noted([0.5, {}]),
      noted([1, {}], [1, {}]),
      noted([1, {}], [0, {}]),
      noted([0, { purpose: 'raffle' }]),
      noted([0, { series: 'series_a' }]),
      noted([0, { ...secret, isPublic: true, series: 'series_a' }]),
      noted([0, secret]),
      { ...good, count: 1 },
      { ...good, sequence: 0 },
      { ...good, sequence: 1.5 },
      { ...good, committedAtMs: Number.NaN },
      { ...good, sources: good.sources.slice(0, 1) },
      { ...good, sources: good.sources.toReversed() },
      segment(1, [entry(1, { issuedAtMs: -1 })]),
      segment(1, [entry(1, { issuedAtMs: 1e300 })]),
    ];
    for (const each of wrong) assert.throws(() => encodeSegment(each), InvariantError);
  });
});

/** Decodes a run of one segment. */
function decodeSegment(stored: Uint8Array): SegmentRecord {
  const run = decodeRun(stored);
  assert.equal(run.length, 1);
  assert.deepEqual(run[0].bytes, stored);
  return run[0].segment;
}

function isDamage(error: unknown): boolean {
  return error instanceof LedgerError && error.reason === 'damaged';
}

/** Byte fields as plain arrays of numbers: a view and an array of its own then compare equal. */
function plain(each: AnswerEntry | undefined) {
  assert.ok(each !== undefined);
  return { ...each, requestId: toHex(each.requestId), delivered: toHex(each.delivered) };
}
