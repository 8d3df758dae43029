import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { InvariantError } from '../../src/core/assert.ts';
import { ERRORS } from '../../src/core/errors.ts';
import { headOf, linesOf, reasonOf } from '../../src/http/head.ts';

describe('a head', () => {
  it('has a reason for every status of the error table', () => {
    for (const { status } of Object.values(ERRORS)) assert.match(reasonOf(status), /^[A-Z][A-Za-z ]+$/);
    assert.throws(() => headOf(299, []), InvariantError);
  });

  it('refuses whatever could break out of its line or contradict the framing', () => {
    for (const value of ['a\r\nb: c', 'a\nb', 'a\rb', 'a\0b', 'a\tb', 'é', '\x7f', '\u2028']) {
      assert.throws(() => headOf(200, [['X-A', value]]), InvariantError, JSON.stringify(value));
      assert.throws(() => linesOf([['X-A', value]]), InvariantError, JSON.stringify(value));
    }
    for (const name of ['', 'a b', 'a:', 'a\r', 'é', 'a(b)']) {
      assert.throws(() => headOf(200, [[name, 'v']]), InvariantError, JSON.stringify(name));
    }
    for (const name of ['Content-Length', 'transfer-encoding', 'CONNECTION', 'Date']) {
      assert.throws(() => headOf(200, [[name, '5']]), InvariantError, name);
    }
  });
});
