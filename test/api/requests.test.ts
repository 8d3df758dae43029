import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TestServer } from '../support/server.ts';

/** Requests as real clients and their libraries write them, over a real socket. */
let server: TestServer;
let strict: TestServer;
before(async () => {
  [server, strict] = await Promise.all([
    TestServer.start(),
    TestServer.start({ QRN_STRICT_PARAMETERS: '1' }),
  ]);
});
after(() => Promise.all([server.stop(), strict.stop()]));

async function requestsUsed(of: TestServer): Promise<number> {
  const { data } = (await (await of.get('/usage')).json()) as { data: { requests: { used: number } } };
  return data.requests.used;
}

async function codeOf(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error: { code: string } };
  return `${response.status} ${error.code}`;
}

describe('a list of items', () => {
  const itemsOf = async (query: string) => {
    const { data } = (await (await server.get(`/shuffle?${query}`)).json()) as { data: { items: string[] } };
    return data.items.sort();
  };

  it('is split after decoding when a form encoder wrote its commas', async () => {
    assert.deepEqual(await itemsOf('items=ada%2Cgrace%20hopper'), ['ada', 'grace hopper']);
    const query = new URLSearchParams({ items: 'ada,grace hopper,a+b' });
    assert.deepEqual(await itemsOf(String(query)), ['a+b', 'ada', 'grace hopper']);
  });

  it('is split before decoding where a comma stands literally', async () => {
    assert.deepEqual(await itemsOf('items=ada%2Clovelace,grace+hopper'), ['ada,lovelace', 'grace hopper']);
  });
});

describe('a parameter that the endpoint does not have', () => {
  it('is ignored and listed unless parameters are strict', async () => {
    const response = await server.get('/uuid?cache=1&count=1');
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('x-ignored-parameters'), 'cache');
  });

  it('is refused with unknown_parameter when they are, and counts nothing', async () => {
    const before = await requestsUsed(strict);
    const refused = await strict.get('/uuid?cache=1');
    const { error } = (await refused.json()) as {
      error: { code: string; details: { parameters: string[] } };
    };
    assert.deepEqual([refused.status, error.code], [400, 'unknown_parameter']);
    assert.deepEqual(error.details.parameters, ['cache']);
    assert.equal(
      await codeOf(await strict.batch({ type: 'uuid', count: 1, params: { min: 1 } })),
      '400 unknown_parameter',
    );
    const id = `cert_${'0'.repeat(26)}`;
    assert.equal(await codeOf(await strict.get(`/certificate?id=${id}&x=1`)), '400 unknown_parameter');
    assert.equal((await strict.get('/uuid?count=1')).status, 200);
    assert.equal(await requestsUsed(strict), before + 1);
  });
});

describe('an Accept header that nothing satisfies', () => {
  it('is answered 406 with the types there are, and counts nothing', async () => {
    const before = await requestsUsed(server);
    for (const path of ['/integers', '/usage', '/health', '/integers?dry_run=true']) {
      const response = await server.get(path, { accept: 'text/html' });
      const { error } = (await response.json()) as {
        error: { code: string; details: { available: string[] } };
      };
      assert.deepEqual([response.status, error.code], [406, 'not_acceptable'], path);
      assert.ok(error.details.available.includes('application/json'), path);
    }
    assert.equal(
      await codeOf(await server.get('/uuid', { accept: 'application/octet-stream' })),
      '406 not_acceptable',
    );
    assert.equal(await requestsUsed(server), before);
  });
});
