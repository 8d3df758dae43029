import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { InvariantError } from '../../src/core/assert.ts';
import { ERRORS } from '../../src/core/errors.ts';
import { fieldLabel, HeadTemplate, headOf, reasonOf } from '../../src/http/head.ts';
import { anyCharacter } from '../support/any-character.ts';

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');

describe('a head', () => {
  it('is a status line without version, then fields', () => {
    const head = headOf(404, [
      ['Content-Type', 'application/json'],
      ['X-A', ''],
    ]);
    assert.equal(text(head), '404 Not Found\r\nContent-Type: application/json\r\nX-A: ');
  });

  it('has a reason for every status of the error table', () => {
    for (const { status } of Object.values(ERRORS)) assert.match(reasonOf(status), /^[A-Z][A-Za-z ]+$/);
    assert.throws(() => headOf(299, []), InvariantError);
  });

  it('refuses whatever could break out of its line or contradict the framing', () => {
    for (const value of ['a\r\nb: c', 'a\nb', 'a\rb', 'a\0b', 'a\tb', 'é', '\x7f', '\u2028']) {
      assert.throws(() => headOf(200, [['X-A', value]]), InvariantError, JSON.stringify(value));
    }
    for (const name of ['', 'a b', 'a:', 'a\r', 'é', 'a(b)']) {
      assert.throws(() => headOf(200, [[name, 'v']]), InvariantError, JSON.stringify(name));
    }
    for (const name of ['Content-Length', 'transfer-encoding', 'CONNECTION', 'Date']) {
      assert.throws(() => headOf(200, [[name, '5']]), InvariantError, name);
    }
  });

  it('never has more lines than fields, whatever the values (property)', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter }))),
        (fields) => {
          let head: Uint8Array;
          try {
            head = headOf(200, fields);
          } catch (error) {
            assert.ok(error instanceof InvariantError);
            return;
          }
          assert.equal(text(head).split(/[\r\n]+/).length, fields.length + 1);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('a head template', () => {
  const template = new HeadTemplate(200, [['Content-Type', 'a/b']], 200);
  const first = fieldLabel('X-First');
  const second = fieldLabel('X-Second');

  it('writes each line behind the fixed ones, its value without padding, and forgets the lines before', () => {
    template.restart();
    template.addNumber(first, 42);
    template.addText(second, 'x y/z');
    template.addLabelled(first, 'r=', 7, ';t=', 60);
    const fixed = '200 OK\r\nContent-Type: a/b';
    assert.equal(text(template.bytes), `${fixed}\r\nX-First: 42\r\nX-Second: x y/z\r\nX-First: r=7;t=60`);
    template.restart();
    assert.equal(text(template.bytes), fixed);
    template.addUuid(second, new Uint8Array(16));
    assert.equal(text(template.bytes), `${fixed}\r\nX-Second: 00000000-0000-0000-0000-000000000000`);
  });

  it('prints every number as JavaScript does (property)', () => {
    const holds = (value: number) => {
      template.restart();
      template.addNumber(second, value);
      assert.ok(text(template.bytes).endsWith(`\r\nX-Second: ${value}`));
    };
    fc.assert(fc.property(fc.oneof(fc.maxSafeNat(), fc.nat(10_000)), holds), { numRuns: 500 });
    for (const value of [9, 10, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 10 ** 15, Number.MAX_SAFE_INTEGER])
      holds(value);
  });

  it('refuses what does not fit and keeps what it had', () => {
    template.restart();
    template.addText(second, 'kept');
    const kept = text(template.bytes);
    for (const value of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      assert.throws(() => template.addNumber(first, value), InvariantError);
    }
    for (const value of ['a\r\nb', 'é', 'x'.repeat(200), '\x7f']) {
      assert.throws(() => template.addText(second, value), InvariantError);
    }
    assert.throws(() => fieldLabel('a: b\r\nc'), InvariantError);
    assert.equal(text(template.bytes), kept);
  });
});
