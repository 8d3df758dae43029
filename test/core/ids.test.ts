import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { base32Of, bytesOfBase32, stampUuidV7, uuidText } from '../../src/core/ids.ts';

const idBytes = fc.uint8Array({ minLength: 16, maxLength: 16 });

/** The obvious twin: one BigInt, five bits at a time. */
function slowBase32(id: Uint8Array): string {
  let value = BigInt(`0x${Buffer.from(id).toString('hex')}`);
  let text = '';
  for (let i = 0; i < 26; i++) {
    text = '0123456789abcdefghjkmnpqrstvwxyz'[Number(value & 31n)] + text;
    value >>= 5n;
  }
  return text;
}

describe('ids', () => {
  it('print as the BigInt twin does, and read back', () => {
    fc.assert(
      fc.property(idBytes, (id) => {
        assert.equal(base32Of(id), slowBase32(id));
        assert.deepEqual(bytesOfBase32(base32Of(id)), new Uint8Array(id));
      }),
    );
    assert.equal(base32Of(new Uint8Array(16).fill(255)), `7${'z'.repeat(25)}`);
  });

  it('are refused when they are not what base32Of prints', () => {
    for (const text of [
      '',
      '0'.repeat(25),
      '0'.repeat(27),
      `8${'0'.repeat(25)}`,
      `${'0'.repeat(25)}i`,
      `${'0'.repeat(25)}é`,
    ]) {
      assert.equal(bytesOfBase32(text), undefined, text);
    }
  });

  it('carry the time and the marks of UUIDv7, RFC 9562 appendix A.6', () => {
    const id = new Uint8Array(Buffer.from('000000000000' + '0cc3' + '18c4dc0c0c07398f', 'hex'));
    stampUuidV7(id, 1_645_557_742_000);
    assert.equal(uuidText(id), '017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
  });
});
