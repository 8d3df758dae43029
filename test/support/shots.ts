import assert from 'node:assert/strict';
import type { RawRead } from '../../src/backend/backend.ts';

export function bitAt(bits: Uint8Array, at: number): number {
  return (bits[at >>> 3] >>> (7 - (at & 7))) & 1;
}

/** Rows of bits as RawRead.bits has them, the slow and obvious way. */
export function packed(rows: readonly (readonly number[])[]): Uint8Array<ArrayBuffer> {
  const text = rows.map((row) => row.join('')).join('');
  return Uint8Array.from(text.match(/.{1,8}/g) ?? [], (byte) => Number.parseInt(byte.padEnd(8, '0'), 2));
}

/** The share of ones among all bits, whole bytes of them. */
export function onesShare({ bits }: { readonly bits: Uint8Array }): number {
  let ones = 0;
  for (const byte of bits) for (let rest = byte; rest !== 0; rest &= rest - 1) ones++;
  return ones / (8 * bits.length);
}

/** S = 8 (w - 1/2) of each pair, w the share of runs that win: equal, but in setting 3 different. */
export function chshOfPairs({ bits, width, shots, witness }: RawRead): number[] {
  assert.equal(witness?.kind, 'chsh');
  const { settings } = witness;
  assert.equal(settings.length, shots);
  return Array.from({ length: width / 2 }, (_, pair) => {
    let wins = 0;
    for (let shot = 0; shot < shots; shot++) {
      const at = shot * width + 2 * pair;
      wins += (bitAt(bits, at) === bitAt(bits, at + 1)) === (settings[shot] !== 3) ? 1 : 0;
    }
    return 8 * (wins / shots - 1 / 2);
  });
}

/** S over all pairs. */
export function chshOf(read: RawRead): number {
  const each = chshOfPairs(read);
  return each.reduce((sum, s) => sum + s, 0) / each.length;
}
