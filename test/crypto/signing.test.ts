import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { fromHex, toHex, utf8Bytes } from '../../src/core/bytes.ts';
import { fromBase64 } from '../../src/crypto/base64.ts';
import { KeyFileError, openLogKeys, openSecretFile, rotateLogKeys } from '../../src/crypto/key-files.ts';
import { SigningKey, verifyEd25519 } from '../../src/crypto/signing.ts';
import { ManualClock } from '../support/manual-clock.ts';

/** RFC 8032 §7.1, tests 1 to 3. */
const RFC8032 = [
  {
    seed: '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    publicKey: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    message: '',
    signature:
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  },
  {
    seed: '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
    publicKey: '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    message: '72',
    signature:
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  },
  {
    seed: 'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
    publicKey: 'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
    message: 'af82',
    signature:
      '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
  },
];

describe('SigningKey', () => {
  RFC8032.forEach(({ seed, publicKey, message, signature }, i) => {
    it(`signs as test ${i + 1} of RFC 8032 §7.1`, () => {
      const key = SigningKey.fromSeed(fromHex(seed));
      assert.equal(toHex(key.publicKey), publicKey);
      assert.equal(toHex(key.sign(fromHex(message))), signature);
      assert.ok(verifyEd25519(key.publicKey, fromHex(message), fromHex(signature)));
    });
  });

  it('verifies nothing else', () => {
    const key = SigningKey.generate();
    const message = utf8Bytes('message');
    const signature = key.sign(message);
    assert.ok(verifyEd25519(key.publicKey, message, signature));
    assert.ok(!verifyEd25519(SigningKey.generate().publicKey, message, signature));
    assert.ok(!verifyEd25519(key.publicKey, utf8Bytes('massage'), signature));
    assert.ok(!verifyEd25519(key.publicKey, message, signature.subarray(1)));
    assert.ok(!verifyEd25519(key.publicKey.subarray(1), message, signature));
  });

  it('comes back from PEM, and is nothing but Ed25519', () => {
    const key = SigningKey.generate();
    assert.deepEqual(SigningKey.fromPem(key.toPem()).publicKey, key.publicKey);
    const other = generateKeyPairSync('x25519')
      .privateKey.export({ type: 'pkcs8', format: 'pem' })
      .toString();
    assert.throws(() => SigningKey.fromPem(other), TypeError);
    assert.throws(() => SigningKey.fromSeed(new Uint8Array(31)), RangeError);
  });
});

describe('key files', () => {
  const clock = new ManualClock();
  const NAME = 'qrn.example/log';
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'qrn-keys-'));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });
  const mode = (file: string) => statSync(join(directory, file)).mode & 0o777;
  const message = utf8Bytes('message');

  it('are made once, readable by their owner alone, and found again', () => {
    const first = openLogKeys(directory, NAME, clock);
    const again = openLogKeys(directory, NAME, clock);
    assert.deepEqual(again.published, first.published);
    assert.equal(again.currentKeyId, first.currentKeyId);
    assert.ok(verifyEd25519(first.current.publicKey, message, again.current.sign(message)));
    assert.equal(mode('log-1.pem'), 0o600);
    assert.deepEqual(readdirSync(directory).sort(), ['log-1.json', 'log-1.pem']);
    assert.equal(first.published[0].verifier_key.split('+')[0], NAME);
    assert.equal(first.published[0].created_at, '2023-11-14T22:13:20.000Z');
  });

  it('sign with a new key after a rotation, which keeps the old public key and removes the old private one', () => {
    const first = openLogKeys(directory, NAME, clock);
    const rotated = rotateLogKeys(directory, NAME, clock);
    assert.notEqual(rotated.currentKeyId, first.currentKeyId);
    assert.deepEqual(
      rotated.published.map((key) => key.key_id),
      [first.currentKeyId, rotated.currentKeyId],
    );
    clock.advance(60_000); // the service signs with the old key until it is started again
    const opened = openLogKeys(directory, NAME, clock).published;
    const retiredAt = new Date(clock.wallMs()).toISOString();
    assert.deepEqual(opened, [{ ...rotated.published[0], retired_at: retiredAt }, rotated.published[1]]);
    clock.advance(60_000);
    assert.deepEqual(openLogKeys(directory, NAME, clock).published, opened, 'retired once');
    const files = ['log-1.json', 'log-1.retired', 'log-2.json', 'log-2.pem'];
    assert.deepEqual(readdirSync(directory).sort(), files);
    const old = fromBase64(rotated.published[0].public_key);
    assert.ok(old && verifyEd25519(old, message, first.current.sign(message)));
  });

  it('are used when a crash left them before they were published', () => {
    const key = SigningKey.generate();
    writeFileSync(join(directory, 'log-1.pem'), key.toPem(), { mode: 0o600 });
    assert.deepEqual(openLogKeys(directory, NAME, clock).current.publicKey, key.publicKey);
  });

  it('are not replaced when the private key is lost, except by a rotation', () => {
    openLogKeys(directory, NAME, clock);
    rmSync(join(directory, 'log-1.pem'));
    assert.throws(() => openLogKeys(directory, NAME, clock), KeyFileError);
    assert.equal(rotateLogKeys(directory, NAME, clock).published.length, 2);
  });

  it('are refused under another name and when they are mixed up, as is a rotation of none', () => {
    assert.throws(() => rotateLogKeys(directory, NAME, clock), KeyFileError);
    openLogKeys(directory, NAME, clock);
    assert.throws(() => openLogKeys(directory, 'qrn.example/other', clock), KeyFileError);
    assert.throws(() => openLogKeys(directory, 'two words', clock), KeyFileError);
    writeFileSync(join(directory, 'log-1.pem'), SigningKey.generate().toPem());
    assert.throws(() => openLogKeys(directory, NAME, clock), /is not the private key of/);
  });

  it('are refused when others may read the private ones', {
    skip: process.platform === 'win32' && 'no modes',
  }, () => {
    openLogKeys(directory, NAME, clock);
    chmodSync(join(directory, 'log-1.pem'), 0o640);
    assert.throws(() => openLogKeys(directory, NAME, clock), /others may read it/);
  });

  it('hold 32 secret bytes, made once and readable by their owner alone', () => {
    const path = join(directory, 'deep', 'certificate.key');
    const secret = openSecretFile(path);
    assert.equal(secret.length, 32);
    assert.deepEqual(openSecretFile(path), secret);
    assert.notDeepEqual(openSecretFile(join(directory, 'other.key')), secret);
    assert.equal(mode('deep/certificate.key'), 0o600);
    writeFileSync(path, `${readFileSync(path, 'utf8').slice(0, 10)}\n`);
    assert.throws(() => openSecretFile(path), KeyFileError);
  });

  it('are made although a crash left a draft', () => {
    writeFileSync(join(directory, 'certificate.key.draft'), 'half');
    assert.equal(openSecretFile(join(directory, 'certificate.key')).length, 32);
    assert.deepEqual(readdirSync(directory), ['certificate.key']);
  });
});
