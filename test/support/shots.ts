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
