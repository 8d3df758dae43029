import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { verifyAnswer } from '../../src/certificate/verify.ts';
import { fetchHead, fetchWhole } from '../support/http.ts';
import { until } from '../support/server.ts';
import { LocalService } from '../support/service.ts';

/** GET /v1/stream over a real socket, on both HTTP libraries. */
for (const engine of ['uws', 'node'] as const)
  describe(`a stream on ${engine}`, () => streamContract(engine));

interface Line {
  readonly data?: { readonly count: number; readonly values: readonly unknown[] };
  readonly meta?: { readonly request_id: string };
  readonly metadata?: { readonly certificate_id: string };
  readonly end?: { readonly first: number; readonly blocks: number; readonly of: number };
  readonly error?: { readonly code: string; readonly status: number };
  readonly retry_after?: number;
  readonly next?: number;
}

function streamContract(engine: 'uws' | 'node'): void {
  let local: LocalService;
  before(async () => {
    local = await LocalService.start({ QRN_FRONT: engine }, {});
    await until('it is ready', async () => (await fetchWhole(`${local.origin}/readyz`)).status === 200);
  });
  after(() => local.stop());

  const urlOf = (query: string) => `${local.service.baseUrl}/stream?entropy_mode=csprng&${query}`;

  function stream(query: string, key = local.key, headers: Record<string, string> = {}): Promise<Response> {
    return fetchWhole(urlOf(query), { headers: { 'x-api-key': key, ...headers } });
  }

  async function linesOf(query: string, key?: string, headers?: Record<string, string>): Promise<Line[]> {
    const response = await stream(query, key, headers);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    assert.equal(response.headers.get('content-type'), 'application/x-ndjson');
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  }

  const requestsOf = async (key: string): Promise<number> =>
    (await local.ask<{ data: { requests: { used: number } } }>('/usage', key)).body.data.requests.used;

  /** Opens a stream of which nothing is read until the reply is resumed. */
  const openStream = (query: string, key: string): Promise<IncomingMessage> =>
    fetchHead(urlOf(query), { headers: { 'x-api-key': key } });

  /** Checks a block against its certificate, once the log holds that. */
  async function assertVerifies(id: string, response: unknown): Promise<void> {
    let certificate: unknown;
    await until('the certificate is in the log', async () => {
      ({ body: certificate } = await local.ask(`/certificate?id=${id}`));
      return (certificate as { certificate: { proof: unknown } }).certificate.proof !== null;
    });
    const keys = await (await fetchWhole(`${local.origin}/.well-known/qrn-keys.json`)).json();
    const { ok, checks } = await verifyAnswer({ response, certificate, keys });
    assert.ok(ok, JSON.stringify(checks));
  }

  it('has a line for each block, an answer with its own certificate, and a last line', async () => {
    const key = await local.account('enterprise');
    const lines = await linesOf('type=integers&min=1&max=6&total=7&block=3', key);
    const blocks = lines.slice(0, -1);
    assert.deepEqual(
      blocks.map(({ data }) => [data!.count, data!.values.length]),
      [3, 3, 1].map((count) => [count, count]),
    );
    assert.ok(
      blocks.flatMap(({ data }) => data!.values).every((value) => Number(value) >= 1 && Number(value) <= 6),
    );
    assert.deepEqual(lines.at(-1), { end: { first: 0, blocks: 3, of: 3 } });
    assert.equal(new Set(blocks.map(({ meta }) => meta!.request_id)).size, 3);
    assert.equal(await requestsOf(key), 3, 'each block is one request of the month');
    for (const block of blocks) {
      await assertVerifies(block.metadata!.certificate_id, block);
    }
  });

  it('sends large blocks whole, to a reader that keeps up', async () => {
    const lines = await linesOf('type=bytes&length=1000&total=3000&block=1000');
    assert.deepEqual(
      lines.map(({ data }) => data?.values.length),
      [1_000, 1_000, 1_000, undefined],
    );
    const next = await stream('type=uuid&total=1');
    assert.equal(next.status, 200, 'the connection serves the next request');
    await next.arrayBuffer();
  });

  it('draws and charges nothing more while its reader pauses, continues with it, and ends when it leaves', async (t) => {
    const key = await local.account('enterprise');
    const reply = await openStream('type=bytes&length=1000&total=1000000&block=1000', key);
    t.after(() => reply.destroy());
    await until('the reader has stalled', async () => (await local.counted('qrn_http_held_bytes')) > 0);
    const stalled = await settled(() => requestsOf(key));
    assert.ok(stalled < 100, `${stalled} of 1,000 blocks were made for a reader that takes none`);
    let received = 0;
    reply.on('data', (piece: Buffer) => {
      received += piece.length;
      if (received > 3 * stalled * 1_000_000) reply.pause();
    });
    await until('the stream goes on', async () => (await requestsOf(key)) > 2 * stalled);
    reply.destroy();
    await until(
      'what was held is given back',
      async () => (await local.counted('qrn_http_held_bytes')) === 0,
    );
    const left = await settled(() => requestsOf(key));
    assert.ok(left < 1_000, 'the stream ended with its client');
    for (let i = 0; i < 5; i++) await (await stream('type=uuid&total=1')).arrayBuffer();
    assert.equal(await requestsOf(key), left);
  });

  if (engine === 'uws') aboveTheLibrary();

  /** Tests that are the same whichever library sends the stream. */
  function aboveTheLibrary(): void {
    it('leaves room for other accounts while 100 streams are not read', async () => {
      const [hostile, other] = [await local.account('enterprise'), await local.account('enterprise')];
      const streams = await Promise.all(
        Array.from({ length: 100 }, () => openStream('type=floats&total=60000&block=20000', hostile)),
      );
      for (const { statusCode } of streams) assert.ok([200, 503].includes(statusCode!));
      const batch = { type: 'uuid', count: 50_000, entropy_mode: 'csprng' };
      for (let i = 0; i < 3; i++) {
        const response = await fetchWhole(`${local.service.baseUrl}/batch`, {
          method: 'POST',
          headers: { 'x-api-key': other, 'content-type': 'application/json' },
          body: JSON.stringify(batch),
        });
        assert.equal(response.status, 200, await response.text());
      }
      for (const reply of streams) reply.destroy();
      await until(
        'what was held is given back',
        async () => (await local.counted('qrn_http_held_bytes')) === 0,
      );
    });

    it('resumes at a block, and under an Idempotency-Key pays for no block twice', async () => {
      const key = await local.account('enterprise');
      const query = 'type=integers&min=0&max=1000000&total=8&block=2';
      const headers = { 'idempotency-key': 'a-stream' };
      const whole = await linesOf(query, key, headers);
      assert.equal(await requestsOf(key), 4);
      const rest = await linesOf(`${query}&first=2`, key, headers);
      assert.deepEqual(rest.slice(0, -1), whole.slice(2, 4));
      assert.deepEqual(rest.at(-1), { end: { first: 2, blocks: 2, of: 4 } });
      assert.equal(await requestsOf(key), 4, 'blocks that were made are not charged again');
      const other = `${query}&purpose=another%20raffle`;
      const refused = (await (await stream(other, key, headers)).json()) as Line;
      assert.equal(refused.error?.code, 'idempotency_mismatch', 'a label makes it another request');
      const fresh = await linesOf(`${query}&first=2`, key);
      assert.notDeepEqual(fresh.slice(0, -1), whole.slice(2, 4));
      assert.equal(await requestsOf(key), 6);
    });

    it('ends with the error of a refused block, and says where to resume', async () => {
      const limited = await local.account('free');
      const ofRate = await linesOf('type=uuid&total=20&block=1', limited);
      assert.equal(ofRate.length, 16, 'the burst of 15, and the last line');
      const { error, next, retry_after } = ofRate.at(-1)!;
      assert.deepEqual([error?.code, error?.status, next], ['rate_limited', 429, 15]);
      assert.ok(retry_after! >= 1);
      assert.equal((await stream('type=uuid&total=1', limited)).status, 429);
      const quota = await local.account('enterprise', { requestsPerMonth: 3 });
      const ofQuota = await linesOf('type=uuid&total=20&block=1', quota);
      assert.deepEqual(
        [ofQuota.length, ofQuota.at(-1)!.error?.code, ofQuota.at(-1)!.next],
        [4, 'quota_exceeded', 3],
      );
    });

    it('refuses malformed requests like any endpoint, and charges nothing', async () => {
      const key = await local.account('enterprise');
      const refused: Record<string, string> = {
        'total=3': 'invalid_type',
        'type=uuid': 'invalid_count',
        'type=uuid&total=0': 'invalid_count',
        'type=uuid&total=3&block=100001': 'invalid_count',
        'type=uuid&total=3&block=2&first=2': 'invalid_count',
        'type=integers&total=3&min=6&max=1': 'invalid_range',
        'type=floats&total=3&precision=16': 'invalid_precision',
        'type=bytes&total=100000&block=100000&length=1024': 'invalid_params',
      };
      for (const [query, code] of Object.entries(refused)) {
        const response = await stream(query, key);
        assert.equal(((await response.json()) as Line).error?.code, code, query);
      }
      const octets = await stream('type=uuid&total=1', key, { accept: 'application/octet-stream' });
      assert.equal(octets.status, 406, await octets.text());
      const long = await stream('type=uuid&total=1', key, { 'idempotency-key': 'k'.repeat(250) });
      assert.equal(((await long.json()) as Line).error?.code, 'invalid_idempotency_key');
      const ignored = await stream('type=uuid&total=1&precision=3', key);
      assert.equal(ignored.headers.get('x-ignored-parameters'), 'precision');
      await ignored.arrayBuffer();
      const quote = (await (await stream('type=floats&total=1000000000&dry_run=true', key)).json()) as {
        data: { required_bytes: number };
      };
      assert.equal(quote.data.required_bytes, (1_000_000_000 * 53) / 8);
      const head = await fetchWhole(urlOf('type=uuid&total=9'), {
        method: 'HEAD',
        headers: { 'x-api-key': key },
      });
      assert.deepEqual([head.status, head.headers.get('x-entropy-mode')], [200, 'csprng']);
      assert.equal(await requestsOf(key), 1);
    });

    it('gets a quote in pure mode if each block is possible, whatever their sum', async () => {
      const ask = async (block: number) => {
        const query = `type=bytes&length=1000&total=1000&block=${block}&entropy_mode=pure&dry_run=true`;
        return (
          await local.ask<{ data?: { required_bytes: number }; error?: { code: string } }>(`/stream?${query}`)
        ).body;
      };
      assert.equal((await ask(10)).data?.required_bytes, 1_000_000);
      assert.equal((await ask(1_000)).error?.code, 'pure_too_large');
    });
  }
}

/** The value once it has stayed the same over ten looks, with turns of the service's loop between them. */
async function settled(look: () => Promise<number>): Promise<number> {
  let value = await look();
  for (let same = 0; same < 10; ) {
    const next = await look();
    same = next === value ? same + 1 : 0;
    value = next;
  }
  return value;
}
