import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { unpack } from 'msgpackr';
import {
  AT_SALT,
  answerBytesMax,
  DATA_START,
  type MadeByWorker,
  type MakeOrder,
  type Making,
  makeFrom,
  makeValues,
  PACKED_HEAD_BYTES_MAX,
  RECORD_BYTES_MAX,
  TAIL_BYTES_MAX,
} from '../../src/answer/make.ts';
import { concatBytes } from '../../src/core/bytes.ts';
import { Expander, PIECE_OUTPUT_BYTES } from '../../src/crypto/expander.ts';
import { EntropyReader } from '../../src/values/entropy-reader.ts';
import { drawText } from '../../src/values/text-lines.ts';
import { entropyBytesMax, jsonBytesMax, type ValueRequest } from '../../src/values/value-request.ts';
import { fixedBytes } from '../support/backends.ts';
import { mixedPiece, systemGives, systemPiece } from '../support/system-entropy.ts';
import { AFTER, BEFORE, bytesOf, expectedFrom, orderOf, REQUESTS } from './orders.ts';

const LARGE: ValueRequest = { kind: 'bytes', count: 1_200, length: 64, encoding: 'hex', single: false };
const EVERY: [string, ValueRequest][] = Object.entries({ ...REQUESTS, 'bytes, more than one piece': LARGE });

const isZero = (bytes: Uint8Array) => Buffer.alloc(bytes.length).equals(bytes);

type Made = Omit<MadeByWorker, 'busyMs' | 'left'>;

/** `start` and `end` of the memory that it was made in. */
function assertMade(
  made: Made,
  bytes: Uint8Array<ArrayBuffer>,
  values: ValueRequest,
  [start, end] = [0, made.bytes.length],
): void {
  const expected = expectedFrom(bytes, values);
  assert.equal(
    Buffer.from(made.bytes.subarray(start + DATA_START, made.dataEnd)).toString(),
    Buffer.from(expected.data).toString(),
  );
  assert.deepEqual(made.delivered, expected.delivered);
  assert.deepEqual(made.bytes.subarray(start + AT_SALT, start + DATA_START), bytesOf('salt', 32));
  assert.equal(made.consumedBytes, expected.consumedBytes);
  assert.ok(made.consumedBytes <= entropyBytesMax(values));
  const isLong = made.packedEnd === 0 && made.dataEnd - start > RECORD_BYTES_MAX;
  assert.ok(made.dataEnd + (isLong ? TAIL_BYTES_MAX : 0) <= end);
}

describe('an answer', () => {
  for (const [name, values] of EVERY) {
    it(`of ${name} is the same from pieces, from a key and from the system as from their bytes`, (t) => {
      const keys = bytesOf('system', 64);
      const ofSystem = (key: Uint8Array) => systemPiece(key, PIECE_OUTPUT_BYTES);
      const stream = concatBytes(ofSystem(keys.subarray(0, 32)), ofSystem(keys.subarray(32)));
      const pieces = [stream.slice(0, 1_000), stream.slice(1_000, 1_001), stream.slice(1_001)];
      assertMade(makeValues(orderOf({ from: 'pieces', pieces }, values)), stream, values);

      systemGives(t, fixedBytes('system'));
      assertMade(makeValues(orderOf({ from: 'system' }, values)), stream, values);

      t.mock.restoreAll();
      systemGives(t, (target) => target.fill(0));
      const root = new Expander(bytesOf('key', 32));
      const expansion = concatBytes(...[0, 1].map(() => mixedPiece(root.deriveKey(), new Uint8Array(32))));
      const draw = { from: 'one-time-key', key: bytesOf('key', 32) } as const;
      assertMade(makeValues(orderOf(draw, values)), expansion, values);
    });
  }

  it('in MessagePack has its values beside the text, and consists of the values alone if these are asked for', () => {
    const stream = bytesOf('forms', 65_536);
    const from = () => ({ from: 'pieces', pieces: [stream.slice()] }) as const;
    for (const [name, values] of Object.entries(REQUESTS)) {
      const { plain, octets, deliveredOctets } = expectedFrom(stream, values);
      const packed = makeValues(orderOf(from(), values, 'msgpack'));
      const { packedStart, packedEnd, dataEnd } = packed;
      assertMade(packed, stream, values);
      assert.deepEqual(unpack(packed.bytes.subarray(packedStart, packedEnd)), plain, name);
      assert.ok(packedStart - PACKED_HEAD_BYTES_MAX >= dataEnd, 'room for what is before');
      if (octets === undefined) continue;
      const bare = makeValues(orderOf(from(), values, 'octet-stream'));
      assert.deepEqual(bare.bytes.subarray(DATA_START, bare.dataEnd), octets, name);
      assert.deepEqual([bare.delivered, bare.packedEnd], [deliveredOctets, 0]);
    }
    const { integers } = REQUESTS;
    const lines = { ...orderOf(from(), integers), form: 'octet-stream', octets: 'csv' } as const;
    const made = makeValues(lines);
    const text = new Uint8Array(lines.memory.length);
    const end = drawText(integers, 'csv', new EntropyReader(() => stream.slice()), text, 0);
    assert.deepEqual(made.bytes.subarray(DATA_START, made.dataEnd), text.subarray(0, end));
  });

  it('does not depend on where its pieces are cut', () => {
    const stream = bytesOf('cuts', 4_096);
    const values = REQUESTS['integers, unique and sorted'];
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 4_095 }), { maxLength: 8 }), (cuts) => {
        const ends = [...cuts.sort((a, b) => a - b), 4_096];
        const pieces = ends.map((end, i) => stream.slice(i === 0 ? 0 : ends[i - 1], end));
        assertMade(makeValues(orderOf({ from: 'pieces', pieces }, values)), stream, values);
      }),
      { numRuns: 30 },
    );
  });

  it('returns the pieces that it did not read, cut where it stopped', () => {
    const stream = bytesOf('pieces', 16_384);
    const cut = (...ends: number[]) => ends.map((end, i) => stream.slice(i === 0 ? 0 : ends[i - 1], end));
    const left = (pieces: Uint8Array<ArrayBuffer>[]) => {
      const made = makeValues(orderOf({ from: 'pieces', pieces }, REQUESTS.uuid));
      assert.equal(made.consumedBytes, 4_800);
      return made.left;
    };
    const pieces = cut(4_096, 8_192, 12_288, 16_384);
    const rest = left(pieces);
    assert.deepEqual(rest, [stream.slice(4_800, 8_192), stream.slice(8_192, 12_288), stream.slice(12_288)]);
    assert.ok(
      rest.every(({ byteLength, buffer }) => byteLength === buffer.byteLength),
      'so that they move',
    );
    assert.ok(isZero(pieces[0]) && isZero(pieces[1]), 'what was read, and what its rest was in, is erased');
    assert.deepEqual(left(cut(4_800, 8_192)), [stream.slice(4_800, 8_192)]);
    assert.deepEqual(left(cut(4_800)), []);
  });

  it('leaves no key and no consumed piece behind, even when it fails', () => {
    const pieces = [bytesOf('a', 2_400), bytesOf('b', 2_400)];
    const key = bytesOf('key', 32);
    const short = [bytesOf('short', 10)];
    for (const order of [
      orderOf({ from: 'pieces', pieces }, REQUESTS.uuid),
      orderOf({ from: 'one-time-key', key }, REQUESTS.uuid),
    ]) {
      makeValues(order);
    }
    const failing = orderOf({ from: 'pieces', pieces: short }, REQUESTS.uuid);
    assert.throws(() => makeValues(failing), { name: 'InvariantError' });
    for (const secret of [...pieces, ...short, key]) assert.ok(isZero(secret));
  });
});

