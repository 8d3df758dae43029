import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { InvariantError } from '../../src/core/assert.ts';
import { Template } from '../../src/core/template.ts';

interface Facts {
  readonly one: number;
  readonly two: number;
  /** Two characters. */
  readonly word: string;
}

const one = { number: (facts: Facts) => facts.one };
const two = { number: (facts: Facts, factor: number) => facts.two * factor };
const word = {
  width: 2,
  write: (facts: Facts, _: number, target: Uint8Array, at: number) =>
    void target.set(Buffer.from(facts.word, 'latin1'), at),
};
const seldom = {
  ...word,
  write: (...args: Parameters<typeof word.write>) => word.write(...args),
  madeOf: (facts: Facts) => facts.word,
};
const parts = ['<', one, 'ä', word, two, '|', one, word, seldom, '>'];
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8');
const due = ({ one, two, word }: Facts, factor: number) =>
  `<${one}ä${word}${two * factor}|${one}${word}${word}>`;

describe('a template', () => {
  const facts = fc.record({
    one: fc.oneof(fc.nat(20), fc.maxSafeNat()),
    two: fc.oneof(fc.nat(20), fc.nat()),
    word: fc.string({ minLength: 2, maxLength: 2, unit: 'grapheme-ascii' }),
  });

  it('writes each text with its own values, whatever was written before (property)', () => {
    const template = new Template(parts);
    fc.assert(
      fc.property(fc.array(facts, { minLength: 1 }), fc.nat(9), (list, factor) => {
        const target = new Uint8Array(3 + template.lengthMax * list.length);
        let end = 3;
        for (const each of list) {
          assert.equal(text(template.text(each, factor)), due(each, factor));
          end = template.write(each, factor, target, end);
        }
        assert.equal(text(target.subarray(3, end)), list.map((each) => due(each, factor)).join(''));
        assert.ok(
          target.subarray(end).every((byte) => byte === 0),
          'nothing is written behind the end',
        );
      }),
    );
  });

  it('keeps what it writes beside itself when its own memory is written over', () => {
    const template = new Template(parts);
    const target = new Uint8Array(100);
    const end = template.write({ one: 1, two: 2, word: 'ab' }, 1, target, 0);
    template.text({ one: 3, two: 4, word: 'cd' }, 1);
    assert.equal(text(target.subarray(0, end)), '<1äab2|1abab>');
  });

  it('is never longer than it says, and as long where its numbers are', () => {
    const template = new Template(parts);
    const longest = { one: Number.MAX_SAFE_INTEGER, two: Number.MAX_SAFE_INTEGER, word: 'ab' };
    assert.equal(template.text(longest, 1).length, template.lengthMax);
  });

  it('refuses numbers that it cannot print', () => {
    const template = new Template(parts);
    for (const value of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])
      assert.throws(() => template.text({ one: value, two: 0, word: 'ab' }, 1), InvariantError);
  });

  it('serves more combinations of widths than it keeps', () => {
    const template = new Template(parts);
    for (let digits = 0; digits < 15; digits++) {
      for (let others = 0; others < 15; others++) {
        const facts = { one: 10 ** digits, two: 10 ** others, word: 'ab' };
        assert.equal(text(template.text(facts, 1)), due(facts, 1));
      }
    }
  });
});
