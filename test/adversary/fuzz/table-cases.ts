import fc from 'fast-check';
import { DATA_ENDPOINT_DEFINITIONS } from '../../../src/http/endpoints/table.ts';
import { BODIES, QUERIES, type TableRow } from '../../support/request-table.ts';
import { anyAccept, anyKeyWay, type DataAsk, type FuzzCase } from './cases.ts';
import type { Role } from './roles.ts';
import { validCase } from './valid.ts';

/** Requests of test/vectors/requests.json, which says what is due, and requests made of their pieces, of which it says nothing. */

const NO_BODY = new Uint8Array(0);

const ofQuery = ({ endpoint, request }: TableRow<string>): DataAsk => ({
  ...{ endpoint, query: request, contentType: '', body: NO_BODY },
});
const ofBody = ({ endpoint, request }: TableRow<string>): DataAsk => ({
  ...{ endpoint, query: '', contentType: 'application/json', body: Buffer.from(request) },
});

/** With a right to every mode: the table does not know of accounts. */
const anyRole = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Role>('pure') },
  { weight: 1, arbitrary: fc.constantFrom<Role>('poor', 'throttled', 'reader') },
);
const OTHER_METHODS = ['HEAD', 'OPTIONS', 'DELETE', 'PUT', 'PATCH', 'POST', 'GET', 'get', 'BREW'];

function sent(
  asks: fc.Arbitrary<{ readonly method: string; readonly ask: DataAsk }>,
): fc.Arbitrary<FuzzCase> {
  const others = { role: anyRole, keyWay: anyKeyWay, accept: anyAccept };
  return fc
    .tuple(
      asks,
      fc.record(others),
      fc.constantFrom(...Array<undefined>(120).fill(undefined), ...OTHER_METHODS),
    )
    .map(([ask, rest, other]) => ({ ...rest, ...ask, method: other ?? ask.method }));
}

/** A row of the table. */
export interface TableCase extends FuzzCase {
  readonly row: TableRow<string>;
}

/** A request line has visible ASCII alone. */
const ROWS = [
  ...QUERIES.filter(({ request }) => /^[\x21-\x7e]*$/.test(request)).map((row) => ({
    row,
    method: 'GET',
    ask: ofQuery(row),
  })),
  ...BODIES.map((row) => ({ row, method: 'POST', ask: ofBody(row) })),
];

export const tableCase = sent(fc.constantFrom(...ROWS)) as fc.Arbitrary<TableCase>;

/** Short enough that five of them are no head that the front refuses. */
const PAIRS = [...new Set(QUERIES.flatMap(({ request }) => request.split('&')))].filter(
  (pair) => pair.length < 5_000 && /^[\x21-\x7e]*$/.test(pair),
);

/** What stands for a value somewhere in the table. */
export const ODD_TEXTS = [...new Set(PAIRS.map((pair) => pair.slice(pair.indexOf('=') + 1)))];

/** Bytes that a request target may hold without ending it. */
const wireText = fc
  .array(fc.integer({ min: 0x21, max: 0xff }), { maxLength: 12 })
  .map((codes) => String.fromCharCode(...codes));

const NAMES = [...new Set(PAIRS.map((pair) => pair.split('=')[0])), '__proto__', 'a[]', '%ff', ''];

const anyPair = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...PAIRS) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...NAMES), fc.oneof(fc.constantFrom(...ODD_TEXTS), wireText))
      .map((pair) => pair.join('=')),
  },
);

/** Changes some bytes of a body. */
const anyDamage = fc.array(
  fc.record({
    at: fc.nat(),
    remove: fc.integer({ min: 0, max: 3 }),
    insert: fc.uint8Array({ maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 2 },
);

function damaged(
  body: Uint8Array,
  damage: readonly { at: number; remove: number; insert: Uint8Array }[],
): Buffer {
  let changed = Buffer.from(body);
  for (const { at, remove, insert } of damage) {
    const place = at % (changed.length + 1);
    changed = Buffer.concat([changed.subarray(0, place), insert, changed.subarray(place + remove)]);
  }
  return changed;
}

const CONTENT_TYPES = [
  'application/json',
  '',
  'text/plain',
  'application/json5',
  'application/json\t; charset=\xff',
];

/** Pieces of the table in any order, bodies with changed bytes, and valid requests with one thing more. */
export const wildCase: fc.Arbitrary<FuzzCase> = fc.oneof(
  sent(
    fc
      .record({
        endpoint: fc.constantFrom(...DATA_ENDPOINT_DEFINITIONS.filter(({ method }) => method === 'GET')),
        pairs: fc.array(anyPair, { maxLength: 5 }),
      })
      .map(({ endpoint: { name: endpoint }, pairs }) => ({
        method: 'GET',
        ask: { endpoint, query: pairs.join('&'), contentType: '', body: NO_BODY },
      })),
  ),
  sent(
    fc
      .record({
        row: fc.constantFrom(...BODIES),
        contentType: fc.constantFrom(...CONTENT_TYPES),
        damage: anyDamage,
      })
      .map(({ row, contentType, damage }) => {
        const ask = ofBody(row);
        return { method: 'POST', ask: { ...ask, contentType, body: damaged(ask.body, damage) } };
      }),
  ),
  fc.record({ valid: validCase, pair: anyPair, damage: anyDamage }).map(({ valid, pair, damage }) => {
    const { role, keyWay, method, ask, accept } = valid;
    const query = [ask.query, pair].filter((part) => part !== '').join('&');
    const body = ask.endpoint === 'batch' ? damaged(ask.body, damage) : ask.body;
    return { role, keyWay, method, accept, ask: { ...ask, query, body } };
  }),
);
