import assert from 'node:assert/strict';
import { it } from 'node:test';
import { QrnClient } from '../../clients/typescript/src/client.ts';
import { QrnError } from '../../clients/typescript/src/error.ts';
import { AS_BATCHES, CALLS, type Data, type TableCall, wrongData } from '../support/request-table.ts';
import { ON_NODE, TestServer } from '../support/server.ts';

/** test/vectors/requests.json through the client: what is refused has its code, what is accepted says its parameters again. */
it('calls have the results that the table of requests lists', async () => {
  const server = await TestServer.shared(ON_NODE); // over the other engine it is asked in test/api
  const { key } = await server.account('enterprise');
  const client = new QrnClient({ baseUrl: server.baseUrl, key });
  const wrong: string[] = [];
  for (const row of [...CALLS, ...AS_BATCHES]) {
    const told = wrongAnswer(row, await outcomeOf(client, row));
    if (told !== undefined) wrong.push(`${row.endpoint} ${row.request.slice(0, 120)}: ${told}`);
  }
  assert.deepEqual(wrong, []);
});

type Outcome = { readonly data: Data } | { readonly code: string };

async function outcomeOf(client: QrnClient, { endpoint, given }: TableCall): Promise<Outcome> {
  const named = Object.entries(given).map(([name, value]) => [
    name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ]);
  const call = client[endpoint].bind(client) as unknown as (parameters: object) => Promise<{ data: Data }>;
  try {
    return { data: (await call(Object.fromEntries(named))).data };
  } catch (error) {
    if (error instanceof QrnError) return { code: error.code };
    throw error;
  }
}

function wrongAnswer(row: TableCall, outcome: Outcome): string | undefined {
  if ('data' in outcome) return row.code === undefined ? wrongData(row, outcome.data) : 'it was answered';
  return outcome.code === row.code ? undefined : `refused with ${outcome.code}`;
}
