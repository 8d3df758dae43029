import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { base32Of, bytesOfBase32, stampUuidV7, uuidText } from '../../src/core/ids.ts';
import { writeJsonText, writeLatin1, writeNumber } from '../../src/core/text-bytes.ts';
import { anyCharacter } from '../support/any-character.ts';

const { MAX_SAFE_INTEGER } = Number;

const written = (write: (target: Uint8Array) => number): string => {
  const target = new Uint8Array(100).fill(0x2e);
  const end = write(target);
  assert.ok(
    target.subarray(end).every((byte) => byte === 0x2e),
    'nothing is written behind the end',
  );
  return Buffer.from(target.subarray(3, end)).toString('latin1');
};

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
  it('are refused unless base32Of would print them', () => {
    const zeros = '0'.repeat(25);
    for (const text of ['', zeros, `${zeros}00`, `8${zeros}`, `${zeros}i`, `${zeros}é`])
      assert.equal(bytesOfBase32(text), undefined, text);
  });

  it('have the time and the marks of UUIDv7, RFC 9562 appendix A.6', () => {
    const id = new Uint8Array(Buffer.from('000000000000' + '0cc3' + '18c4dc0c0c07398f', 'hex'));
    stampUuidV7(id, 1_645_557_742_000);
    assert.equal(uuidText(id), '017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
  });
});

describe('texts written as bytes', () => {
  it('equal the string forms, and ids read back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (id) => {
        assert.equal(
          written((target) => writeLatin1('cert_0', target, 3)),
          'cert_0',
        );
        assert.equal(base32Of(id), slowBase32(id));
        assert.deepEqual(bytesOfBase32(base32Of(id)), id);
      }),
    );
  });

  it('may contain any characters between the quotes of a JSON string', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 12 }), (text) => {
        const json = Buffer.from(JSON.stringify(text).slice(1, -1)).toString('latin1');
        assert.equal(
          written((target) => writeJsonText(text, target, 3)),
          json,
        );
      }),
    );
  });

  it('are only integers', () => {
    fc.assert(
      fc.property(fc.nat({ max: MAX_SAFE_INTEGER }), (value) => {
        assert.equal(
          written((target) => writeNumber(value, target, 3)),
          String(value),
        );
      }),
    );
    const powers = Array.from({ length: 16 }, (_, digits) => 10 ** digits);
    for (const value of [0, ...powers.flatMap((power) => [power - 1, power, power + 1]), MAX_SAFE_INTEGER]) {
      assert.equal(
        written((target) => writeNumber(value, target, 3)),
        String(value),
      );
    }
    for (const value of [-1, 0.5, 9.5, 1e8 + 0.5, Number.NaN, 2 ** 53]) {
      assert.throws(() => writeNumber(value, new Uint8Array(30), 0), { name: 'InvariantError' });
    }
  });
});
