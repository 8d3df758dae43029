import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { parseCertificateQuery } from '../../src/http/endpoints/table.ts';
import { fetchWhole, HttpConnection, type HttpReply, requestBytes } from '../support/http.ts';
import { type Document, DocumentSchemas } from '../support/openapi.ts';
import {
  AS_BATCHES,
  BODIES,
  CALLS,
  CERTIFICATE_QUERIES,
  type Data,
  QUERIES,
  SENDABLE_QUERIES,
  statusOf,
  type TableRow,
  wrongData,
} from '../support/request-table.ts';
import { TestServer } from '../support/server.ts';
import { codeOf, parse, parsePost } from './parameters-parsing.ts';

/** test/vectors/requests.json, run by everything that reads requests: the rows that come out otherwise are listed. */
const shown = ({ endpoint, request }: TableRow<string>) => `${endpoint} ${request.slice(0, 120)}`;

/** The rows of which `why` says something, and what it says. */
function wrongOnes<Row extends TableRow<string>>(
  rows: readonly Row[],
  why: (row: Row) => string | undefined,
) {
  return rows.flatMap((row) => {
    const told = why(row);
    return told === undefined ? [] : [`${shown(row)}: ${told}`];
  });
}

const otherThan = (code: string | undefined, wanted: string | undefined) =>
  code === wanted ? undefined : `${code ?? 'accepted'} and not ${wanted ?? 'accepted'}`;

const isQuote = (row: TableRow<string>) => row.data !== undefined && 'mode' in row.data;

describe('the table of requests', () => {
  const parsed = (row: TableRow<string>, request: () => Data): string | undefined => {
    let data: Data = {};
    const told = otherThan(
      codeOf(() => (data = request())),
      row.code,
    );
    return told ?? (row.code === undefined && !isQuote(row) ? wrongData(row, data) : undefined);
  };
  const membersOf = ({ members, values }: ReturnType<typeof parse>['request']): Data =>
    values.kind === 'shuffle' ? { ...members, items: values.items } : members;

  it('has accepted and refused rows of every endpoint', () => {
    for (const endpoint of new Set([...QUERIES, ...BODIES].map((row) => row.endpoint))) {
      const rows = [...QUERIES, ...BODIES].filter((row) => row.endpoint === endpoint);
      assert.ok(rows.some(({ code }) => code === undefined) && rows.some(({ code }) => code !== undefined));
    }
    assert.ok(AS_BATCHES.length > 100, `${AS_BATCHES.length}`);
  });

  it('is what the parsers make of queries, bodies and batches', () => {
    // `values` of an answer are drawn, and the size of a body is the front's affair
    const ofQuery = QUERIES.map((row) => ({ ...row, data: withoutValues(row.data) }));
    const wrong = wrongOnes(ofQuery, (row) =>
      parsed(row, () => membersOf(parse(row.endpoint, row.request).request)),
    );
    const read = BODIES.filter(({ code }) => code !== 'payload_too_large');
    const ofBodies = wrongOnes([...read, ...AS_BATCHES], (row) =>
      parsed(row, () => membersOf(parsePost(row.endpoint, row.request).request)),
    );
    assert.deepEqual([...wrong, ...ofBodies], []);
  });

  it('is what the parser makes of queries of certificates', () => {
    for (const { request, code } of CERTIFICATE_QUERIES)
      assert.equal(
        codeOf(() => parseCertificateQuery(request)),
        code,
        request,
      );
  });
});

function withoutValues(data: Data | undefined): Data | undefined {
  if (data === undefined) return undefined;
  const { values: _, ...rest } = data;
  return rest;
}

/** What random.org's interface calls a refusal. */
const RPC_CODES: Readonly<Record<string, number>> = {
  invalid_count: 202,
  invalid_range: 300,
  unique_impossible: 301,
};

