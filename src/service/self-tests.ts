import { hkdfSync } from 'node:crypto';
import { sha256 as sha256OfNoble } from '@noble/hashes/sha2.js';
import { ReplyTemplate } from '../answer/template.ts';
import { plainRead, type RawRead } from '../backend/backend.ts';
import { LANES, LeafKernel } from '../certificate/leaf-kernel.ts';
import { messageOf } from '../core/assert.ts';
import { concatBytes, fromHex, toHex, utf8Bytes } from '../core/bytes.ts';
import { base32Of, uuidText } from '../core/ids.ts';
import { chacha20 } from '../crypto/chacha20.ts';
import { hkdfSha256, sha256Hex } from '../crypto/digest.ts';
import { verifyEd25519 } from '../crypto/ed25519.ts';
import { Expander } from '../crypto/expander.ts';
import { nodeHashesByFour, ShortHashes } from '../crypto/hash-kernel.ts';
import { nodeHashes } from '../crypto/merkle.ts';
import { sha256 } from '../crypto/sha256.ts';
import { SigningKey } from '../crypto/signing.ts';
import { fillSystemEntropy } from '../crypto/system-entropy.ts';
import { HealthMonitor } from '../pool/intake/health.ts';
import { RealSpectrum } from '../stats/fft.ts';
import { predictBits, repeatCounts } from '../stats/sp800-90b/kernels.ts';
import { EntropyReader } from '../values/entropy-reader.ts';
import { drawJson } from '../values/sample.ts';
import { jsonBytesMax, type ValueRequest } from '../values/value-request.ts';

/**
 * The self-tests that FIPS 140-3 (ISO/IEC 19790, 7.10) requires of a cryptographic module before it serves. Every algorithm
 * and every WebAssembly module is run against a known answer, two implementations of one algorithm against each other, and
 * the health tests against a stuck source. This takes some 50 ms of each start. It is not a FIPS validation: it does not
 * check the software's integrity, which is left to those who install it.
 */

/** The tested parts, as the service uses them. Tests of this file replace them with broken ones. */
export const PARTS = {
  chacha20,
  sha256: sha256 as (data: Uint8Array) => Uint8Array,
  nobleSha256: sha256OfNoble as (data: Uint8Array) => Uint8Array,
  hkdfSha256,
  sign: (seed: Uint8Array, message: Uint8Array): Uint8Array => SigningKey.fromSeed(seed).sign(message),
  verify: verifyEd25519,
  /** Returns the first `size` bytes of the DRBG with this key. */
  expand(key: Uint8Array, size: number): Uint8Array {
    const expander = new Expander(key);
    const out = new Uint8Array(size);
    expander.fill(out);
    expander.erase();
    return out;
  },
  systemEntropy: (out: Uint8Array<ArrayBuffer>): void => void fillSystemEntropy(out),
  drawJson,
  predictBits,
  repeatCounts,
  squaredModuli: (signal: Int8Array): Float64Array => new RealSpectrum(signal.length).squaredModuli(signal),
  nodeHashesByFour,
  /** Returns the hashes of messages, concatenated. */
  shortHashes(messages: readonly Uint8Array[]): Uint8Array {
    const out = new Uint8Array(32 * messages.length);
    const hashes = new ShortHashes((i, digest) => out.set(digest, 32 * i));
    for (const [i, message] of messages.entries()) {
      hashes.put(message, 0, message.length);
      hashes.keep(i);
    }
    hashes.finish();
    return out;
  },
  /** Returns head and body of a reply that prints bytes of a record in each form. */
  printed(record: Uint8Array): string {
    const head = [
      { form: 'uuid', bytes: 'requestId' },
      { form: 'base32', bytes: 'certificateId' },
    ] as const;
    const template = new ReplyTemplate(head, [{ form: 'hex', bytes: 'salt' }]);
    template.print(undefined, undefined, record, 0, record.length);
    const printed = Buffer.concat([template.head, template.body]).toString('latin1');
    template.forget();
    return printed;
  },
  /** Returns the hash of a leaf, with the members of an entry printed into its text one after the other. */
  leafHash(text: Uint8Array, entry: Uint8Array, id: Uint8Array): Uint8Array {
    const kernel = new LeafKernel();
    kernel.entries.set(entry);
    kernel.ids.set(id);
    kernel.take(text, [{ at: LEAF_MEMBERS_AT, length: 116 }]);
    for (let lane = 0; lane < LANES; lane++)
      kernel.print(lane, 0, LEAF_MEMBERS_AT, LEAF_MEMBERS_AT + 26, LEAF_MEMBERS_AT + 52);
    kernel.hash(0, 0, 0, 0);
    return kernel.hashes.subarray(0, 32);
  },
  /** Returns the verdict of the health tests on the first read of a source with one channel. */
  checkHealth: (read: RawRead) => new HealthMonitor({ width: 1, minEntropyPerBit: 0.8 }).check(read),
};
export type SelfTestedParts = typeof PARTS;

