import fc from 'fast-check';
import type { DataEndpointDefinition } from '../../../src/http/endpoint.ts';
import { DATA_ENDPOINT_DEFINITIONS } from '../../../src/http/endpoints/table.ts';
import type { ParameterDefinition } from '../../../src/http/params.ts';
import { anyAccept, anyKeyWay, anyRole, type FuzzCase } from './cases.ts';
import type { DataAsk } from './model.ts';
import { jsonObject, percentEncoded } from './spelling.ts';
import { validCase } from './valid.ts';

/** Requests made from the definitions of the parameters, on the bounds and on every wrong side of them. */

/** What is no value of anything, or of something else. Each character is a byte of the wire. */
export const HOSTILE_TEXTS = [
  ...[
    '',
    '+1',
    '%2B1',
    '1.0',
    '1.',
    '.5',
    '1e3',
    '1E3',
    '0x10',
    '0b1',
    '1_000',
    '1,000',
    '%201',
    '1%20',
    '--1',
    '-',
  ],
  ...[
    '-0',
    '00',
    '0',
    '-00000',
    '1',
    '2',
    'true',
    'True',
    'FALSE',
    'yes',
    'on',
    '01',
    'NaN',
    'Infinity',
    '-Infinity',
  ],
  ...[
    'null',
    'undefined',
    '[object%20Object]',
    '[]',
    '{}',
    '[1]',
    '"1"',
    '1;2',
    '1%0d%0aX:y',
    '%00',
    '1%00',
    '%',
    '%1',
  ],
  ...[
    '%zz',
    '%ff',
    '%c0%80',
    '%ed%a0%80',
    '%f4%90%80%80',
    '%EF%BC%91',
    '%D9%A1',
    '%ef%bb%bf1',
    '\xff',
    '\xc3\xa9',
    '\x7f',
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'hex',
    'HEX',
    'base64',
    'base64url',
    'none',
    'ascending',
  ],
  ...[
    'pure',
    'PURE',
    'hybrid',
    'csprng',
    'quantum',
    'quantum_seeded',
    'pur%45',
    'a,b',
    'a',
    ',',
    ',,',
    'a,%ff',
    'a,%2C',
  ],
  ...[
    '9007199254740991',
    '9007199254740992',
    '-9007199254740991',
    '-9007199254740992',
    '99999999999999999999999999',
  ],
  ...[
    '-1',
    '2147483647',
    '2147483648',
    '4294967296',
    '9'.repeat(400),
    `${'0'.repeat(400)}7`,
    'x'.repeat(3_000),
  ],
];

const HOSTILE_JSON = [
  ...[
    'null',
    'true',
    'false',
    '0',
    '-0',
    '1',
    '-1',
    '1.0',
    '1e2',
    '1E+2',
    '1.5',
    '1e400',
    '-1e400',
    '5e-324',
  ],
  ...['9007199254740991', '9007199254740992', '9007199254740993', '-9007199254740991', '100000', '100001'],
  ...[
    '"1"',
    '""',
    '"integers"',
    '"uuid"',
    '"UUID"',
    '"bytes"',
    '"floats"',
    '"shuffle"',
    '"pure"',
    '"PURE"',
    '"hex"',
  ],
  ...[
    '"base64"',
    '"__proto__"',
    '"\\u0000"',
    '"\\ud800"',
    '[]',
    '[1]',
    '{}',
    '{"min":1}',
    '{"min":1,"max":2}',
  ],
  ...['{"min":5,"max":5}', '{"max":9007199254740991}', '{"min":-9007199254740991,"max":9007199254740991}'],
  ...['{"precision":15}', '{"precision":16}', '{"precision":null}', '{"length":1024}', '{"length":0}'],
  ...['{"encoding":"base64","length":1}', '{"__proto__":{"min":1}}', '{"constructor":{"prototype":1}}'],
  ...['{"a":1,"a":1}', '{"a":{"b":1,"\\u0062":2}}', '[{"a":1},{"a":1}]', '"a\\"b:c{"', '{"a":":"}'],
  `${'['.repeat(9_000)}${']'.repeat(9_000)}`,
  `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`,
];

