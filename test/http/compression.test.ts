import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { codingOf, compressed } from '../../src/http/compression.ts';
import { hasField, headOf } from '../../src/http/head.ts';

const text = new Uint8Array(Buffer.from('a page of text, '.repeat(200)));
const reply = (contentType: string, body = text) => ({
  head: headOf(200, [['Content-Type', contentType]]),
  body,
});
const headText = (head: Uint8Array) => Buffer.from(head).toString('latin1');

describe('compression of documents', () => {
  for (const [field, coding] of [
    ['', undefined],
    ['identity', undefined],
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['GZip;q=1, br;q=0.5', 'gzip'],
    ['br;q=0, gzip;q=0', undefined],
    ['*', 'br'],
    ['*;q=0', undefined],
    ['br;q=0, *', 'gzip'],
    ['gzip;q=x', undefined],
    ['gzip;q=0.001', 'gzip'],
    ['gzip ; Q=1', 'gzip'],
    ['x-gzip', 'gzip'],
    ['identity;q=0', undefined],
    ['identity;q=0, gzip;q=0.001', 'gzip'],
    ['identity;q=0, *;q=0.5', 'br'],
    ['identity, gzip;q=0.5', undefined],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['*;q=0, gzip', 'gzip'],
    ['*;q=0, identity', undefined],
    ['deflate, zstd', undefined],
  ] as const) {
    it(`answers Accept-Encoding ${JSON.stringify(field)} with ${coding ?? 'no coding'}`, () => {
      assert.equal(codingOf(field), coding);
    });
  }

  it('sends the same document in fewer bytes, and names the coding', () => {
    const gzip = compressed(reply('text/html; charset=utf-8'), 'gzip');
    assert.match(headText(gzip.head), /\r\nVary: Accept-Encoding\r\nContent-Encoding: gzip$/);
    assert.deepEqual(new Uint8Array(gunzipSync(gzip.body)), text);
    const br = compressed(reply('application/json'), 'br');
    assert.match(headText(br.head), /\r\nContent-Encoding: br$/);
    assert.deepEqual(new Uint8Array(brotliDecompressSync(br.body)), text);
    assert.ok(br.body.length < text.length / 10 && gzip.body.length < text.length / 10);
  });

  it('keeps the compressed form of a repeated body', () => {
    assert.equal(compressed(reply('text/html'), 'br').body, compressed(reply('text/html'), 'br').body);
  });

  it('leaves short bodies, octets and PDF uncompressed', () => {
    const short = compressed(reply('text/html', text.slice(0, 1_000)), 'br');
    assert.deepEqual([short.body.length, hasField(short.head, 'Content-Encoding')], [1_000, false]);
    for (const type of ['application/octet-stream', 'application/pdf', 'application/msgpack']) {
      const other = reply(type);
      assert.equal(compressed(other, 'br'), other);
    }
    const plain = compressed(reply('text/html'), '');
    assert.deepEqual([plain.body, hasField(plain.head, 'Content-Encoding')], [text, false]);
  });

  it('names Accept-Encoding in Vary of every document of a compressible type, compressed or not', () => {
    const short = text.slice(0, 10);
    for (const [body, accepted] of [
      [text, ''],
      [text, 'br'],
      [text, '*;q=0'],
      [short, 'br'],
    ] as const) {
      const { head } = compressed(reply('application/json', body), accepted);
      assert.match(headText(head), /\r\nVary: Accept-Encoding(\r\n|$)/);
    }
    for (const type of ['application/octet-stream', 'application/pdf']) {
      assert.ok(!hasField(compressed(reply(type), 'br').head, 'Vary'));
    }
  });
});
