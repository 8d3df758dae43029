import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { before, describe, it } from 'node:test';
import canonicalize from 'canonicalize';
import { fetchWhole } from '../support/http.ts';
import { TestServer } from '../support/server.ts';

/**
 * random.org's own client for Node against the service, its host rewritten; and what the client never sends.
 */

const require = createRequire(import.meta.url);
/** Loads what the client itself depends on. */
const ofClient = createRequire(require.resolve('@randomorg/core'));

interface Signed {
  readonly data: unknown[];
  readonly random: Record<string, unknown>;
  readonly signature: string;
}

/** The methods of RandomOrgClient that the test calls. */
interface Client {
  generateIntegers(n: number, min: number, max: number, options?: object): Promise<(number | string)[]>;
  generateIntegerSequences(
    n: number,
    length: unknown,
    min: unknown,
    max: unknown,
    options?: object,
  ): Promise<number[][]>;
  generateDecimalFractions(n: number, places: number, options?: object): Promise<number[]>;
  generateGaussians(n: number, mean: number, deviation: number, digits: number): Promise<number[]>;
  generateStrings(n: number, length: number, characters: string, options?: object): Promise<string[]>;
  generateUUIDs(n: number): Promise<string[]>;
  generateBlobs(n: number, size: number, options: object): Promise<string[]>;
  generateSignedIntegers(n: number, min: number, max: number, options?: object): Promise<Signed>;
  getBitsLeft(): Promise<number>;
  getRequestsLeft(): Promise<number>;
  getResult(serialNumber: number): Promise<Signed>;
  verifySignature(random: object, signature: string): Promise<boolean>;
  createTickets(n: number, showResult: boolean): Promise<{ ticketId: string }[]>;
  getTicket(ticketId: string): Promise<{ serialNumber: number | null; result: { random: object } | null }>;
}

let server: TestServer;
let newClient: (key: string) => Client;
let url: string;
before(async () => {
  server = await TestServer.shared();
  url = `${server.origin}/json-rpc/4/invoke`;
  const transport = ofClient('xmlhttprequest');
  const Original = transport.XMLHttpRequest;
  transport.XMLHttpRequest = function Rewritten() {
    const request = new Original();
    const { open } = request;
    request.open = (method: string, asked: string) => {
      assert.equal(asked, 'https://api.random.org/json-rpc/4/invoke');
      open.call(request, method, url);
    };
    return request;
  };
  const { RandomOrgClient } = require('@randomorg/core');
  newClient = (key) => new RandomOrgClient(key);
});

