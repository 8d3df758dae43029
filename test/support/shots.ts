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

/** S = 8 (w - 1/2) over all pairs, w the share of runs that win: equal, but in setting 3 different. */
export function chshOf({ bits, width, shots, witness }: RawRead): number {
  assert.equal(witness?.kind, 'chsh');
  assert.equal(witness.settings.length, shots);
  let wins = 0;
  for (let shot = 0; shot < shots; shot++) {
    for (let at = shot * width; at < (shot + 1) * width; at += 2) {
      wins += (bitAt(bits, at) === bitAt(bits, at + 1)) === (witness.settings[shot] !== 3) ? 1 : 0;
    }
  }
  return 8 * ((2 * wins) / (shots * width) - 1 / 2);
}