/** Values around the bounds of a definition, and some of everybody's. */
function textsFor(definition: ParameterDefinition): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 3, arbitrary: edgeTexts(definition) },
    { weight: 2, arbitrary: fc.constantFrom(...HOSTILE_TEXTS) },
    { weight: 1, arbitrary: wireText },
  );
}

/** Bytes that a request target may hold without ending it. */
const wireText = fc
  .array(fc.integer({ min: 0x21, max: 0xff }), { maxLength: 12 })
  .map((codes) => String.fromCharCode(...codes).replaceAll('&', '%26'));

function edgeTexts(definition: ParameterDefinition): fc.Arbitrary<string> {
  switch (definition.kind) {
    case 'integer':
      return edgeNumbers(definition).map(String);
    case 'number':
      return fc.constantFrom(
        '0',
        '-0',
        '1e6',
        '-1000000',
        '1000000.0001',
        '1e-9',
        '1e-10',
        '.5',
        '5.',
        '+1',
        '1e',
        'NaN',
        'Infinity',
        '1e999',
        '0x1',
        '0.1',
      );
    case 'boolean':
      return fc.constantFrom('true', 'false', '1', '0');
    case 'choice': {
      const spelt = [...definition.values, ...Object.keys(definition.synonyms ?? {})];
      return fc.constantFrom(...spelt, ...spelt.map((word) => word.toUpperCase()));
    }
    case 'items':
      return fc.oneof(
        fc.constantFrom(
          'a,b',
          'b,a,c%2C',
          Array(definition.max).fill('1').join(','),
          Array(definition.max + 1)
            .fill('')
            .join(','),
        ),
        fc
          .array(fc.constantFrom('', 'a', '%2c', '%C3%A9', '0'), { maxLength: 6 })
          .map((items) => items.join(',')),
      );
    case 'integer-list':
      return fc.oneof(
        fc.array(edgeNumbers(definition), { maxLength: 4 }).map((numbers) => numbers.join(',')),
        fc.constantFrom('1,2', '1', '3,2,1', '1,,2', '1,x', '1.5,2', Array(10_001).fill('1').join(',')),
      );
    case 'text':
      return fc.constantFrom('', 'a', 'ab', 'aba', '%C3%A9e', '%0A%0D', 'abc'.repeat(400));
  }
}

function edgeNumbers({ min, max }: { readonly min: number; readonly max: number }): fc.Arbitrary<number> {
  const edges = [min - 1, min, min + 1, max - 1, max, max + 1, 0, -1, 10_000, 10_001].filter(
    Number.isSafeInteger,
  );
  return fc.oneof(fc.constantFrom(...edges), fc.integer({ min: 1, max: 300 }));
}

const UNKNOWN_NAMES = [
  '_',
  'Count',
  'count%00',
  '%ff',
  '__proto__',
  'constructor',
  'params',
  'a[]',
  '\xc3\xa9',
  '%',
  '',
];

function hostileQuery(endpoint: Pick<DataEndpointDefinition, 'parameters'>): fc.Arbitrary<string> {
  const known = endpoint.parameters.map((definition) =>
    fc.record({
      name: fc.constantFrom(definition.name),
      text: textsFor(definition),
      mask: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat() }),
      isBare: fc.integer({ min: 0, max: 30 }).map((draw) => draw === 30),
    }),
  );
  const unknown = fc.record({
    name: fc.constantFrom(...UNKNOWN_NAMES, ...endpoint.parameters.map(({ name }) => name.toUpperCase())),
    text: fc.constantFrom(...HOSTILE_TEXTS),
    mask: fc.constant(0),
    isBare: fc.boolean(),
  });
  const part = fc.oneof({ weight: 8, arbitrary: fc.oneof(...known) }, { weight: 1, arbitrary: unknown });
  return fc
    .oneof(
      { weight: 6, arbitrary: fc.uniqueArray(part, { maxLength: 5, selector: ({ name }) => name }) },
      { weight: 1, arbitrary: fc.array(part, { maxLength: 5 }) },
    )
    .map((parts) =>
      parts
        .map(({ name, text, mask, isBare }) => {
          const spelt = mask === 0 ? name : percentEncoded(name, mask);
          return isBare ? spelt : `${spelt}=${text}`;
        })
        .join('&'),
    );
}

