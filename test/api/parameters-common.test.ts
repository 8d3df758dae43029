import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ApiError } from '../../src/core/errors.ts';
import { ENDPOINT_DEFINITIONS } from '../../src/http/endpoints/table.ts';
import type { ParameterDefinition } from '../../src/http/params.ts';
import { anyCharacter } from '../support/any-character.ts';
import { assertRefused, codeOf, dataGets, definitionOf, parse, requiredQuery } from './parameters-parsing.ts';

/** The rows of the specification for what all endpoints share, and of the decisions where it is silent. */

describe('entropy_mode', () => {
  const SPELT: readonly [text: string, mode: string][] = [
    ['quantum-seeded', 'quantum-seeded'],
    ['Quantum-Seeded', 'quantum-seeded'],
    ['hybrid', 'quantum-seeded'],
    ['HYBRID', 'quantum-seeded'],
    ['pure', 'pure'],
    ['Pure', 'pure'],
    ['csprng', 'csprng'],
    ['CSPRNG', 'csprng'],
    ['quantum%2Dseeded', 'quantum-seeded'],
  ];
  for (const endpoint of dataGets()) {
    it(`takes three modes in any letter case on ${endpoint}`, () => {
      const query = requiredQuery(endpoint);
      assert.equal(parse(endpoint, query).request.mode, undefined);
      for (const [text, mode] of SPELT)
        assert.equal(parse(endpoint, `${query}entropy_mode=${text}`).request.mode, mode);
      for (const text of [
        '',
        'quantum',
        'quantum_seeded',
        'auto',
        'pure,csprng',
        'pure%20',
        'null',
        '__proto__',
        'constructor',
      ]) {
        const code = codeOf(() => parse(endpoint, `${query}entropy_mode=${text}`));
        assert.equal(code, 'invalid_entropy_mode', text);
      }
    });
  }

  it('lists the three when it is none of them', () => {
    assert.throws(
      () => parse('uuid', 'entropy_mode=x'),
      (error: ApiError) => {
        assert.deepEqual(error.facts.details?.['allowed'], ['quantum-seeded', 'pure', 'csprng']);
        return /quantum-seeded, pure or csprng/.test(error.message);
      },
    );
  });
});

describe('repeated parameters', () => {
  it('are refused before anything else is checked, however they are spelt', () => {
    for (const query of [
      'count=1&count=1',
      'count=1&min=x&count=2',
      'count=x&%63ount=1',
      'count&count',
      'count=1&x=2&count=',
    ]) {
      assertRefused('integers', query, 'duplicate_parameter');
    }
    for (const endpoint of dataGets()) {
      for (const { name } of definitionOf(endpoint).parameters) {
        assertRefused(endpoint, `${name}=1&${name}=1`, 'duplicate_parameter');
      }
    }
  });
});

describe('unknown parameters', () => {
  const ignoredOf = (query: string) => parse('uuid', query).ignored;

  it('are ignored and named once each', () => {
    assert.deepEqual(ignoredOf('_=1700000000&count=2&b&_=2&Count=3&count%00=1'), [
      '_',
      'b',
      'Count',
      'count%00',
    ]);
    assert.deepEqual(ignoredOf('&&&=&=x&?count=1'), ['%3Fcount']);
    assert.deepEqual(ignoredOf('min=x&max=y'), ['min', 'max']);
  });

  it('are named in a bounded list', () => {
    const names = ignoredOf(Array.from({ length: 5_000 }, (_, i) => `n${i}=1`).join('&'));
    assert.equal(names.length, 16);
    assert.ok(ignoredOf(`${'a'.repeat(60_000)}=1`)[0].length <= 64);
  });

  it('can put nothing into a header but their own name (property)', () => {
    assert.deepEqual(ignoredOf('a,b=1&a b=1&a"b=1&é=1&\ud800=1'), [
      'a%2Cb',
      'a%20b',
      'a%22b',
      '%C3%A9',
      '%EF%BF%BD',
    ]);
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 100 }), (text) => {
        for (const name of ignoredOf(text)) assert.match(name, /^[0-9A-Za-z._~%-]{1,64}$/);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the definitions', () => {
  it('are the endpoints of the specification and those of lists', () => {
    assert.deepEqual(
      ENDPOINT_DEFINITIONS.map(({ method, path, scope }) => `${method} ${path} ${scope}`),
      [
        'GET /v1/integers entropy:read',
        'GET /v1/bytes entropy:read',
        'GET /v1/floats entropy:read',
        'GET /v1/uuid entropy:read',
        'GET /v1/bitstring entropy:read',
        'GET /v1/shuffle entropy:read',
        'POST /v1/batch entropy:batch',
        'GET /v1/sample entropy:read',
        'GET /v1/weighted entropy:read',
        'GET /v1/strings entropy:read',
        'GET /v1/sequences entropy:read',
        'GET /v1/permutations entropy:read',
        'GET /v1/gaussians entropy:read',
        'GET /v1/stream entropy:batch',
        'GET /v1/certificate certificate:read',
        'GET /v1/health health:read',
        'GET /v1/usage usage:read',
      ],
    );
  });

  it('have defaults that are valid, and names that are used once', () => {
    for (const { name, parameters, body } of ENDPOINT_DEFINITIONS) {
      const lists: (readonly ParameterDefinition[])[] = [parameters];
      if (body !== undefined) lists.push(body.members, ...Object.values(body.params));
      for (const list of lists) {
        const names = list.map(({ name }) => name);
        assert.equal(new Set(names).size, names.length, name);
        for (const each of list) {
          if (each.kind === 'integer') {
            assert.ok(each.min < each.max);
            const value = each.default;
            assert.ok(
              value === undefined || value === null || (value >= each.min && value <= each.max),
              each.name,
            );
          }
          if (each.kind === 'choice' && each.default !== undefined)
            assert.ok(each.values.includes(each.default));
          assert.match(each.description, /\.$/);
        }
      }
    }
  });
});
