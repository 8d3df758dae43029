/**
 * The expander as its specification reads (header of src/crypto/expander.ts), with a ChaCha20 as RFC 8439
 * §2.1 to §2.4 reads: no buffer, no library, no speed.
 */

function quarterRound(state: Uint32Array, a: number, b: number, c: number, d: number): void {
  const rotate = (word: number, by: number) => (word << by) | (word >>> (32 - by));
  state[a] += state[b];
  state[d] = rotate(state[d] ^ state[a], 16);
  state[c] += state[d];
  state[b] = rotate(state[b] ^ state[c], 12);
  state[a] += state[b];
  state[d] = rotate(state[d] ^ state[a], 8);
  state[c] += state[d];
  state[b] = rotate(state[b] ^ state[c], 7);
}

function block(key: Uint8Array, nonce: Uint8Array, counter: number): Uint8Array {
  const word = (bytes: Uint8Array, i: number) =>
    new DataView(bytes.buffer, bytes.byteOffset).getUint32(4 * i, true);
  const start = new Uint32Array(16);
  start.set([0x61707865, 0x3320646e, 0x79622d32, 0x6b206574]);
  for (let i = 0; i < 8; i++) start[4 + i] = word(key, i);
  start[12] = counter;
  for (let i = 0; i < 3; i++) start[13 + i] = word(nonce, i);
  const state = new Uint32Array(start);
  for (let round = 0; round < 10; round++) {
    for (let i = 0; i < 4; i++) quarterRound(state, i, 4 + i, 8 + i, 12 + i);
    for (let i = 0; i < 4; i++)
      quarterRound(state, i, 4 + ((i + 1) % 4), 8 + ((i + 2) % 4), 12 + ((i + 3) % 4));
  }
  const out = new Uint8Array(64);
  for (let i = 0; i < 16; i++) new DataView(out.buffer).setUint32(4 * i, state[i] + start[i], true);
  return out;
}

export function referenceChacha20(
  key: Uint8Array,
  nonce: Uint8Array,
  counter: number,
  input: Uint8Array,
): Uint8Array {
  const out = new Uint8Array(input.length);
  for (let at = 0; at < input.length; at += 64) {
    const keystream = block(key, nonce, counter + at / 64);
    for (let i = at; i < Math.min(at + 64, input.length); i++) out[i] = input[i] ^ keystream[i - at];
  }
  return out;
}

/** The first `count` bytes that refills of `refillBytes` zero bytes give, starting from `key`. */
export function referenceOutput(key: Uint8Array, refillBytes: number, count: number): Uint8Array {
  let current = key;
  const out: number[] = [];
  while (out.length < count) {
    const refilled = referenceChacha20(current, new Uint8Array(12), 0, new Uint8Array(refillBytes));
    current = refilled.slice(0, 32);
    out.push(...refilled.slice(32));
  }
  return Uint8Array.from(out.slice(0, count));
}
