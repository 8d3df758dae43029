import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  writeAscii,
  writeEightDigits,
  writeInt32List,
  writeSafeInteger,
  writeSafeList,
  writeSmallList,
  writeUint32,
} from '../../src/values/digits.ts';

fc.configureGlobal({ seed: 4_122 });

type Writer = (view: DataView, at: number) => number;

/** The text that `write` leaves behind a prefix of five bytes; checks what it may touch. */
function textOf(write: Writer, scratch = 3): string {
  const target = Buffer.alloc(64, 0xee);
  const view = new DataView(target.buffer, target.byteOffset, target.byteLength);
  const end = write(view, 5);
  assert.ok(
    target.subarray(0, 5).every((byte) => byte === 0xee),
    'nothing before the start is touched',
  );
  assert.ok(
    target.subarray(end + scratch).every((byte) => byte === 0xee),
    'no more scratch than stated',
  );
  return target.toString('latin1', 5, end);
}

/** Every power of ten and of two with its neighbours: where lengths and carries change. */
const EDGES: number[] = [0, Number.MAX_SAFE_INTEGER];
for (let e = 0; e <= 15; e++) EDGES.push(10 ** e - 1, 10 ** e, 10 ** e + 1);
for (let e = 0; e <= 52; e++) EDGES.push(2 ** e - 1, 2 ** e, 2 ** e + 1);
for (let e = 8; e <= 15; e++) EDGES.push(9 * 10 ** e - 1, 9 * 10 ** (e - 8) * 1e8 - 1);

describe('digits', () => {
  it('writes whole numbers as String does: all up to 20,000 and the edges', () => {
    for (let n = 0; n < 20_000; n++)
      assert.equal(
        textOf((view, at) => writeUint32(view, at, n)),
        String(n),
      );
    for (const n of EDGES) {
      assert.equal(
        textOf((view, at) => writeSafeInteger(view, at, n)),
        String(n),
      );
      if (n > 0)
        assert.equal(
          textOf((view, at) => writeSafeInteger(view, at, -n)),
          String(-n),
        );
      if (n < 2 ** 32)
        assert.equal(
          textOf((view, at) => writeUint32(view, at, n)),
          String(n),
        );
    }
  });

  it('writes any safe integer as String does', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (n) => {
        assert.equal(
          textOf((view, at) => writeSafeInteger(view, at, n)),
          String(n),
        );
      }),
      { numRuns: 10_000 },
    );
  });

  it('splits a safe integer exactly where the quotient nearly is whole', () => {
    for (let high = 90_071_900; high <= 90_071_992; high++) {
      for (const low of [0, 1, 99_999_999]) {
        const n = high * 1e8 + low;
        if (n <= Number.MAX_SAFE_INTEGER) {
          assert.equal(
            textOf((view, at) => writeSafeInteger(view, at, n)),
            String(n),
          );
        }
      }
    }
  });

  it('pads to eight digits', () => {
    for (const n of [0, 7, 9_999, 10_000, 12_345_678, 99_999_999]) {
      const write: Writer = (view, at) => {
        writeEightDigits(view, at, n);
        return at + 8;
      };
      assert.equal(textOf(write, 0), String(n).padStart(8, '0'));
    }
  });

  it('writes lists, each number followed by a comma', () => {
    assert.equal(
      textOf((view, at) => writeSmallList(view, at, 5, [0, 4, 5, 94, 95, 994])),
      '5,9,10,99,100,999,',
    );
    assert.equal(
      textOf((view, at) => writeInt32List(view, at, -(2 ** 31), [0, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1])),
      '-2147483648,-1,0,2147483647,',
    );
    assert.equal(
      textOf((view, at) => writeSafeList(view, at, -Number.MAX_SAFE_INTEGER, [0, Number.MAX_SAFE_INTEGER])),
      '-9007199254740991,0,',
    );
  });

  it('writes all numbers of 0..999 in a list', () => {
    for (let n = 0; n < 1_000; n++)
      assert.equal(
        textOf((view, at) => writeSmallList(view, at, n, [0])),
        `${n},`,
      );
  });

  it('writes ASCII', () => {
    assert.equal(
      textOf((view, at) => writeAscii(view, at, '1.5e-7'), 0),
      '1.5e-7',
    );
  });
});
