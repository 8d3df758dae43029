import { readFileSync } from 'node:fs';
import canonicalize from 'canonicalize';
import type { DataEndpoint } from '../../src/core/vocabulary.ts';

/** test/vectors/requests.json: what the service must make of each request, as the specification has it. */
interface Rows<Request> {
  readonly accepted: readonly (readonly [request: Request, data: Data])[];
  readonly refused: Readonly<Record<string, readonly Request[]>>;
}
interface Table {
  readonly statuses: Readonly<Record<string, number>>;
  readonly texts: Readonly<Record<string, readonly string[]>>;
  readonly common: Rows<string>;
  readonly get: Readonly<Record<string, Rows<string> & { readonly needs: string }>>;
  readonly certificate: {
    readonly accepted: readonly string[];
    readonly refused: Readonly<Record<string, readonly string[]>>;
  };
  readonly post: Readonly<Record<string, Rows<object | string>>>;
  readonly draws: Rows<object>['refused'];
}

/** Members of `data` of an answer. */
export type Data = Readonly<Record<string, unknown>>;

/** A request of the table, and what it is answered: members of `data`, or a refusal. */
export interface TableRow<Request> {
  readonly endpoint: DataEndpoint;
  readonly request: Request;
  readonly data?: Data | undefined;
  readonly code?: string;
}

const TABLE = JSON.parse(readFileSync(new URL('../vectors/requests.json', import.meta.url), 'utf8')) as Table;

/** Queries of GET, as they are sent. */
export const QUERIES: readonly TableRow<string>[] = Object.entries(TABLE.get).flatMap(([name, own]) => {
  const endpoint = name as DataEndpoint;
  const common = rowsOf(endpoint, TABLE.common).map((row) => ({ ...row, request: own.needs + row.request }));
  return [...rowsOf(endpoint, own), ...common];
});

/** The queries that a request line can carry, which has only visible ASCII. */
export const SENDABLE_QUERIES = QUERIES.filter(({ request }) => /^[\x21-\x7e]*$/.test(request));

/** Bodies of POST, as they are sent. */
export const BODIES: readonly TableRow<string>[] = Object.entries(TABLE.post).flatMap(([name, own]) =>
  rowsOf(name as DataEndpoint, own),
);

/** Bodies of POST /v1/draws that are refused. */
export const REFUSED_DRAWS = rowsOf('bytes', { accepted: [], refused: TABLE.draws });

/** Queries of GET /v1/certificate; one that is accepted has no code. */
export const CERTIFICATE_QUERIES: readonly { readonly request: string; readonly code?: string }[] = [
  ...TABLE.certificate.accepted.map((request) => ({ request })),
  ...Object.entries(TABLE.certificate.refused).flatMap(([code, requests]) =>
    requests.flatMap(expanded).map((request) => ({ request, code })),
  ),
];

export function statusOf({ code }: { readonly code?: string }): number {
  if (code === undefined) return 200;
  const status = TABLE.statuses[code];
  if (status === undefined) throw new Error(`requests.json has no status of ${code}`);
  return status;
}

function rowsOf(endpoint: DataEndpoint, { accepted, refused }: Rows<object | string>): TableRow<string>[] {
  const written = (request: object | string) =>
    expanded(typeof request === 'string' ? request : JSON.stringify(request));
  return [
    ...accepted.flatMap(([request, data]) =>
      written(request).map((each) => ({ endpoint, request: each, data })),
    ),
    ...Object.entries(refused).flatMap(([code, requests]) =>
      requests.flatMap(written).map((request) => ({ endpoint, request, code })),
    ),
  ];
}

/** The texts that a text with placeholders stands for. */
function expanded(text: string): string[] {
  const [placeholder, name] = /\{(\w+)\}/.exec(text) ?? [];
  if (placeholder === undefined || TABLE.texts[name] === undefined) return [repeated(text)];
  return TABLE.texts[name].flatMap((each) => expanded(text.replace(placeholder, () => each)));
}

/** `{a*5}` stands for aaaaa, `{1..3}` for 1,2,3. */
export function repeated(text: string): string {
  return text
    .replaceAll(/\{([^{}*]+)\*(\d+)\}/g, (_, part: string, times) => part.repeat(Number(times)))
    .replaceAll(/\{(\d+)\.\.(\d+)\}/g, (_, first, last) =>
      Array.from({ length: Number(last) - Number(first) + 1 }, (__, i) => Number(first) + i).join(','),
    );
}