/** Makes `order` in [start, end) of `bytes`. */
function makingIn(order: MakeOrder, bytes: Uint8Array<ArrayBuffer>, start: number, end: number): Making {
  return { ...order, bytes, start, end, delivered: new Uint8Array(32) } as Making;
}

describe('an answer made in place', () => {
  const making = (values: ValueRequest) => {
    const { draw: _, memory, ...order } = orderOf({ from: 'system' }, values);
    return makingIn(order, memory, 0, memory.length);
  };

  it('continues at the position of the reader, and erases what it has read', () => {
    const stream = bytesOf('in place', 65_536);
    const chunk = stream.slice();
    const reader = new EntropyReader(() => chunk);
    reader.fill(new Uint8Array(100));
    const first = making(REQUESTS.integers);
    makeFrom(reader, first);
    assertMade(first, stream.slice(100), REQUESTS.integers);
    const second = making(REQUESTS.integers);
    makeFrom(reader, second);
    assertMade(second, stream.slice(100 + first.consumedBytes), REQUESTS.integers);
    const end = 100 + first.consumedBytes + second.consumedBytes;
    assert.ok(isZero(chunk.subarray(0, end)));
    assert.deepEqual(chunk.subarray(end), stream.subarray(end));
  });

  it('writes only within its part of the memory, which may be exactly as long as its stated bound', () => {
    const order = making(REQUESTS.bitstring);
    const stream = bytesOf('room', 4_096);
    const reader = new EntropyReader(() => stream.slice());
    const memory = new Uint8Array(8_192).fill(0xee);
    const asked = answerBytesMax(order, jsonBytesMax(order.values));
    memory.fill(0, 16, 16 + asked);
    memory.set(bytesOf('salt', 32), 16 + AT_SALT);
    const made = makingIn(order, memory, 16, 16 + asked);
    makeFrom(reader, made);
    assertMade(made, stream, REQUESTS.bitstring, [16, 16 + asked]);
    assert.equal(made.dataEnd, 16 + DATA_START + BEFORE.length + 1_001 + 2 + AFTER.length);
    assert.ok(memory.subarray(0, 16).every((byte) => byte === 0xee));
    assert.ok(memory.subarray(16 + asked).every((byte) => byte === 0xee));
  });

  it('is refused when it exceeds its room', () => {
    const order = making(REQUESTS.bitstring);
    const reader = new EntropyReader(() => bytesOf('room', 4_096));
    const tight = { ...order, end: DATA_START + BEFORE.length + 1_001 + 2 };
    assert.throws(() => makeFrom(reader, tight), /keeps to its bound/);
  });
});