/** On the engine uws; the client's test asks the same of the engine node. */
describe('the table of requests over the wire', () => {
  let server: TestServer;
  let key: string;
  let schemas: DocumentSchemas;
  let document: Document;
  before(async () => {
    server = await TestServer.shared();
    ({ key } = await server.account('enterprise'));
    document = (await (await fetchWhole(`${server.origin}/openapi.json`)).json()) as Document;
    schemas = new DocumentSchemas(document);
  });

  /** What the service's own document says of a reply in JSON. */
  function undocumented({ endpoint }: TableRow<string>, method: 'GET' | 'POST', { status, body }: HttpReply) {
    const { responses } = document.paths[`/v1/${endpoint}`][method.toLowerCase()];
    const { schema } = responses[status].content!['application/json'];
    return schemas.complaint(schema, JSON.parse(Buffer.from(body).toString())) || undefined;
  }

  /** One connection for all, and another one when a refusal closed it. */
  async function asked(requests: readonly TableRow<string>[], method: 'GET' | 'POST'): Promise<string[]> {
    let connection = await HttpConnection.open(server.port);
    const wrong: string[] = [];
    for (const row of requests) {
      const isPost = method === 'POST';
      const query = isPost ? '' : `?${row.request}`;
      const headers: [string, string][] = [['Authorization', `Bearer ${key}`]];
      if (isPost) headers.push(['Content-Type', 'application/json']);
      const target = `/v1/${row.endpoint}${query}`;
      const body = isPost ? Buffer.from(row.request) : null;
      const reply = await connection.ask(requestBytes({ method, target, headers, body }));
      if (connection.isClosed || reply.closes) connection = await HttpConnection.open(server.port);
      const told = wrongReply(row, reply) ?? undocumented(row, method, reply);
      if (told !== undefined) wrong.push(`${shown(row)}: ${told}`);
    }
    connection.leave();
    return wrong;
  }

  it('is what queries are answered', async () => {
    // what the front makes of others is tested where the front is
    assert.ok(SENDABLE_QUERIES.length > 600);
    assert.deepEqual(await asked(SENDABLE_QUERIES, 'GET'), []);
  });

  it('is what bodies are answered', async () => {
    assert.deepEqual(await asked([...BODIES, ...AS_BATCHES], 'POST'), []);
  });

  it('is what JSON-RPC makes of integers, in its own codes', async () => {
    const calls = CALLS.filter(({ endpoint, given }) => {
      const { count, min = 0, max = 100, ...rest } = given as Record<string, number>;
      const isInBounds = [min, max].every(Number.isSafeInteger);
      return (
        endpoint === 'integers' && count !== undefined && isInBounds && Object.keys(rest).join() !== 'sort'
      );
    });
    assert.ok(calls.length > 10 && calls.some(({ code }) => code === 'unique_impossible'));
    for (const { given, code } of calls) {
      const { count: n, min = 0, max = 100, unique = false } = given;
      const params = { apiKey: key, n, min, max, replacement: !unique };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'generateIntegers', params });
      const reply = await fetchWhole(`${server.origin}/json-rpc/4/invoke`, { method: 'POST', body });
      const { result, error } = (await reply.json()) as {
        result?: { random: { data: unknown[] } };
        error?: { code: number };
      };
      assert.equal(result?.random.data.length, code === undefined ? n : undefined, body);
      assert.equal(error?.code, code && RPC_CODES[code], body);
    }
  });

  it('has a Content-Type for bodies, and no other', async () => {
    for (const endpoint of ['batch', 'shuffle', 'sample', 'weighted'])
      for (const type of [
        '',
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/json5',
        'multipart/form-data',
      ]) {
        const reply = await fetchWhole(`${server.baseUrl}/${endpoint}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': type },
          body: '{"type":"uuid","count":1}',
        });
        const { error } = (await reply.json()) as { error: { code: string } };
        assert.deepEqual([reply.status, error.code], [415, 'unsupported_media_type'], `${endpoint} ${type}`);
      }
  });
});

function wrongReply(row: TableRow<string>, { status, body }: HttpReply): string | undefined {
  const answer = JSON.parse(Buffer.from(body).toString()) as { data: Data; error?: { code: string } };
  const told = otherThan(answer.error?.code, row.code);
  if (told !== undefined) return told;
  if (status !== statusOf(row)) return `status ${status}`;
  return row.code === undefined ? wrongData(row, answer.data) : undefined;
}