/** Parameters whose values are numbers, in a list for `sequences`. */
const NUMBERS = new Set(['count', 'length', 'min', 'max', 'precision', 'mean', 'stddev', 'digits']);

/**
 * A query as the arguments of a client's call; undefined when no call sends it, as one whose number is written in another way.
 */
function argumentsOf({ endpoint, request }: TableRow<string>): Data | undefined {
  const given: Record<string, unknown> = {};
  for (const pair of request.split('&').filter((each) => each !== '')) {
    const [name, raw] = pair.split('=');
    if (
      raw === undefined ||
      name in given ||
      !/^[!-~]*$/.test(raw) ||
      /[%+]/.test(raw) ||
      pair.split('=').length > 2
    )
      return undefined;
    const value = argumentOf(endpoint, name, raw);
    if (value === undefined) return undefined;
    given[name] = value;
  }
  return given;
}

function argumentOf(endpoint: DataEndpoint, name: string, raw: string): unknown {
  const number = (text: string) => (text !== '' && String(Number(text)) === text ? Number(text) : Number.NaN);
  switch (name) {
    case 'items':
      return raw.includes(',') ? raw.split(',') : undefined;
    case 'weights':
      return allOrNone(raw.split(',').map(number));
    case 'unique':
    case 'public':
      return { true: true, false: false }[raw];
    case 'sort':
    case 'encoding':
    case 'alphabet':
    case 'entropy_mode':
    case 'purpose':
    case 'user_data':
    case 'user_data_sha256':
      return raw;
  }
  if (!NUMBERS.has(name)) return undefined;
  const numbers = allOrNone(raw.split(',').map(number));
  if (endpoint === 'sequences' && name !== 'count') return numbers;
  return numbers?.length === 1 ? numbers[0] : undefined;
}

function allOrNone(numbers: readonly number[]): readonly number[] | undefined {
  return numbers.every(Number.isFinite) ? numbers : undefined;
}

/** Why `data` of an answer is not what the row has; undefined when it is. */
export function wrongData(row: TableRow<unknown>, data: Data): string | undefined {
  for (const [name, value] of Object.entries(row.data ?? {})) {
    const isInAnyOrder = row.endpoint === 'shuffle' && name === 'items';
    const [told, wanted] = [data[name], value].map((each) =>
      canonicalize(isInAnyOrder ? (each as string[]).toSorted() : each),
    );
    if (told !== wanted) return `${name} is ${told?.slice(0, 80)} and not ${wanted?.slice(0, 80)}`;
  }
  return undefined;
}

/** A call of a client, with the names of the parameters, and its result. */
export interface TableCall extends TableRow<string> {
  readonly given: Data;
}

/** The rows that a client can send: its calls have no texts that are written oddly, and no numbers that are texts. */
export const CALLS: readonly TableCall[] = QUERIES.flatMap((row) => {
  const given = argumentsOf(row);
  return given === undefined ? [] : [{ ...row, given }];
});

/** Types of a batch with the parameters of GET, but for bytes, whose `length` is their `count`. */
const BATCHED = new Set([
  'integers',
  'floats',
  'uuid',
  'sample',
  'weighted',
  'strings',
  'sequences',
  'permutations',
  'gaussians',
]);
const BODY_BYTES_MAX = 65_536;

/** The same calls as batches, except those about the count of values, of which batches may have more. */
export const AS_BATCHES: readonly TableCall[] = CALLS.flatMap(({ endpoint: type, given: all, code }) => {
  const { count = 1, entropy_mode, purpose, user_data, user_data_sha256, public: isPublic, ...params } = all;
  const common = { entropy_mode, purpose, user_data, user_data_sha256, public: isPublic };
  const given = { type, count, params, ...common };
  const request = JSON.stringify(given);
  if (!BATCHED.has(type) || code === 'invalid_count' || request.length > BODY_BYTES_MAX) return [];
  return [{ endpoint: 'batch' as const, request, given, ...(code !== undefined && { code }) }];
});
