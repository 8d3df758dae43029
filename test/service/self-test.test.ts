import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import { ed25519 } from '@noble/curves/ed25519.js';
import { loadConfig } from '../../src/config/sources.ts';
import { silentLog } from '../../src/core/log.ts';
import { HealthMonitor } from '../../src/pool/intake/health.ts';
import { assertSelfTests, PARTS, SelfTestError, type SelfTestedParts } from '../../src/service/self-tests.ts';
import { startService } from '../../src/service/service.ts';
import { predictBits, repeatCounts } from '../../src/stats/sp800-90b/kernels.ts';
import { plainLag, plainLz78y, plainMultiMcw, plainMultiMmc } from '../reference/sp800-90b/predictors.ts';
import { plainRepeatedSubstrings } from '../reference/sp800-90b/substrings.ts';
import { twinSample } from '../reference/values.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

/** Returns the same bytes with the last bit flipped. */
function spoilt<Bytes extends Uint8Array>(bytes: Bytes): Bytes {
  bytes[bytes.length - 1] ^= 1;
  return bytes;
}

/** Each part with the slightest fault, and what the message then names. */
const BROKEN: readonly (readonly [string, Partial<SelfTestedParts>])[] = [
  ['ChaCha20 gives', { chacha20: (...args) => spoilt(PARTS.chacha20(...args)) }],
  ['SHA-256 of OpenSSL', { sha256: (data) => spoilt(PARTS.sha256(data)) }],
  ['SHA-256 of @noble/hashes', { nobleSha256: (data) => spoilt(PARTS.nobleSha256(data)) }],
  ['HKDF-SHA-256', { hkdfSha256: (...args) => spoilt(PARTS.hkdfSha256(...args)) }],
  ['Ed25519', { sign: (...args) => spoilt(PARTS.sign(...args)) }],
  ['Ed25519', { verify: () => true }],
  ['Ed25519', { verify: () => false }],
  ['the expander', { expand: (...args) => spoilt(PARTS.expand(...args)) }],
  ["the system's random number generator", { systemEntropy: () => {} }],
  ["the system's random number generator", { systemEntropy: (out) => void out.fill(7) }],
  [
    'kernels.wasm',
    {
      drawJson(request, reader, target, at) {
        const end = PARTS.drawJson(request, reader, target, at);
        if (request.kind === 'bitstring') target[end - 2] ^= 1;
        return end;
      },
    },
  ],
  ...['multiMcw', 'lag', 'multiMmc', 'lz78y'].map((broken): readonly [string, Partial<SelfTestedParts>] => [
    'estimators.wasm',
    {
      predictBits(predictor, bits) {
        const { correct, longestRun } = PARTS.predictBits(predictor, bits);
        return { correct: correct + Number(predictor === broken), longestRun };
      },
    },
  ]),
  [
    'Ed25519 of several blocks gives',
    {
      sign: (seed, message) =>
        message.length > 1 ? spoilt(PARTS.sign(seed, message)) : PARTS.sign(seed, message),
    },
  ],
  [
    'Ed25519 of several blocks gives',
    {
      verify: (publicKey, message, signature) =>
        message.length > 1 || PARTS.verify(publicKey, message, signature),
    },
  ],
  ['estimators.wasm', { repeatCounts: () => undefined }],
  [
    'fourier.wasm',
    {
      squaredModuli: (signal) => PARTS.squaredModuli(signal).map((modulus, k) => modulus + Number(k === 39)),
    },
  ],
  ['hashes.wasm, nodes', { nodeHashesByFour: (level) => spoilt(PARTS.nodeHashesByFour(level)) }],
  ['leaves.wasm', { leafHash: (...leaf) => spoilt(PARTS.leafHash(...leaf)) }],
  ['hashes.wasm, messages', { shortHashes: (messages) => spoilt(PARTS.shortHashes(messages)) }],
  ['prints.wasm', { printed: (value) => PARTS.printed(value).replace('-', '_') }],
  [
    'the health tests',
    {
      checkHealth(read) {
        const blind = { ...read, bits: read.bits.map((byte, i) => (byte === 0 ? i : byte)) };
        return new HealthMonitor({ width: 1, minEntropyPerBit: 0.8 }).check(blind);
      },
    },
  ],
  [
    'the health tests',
    {
      checkHealth: (read) => PARTS.checkHealth({ ...read, bits: new Uint8Array(read.bits.length) }),
    },
  ],
];

describe('the self-tests', () => {
  it('pass for the parts of this installation', () => {
    assert.doesNotThrow(() => assertSelfTests());
  });

  BROKEN.forEach(([name, part], i) => {
    it(`fail for ${name} when ${Object.keys(part).join()} is broken (${i})`, () => {
      const named = new RegExp(
        `^self-test failed: .*${name.replaceAll(/[.@/]/g, '\\$&')}.*Nothing is served`,
      );
      assert.throws(
        () => assertSelfTests(part),
        (error: unknown) => error instanceof SelfTestError && named.test(error.message),
      );
    });
  });

  it('name every failed part, and what one threw', () => {
    const none = () => {
      throw new Error('no such cipher');
    };
    assert.throws(() => assertSelfTests({ chacha20: none, expand: none }), {
      message:
        /ChaCha20 throws: no such cipher; .*the expander \(.*\) throws: no such cipher\. Nothing is served/,
    });
  });
});

describe('the known answers of the self-tests', () => {
  const keystream = (size: number) => PARTS.chacha20(KEY, new Uint8Array(12), 0, new Uint8Array(size));
  const KEY = Uint8Array.from({ length: 32 }, (_, i) => i);

  it('equal the signatures of @noble/curves', () => {
    let signatures = 0;
    assertSelfTests({
      sign(seed, message) {
        signatures++;
        return ed25519.sign(message, seed);
      },
    });
    assert.equal(signatures, 2);
  });

  it('equal the slow twins, bit by bit', () => {
    let entropy = keystream(16_384);
    let requests = 0;
    assertSelfTests({
      // Each result is compared where the self-test calls the part, so that no vector is missed.
      drawJson(request, reader, target, at) {
        const end = PARTS.drawJson(request, reader, target, at);
        const { plain, consumedBytes } = twinSample(request, entropy);
        entropy = entropy.slice(consumedBytes);
        requests++;
        assert.equal(Buffer.from(target.subarray(at, end)).toString(), JSON.stringify(plain));
        return end;
      },
      predictBits(predictor, bits) {
        const twins = { multiMcw: plainMultiMcw, lag: plainLag, multiMmc: plainMultiMmc, lz78y: plainLz78y };
        const { correct, longestRun } = twins[predictor](bits);
        assert.deepEqual(predictBits(predictor, bits), { correct, longestRun });
        return { correct, longestRun };
      },
      repeatCounts(symbols, symbolBits) {
        const plain = plainRepeatedSubstrings(symbols);
        assert.equal(repeatCounts(symbols, symbolBits)?.longest, plain.longest);
        return plain;
      },
    });
    assert.ok(requests >= 18);
  });
});

it('a service whose self-test fails does not start, gives the reason, and has opened and served nothing', async () => {
  const dataDir = scratchFolder();
  const broken = { sha256: (data: Uint8Array) => spoilt(PARTS.sha256(data)) };
  await assert.rejects(
    startService(loadConfig({ QRN_DATA_DIR: dataDir, QRN_PORT: '0' }), silentLog, { selfTested: broken }),
    /self-test failed: SHA-256 of OpenSSL gives a wrong answer/,
  );
  assert.deepEqual(readdirSync(dataDir), [], 'no ledger and no key was made');
});
