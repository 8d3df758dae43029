import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { negotiate, parseWeighted, type Representation } from '../../src/http/representation.ts';

const ALL: readonly Representation[] = ['json', 'msgpack', 'octet-stream'];

/** Accept field, what is offered (the default first), what is sent: nothing is 406. */
const CHOICES: readonly [
  accept: string,
  offered: readonly Representation[],
  chosen: Representation | undefined,
][] = [
  ['', ALL, 'json'],
  ['*/*', ALL, 'json'],
  ['application/*', ALL, 'json'],
  ['application/json', ALL, 'json'],
  ['application/msgpack', ALL, 'msgpack'],
  ['Application/MsgPack', ALL, 'msgpack'],
  ['application/octet-stream', ALL, 'octet-stream'],
  ['application/octet-stream', ['json', 'msgpack'], undefined],
  ['text/html', ALL, undefined],
  ['text/*', ALL, undefined],
  ['application/jsonx', ALL, undefined],
  ['application/json, text/plain, */*', ALL, 'json'],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', ALL, 'json'],
  ['application/problem+json', ALL, 'json'],
  ['application/msgpack, */*', ALL, 'msgpack'],
  ['*/*, application/msgpack', ALL, 'msgpack'],
  ['application/msgpack, application/json', ALL, 'msgpack'],
  ['application/json, application/msgpack', ALL, 'json'],
  ['application/msgpack;q=0.5, application/json', ALL, 'json'],
  ['application/json;q=0.5, application/msgpack', ALL, 'msgpack'],
  ['application/json;q=0.9, application/msgpack;q=0.91', ALL, 'msgpack'],
  ['application/json;q=0.001, text/html', ALL, 'json'],
  ['application/json;q=0, */*', ALL, 'msgpack'],
  ['application/json;q=0', ALL, undefined],
  ['*/*;q=0', ALL, undefined],
  ['application/msgpack;q=0, application/octet-stream;q=0', ALL, undefined],
  ['application/msgpack ; q=0.5 , application/octet-stream ;q=0.7', ALL, 'octet-stream'],
  ['application/msgpack;Q=0.5, application/octet-stream;q=0.7', ALL, 'octet-stream'],
  ['application/json;charset=utf-8;q=0.1, application/msgpack;q=0.2', ALL, 'msgpack'],
  ['application/json;x="a,b;q=0", application/msgpack;q=0.2', ALL, 'json'],
  ['application/json;x="a\\"b", application/msgpack;q=0.2', ALL, 'json'],
  // malformed members do not count, the others do
  ['application/msgpack;q=2', ALL, 'json'],
  ['application/msgpack;q=0.1234', ALL, 'json'],
  ['application/msgpack;q=-1', ALL, 'json'],
  ['application/msgpack;q=', ALL, 'json'],
  ['application/msgpack;q="1"', ALL, 'json'],
  ['msgpack, application/octet-stream', ALL, 'octet-stream'],
  ['application/msgpack/x, application/octet-stream', ALL, 'octet-stream'],
  [', ,, application/msgpack,', ALL, 'msgpack'],
  ['*/msgpack', ALL, undefined],
  ['application/msgpack;', ALL, 'msgpack'],
  [`${','.repeat(60_000)}application/msgpack`, ALL, 'json'],
  ['application/problem+json', ['json', 'problem'], 'problem'],
  ['application/json, application/problem+json', ['json', 'problem'], 'json'],
  ['application/problem+json, */*', ['json', 'problem'], 'problem'],
  ['application/health+json', ['json', 'health'], 'health'],
];

describe('negotiation', () => {
  for (const [accept, offered, chosen] of CHOICES) {
    it(`of ${JSON.stringify(accept.slice(0, 70))} for ${offered.join(', ')} gives ${chosen ?? 406}`, () => {
      if (chosen !== undefined) assert.equal(negotiate(accept, offered), chosen);
      else assert.throws(() => negotiate(accept, offered), { code: 'not_acceptable', status: 406 });
      assert.equal(negotiate(accept, offered, 'problem'), chosen ?? 'problem');
    });
  }

  it('ends with one of the offered types, whatever the field (property)', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary-ascii', maxLength: 6 }),
      fc.constantFrom('application/json', '/', ';', 'q=', '0.5', ',', '"', '\\', '*/*', ' '),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const accept = pieces.join('');
        assert.ok(ALL.includes(negotiate(accept, ALL, 'json')));
        for (const { quality } of parseWeighted(accept)) assert.ok(quality >= 0 && quality <= 1);
      }),
      { numRuns: 1_000 },
    );
  });
});
