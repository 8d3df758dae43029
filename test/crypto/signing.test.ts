import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { fromHex, toHex, utf8Bytes } from '../../src/core/bytes.ts';
import { fromBase64 } from '../../src/crypto/base64.ts';
import { verifyEd25519 } from '../../src/crypto/ed25519.ts';
import { KeyFileError, openLogKeys, openSecretFile, rotateLogKeys } from '../../src/crypto/key-files.ts';
import { SigningKey } from '../../src/crypto/signing.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const vectorsUrl = new URL('../vectors/crypto/rfc8032.json', import.meta.url);
const { vectors } = JSON.parse(readFileSync(vectorsUrl, 'utf8')) as {
  vectors: { seed: string; publicKey: string; message: string; signature: string }[];
};

describe('SigningKey', () => {
  vectors.forEach(({ seed, publicKey, message, signature }, i) => {
    it(`signs as test ${i + 1} of RFC 8032 §7.1`, () => {
      const key = SigningKey.fromSeed(fromHex(seed));
      assert.equal(toHex(key.publicKey), publicKey);
      assert.equal(toHex(key.sign(fromHex(message))), signature);
      assert.ok(verifyEd25519(key.publicKey, fromHex(message), fromHex(signature)));
    });
  });

  it('verifies no other message, key or signature', () => {
    const key = SigningKey.generate();
    const message = utf8Bytes('message');
    const signature = key.sign(message);
    assert.ok(verifyEd25519(key.publicKey, message, signature));
    assert.ok(!verifyEd25519(SigningKey.generate().publicKey, message, signature));
    assert.ok(!verifyEd25519(key.publicKey, utf8Bytes('massage'), signature));
    assert.ok(!verifyEd25519(key.publicKey, message, signature.subarray(1)));
    assert.ok(!verifyEd25519(key.publicKey.subarray(1), message, signature));
  });

  it('is restored from PEM, and accepts only Ed25519', () => {
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
    directory = scratchFolder();
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

  it('have a new key after a rotation, which keeps the old public key and removes the old private one', () => {
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
    // as a rotation leaves it that is killed before its last step
    writeFileSync(join(directory, 'log-1.pem'), first.current.toPem(), { mode: 0o600 });
    openLogKeys(directory, NAME, clock);
    const files = ['log-1.json', 'log-1.retired', 'log-2.json', 'log-2.pem'];
    assert.deepEqual(readdirSync(directory).sort(), files);
    const old = fromBase64(rotated.published[0].public_key);
    assert.ok(old && verifyEd25519(old, message, first.current.sign(message)));
  });

  it('that a crash left before they were published are used', () => {
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

  it('are refused under another name and when they are mixed up, and no rotation works without one', () => {
    assert.throws(() => rotateLogKeys(directory, NAME, clock), KeyFileError);
    openLogKeys(directory, NAME, clock);
    assert.throws(() => openLogKeys(directory, 'qrn.example/other', clock), KeyFileError);
    assert.throws(() => openLogKeys(directory, 'two words', clock), KeyFileError);
    writeFileSync(join(directory, 'log-1.pem'), SigningKey.generate().toPem());
    assert.throws(() => openLogKeys(directory, NAME, clock), /is not the private key of/);
  });

  it('that are missing, damaged or of another log are named, with what to do', () => {
    openLogKeys(directory, NAME, clock);
    const secret = join(directory, 'secret');
    const [json, pem] = ['log-1.json', 'log-1.pem'].map((file) => join(directory, file));
    const putBack = 'restore it from a copy of the keys folder';
    const open = () => openLogKeys(directory, NAME, clock);
    const cases: [file: string, content: string | undefined, message: string][] = [
      [secret, 'x', `${secret} does not contain 32 bytes in base64: ${putBack}`],
      [json, 'x', `${json} is not a public key: ${putBack}`],
      [json, '[]', `${json} is not a public key: ${putBack}`],
      [pem, 'x', `${pem} is damaged and contains no Ed25519 key: ${putBack}`],
      [pem, SigningKey.generate().toPem(), `${pem} is not the private key of log-1.json: ${putBack}`],
      [
        pem,
        undefined,
        `${pem}, the private key of the log, is missing: ${putBack}, or create a new key with qrn log rotate-key`,
      ],
    ];
    for (const [file, content, message] of cases) {
      const whole = file === secret ? '' : readFileSync(file, 'utf8');
      rmSync(file, { force: true });
      if (content !== undefined) writeFileSync(file, content, { mode: 0o600 });
      assert.throws(() => (file === secret ? openSecretFile(file) : open()), {
        name: 'KeyFileError',
        message,
      });
      writeFileSync(file, whole, { mode: 0o600 });
    }
    assert.throws(() => openLogKeys(directory, 'qrn.example/other', clock), {
      message: `${json} belongs to the log ${NAME}, not to qrn.example/other: the name of a log (QRN_LOG_NAME) never changes`,
    });
  });

  it('with private keys that others may read are refused', {
    skip: process.platform === 'win32' && 'no modes',
  }, () => {
    openLogKeys(directory, NAME, clock);
    chmodSync(join(directory, 'log-1.pem'), 0o640);
    assert.throws(() => openLogKeys(directory, NAME, clock), /can be read by other users/);
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
