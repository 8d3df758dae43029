import type { Chance } from '../../support/chance.ts';

/** Size of the longest input. */
export const INPUT_BYTES_MAX = 65_536;

/** Bytes and words that are hard for readers. */
const BYTES = [
  0, 1, 0x0a, 0x20, 0x22, 0x25, 0x2c, 0x2d, 0x30, 0x39, 0x5b, 0x5c, 0x5d, 0x7b, 0x7d, 0x7f, 0x80, 0xc0, 0xff,
];
const NUMBERS = [
  '0',
  '-0',
  '-1',
  '1',
  '255',
  '256',
  '65535',
  '65536',
  '4294967295',
  '9007199254740991',
  '9007199254740992',
  '1e308',
  '1e400',
  '0.1',
];

type Mutation = (
  input: Buffer,
  random: Chance,
  corpus: readonly Uint8Array[],
  words: readonly Buffer[],
) => Buffer;

const MUTATIONS: readonly Mutation[] = [
  (input, random) => {
    const changed = Buffer.from(input);
    if (changed.length > 0) changed[random.below(changed.length)] ^= 1 << random.below(8);
    return changed;
  },
  (input, random) => {
    const changed = Buffer.from(input);
    if (changed.length > 0) changed[random.below(changed.length)] = random.pick(BYTES);
    return changed;
  },
  (input, random) => spliced(input, random.below(input.length + 1), 0, Buffer.from([random.below(256)])),
  (input, random) => spliced(input, random.below(input.length + 1), 1 + random.below(8), NOTHING),
  (input, random) => spliced(input, random.below(input.length + 1), random.below(input.length + 1), NOTHING),
  // Repeats a piece, in place or elsewhere, once or many times.
  (input, random) => {
    const from = random.below(input.length + 1);
    const piece = input.subarray(from, from + 1 + random.below(32));
    const times = random.below(16) === 0 ? 200 : 1;
    const at = random.below(2) === 0 ? from : random.below(input.length + 1);
    return spliced(input, at, 0, Buffer.concat(Array<Uint8Array>(times).fill(piece)));
  },
  (input, random, _, words) =>
    words.length === 0 ? input : spliced(input, random.below(input.length + 1), 0, random.pick(words)),
  (input, random, _, words) => {
    if (words.length === 0) return input;
    const word = random.pick(words);
    return spliced(input, random.below(input.length + 1), word.length, word);
  },
  // Joins the front of one input and the end of another.
  (input, random, corpus) => {
    const other = random.pick(corpus);
    const cut = input.subarray(0, random.below(input.length + 1));
    return Buffer.concat([cut, other.subarray(random.below(other.length + 1))]);
  },
  (input, random, corpus) => {
    const other = random.pick(corpus);
    const from = random.below(other.length + 1);
    return spliced(
      input,
      random.below(input.length + 1),
      random.below(8),
      other.subarray(from, from + 1 + random.below(64)),
    );
  },
  // Replaces a number.
  (input, random) => {
    const numbers = [...input.toString('latin1').matchAll(/-?\d+/g)];
    if (numbers.length === 0) return input;
    const { 0: found, index } = random.pick(numbers);
    const near = String(BigInt(found) + BigInt(random.below(5) - 2));
    return spliced(
      input,
      index,
      found.length,
      Buffer.from(random.below(2) === 0 ? near : random.pick(NUMBERS)),
    );
  },
  (input, random) => {
    const changed = Buffer.from(input);
    if (changed.length >= 4) {
      changed.writeUInt32LE(
        random.pick([0, 1, 0x7f, 0xff, 0xffff, 0x7fff_ffff, 0xffff_ffff]),
        random.below(changed.length - 3),
      );
    }
    return changed;
  },
];

const NOTHING = Buffer.alloc(0);

function spliced(input: Buffer, at: number, removed: number, piece: Uint8Array): Buffer {
  return Buffer.concat([input.subarray(0, at), piece, input.subarray(at + removed)]);
}

/** Returns an input with one to eight changes. */
export function mutated(
  input: Uint8Array,
  random: Chance,
  corpus: readonly Uint8Array[],
  words: readonly Buffer[],
): Uint8Array {
  let changed: Buffer = Buffer.from(input);
  for (let left = 2 ** random.below(4); left > 0; left--) {
    changed = random.pick(MUTATIONS)(changed, random, corpus, words).subarray(0, INPUT_BYTES_MAX);
  }
  return new Uint8Array(changed);
}

/** Quoted texts with a colon after them, names, numbers and what joins them. */
const TOKEN = /"[^"\n]{1,24}":?|[\w.:/@;=&%*-]{2,24}/g;
const TOKENS_MAX = 400;

/** Returns the given words and those of the initial inputs, as bytes: a character is one byte if it can be. */
export function dictionaryOf(words: readonly string[], seeds: readonly Uint8Array[]): Buffer[] {
  const texts = seeds.map((seed) => Buffer.from(seed).toString('latin1'));
  const tokens = new Set(texts.flatMap((text) => text.match(TOKEN) ?? []));
  return [...words, ...[...tokens].slice(0, TOKENS_MAX)].map((word) =>
    Buffer.from(word, /^[\0-\xff]*$/.test(word) ? 'latin1' : 'utf8'),
  );
}