/** A self-test failed, so the service does not start. `message` names every part that failed. */
export class SelfTestError extends Error {
  override name = 'SelfTestError';
}

/** Runs all self-tests. Throws a SelfTestError when one fails: then nothing may be opened or served. */
export function assertSelfTests(replaced: Partial<SelfTestedParts> = {}): void {
  const parts = { ...PARTS, ...replaced };
  const failures: string[] = [];
  for (const [name, test] of Object.entries(TESTS)) {
    try {
      if (!test(parts)) failures.push(`${name} gives a wrong answer`);
    } catch (error) {
      failures.push(`${name} throws: ${messageOf(error)}`);
    }
  }
  if (failures.length === 0) return;
  throw new SelfTestError(
    `self-test failed: ${failures.join('; ')}. Nothing is served. The installation or the processor is damaged: reinstall, or start on another machine.`,
  );
}

const KEY = Uint8Array.from({ length: 32 }, (_, i) => i);
/** The place of the members in the leaf: the text has blocks without members before it and after it. */
const LEAF_MEMBERS_AT = 150;
const LEAF_BYTES = 400;
const ZERO_NONCE = new Uint8Array(12);
/** FIPS 180-4. */
const SHA256_OF_ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';

/** The tests by name, in the order in which they run. Each returns whether the part gives the known answer. */
const TESTS: Readonly<Record<string, (parts: SelfTestedParts) => boolean>> = {
  ChaCha20: ({ chacha20 }) => isRfc8439(chacha20),
  'SHA-256 of OpenSSL': ({ sha256 }) => toHex(sha256(utf8Bytes('abc'))) === SHA256_OF_ABC,
  'SHA-256 of @noble/hashes': ({ nobleSha256 }) => toHex(nobleSha256(utf8Bytes('abc'))) === SHA256_OF_ABC,
  'SHA-256 of OpenSSL beside @noble/hashes'({ sha256, nobleSha256 }) {
    const severalBlocks = new Uint8Array(1_000).fill(0x61);
    return areEqual(sha256(severalBlocks), nobleSha256(severalBlocks));
  },
  'HKDF-SHA-256'({ hkdfSha256 }) {
    // RFC 5869 A.1
    const ikm = new Uint8Array(22).fill(0x0b);
    const salt = fromHex('000102030405060708090a0b0c');
    const info = fromHex('f0f1f2f3f4f5f6f7f8f9');
    const derived = hkdfSha256(ikm, salt, info, 42);
    return (
      toHex(derived) ===
        '3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865' &&
      areEqual(derived, new Uint8Array(hkdfSync('sha256', ikm, salt, info, 42)))
    );
  },
  Ed25519({ sign, verify }) {
    // RFC 8032 §7.1, test 2
    const seed = fromHex('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb');
    const publicKey = fromHex('3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c');
    const message = Uint8Array.of(0x72);
    const signature = sign(seed, message);
    return (
      toHex(signature) ===
        '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00' &&
      verify(publicKey, message, signature) &&
      !verify(publicKey, Uint8Array.of(0x73), signature)
    );
  },
  'Ed25519 of several blocks'({ sign, verify }) {
    const message = keystream(300);
    const signature = sign(KEY, message);
    const { publicKey } = SigningKey.fromSeed(KEY);
    const changed = message.map((byte, i) => (i === 299 ? byte ^ 1 : byte));
    return (
      sha256Hex(signature) === SIGNED_SHA256 &&
      verify(publicKey, message, signature) &&
      !verify(publicKey, changed, signature)
    );
  },
  'the expander (ChaCha20 with fast key erasure)': ({ expand }) =>
    sha256Hex(expand(KEY, 10_000)) === 'cbd241eb7dd09bb2a0a5d6fb39565c76a9064c1f29a46f5266fe9666a61a623d',
  "the system's random number generator"({ systemEntropy }) {
    const [one, other] = [new Uint8Array(32), new Uint8Array(32)];
    systemEntropy(one);
    systemEntropy(other);
    return [one, other].every((bytes) => bytes.some((byte) => byte !== 0)) && !areEqual(one, other);
  },
  'kernels.wasm (values)': ({ drawJson }) => sha256Hex(drawnText(drawJson)) === DRAWN_SHA256,
  'estimators.wasm (SP 800-90B)'({ predictBits, repeatCounts }) {
    const bits = Uint8Array.from(keystream(5_000), (byte) => byte & 1);
    const repeats = repeatCounts(bits, 1);
    const predictors = ['multiMcw', 'lag', 'multiMmc', 'lz78y'] as const;
    const found = predictors.map((predictor) => predictBits(predictor, bits));
    const counts = found.flatMap(({ correct, longestRun }) => [correct, longestRun]);
    return [...counts, repeats?.longest, repeats?.mostFrequent[8]].join() === ESTIMATED;
  },
  'fourier.wasm (the spectral test)'({ squaredModuli }) {
    const signal = Int8Array.from(keystream(80)); // 80 = 2 · 40, and 40 has all radices
    return squaredModuli(signal).every((modulus, k) => Math.abs(modulus - squaredModulus(signal, k)) < 1e-6);
  },
  'hashes.wasm, nodes'({ nodeHashesByFour }) {
    const level = keystream(64 * 5); // four and one more
    return areEqual(nodeHashesByFour(level), nodeHashes(level));
  },
  'hashes.wasm, messages'({ shortHashes, sha256 }) {
    const messages = [1, 55, 56, 200].map((length) => keystream(length));
    return areEqual(shortHashes(messages), concatBytes(...messages.map((message) => sha256(message))));
  },
  'prints.wasm (texts of answers)': ({ printed }) =>
    printed(concatBytes(KEY, KEY.toReversed(), utf8Bytes('1'))) ===
    `${uuidText(KEY.subarray(0, 16))}${base32Of(KEY.subarray(16))}{"data":1${toHex(KEY.toReversed())}`,
  'leaves.wasm (the log)'({ leafHash, sha256 }) {
    const text = keystream(LEAF_BYTES);
    const entry = keystream(80);
    const id = KEY.subarray(0, 16);
    const members = utf8Bytes(base32Of(id) + base32Of(entry.subarray(0, 16)) + toHex(entry.subarray(16, 48)));
    const behind = text.subarray(LEAF_MEMBERS_AT + members.length);
    return areEqual(
      leafHash(text, entry, id),
      sha256(concatBytes(text.subarray(0, LEAF_MEMBERS_AT), members, behind)),
    );
  },
  'the health tests'({ checkHealth }) {
    const stuck = checkHealth(readOf(new Uint8Array(512)));
    return (
      stuck.grade === 'permanent' &&
      stuck.failures.some(({ test }) => test === 'rct') &&
      checkHealth(readOf(keystream(512))).grade === 'pass'
    );
  },
};

