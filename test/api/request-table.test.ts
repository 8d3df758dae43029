import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { fetchWhole, HttpConnection, type HttpReply, requestBytes } from '../support/http.ts';
import { type Document, DocumentSchemas } from '../support/openapi.ts';
import {
  AS_BATCHES,
  BODIES,
  CALLS,
  type Data,
  SENDABLE_QUERIES,
  statusOf,
  type TableRow,
  wrongData,
} from '../support/request-table.ts';
import { TestServer } from '../support/server.ts';

/** test/vectors/requests.json, run by everything that reads requests: the rows that come out otherwise are listed. */
const shown = ({ endpoint, request }: TableRow<string>) => `${endpoint} ${request.slice(0, 120)}`;

const otherThan = (code: string | undefined, wanted: string | undefined) =>
  code === wanted ? undefined : `${code ?? 'accepted'} and not ${wanted ?? 'accepted'}`;

/** The error codes of random.org's interface. */
const RPC_CODES: Readonly<Record<string, number>> = {
  invalid_count: 202,
  invalid_range: 300,
  unique_impossible: 301,
};

/** On the engine uws; the client's test does the same on the engine node. */
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

  /** Returns how a JSON reply differs from the service's own document. */
  function undocumented({ endpoint }: TableRow<string>, method: 'GET' | 'POST', { status, body }: HttpReply) {
    const { responses } = document.paths[`/v1/${endpoint}`][method.toLowerCase()];
    const { schema } = responses[status].content!['application/json'];
    return schemas.complaint(schema, JSON.parse(Buffer.from(body).toString())) || undefined;
  }

  /** Sends all requests on one connection, and reconnects when a refusal closed it. */
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

  it('matches the answers to queries', async () => {
    // what the front makes of others is tested where the front is
    assert.ok(SENDABLE_QUERIES.length > 600);
    assert.deepEqual(await asked(SENDABLE_QUERIES, 'GET'), []);
  });

  it('matches the answers to bodies', async () => {
    assert.deepEqual(await asked([...BODIES, ...AS_BATCHES], 'POST'), []);
  });

  it('matches the answers of JSON-RPC for integers, in its own codes', async () => {
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

  it('requires a Content-Type of JSON for bodies', async () => {
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
