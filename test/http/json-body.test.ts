import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { jsonErrorPlace } from '../../src/core/json-syntax.ts';
import { repeatedMember } from '../../src/core/repeated-member.ts';
import { parseJsonObject } from '../../src/http/json-body.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('a JSON body', () => {
  it('is one object in UTF-8', () => {
    assert.deepEqual(parseJsonObject(bytes('{"a":[1,{"b":"é"}]}')), { a: [1, { b: 'é' }] });
    assert.deepEqual(parseJsonObject(bytes('\ufeff {} ')), {});
  });

  // what is JSON and no object, and the usual slips, stand in test/vectors/requests.json
  const invalid: readonly [name: string, body: Uint8Array][] = [
    ['two objects', bytes('{}{}')],
    ['a comment', bytes('{}//')],
    ['an open bracket 60,000 times', bytes('['.repeat(60_000))],
    ['bytes that are not UTF-8', Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d)],
    ['UTF-16', new Uint8Array(Buffer.from('{}', 'utf16le'))],
  ];
  for (const [name, body] of invalid) {
    it(`is not ${name}`, () => {
      assert.throws(() => parseJsonObject(body), { code: 'invalid_json' });
    });
  }

  it('names the place where it stops being JSON, and does not repeat its content', () => {
    const cases: [text: string, line: number, column: number][] = [
      ['{"count":5,}', 1, 12],
      ['{\n  "count": 5\n  "type": "uuid"\n}', 3, 3],
      ['{"a":[1,{"secret":tru}]}', 1, 19],
      ["{'type':'uuid'}", 1, 2],
      ['{"a":"\n"}', 1, 6],
      ['{\r\n"a":01}', 2, 6],
      ['{"a":1', 1, 7],
      ['', 1, 1],
    ];
    for (const [text, line, column] of cases) {
      assert.throws(() => parseJsonObject(bytes(text)), {
        code: 'invalid_json',
        facts: {
          message: `The body must be one JSON object. The JSON is malformed at line ${line}, column ${column}.`,
          details: { line, column },
        },
      });
    }
  });

  it('has such a place exactly when JSON.parse rejects it', () => {
    const pieces = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"\\u00e9"',
      '"\\x"',
      '"',
      '0',
      '-1.5e+3',
      '01',
      'true',
      'nul',
      ' ',
      '\n',
    ];
    const text = fc.oneof(
      fc.array(fc.constantFrom(...pieces)).map((each) => each.join('')),
      fc.json(),
    );
    fc.assert(
      fc.property(text, (each) => {
        let isJson = true;
        try {
          JSON.parse(each);
        } catch {
          isJson = false;
        }
        assert.equal(jsonErrorPlace(each) === undefined, isJson);
      }),
      { seed: 27_331, numRuns: 2_000 },
    );
  });

  it('has no member twice in one object, however it is spelt or nested', () => {
    for (const text of [
      '{"a":1,"a":1}',
      '{"a":1,"\\u0061":2}',
      '{"a" \n:1,"a"\t:2}',
      '{"x":{"b":1,"c":{},"b":2}}',
      '{"x":[{"b":1},{"b":2,"b":3}]}',
      '{"__proto__":1,"__proto__":2}',
      '{"\\"":1,"\\"":2}',
    ]) {
      assert.throws(() => parseJsonObject(bytes(text)), { code: 'duplicate_parameter' }, text);
    }
    for (const text of [
      '{"a":{"a":{"a":1}},"b":"a"}',
      '{"a":"a","b":["a","a"]}',
      '{"a":[{"b":1},{"b":2}]}',
      '{"a":"{\\"a\\":1,\\"a\\":2}"}',
      '{"a":1,"A":2}',
      '{"a":"x\\\\","b":"\\"a\\":"}',
    ]) {
      assert.equal(repeatedMember(text), undefined, text);
    }
  });

  it('is refused where a member is added twice, and nowhere else (property)', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { minKeys: 1 }), (object) => {
        const text = JSON.stringify(object);
        assert.equal(repeatedMember(text), undefined);
        const name = Object.keys(object)[0];
        assert.equal(repeatedMember(`${text.slice(0, -1)},${JSON.stringify(name)}:0}`), name);
      }),
      { numRuns: 300 },
    );
  });

  it('is scanned in one pass at any depth and length of strings', () => {
    const deep = `{"a":${'{"b":'.repeat(8_000)}1${'}'.repeat(8_000)}}`;
    assert.equal(repeatedMember(deep), undefined);
    assert.equal(repeatedMember(`{"a":"${'\\n'.repeat(30_000)}","a":1}`), 'a');
  });
});