async function post(body: string | Uint8Array<ArrayBuffer>) {
  const response = await fetchWhole(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const text = await response.text();
  return { status: response.status, json: text === '' ? undefined : JSON.parse(text) };
}

async function call(method: string, params: unknown, id: unknown = 1) {
  return (await post(JSON.stringify({ jsonrpc: '2.0', method, params, id }))).json;
}

describe("random.org's client", () => {
  it('draws every kind', async () => {
    const client = newClient((await server.account('pro')).key);
    const dice = await client.generateIntegers(20, 1, 6);
    assert.ok(dice.length === 20 && dice.every((value) => Number(value) >= 1 && Number(value) <= 6));
    const bytes = await client.generateIntegers(256, 0, 255, { replacement: false, base: 16 });
    const everyByte = Array.from({ length: 256 }, (_, value) => value.toString(16));
    assert.deepEqual(bytes.map(String).toSorted(), everyByte.toSorted());
    assert.notDeepEqual(bytes.map(String), everyByte, 'in an order of chance');
    const sequences = await client.generateIntegerSequences(2, [5, 1], [1, -3], [69, -2], {
      replacement: [false, true],
    });
    assert.deepEqual(
      sequences.map(({ length }) => length),
      [5, 1],
    );
    assert.equal(new Set(sequences[0]).size, 5);
    const all = await client.generateDecimalFractions(10, 1, { replacement: false });
    assert.deepEqual(all.toSorted(), [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]);
    for (const value of await client.generateGaussians(4, 100, 15, 5))
      assert.equal(Number(value.toPrecision(5)), value);
    const pairs = await client.generateStrings(4, 2, 'ab', { replacement: false });
    assert.deepEqual(pairs.toSorted(), ['aa', 'ab', 'ba', 'bb']);
    const uuids = await client.generateUUIDs(100);
    assert.equal(new Set(uuids).size, 100);
    for (const uuid of uuids)
      assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const bitOf = (at: number) =>
      uuids.filter((uuid) => Number(`0x${uuid.replaceAll('-', '')[at]}`) & 1).length;
    // version and variant are fixed; each other digit is one of chance, and constant with a probability of 2^-99
    for (let at = 0; at < 32; at++) if (at !== 12) assert.ok(bitOf(at) > 0 && bitOf(at) < 100, `digit ${at}`);
    assert.equal(
      Buffer.from((await client.generateBlobs(1, 8_192, { format: 'hex' }))[0], 'hex').length,
      1_024,
    );
    assert.equal(await client.getBitsLeft(), Number.MAX_SAFE_INTEGER);
    assert.ok((await client.getRequestsLeft()) > 0);
  });

  it('gets signed answers again, and sees a forged one', async () => {
    const { key } = await server.account('pro');
    const signed = await newClient(key).generateSignedIntegers(5, 1, 6, { userData: { draw: 'né' } });
    const { random, signature, data } = signed;
    assert.deepEqual(random['data'], data);
    assert.deepEqual([random['method'], random['userData']], ['generateSignedIntegers', { draw: 'né' }]);
    assert.equal(random['hashedApiKey'], createHash('sha512').update(key).digest('base64'));
    const again = await call('getResult', { apiKey: key, serialNumber: random['serialNumber'] });
    assert.deepEqual([again.result.random, again.result.signature], [random, signature]);
    assert.equal(await newClient((await server.account('pro')).key).verifySignature(random, signature), true);
    const forged = { ...random, data: (data as number[]).map((value) => 7 - value) };
    assert.equal((await call('verifySignature', { random: forged, signature })).result.authenticity, false);
    const other = await server.account('pro');
    const foreign = await call('getResult', { apiKey: other.key, serialNumber: random['serialNumber'] });
    assert.equal(foreign.error.code, 424, 'another account finds nothing');
  });

  it('uses a ticket once', async () => {
    const { key } = await server.account('pro');
    const [{ ticketId }] = (await call('createTickets', { apiKey: key, n: 1, showResult: true })).result;
    assert.equal((await call('getTicket', { ticketId })).result.result, null);
    const { random } = await newClient(key).generateSignedIntegers(2, 1, 9, { ticketId });
    const seen = (await call('getTicket', { ticketId })).result;
    assert.deepEqual([seen.serialNumber, seen.result.random], [random['serialNumber'], random]);
    const params = { apiKey: key, n: 2, min: 1, max: 9, ticketId };
    assert.equal((await call('generateSignedIntegers', params)).error.code, 422);
    const stranger = { ...params, apiKey: (await server.account('pro')).key };
    assert.equal((await call('generateSignedIntegers', stranger)).error.code, 421);
    const forged = ticketId.replace(/.$/, (last: string) => (last === '0' ? '1' : '0'));
    assert.equal((await call('generateSignedIntegers', { ...params, ticketId: forged })).error.code, 420);
  });
});

describe('a JSON-RPC call', () => {
  it('is certified like an answer of the REST API', async () => {
    const { key } = await server.account('pro');
    const { result } = await call('generateSignedGaussians', {
      apiKey: key,
      n: 2,
      mean: 0,
      standardDeviation: -1,
      significantDigits: 4,
    });
    const { id, salt } = result.certificate;
    const response = await server.get(`/certificate?id=${id}`, { authorization: `Bearer ${key}` });
    const { certificate } = (await response.json()) as {
      certificate: {
        hashes: { delivered: string };
        entropy_mode: string;
        provenance: { quantum_backend: string };
      };
    };
    const metadata = {
      entropy_mode: certificate.entropy_mode,
      quantum_source: certificate.provenance.quantum_backend,
    };
    const data = { count: 2, digits: 4, mean: 0, metadata, stddev: 1, values: result.random.data };
    const delivered = createHash('sha256')
      .update(Buffer.from(salt, 'hex'))
      .update(canonicalize(data)!)
      .digest('hex');
    assert.equal(certificate.hashes.delivered, `sha256:${delivered}`);
  });

  it('with wrong parameters gets its own code, draws nothing and spends nothing', async () => {
    const { key } = await server.account('pro');
    const left = async () => (await call('getUsage', { apiKey: key })).result;
    const before = await left();
    const good = { apiKey: key, n: 2, min: 1, max: 6 };
    const cases: [method: string, params: unknown, code: number, data?: unknown][] = [
      ['generateIntegers', { ...good, n: 0 }, 202, ['n']],
      ['generateIntegers', { ...good, pregeneratedRandomization: { date: '2026-01-01' } }, 202],
      ['generateSignedIntegers', { ...good, userData: 'x'.repeat(1_000) }, 202],
      ['generateIntegers', [key, 2, 1, 6], -32602],
      ['generateIntegers', { ...good, apiKey: 'qrn_none' }, 400],
      ['generateIntegers', { n: 2, min: 1, max: 6 }, -32602],
      ['createTickets', { apiKey: key, n: 0, showResult: true }, 202, ['n']],
      ['createTickets', { apiKey: key, n: 51, showResult: true }, 202],
      ['getResult', { apiKey: key, serialNumber: -1 }, 202],
      ['getResult', { apiKey: key, serialNumber: 1 }, 424],
      ['generateNothing', good, -32601],
    ];
    for (const [method, params, code, data] of cases) {
      const answer = await call(method, params);
      assert.equal(answer.error?.code, code, `${method} ${JSON.stringify(params).slice(0, 90)}`);
      if (data !== undefined) assert.deepEqual(answer.error.data, data, method);
      assert.equal(answer.id, 1);
    }
    const after = await left();
    assert.deepEqual([after.requestsLeft, after.totalBits], [before.requestsLeft, before.totalBits]);
  });

  it('echoes an id that JSON-RPC allows, and refuses batches, notifications and other ids before anything is drawn', async () => {
    const { key } = await server.account('pro');
    const params = { apiKey: key, n: 1, min: 1, max: 6 };
    const request = { jsonrpc: '2.0', method: 'generateIntegers', params };
    for (const id of ['', 'a', 0, -1, 1.5, null])
      assert.deepEqual((await call('generateNothing', params, id)).id, id);
    for (const id of [true, [], {}, 2 ** 60]) {
      const answer = await call('generateIntegers', params, id);
      assert.deepEqual([answer.error.code, answer.id], [-32600, null]);
    }
    assert.deepEqual(await post(JSON.stringify(request)), { status: 204, json: undefined });
    const refused: [body: string | Uint8Array<ArrayBuffer>, code: number][] = [
      [JSON.stringify([{ ...request, id: 1 }]), -32600],
      ['[]', -32600],
      ['7', -32600],
      ['{"jsonrpc":"2.0"', -32700],
      [Uint8Array.of(0x22, 0xff, 0x22), -32700],
      [JSON.stringify({ ...request, jsonrpc: '1.0', id: 1 }), -32600],
      ['{"jsonrpc":"2.0","id":1,"id":2}', -32600],
    ];
    const twice = JSON.stringify({ ...request, id: 1 }).replace('"n":1', '"n":1,"n":2');
    refused.push([twice, -32600], [twice.replace(key, 'qrn_none'), 400]);
    for (const [body, code] of refused) {
      const { status, json } = await post(body);
      assert.deepEqual([status, json.error.code], [200, code], String(body));
    }
    assert.equal((await call('getUsage', { apiKey: key })).result.totalRequests, 0);
  });

  it('is refused before anything is drawn when its user data cannot be signed, and leaves no fault in the log', async () => {
    const { key } = await server.account('pro');
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const cases = { '1e999': -32602, '"\\ud800"': -32602, '{"a":[-1e999]}': -32602, [deep]: -32600 };
    for (const [userData, code] of Object.entries(cases)) {
      const params = `{"apiKey":"${key}","n":1,"min":1,"max":6,"userData":${userData}}`;
      const body = `{"jsonrpc":"2.0","id":1,"method":"generateSignedIntegers","params":${params}}`;
      const { error } = (await post(body)).json;
      assert.equal(error.code, code, userData.slice(0, 30));
      const check = `{"random":{"a":${userData}},"signature":""}`;
      const checked = await post(`{"jsonrpc":"2.0","id":1,"method":"verifySignature","params":${check}}`);
      assert.equal(checked.json.error.code, code);
      if (code === -32602) assert.deepEqual(checked.json.error.data, ['random']);
    }
    assert.equal((await call('getUsage', { apiKey: key })).result.totalRequests, 0);
    assert.doesNotMatch(server.output(), /"msg":"fault"/);
  });

  it('with a long body is served while many come without a key', async () => {
    const { key } = await server.account('pro');
    const long = (params: object) =>
      JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'generateIntegers',
        params: { ...params, x: 'x'.repeat(2_000) },
      });
    const others = Array.from({ length: 80 }, () =>
      post(long({ a: Array(15_000).fill([1]) }).slice(0, 60_000)),
    );
    const paid = await post(long({ apiKey: key, n: 1, min: 1, max: 6 }));
    assert.equal(paid.json.error, undefined);
    await Promise.all(others);
  });

  it('gets its values without compression, and is refused with an Idempotency-Key', async () => {
    const { key } = await server.account('pro');
    const params = { apiKey: key, n: 1_000, min: 1, max: 6 };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'generateIntegers', params });
    const plain = await fetchWhole(url, { method: 'POST', headers: { 'accept-encoding': 'br' }, body });
    assert.equal(plain.headers.get('content-encoding'), null);
    assert.equal(((await plain.json()) as { result: object }).result !== undefined, true);
    const keyed = await fetchWhole(url, { method: 'POST', headers: { 'idempotency-key': 'k' }, body });
    assert.equal(((await keyed.json()) as { error: { code: number } }).error.code, -32600);
    assert.equal((await call('getUsage', { apiKey: key })).result.totalRequests, 1);
  });

  it("gets random.org's refusals beyond the rate or the quota of its account", async () => {
    const { key } = await server.account('free');
    const params = { apiKey: key, n: 1, min: 1, max: 6 };
    let last = await call('generateIntegers', params);
    for (let i = 1; i < 15; i++) last = await call('generateIntegers', params);
    assert.equal(last.result.requestsLeft >= 0, true);
    assert.ok(last.result.advisoryDelay > 1, 'the burst is used up');
    const refused = await call('generateIntegers', params);
    assert.equal(refused.error.code, -32000);
    assert.ok(refused.error.data[0] >= 1);
    const once = await server.account('enterprise', '--requests-per-month', '1');
    const months = [1, 2].map(() => call('generateIntegers', { ...params, apiKey: once.key }));
    const used = (await Promise.all(months)).find(({ error }) => error !== undefined);
    assert.deepEqual([used.error.code, used.error.data], [402, [1, 0]]);
  });

  it('is refused with a key that has no scope for it', async () => {
    const { account_id } = await server.account('pro');
    const { key } = JSON.parse(
      await server.qrn('keys', 'create', '--account', account_id, '--scopes', 'usage:read', '--json'),
    );
    await server.knows(key);
    const { error } = await call('generateIntegers', { apiKey: key, n: 1, min: 1, max: 6 });
    assert.equal(error.code, 401);
    assert.equal((await call('getUsage', { apiKey: key })).result.totalRequests, 0);
  });

  it('that needs no key counts against the rate of the key that it brings', async () => {
    const { key } = await server.account('free');
    const params = { apiKey: key, random: {}, signature: '' };
    for (let i = 0; i < 15; i++)
      assert.equal((await call('verifySignature', params)).result.authenticity, false);
    for (const method of ['verifySignature', 'getTicket']) {
      const { error } = await call(method, { ...params, ticketId: 'none' });
      assert.equal(error.code, -32000, method);
    }
  });
});
