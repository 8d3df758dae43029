import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { base32Of, uuidText } from '../../src/core/ids.ts';
import { writeBase32, writeHex, writeLatin1, writePadded, writeUuid } from '../../src/core/text-bytes.ts';

const written = (write: (target: Uint8Array) => number): string => {
  const target = new Uint8Array(100).fill(0x2e);
  const end = write(target);
  assert.ok(
    target.subarray(end).every((byte) => byte === 0x2e),
    'nothing is written behind the end',
  );
  return Buffer.from(target.subarray(3, end)).toString('latin1');
};

describe('texts written as bytes', () => {
  it('are those of the string forms', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (id) => {
        assert.equal(
          written((target) => writeBase32(id, target, 3)),
          base32Of(id),
        );
        assert.equal(
          written((target) => writeUuid(id, target, 3)),
          uuidText(id),
        );
        assert.equal(
          written((target) => writeHex(id, target, 3)),
          Buffer.from(id).toString('hex'),
        );
      }),
    );
    assert.equal(
      written((target) => writeLatin1('cert_0', target, 3)),
      'cert_0',
    );
  });

  it('pad numbers with leading blanks and refuse what does not fit', () => {
    fc.assert(
      fc.property(fc.nat({ max: Number.MAX_SAFE_INTEGER }), (value) => {
        assert.equal(
          written((target) => writePadded(value, target, 3, 16)),
          String(value).padStart(16),
        );
      }),
    );
    assert.throws(() => writePadded(100, new Uint8Array(9), 0, 2), { name: 'InvariantError' });
    assert.throws(() => writePadded(-1, new Uint8Array(9), 0, 2), { name: 'InvariantError' });
  });
});