/** Checks the first block of RFC 8439 §2.4.2. */
function isRfc8439(cipher: typeof chacha20): boolean {
  const plaintext = utf8Bytes("Ladies and Gentlemen of the class of '99: If I could offer you o");
  const nonce = fromHex('000000000000004a00000000');
  return (
    toHex(cipher(KEY, nonce, 1, plaintext)) ===
    '6e2e359a2568f98041ba0728dd0d6981e97e7aec1d4360c20a27afccfd9fae0bf91b65c5524733ab8f593dabcd62b3571639d624e65152ab8f530c359f0861d8'
  );
}

const integers = (count: number, min: number, max: number): ValueRequest => {
  return { kind: 'integers', count, min, max, unique: false, sort: 'none' };
};

/** One request for each way in which the kernels draw and print values. */
const REQUESTS: readonly ValueRequest[] = [
  integers(40, 1, 6),
  integers(40, 0, 1),
  integers(40, 0, 999),
  integers(20, -5, 999_999),
  integers(20, -(2 ** 31), 2 ** 31 - 1),
  integers(20, 3_000_000_000, 3_000_000_999),
  integers(20, -(2 ** 52), 2 ** 52 - 1),
  { kind: 'integers', count: 20, min: 0, max: 10 ** 6, unique: true, sort: 'ascending' },
  ...[null, 2, 5, 6, 9, 12, 15].map((precision): ValueRequest => ({ kind: 'floats', count: 20, precision })),
  { kind: 'bytes', count: 2, length: 33, encoding: 'hex', single: false },
  { kind: 'bytes', count: 2, length: 33, encoding: 'base64', single: false },
  { kind: 'uuid', count: 3 },
  { kind: 'bitstring', length: 77 },
  { kind: 'shuffle', items: ['a', 'b', 'c', 'd', 'e'] },
];

