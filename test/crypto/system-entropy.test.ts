import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { describe, it, type TestContext } from 'node:test';
import { concatBytes } from '../../src/core/bytes.ts';
import {
  drawSystemInteger,
  expandSystemEntropy,
  fillSystemEntropy,
  SYSTEM_GENERATOR,
} from '../../src/crypto/system-entropy.ts';
import { fixedBytes } from '../support/backends.ts';
import { isEntropyDevice, systemGives, systemPiece } from '../support/system-entropy.ts';

/** Makes OpenSSL's generator return zeros for the rest of the test, as if a thief knew its state. */
function opensslIsStolen(t: TestContext): void {
  t.mock.method(crypto, 'randomFillSync', ((out: Uint8Array) => out.fill(0)) as never);
  t.mock.method(crypto, 'randomBytes', ((size: number) => Buffer.alloc(size)) as never);
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
}

describe('system entropy', () => {
  it('comes from the kernel where the platform has a device, and never from OpenSSL', (t) => {
    assert.equal(SYSTEM_GENERATOR, 'kernel');
    opensslIsStolen(t);
    for (const bytes of [fillSystemEntropy(new Uint8Array(64)), expandSystemEntropy(4096)]) {
      assert.ok(bytes.some((byte) => byte !== 0));
    }
  });

  it('fills every byte when the kernel returns fewer than requested', (t) => {
    const { readSync } = fs;
    const source = fixedBytes('short reads');
    t.mock.method(fs, 'readSync', ((fd: number, out: Uint8Array, at: number, length: number) => {
      assert.ok(isEntropyDevice(fd));
      const count = Math.min(length, 5);
      source(new Uint8Array(out.buffer as ArrayBuffer, out.byteOffset + at, count));
      return count;
    }) as typeof readSync);
    syncBuiltinESMExports();
    t.after(() => {
      t.mock.restoreAll();
      syncBuiltinESMExports();
    });
    const expected = new Uint8Array(32);
    fixedBytes('short reads')(expected);
    assert.deepEqual(fillSystemEntropy(new Uint8Array(32)), expected);
  });

  it('throws when the device ends or fails, and uses no substitute', (t) => {
    for (const read of [
      () => 0,
      () => {
        throw new Error('EIO');
      },
    ]) {
      t.mock.method(fs, 'readSync', read as never);
      syncBuiltinESMExports();
      assert.throws(() => fillSystemEntropy(new Uint8Array(32)), /not a generator|EIO/);
      assert.throws(() => expandSystemEntropy(32), /not a generator|EIO/);
      t.mock.restoreAll();
      syncBuiltinESMExports();
    }
  });

  it('is expanded from one fresh key for each piece, as another ChaCha20 expands it', (t) => {
    systemGives(t, fixedBytes('kernel'));
    const keys = [new Uint8Array(32), new Uint8Array(32), new Uint8Array(32)];
    const given = fixedBytes('kernel');
    for (const key of keys) given(key);
    const sizes = [100, 4096, 65_536];
    const pieces = sizes.map((size) => expandSystemEntropy(size));
    assert.deepEqual(
      concatBytes(...pieces),
      concatBytes(...keys.map((key, i) => systemPiece(key, sizes[i]))),
    );
    assert.throws(() => expandSystemEntropy(65_537), RangeError);
  });

  it('gives every integer below a bound equally often, because words beyond its multiples are drawn again', (t) => {
    const words = [0xffff_ffff, 0xffff_fffe, 7];
    systemGives(t, (out) => new DataView(out.buffer, out.byteOffset).setUint32(0, words.shift() ?? 0, true));
    assert.equal(drawSystemInteger(3), 0xffff_fffe % 3); // 2^32 = 1 modulo 3: the highest word alone is left over
    assert.equal(drawSystemInteger(4), 7 % 4);
  });
});
