import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { InvariantError } from '../../src/core/assert.ts';
import { isInMemory, Template } from '../../src/core/template.ts';

interface Facts {
  readonly one: number;
  readonly two: number;
  /** Two characters. */
  readonly word: string;
  /** 16 bytes. */
  readonly id: Uint8Array;
  /** 32 bytes. */
  readonly secret: Uint8Array;
}

const one = { number: (facts: Facts) => facts.one };
const two = { number: (facts: Facts, factor: number) => facts.two * factor };
const word = { width: 2, text: (facts: Facts) => facts.word };
const idOf = ({ id }: Facts) => id;
const [asUuid, asBase32] = (['uuid', 'base32'] as const).map((form) => ({ form, bytes: idOf }));
const inverted = { form: 'base32', bytes: ({ id }: Facts) => id.map((byte) => ~byte) } as const;
const secret = { form: 'hex', bytes: (facts: Facts) => facts.secret, isSecret: true } as const;
const parts = ['<', one, 'ä', asUuid, two, '|', one, inverted, asBase32, word, asUuid, '>'];
const partsWithSecret = [...parts, secret, '"', secret, asBase32];

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8');
const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const uuidOf = (id: Uint8Array) => hexOf(id).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
/** One big number, five bits at a time. */
function base32Of(id: Uint8Array): string {
  const digits = BigInt(`0x${hexOf(id)}`)
    .toString(32)
    .padStart(26, '0');
  return digits.replace(/./g, (digit) => '0123456789abcdefghjkmnpqrstvwxyz'[Number.parseInt(digit, 32)]);
}

const due = ({ one, two, word, id }: Facts, factor: number) =>
  `<${one}ä${uuidOf(id)}${two * factor}|${one}${base32Of(inverted.bytes({ id } as Facts))}${base32Of(id)}${word}${uuidOf(id)}>`;
const dueWithSecret = (facts: Facts, factor: number) =>
  `${due(facts, factor)}${hexOf(facts.secret)}"${hexOf(facts.secret)}${base32Of(facts.id)}`;
const ANY: Facts = {
  one: 1,
  two: 2,
  word: 'ab',
  id: Uint8Array.from({ length: 16 }, (_, i) => 17 * i),
  secret: new Uint8Array(32).fill(0xa5),
};

describe('a template', () => {
  const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
  const facts = fc.record({
    one: fc.oneof(fc.nat(20), fc.maxSafeNat()),
    two: fc.oneof(fc.nat(20), fc.nat()),
    word: fc.string({ minLength: 2, maxLength: 2, unit: 'grapheme-ascii' }),
    id: bytes(16),
    secret: bytes(32),
  });

  it('writes each text with its own values, whatever was written before (property)', () => {
    const plain = new Template(parts);
    const template = new Template(partsWithSecret);
    fc.assert(
      fc.property(fc.array(facts, { minLength: 1 }), fc.nat(9), (list, factor) => {
        const target = new Uint8Array(3 + template.lengthMax * list.length);
        let end = 3;
        for (const each of list) {
          assert.equal(text(plain.text(each, factor)), due(each, factor));
          end = template.write(each, factor, target, end);
        }
        assert.equal(text(target.subarray(3, end)), list.map((each) => dueWithSecret(each, factor)).join(''));
        assert.ok(
          target.subarray(end).every((byte) => byte === 0),
          'nothing is written behind the end',
        );
      }),
    );
  });

  it('keeps nothing of a secret that it wrote', () => {
    const template = new Template(partsWithSecret);
    const secret = Uint8Array.from({ length: 32 }, (_, i) => 0xc1 ^ (3 * i));
    const target = new Uint8Array(template.lengthMax);
    const end = template.write({ ...ANY, secret }, 1, target, 0);
    assert.ok(text(target.subarray(0, end)).includes(hexOf(secret)));
    for (const part of [secret.subarray(0, 8), Buffer.from(hexOf(secret).slice(0, 8)), secret.subarray(24)])
      assert.ok(!isInMemory(part));
    assert.ok(isInMemory(ANY.id), 'what is no secret stays');
    assert.throws(() => template.text(ANY, 1), InvariantError);
  });

  it('is never longer than it says, and as long where its numbers are', () => {
    const template = new Template(parts);
    const longest = { ...ANY, one: Number.MAX_SAFE_INTEGER, two: Number.MAX_SAFE_INTEGER };
    assert.equal(template.text(longest, 1).length, template.lengthMax);
  });

  it('refuses numbers that it cannot print', () => {
    const template = new Template(parts);
    for (const value of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])
      assert.throws(() => template.text({ ...ANY, one: value }, 1), InvariantError);
  });

  it('serves more combinations of widths than it keeps', () => {
    const template = new Template(parts);
    for (let digits = 0; digits < 15; digits++) {
      for (let others = 0; others < 15; others++) {
        const facts = { ...ANY, one: 10 ** digits, two: 10 ** others };
        assert.equal(text(template.text(facts, 1)), due(facts, 1));
      }
    }
  });

  it('is right beside more others than have room where they are printed', () => {
    const templates = Array.from({ length: 70 }, (_, i) => new Template([`${i}:`, ...parts]));
    for (const factor of [1, 2])
      for (const [i, template] of templates.entries())
        assert.equal(text(template.text(ANY, factor)), `${i}:${due(ANY, factor)}`);
  });
});