function drawnText(draw: typeof drawJson): Uint8Array {
  const bytes = keystream(16_384);
  let isTaken = false;
  const reader = new EntropyReader(() => {
    if (isTaken) throw new Error('the vector is used up');
    isTaken = true;
    return bytes;
  });
  const text = new Uint8Array(REQUESTS.reduce((size, request) => size + jsonBytesMax(request), 0));
  const end = REQUESTS.reduce((at, request) => draw(request, reader, text, at), 0);
  return text.subarray(0, end);
}

/** The signature by @noble/curves, which would take 60 ms here. test/service/self-test.test.ts computes it. */
const SIGNED_SHA256 = '84650bcf651b3e39d058c99a9649bc1bac9037f7e788db225f3130c9abd68a6d';
/** The known answers of the kernels; test/service/self-test.test.ts computes them with the slow twins. */
const DRAWN_SHA256 = '6421b60f9b2601c20786101dd45093a0b457fbc792fb59a89f1db1cf945dd6aa';
/** Correct predictions and longest run of each predictor, the longest repeat, the count of the most frequent byte. */
const ESTIMATED = '2467,13,2459,16,2502,9,2464,12,21,32';

/**
 * Returns ChaCha20 keystream of KEY. When ChaCha20 is broken, the tests that use this fail too, and the error names them
 * all.
 */
function keystream(size: number): Uint8Array<ArrayBuffer> {
  return chacha20(KEY, ZERO_NONCE, 0, new Uint8Array(size));
}

/** Returns |X_k|² by the definition of the discrete Fourier transform. */
function squaredModulus(signal: Int8Array, k: number): number {
  let [re, im] = [0, 0];
  signal.forEach((sample, j) => {
    const angle = (2 * Math.PI * ((j * k) % signal.length)) / signal.length;
    re += sample * Math.cos(angle);
    im -= sample * Math.sin(angle);
  });
  return re * re + im * im;
}

function readOf(bits: Uint8Array<ArrayBuffer>): RawRead {
  const made = { provider: 'self-test', device: 'self-test', startedAtMs: 0, finishedAtMs: 0 };
  return plainRead({ ...made, bits, rawSha256: '', calibration: null });
}

function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
