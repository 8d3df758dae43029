import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { InvariantError } from '../../src/core/assert.ts';
import { ERRORS } from '../../src/core/errors.ts';
import { HeadTemplate, headOf, reasonOf } from '../../src/http/head.ts';

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
        fc.array(fc.tuple(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }))),
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
      { numRuns: 300, seed: 11 },
    );
  });
});

describe('a head template', () => {
  const template = new HeadTemplate(
    200,
    [['Content-Type', 'a/b']],
    [
      { name: 'X-First', width: 4 },
      { name: 'X-Second', width: 16 },
    ],
  );
  const first = template.slot('X-First');
  const second = template.slot('X-Second');
  const patched = (name: string) => new RegExp(`\r\n${name}: ([^\r]*)`).exec(text(template.bytes))?.[1];

  it('patches each field in its place, blanks before it', () => {
    first.setNumber(42);
    second.setText('x y/z');
    assert.equal(
      text(template.bytes),
      '200 OK\r\nContent-Type: a/b\r\nX-First:   42\r\nX-Second:            x y/z',
    );
    first.setNumber(0);
    second.setText('');
    assert.deepEqual([patched('X-First'), patched('X-Second')], ['   0', ' '.repeat(16)]);
  });

  it('prints every number as JavaScript does (property)', () => {
    fc.assert(
      fc.property(fc.oneof(fc.maxSafeNat(), fc.nat(10_000)), (value) => {
        second.setNumber(value);
        assert.equal(patched('X-Second'), String(value).padStart(16));
      }),
      { numRuns: 500, seed: 3 },
    );
    for (const value of [9, 10, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 10 ** 15, Number.MAX_SAFE_INTEGER]) {
      second.setNumber(value);
      assert.equal(patched('X-Second'), String(value).padStart(16));
    }
  });

  it('refuses what does not fit and keeps what it had', () => {
    first.setNumber(9_999);
    second.setText('kept');
    for (const value of [10_000, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      assert.throws(() => first.setNumber(value), InvariantError);
    }
    for (const value of ['a\r\nb', 'é', '12345678901234567', '\x7f']) {
      assert.throws(() => second.setText(value), InvariantError);
    }
    assert.deepEqual([patched('X-First'), patched('X-Second')?.trim()], ['9999', 'kept']);
    assert.throws(() => template.slot('X-Third'), InvariantError);
  });
});