function jsonFor(definition: ParameterDefinition): fc.Arbitrary<string> {
  const edge =
    definition.kind === 'integer'
      ? edgeNumbers(definition).map(String)
      : definition.kind === 'boolean'
        ? fc.constantFrom('true', 'false')
        : edgeTexts(definition).map((text) => JSON.stringify(text));
  return fc.oneof(
    { weight: 3, arbitrary: edge },
    { weight: 1, arbitrary: fc.constantFrom(...HOSTILE_JSON) },
    { weight: 1, arbitrary: fc.json({ maxDepth: 4 }) },
  );
}

type Member = readonly [name: string, text: string];

function hostileBody({ body }: DataEndpointDefinition): fc.Arbitrary<string> {
  const { members = [], params = {} } = body ?? {};
  const paramDefinitions = Object.values(params).flat();
  const memberOf = (definition: ParameterDefinition): fc.Arbitrary<Member> =>
    fc.tuple(fc.constantFrom(definition.name), jsonFor(definition));
  const unknown: fc.Arbitrary<Member> = fc.tuple(
    fc.oneof(fc.constantFrom('__proto__', 'constructor', '', 'Count', 'a\r\nb', 'é'), fc.string()),
    fc.constantFrom(...HOSTILE_JSON),
  );
  const listed = (definitions: readonly ParameterDefinition[], max: number): fc.Arbitrary<Member[]> =>
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.uniqueArray(fc.oneof(...definitions.map(memberOf)), {
          maxLength: max,
          selector: ([name]) => name,
        }),
      },
      { weight: 1, arbitrary: fc.array(fc.oneof(...definitions.map(memberOf), unknown), { maxLength: max }) },
    );
  const paramsText = fc.oneof(
    { weight: 3, arbitrary: listed(paramDefinitions, 4).map((list) => jsonObject(list, 0)) },
    { weight: 1, arbitrary: fc.constantFrom(...HOSTILE_JSON) },
  );
  const required: fc.Arbitrary<Member[]> = fc.oneof(
    {
      weight: 3,
      arbitrary: fc
        .tuple(
          fc.constantFrom('"integers"', '"floats"', '"bytes"', '"uuid"'),
          fc.integer({ min: 1, max: 99 }),
        )
        .map(([type, count]): Member[] => [
          ['type', type],
          ['count', String(count)],
        ]),
    },
    { weight: 1, arbitrary: fc.constant<Member[]>([]) },
  );
  return fc
    .record({
      first: required,
      others: listed(members, 4),
      params: fc.option(paramsText, { nil: undefined }),
      mask: fc.oneof(fc.constant(0), fc.nat()),
      mayRepeat: fc.integer({ min: 0, max: 9 }).map((draw) => draw === 9),
    })
    .map(({ first, others, params, mask, mayRepeat }) => {
      const kept = mayRepeat ? others : others.filter(([name]) => first.every(([taken]) => taken !== name));
      return jsonObject(
        [...first, ...kept, ...(params === undefined ? [] : [['params', params] as const])],
        mask,
      );
    });
}

/** Changes some bytes of a body, or none. */
const anyDamage = fc.array(
  fc.record({
    at: fc.nat(),
    remove: fc.integer({ min: 0, max: 3 }),
    insert: fc.uint8Array({ maxLength: 3 }),
  }),
  { maxLength: 2 },
);

