import fc from 'fast-check';
import type { EntropyMode } from '../../../src/core/vocabulary.ts';
import { DATA_ENDPOINT_DEFINITIONS } from '../../../src/http/endpoints/table.ts';
import { BODIES, QUERIES, SENDABLE_QUERIES, type TableRow } from '../../support/request-table.ts';
import { ACCEPTS, anyAccept, anyKeyWay, type DataAsk, type FuzzCase } from './cases.ts';
import { ROLES, type Role } from './world.ts';

/**
 * Requests of test/vectors/requests.json with known results, and requests made of their parts, whose results are not
 * known.
 */

const NO_BODY = new Uint8Array(0);
const OTHER_METHODS = ['HEAD', 'OPTIONS', 'DELETE', 'PUT', 'PATCH', 'POST', 'GET', 'get', 'BREW'];
const anyOtherMethod = fc.constantFrom(...Array<undefined>(120).fill(undefined), ...OTHER_METHODS);

/** The table does not cover accounts: the last two roles may not use every mode. */
const anyRole = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Role>('pure') },
  { weight: 4, arbitrary: fc.constantFrom<Role>('poor', 'poor', 'throttled', 'reader') },
  { weight: 2, arbitrary: fc.constantFrom<Role>('csprng', 'seeded') },
);

/** A row of the table, and the mode that it is answered in. */
export interface TableCase extends FuzzCase {
  readonly row: TableRow<string>;
  /** Undefined if the row itself has a mode. */
  readonly mode: EntropyMode | undefined;
}

const ROWS = [
  ...SENDABLE_QUERIES.map((row) => ({ row, method: 'GET' })),
  ...BODIES.map((row) => ({ row, method: 'POST' })),
];

const anyAccepted = fc.constantFrom(...ROWS.filter(({ row }) => row.code === undefined));
const anyRefused = fc.constantFrom(...ROWS.filter(({ row }) => row.code !== undefined));

const MODE_SPELLINGS: Readonly<Record<EntropyMode, readonly string[]>> = {
  'quantum-seeded': ['quantum-seeded', 'hybrid', 'Quantum-Seeded', 'HYBRID'],
  pure: ['pure', 'PURE', 'pUre'],
  csprng: ['csprng', 'CSPRNG', 'Csprng'],
};

/** Rows are accepted or refused alike in every spelling and every mode. */
export const tableCase: fc.Arbitrary<TableCase> = fc
  .record({
    ...{ of: fc.oneof(anyAccepted, anyRefused), role: anyRole, keyWay: anyKeyWay, accept: anyAccept },
    ...{ modeChoice: fc.nat(4), mask: fc.oneof(fc.constant(0), fc.nat()), other: anyOtherMethod },
  })
  .map(({ of: { row, method }, role: anyone, keyWay, accept: anyForm, modeChoice, mask, other }) => {
    const { endpoint, request } = row;
    const hasMode = request.includes('entropy_mod');
    const role = hasMode && ROLES[anyone].modes.length < 3 ? 'pure' : anyone;
    const { modes, defaultMode } = ROLES[role];
    const asked = hasMode || (method === 'POST' && endpoint !== 'batch') ? undefined : modes.at(modeChoice);
    const pair =
      asked === undefined
        ? []
        : [`entropy_mode=${MODE_SPELLINGS[asked][mask % MODE_SPELLINGS[asked].length]}`];
    const ask =
      method === 'GET'
        ? { query: [spelt(row, mask), ...pair].filter((part) => part !== '').join('&'), body: NO_BODY }
        : { query: pair.join(), body: Buffer.from(escaped(row, mask)) };
    return {
      ...{ row, role, keyWay, method: other ?? method, mode: hasMode ? undefined : (asked ?? defaultMode) },
      accept: request.includes('format') ? ACCEPTS[0] : anyForm, // such a request names its own form
      ask: { endpoint, contentType: method === 'GET' ? '' : 'application/json', ...ask },
    };
  });

/** Longer ones would exceed the limit of a head or a body when they are escaped. */
const ESCAPED_LENGTH_MAX = 5_000;

function isChosen(mask: number, index: number): boolean {
  return ((mask >>> ((index * 7) % 31)) & 1) === 1;
}

/** Returns the query with letters and digits percent-encoded, and an accepted one with its pairs in another order. */
function spelt({ request, code }: TableRow<string>, mask: number): string {
  if (mask === 0 || request.length > ESCAPED_LENGTH_MAX) return request;
  const pairs = request
    .split('&')
    .map((pair) =>
      /[%+]/.test(pair)
        ? pair
        : pair.replaceAll(/[A-Za-z0-9]/g, (each, at: number) =>
            isChosen(mask, at) ? `%${each.charCodeAt(0).toString(16)}` : each,
          ),
    );
  const turned = mask % pairs.length;
  return (code === undefined ? [...pairs.slice(turned), ...pairs.slice(0, turned)] : pairs).join('&');
}

/** Returns the body with letters and digits of its texts as escapes of JSON. */
function escaped({ request, code }: TableRow<string>, mask: number): string {
  if (mask === 0 || code !== undefined || request.length > ESCAPED_LENGTH_MAX) return request;
  return request.replaceAll(/"[^"\\]*"/g, (text) =>
    text.replaceAll(/[A-Za-z0-9]/g, (each, at: number) =>
      isChosen(mask, at) ? `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}` : each,
    ),
  );
}

/** Pairs so short that a head with five of them is not refused by the front. */
const PAIRS = [...new Set(QUERIES.flatMap(({ request }) => request.split('&')))].filter(
  (pair) => pair.length < ESCAPED_LENGTH_MAX && /^[\x21-\x7e]*$/.test(pair),
);

/** The texts that are values anywhere in the table. */
export const ODD_TEXTS = [...new Set(PAIRS.map((pair) => pair.slice(pair.indexOf('=') + 1)))];

/** Bytes that a request target may hold without ending it. */
export const wireText = fc
  .array(fc.integer({ min: 0x21, max: 0xff }), { maxLength: 12 })
  .map((codes) => String.fromCharCode(...codes));
const anyNumber = fc.oneof(fc.nat(12), fc.integer({ min: -200, max: 2_000 }), fc.maxSafeInteger());
const numberText = fc.array(anyNumber, { minLength: 1, maxLength: 3 }).map(String);

const NAMES = [...new Set(PAIRS.map((pair) => pair.split('=')[0])), '__proto__', 'a[]', '%ff', ''];

const anyPair = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...PAIRS) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom(...NAMES), fc.oneof(fc.constantFrom(...ODD_TEXTS), wireText, numberText))
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

function sent(
  asks: fc.Arbitrary<{ readonly method: string; readonly ask: DataAsk }>,
): fc.Arbitrary<FuzzCase> {
  const others = fc.record({ role: anyRole, keyWay: anyKeyWay, accept: anyAccept });
  return fc
    .tuple(asks, others, anyOtherMethod)
    .map(([ask, rest, other]) => ({ ...rest, ...ask, method: other ?? ask.method }));
}

/** Parts of the table in any order, bodies with changed bytes, and rows with an additional part. */
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
      .map(({ row: { endpoint, request }, contentType, damage }) => {
        const ask = { endpoint, query: '', contentType, body: damaged(Buffer.from(request), damage) };
        return { method: 'POST', ask };
      }),
  ),
  fc
    .record({ of: tableCase, pair: anyPair })
    .map(({ of: { row: _row, mode: _mode, ask, ...rest }, pair }) => {
      const query = [ask.query, pair].filter((part) => part !== '').join('&');
      return { ...rest, ask: { ...ask, query } };
    }),
);
