import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { BACKEND_TARGETS } from './targets/backend.ts';
import { CERTIFICATE_TARGETS } from './targets/certificate.ts';
import { STORE_TARGETS } from './targets/store.ts';
import type { FuzzTarget } from './targets/target.ts';

/** Every reader of foreign data except requests, which are tried over the wire (table-cases.ts, strange.ts). */
const TARGETS: readonly FuzzTarget[] = [...CERTIFICATE_TARGETS, ...STORE_TARGETS, ...BACKEND_TARGETS];
const CORPUS = new URL('corpus/', import.meta.url);
const RUNS = 300;
const CHANGES_MAX = 8;
const INPUT_BYTES_MAX = 65_536;
/** An attacker could send a slower input repeatedly. Time of the processor: other processes do not lengthen it. */
const SLOW_CORE_MS = 1_000;

/** Bytes, numbers and words that are hard for readers. */
const HARD: readonly Buffer[] = [
  ...[0, 1, 0x0a, 0x20, 0x22, 0x25, 0x2c, 0x2d, 0x30, 0x39, 0x5b, 0x5c, 0x5d, 0x7b, 0x7d, 0x7f, 0x80, 0xff],
  ...[0xffff, 0x7fff_ffff, 0xffff_ffff].map((word) => Uint32Array.of(word)),
  ...['0', '-0', '-1', '1', '255', '256', '65536', '4294967295', '9007199254740992', '1e308', '1e400', '0.1'],
].map((hard) =>
  typeof hard === 'number'
    ? Buffer.from([hard])
    : typeof hard === 'string'
      ? Buffer.from(hard)
      : Buffer.from(hard.buffer),
);
/** Quoted texts with a colon after them, names, numbers and what joins them. */
const TOKEN = /"[^"\n]{1,24}":?|[\w.:/@;=&%*-]{2,24}/g;
const TOKENS_MAX = 400;

/** Returns the pieces of a changed input, from its place `at` on. */
type Change = (input: Buffer, at: number, size: number, piece: Uint8Array) => readonly Uint8Array[];
const CHANGES: readonly Change[] = [
  // flips a bit
  (input, at, size) => [
    input.subarray(0, at),
    Buffer.from([(input[at] ?? 0) ^ (1 << (size % 8))]),
    input.subarray(at + 1),
  ],
  // inserts, puts in the place of as much or of the rest, and removes a little or much
  (input, at, _size, piece) => [input.subarray(0, at), piece, input.subarray(at)],
  (input, at, _size, piece) => [input.subarray(0, at), piece, input.subarray(at + piece.length)],
  (input, at, _size, piece) => [input.subarray(0, at), piece],
  (input, at, size) => [input.subarray(0, at), input.subarray(at + 1 + (size % 8))],
  (input, at, size) => [input.subarray(0, at), input.subarray(at + (size % (input.length + 1)))],
  // repeats, once or many times
  (input, at, size) => {
    const piece = input.subarray(at, at + 1 + (size % 32));
    return [
      input.subarray(0, at),
      ...Array<Buffer>(size % 16 === 0 ? 200 : 2).fill(piece),
      input.subarray(at),
    ];
  },
  // a number becomes a near one
  (input, at, size) => {
    const found = /-?\d+/.exec(input.toString('latin1', at));
    if (found === null) return [input];
    const near = Buffer.from(String(BigInt(found[0]) + BigInt((size % 5) - 2)));
    return [input.subarray(0, at + found.index), near, input.subarray(at + found.index + found[0].length)];
  },
];

/** An input of the corpus with up to eight changes, by hard words, words of the corpus, and the ends of its other inputs. */
function changedInput(corpus: readonly Uint8Array[], words: readonly string[]): fc.Arbitrary<Uint8Array> {
  const texts = corpus.map((input) => Buffer.from(input).toString('latin1'));
  const tokens = [...new Set(texts.flatMap((text) => text.match(TOKEN) ?? []))].slice(0, TOKENS_MAX);
  // a character is one byte if it can be
  const known = [...words, ...tokens].map((word) =>
    Buffer.from(word, /^[\0-\xff]*$/.test(word) ? 'latin1' : 'utf8'),
  );
  const end = fc
    .tuple(fc.constantFrom(...corpus), fc.nat())
    .map(([input, at]) => input.subarray(at % (input.length + 1)));
  const piece = fc.oneof(fc.constantFrom(...HARD), fc.constantFrom(...HARD, ...known), end);
  const change = fc.tuple(fc.constantFrom(...CHANGES), fc.nat(), fc.nat(), piece);
  return fc
    .tuple(fc.constantFrom(new Uint8Array(0), ...corpus), fc.array(change, { maxLength: CHANGES_MAX }))
    .map(([input, changes]) =>
      changes.reduce((before: Buffer, [changed, at, size, with_]) => {
        const after = changed(before, at % (before.length + 1), size, with_);
        return Buffer.concat(after).subarray(0, INPUT_BYTES_MAX);
      }, Buffer.from(input)),
    );
}

/** Returns the initial inputs: the target's own and the files of its folder, one an input, in the order of their names. */
function corpusOf({ name, seeds = () => [] }: FuzzTarget): Uint8Array[] {
  const folder = new URL(`${name}/`, CORPUS);
  const files = existsSync(folder) ? readdirSync(folder).sort() : [];
  return [...seeds(), ...files.map((file) => new Uint8Array(readFileSync(new URL(file, folder))))];
}

/** The night run tries more of them, with seeds that nobody chose. */
describe('a reader of what others wrote', () => {
  for (const target of TARGETS)
    it(`reads anything without an unexpected fault: ${target.name}`, async () => {
      const corpus = corpusOf(target);
      const outcomes = new Set<string>();
      const reads = fc.asyncProperty(changedInput(corpus, target.words), async (input) => {
        const before = process.cpuUsage();
        outcomes.add(await target.read(new Uint8Array(input)));
        const { user, system } = process.cpuUsage(before);
        assert.ok(user + system < 1_000 * SLOW_CORE_MS, `${input.length} bytes took ${user + system} µs`);
      });
      const examples = corpus.map((input): [Uint8Array] => [input]);
      await fc.assert(reads, { examples, numRuns: corpus.length + RUNS });
      assert.ok(outcomes.size >= 2, 'it takes some inputs and refuses others');
    });
});
