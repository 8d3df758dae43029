import fs, { fstatSync, statSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { TestContext } from 'node:test';
import { chacha20 } from '@noble/ciphers/chacha.js';
import { PIECE_OUTPUT_BYTES } from '../../src/crypto/expander.ts';
import type { ByteSource } from './chance.ts';

const DEVICE = statSync('/dev/urandom').rdev;
const known = new Map<number, boolean>();

/** Whether the descriptor is that of /dev/urandom. Answers are kept: the service opens it once in each thread. */
export function isEntropyDevice(fd: number): boolean {
  if (known.get(fd) === true) return true;
  const is = fstatSync(fd).rdev === DEVICE;
  if (is) known.set(fd, is);
  return is;
}

/** Makes the kernel's generator return the bytes of `source` for the rest of the test. */
export function systemGives(t: TestContext, source: ByteSource): void {
  const { readSync } = fs;
  const read = ((
    fd: number,
    target: Uint8Array<ArrayBuffer>,
    offset: number,
    length: number,
    at: number | null,
  ) => {
    if (!isEntropyDevice(fd)) return readSync(fd, target, offset, length, at);
    source(new Uint8Array(target.buffer, target.byteOffset + offset, length));
    return length;
  }) as typeof fs.readSync;
  t.mock.method(fs, 'readSync', read);
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
}

/** Expands one key of the kernel as the service does (src/crypto/system-entropy.ts), by @noble/ciphers. */
export function systemPiece(key: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  return chacha20(new Uint8Array(key), new Uint8Array(12), new Uint8Array(size), new Uint8Array(size));
}

/** The piece that a one-time key is expanded to while the kernel gives `kernelKey` (src/crypto/expander.ts). */
export function mixedPiece(key: Uint8Array, kernelKey: Uint8Array): Uint8Array<ArrayBuffer> {
  const [own, mixed] = [key, kernelKey].map((each) =>
    systemPiece(each, 32 + PIECE_OUTPUT_BYTES).subarray(32),
  );
  return own.map((byte, i) => byte ^ mixed[i]);
}