function damaged(
  body: Buffer,
  damage: readonly { at: number; remove: number; insert: Uint8Array }[],
): Buffer {
  let changed = body;
  for (const { at, remove, insert } of damage) {
    const place = at % (changed.length + 1);
    changed = Buffer.concat([changed.subarray(0, place), insert, changed.subarray(place + remove)]);
  }
  return changed;
}

const CONTENT_TYPES = [
  '',
  'text/plain',
  'application/json5',
  'application/x-www-form-urlencoded',
  'application/jso',
  'json',
  'application/json,text/plain',
  'APPLICATION/JSON',
  'application/json\t; charset=\xff',
];

function hostileBatch(endpoint: DataEndpointDefinition): fc.Arbitrary<DataAsk> {
  return fc
    .record({
      query: fc.oneof(
        { weight: 3, arbitrary: fc.constant('') },
        { weight: 1, arbitrary: hostileQuery(endpoint) },
      ),
      contentType: fc.oneof(
        { weight: 9, arbitrary: fc.constant('application/json') },
        { weight: 1, arbitrary: fc.constantFrom(...CONTENT_TYPES) },
      ),
      body: fc.oneof(
        { weight: 8, arbitrary: hostileBody(endpoint).map((text) => Buffer.from(text, 'utf8')) },
        { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)) },
        {
          weight: 2,
          arbitrary: fc
            .constantFrom(65_535, 65_536, 65_537, 70_000)
            .map((size) => Buffer.from(`{"type":"uuid","count":1}${' '.repeat(size - 25)}`)),
        },
      ),
      damage: fc.oneof({ weight: 5, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: anyDamage }),
    })
    .map(({ damage, body, ...rest }) => ({ endpoint: 'batch', ...rest, body: damaged(body, damage) }));
}

function hostileAsk(endpoint: DataEndpointDefinition): fc.Arbitrary<DataAsk> {
  if (endpoint.name === 'batch') return hostileBatch(endpoint);
  return hostileQuery(endpoint).map((query) => ({
    endpoint: endpoint.name,
    query,
    contentType: '',
    body: new Uint8Array(0),
  }));
}

const OTHER_METHODS = ['HEAD', 'OPTIONS', 'DELETE', 'PUT', 'PATCH', 'POST', 'GET', 'get', 'BREW'];

export const hostileCase: fc.Arbitrary<FuzzCase> = fc
  .oneof(
    ...DATA_ENDPOINT_DEFINITIONS.map((endpoint) =>
      fc.tuple(fc.constant(endpoint.method), hostileAsk(endpoint)),
    ),
  )
  .chain(([method, ask]) =>
    fc.record({
      role: anyRole,
      keyWay: anyKeyWay,
      method: fc.oneof(
        { weight: 15, arbitrary: fc.constant<string>(method) },
        { weight: 1, arbitrary: fc.constantFrom(...OTHER_METHODS) },
      ),
      ask: fc.constant(ask),
      accept: anyAccept,
    }),
  );

/** A valid request with one thing appended to its query or broken in its body: one step beyond what is allowed. */
export const nearlyValidCase: fc.Arbitrary<FuzzCase> = fc
  .record({
    valid: validCase,
    name: fc.constantFrom(
      ...new Set(DATA_ENDPOINT_DEFINITIONS.flatMap(({ parameters }) => parameters.map(({ name }) => name))),
    ),
    text: fc.constantFrom(...HOSTILE_TEXTS),
    damage: anyDamage,
  })
  .map(({ valid, name, text, damage }) => {
    const { role, keyWay, method, ask, accept } = valid;
    const isBatch = ask.endpoint === 'batch';
    const query =
      isBatch && damage.length > 0
        ? ask.query
        : [ask.query, `${name}=${text}`].filter((part) => part !== '').join('&');
    const body = isBatch ? damaged(Buffer.from(ask.body), damage) : ask.body;
    return { role, keyWay, method, ask: { ...ask, query, body }, accept };
  });
