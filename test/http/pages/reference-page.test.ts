import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as schema from '../../../src/core/schema.ts';
import type { OpenApiDocument } from '../../../src/http/openapi/document.ts';
import {
  type Call,
  commonMain,
  operationGroups,
  operationMain,
} from '../../../src/http/pages/reference-page.ts';
import { seen } from './seen.ts';

/** A document of its own with each shape that a schema, a parameter or an answer may have. */
const PART = schema.object({ of: schema.orNull(schema.integer) }, {}, 'A part.');
const document = {
  components: {
    schemas: {
      Part: PART,
      Metadata: schema.object({ lot: schema.text }),
      Meta: schema.object({ at: schema.time }),
      Credits: schema.object({ used: { ...schema.share, description: 'Of `all`.' } }),
    },
    headers: { 'X-One': { description: 'A field.' } },
  },
  paths: {},
} as unknown as OpenApiDocument;

const query = (name: string, given: schema.Schema, more: object = {}) => ({
  ...{ name, in: 'query', description: `What ${name} is.`, schema: given, ...more },
});
const json = (of: schema.Schema, example?: unknown) => ({ 'application/json': { schema: of, example } });

const ASKS = {
  ...{ operationId: 'integers', method: 'GET', path: '/v1/integers', summary: 'Whole `numbers`.' },
  security: [{ bearer: ['entropy:read'] }],
  parameters: [
    query('count', { type: 'integer', minimum: 1, maximum: 10_000 }, { required: true, example: 5 }),
    query('far', { type: 'number', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    query('sort', { enum: ['up', 'down'], default: 'up' }, { example: 'down' }),
    query('only', { enum: ['one'] }),
    query('unique', schema.boolean),
    query('items', { type: 'array', items: schema.text, minItems: 2, maxItems: 1_000 }),
    query('few', { type: 'array', items: schema.text, maxItems: 3 }),
    query('when', { type: ['string', 'null'], format: 'date-time' }),
    query('entropy_mode', schema.text),
  ],
  responses: {
    200: {
      description: 'The answer; `invalid_count`.',
      content: {
        ...json(
          schema.object(
            { parts: { type: 'array', items: PART }, metadata: schema.ref('Metadata') },
            { either: { anyOf: [schema.ref('Part'), { type: 'null' }, { const: 7 }] }, any: {} },
          ),
          { parts: [1, 2] },
        ),
        'text/plain': { schema: schema.text },
      },
    },
    400: { description: '`invalid_count`, `invalid_parameter`' },
    401: { description: '`auth_missing`' },
  },
} as unknown as Call;

const CHANGES = {
  ...{ operationId: 'change', method: 'POST', path: '/other', summary: 'Changes.', security: [] },
  requestBody: {
    content: json(
      {
        oneOf: [
          {
            title: 'a',
            ...schema.object({ type: schema.text, params: schema.object({ n: schema.integer }) }),
          },
          { title: 'b', ...schema.object({ type: schema.text, params: PART }) },
        ],
      },
      { type: "it's", params: { n: 1 } },
    ),
  },
  responses: {
    200: { description: 'Again.' },
    201: { description: 'Made.', content: json({ description: 'Text.' }, 'ok') },
  },
} as unknown as Call;

const EXPECTED = {
  asks: `
|GET /v1/integers|
Whole |numbers|.
Needs a key with the scope |entropy:read|.
Request
-
curl
|curl -H "Authorization: Bearer $QRN_KEY" \\
'https://a.example/v1/integers?count=5&sort=down'|
+
TypeScript
|import { QrnClient } from 'qrn-client';
const client = new QrnClient({ baseUrl: 'https://a.example/v1' }); // the key is in QRN_KEY
const answer = await client.integers({ "count": 5, "sort": "down" });
console.log(answer);|
+
Python
|from qrn_client import QrnClient
client = QrnClient("https://a.example/v1")  # the key is in QRN_KEY
answer = client.integers(count=5, sort="down")
print(answer)|
+
Try it here
API key
Stays in this page’s memory, and goes to this service alone.
count[5]
far
sort– up *down
only– one
unique– true false
items
few
when
entropy_mode
|
Parameters
|count|: integer, 1 to 10,000; required. What count is.
|far|: number; optional. What far is.
|sort|: one of up, down; default up. What sort is.
|only|: one; optional. What only is.
|unique|: boolean; optional. What unique is.
|items|: list of string, 2 to 1,000 of them; optional. What items is.
|few|: list of string, 0 to 3 of them; optional. What few is.
|when|: ISO 8601 in UTC or null; optional. What when is.
Also takes the common parameters |entropy_mode|.
Answer
200 as |application/json|. The answer; |invalid_count|. Other forms by |Accept|: |text/plain|.
|{
"parts": [1, 2]
}|
|parts|: list of objects.
-
1 member
|of|: integer or null.
|metadata|: object. The same in all answers: metadata.
|either|: Part or null or 7, optional.
|any|: any, optional.
Errors
|invalid_count|: 400. count must be an integer within its bounds.
And those that many calls can answer: |auth_missing|.`,
  changes: `
|POST /other|
Changes.
Needs no key.
Request
-
curl
|curl -H 'Content-Type: application/json' -d '{"type":"it'\\''s","params":{"n":1}}' 'https://a.example/other'|
+
Try it here
Body{"type":"it's","params":{"n":1}}
|
Body
JSON, sent as |Content-Type: application/json|. A member that is not listed is refused.
|type|: one of a, b.
|params|: object. The parameters of the type:
-
4 members
|a|: object.
-
1 member
|n|: integer.
|b|: object.
-
1 member
|of|: integer or null.
Answer
201 as |application/json|. Made.
|ok|
Text.`,
  common: `
What calls for values share
Parameters that each of them takes, members that each answer has, and the fields of its head.
Parameters
|entropy_mode|: string; optional. What entropy_mode is.
Members of |metadata|
|lot|: string.
Members of |meta|
|at|: ISO 8601 in UTC.
Members of |quantum_credits|
|used|: number, 0 to 1. Of |all|.
Header fields
|X-One|: header. A field.`,
};

describe('the reference', () => {
  const pages: [what: string, main: { readonly text: string }, expected: string][] = [
    ['a call with parameters', operationMain(ASKS, document, 'https://a.example/v1'), EXPECTED.asks],
    ['a call with a body', operationMain(CHANGES, document, 'https://a.example/v1'), EXPECTED.changes],
    [
      'what calls share',
      commonMain({ ...document, paths: { '/v1/integers': { get: ASKS } } } as never),
      EXPECTED.common,
    ],
  ];
  for (const [what, main, expected] of pages)
    it(`lists what may be sent and what is answered: ${what}`, () => {
      assert.deepEqual(seen(main.text), expected.trim().split('\n'));
    });

  it('is in groups by the purpose of calls, without the pages', () => {
    const entropy = { security: [{ bearer: ['entropy:read'] }] };
    const page = {
      responses: { 200: { description: '', content: { 'text/html': { schema: schema.text } } } },
    };
    const at = (path: string, more: object = {}) => [path, { get: { ...CHANGES, ...more } }] as const;
    const paths = Object.fromEntries([
      ...[
        at('/v1/a', entropy),
        at('/v1/draws/{id}', entropy),
        at('/v1/b'),
        at('/verify/{id}'),
        at('/log'),
        at('/x'),
      ],
      ...[at('/logs'), at('/y', page)],
    ]);
    const groups = operationGroups({ ...document, paths } as never);
    assert.deepEqual(
      groups.map(({ title, operations }) => `${title}: ${operations.map(({ path }) => path).join(' ')}`),
      [
        'Values: /v1/a',
        'Draws: /v1/draws/{id}',
        'Account: /v1/b',
        'Public record: /verify/{id} /log',
        'Operation: /x /logs',
      ],
    );
    assert.deepEqual(
      operationGroups(document).map(({ operations }) => operations),
      [[], [], [], [], []],
    );
  });
});
