import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { toHex } from '../../src/core/bytes.ts';
import { ShortHashes } from '../../src/crypto/hash-kernel.ts';
import { sha256 } from '../../src/crypto/sha256.ts';

/** Hashes by their names. */
function collected() {
  const found = new Map<number, string>();
  const hashes = new ShortHashes((name, digest) => found.set(name, toHex(digest)));
  return { found, hashes };
}

/** Puts a message that is part of a longer array. */
function put(hashes: ShortHashes, message: Uint8Array): void {
  hashes.put(Uint8Array.of(9, 9, ...message, 9), 2, 2 + message.length);
}

describe('short messages', () => {
  const message = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: ShortHashes.bytesMax }),
    fc.constantFrom(55, 56, 63, 64, 119, 120, ShortHashes.bytesMax).map((n) => new Uint8Array(n).fill(n)),
  );
  const step = fc.record({ message, isKept: fc.oneof(fc.constant(true), fc.boolean()) });

  it('have the same hashes as alone, and are erased with the last of them (property)', () => {
    const { found, hashes } = collected();
    fc.assert(
      fc.property(fc.array(fc.array(step, { maxLength: 9 }), { minLength: 1 }), (rounds) => {
        for (const steps of rounds) {
          found.clear();
          const due = new Map<number, string>();
          for (const [i, { message, isKept }] of steps.entries()) {
            put(hashes, message);
            if (!isKept) continue;
            hashes.keep(i);
            due.set(i, toHex(sha256(message)));
          }
          hashes.finish();
          assert.deepEqual(found, due);
          assert.ok(hashes.isErased);
        }
      }),
    );
  });

  it('must be put before they are kept', () => {
    const { hashes } = collected();
    assert.throws(() => hashes.keep(1), { name: 'InvariantError' });
  });
});
