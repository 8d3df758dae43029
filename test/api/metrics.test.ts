import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { before, describe, it } from 'node:test';
import { fetchWhole, talk } from '../support/http.ts';
import { missing } from '../support/programs.ts';
import { type ParsedFamily, parseExposition } from '../support/prometheus.ts';
import { ALL_ON, ASSESSED_LOT_BITS, TestServer } from '../support/server.ts';

let server: TestServer;
describe('metrics of a running service', () => {
  before(async () => {
    server = await TestServer.shared(ALL_ON);
  });

  async function scrape(): Promise<{ text: string; families: Map<string, ParsedFamily> }> {
    const response = await fetchWhole(`${server.origin}/metrics`, {
      headers: { 'cache-control': 'no-cache' },
    });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    const text = await response.text();
    return { text, families: parseExposition(text) };
  }

  /** The sum of the samples of a name that have these labels. */
  function total(
    families: Map<string, ParsedFamily>,
    name: string,
    labels: Record<string, string> = {},
  ): number {
    const family = [...families.values()].find((each) => each.samples.has(name));
    const samples = (family?.samples.get(name) ?? []).filter((sample) =>
      Object.entries(labels).every(([label, value]) => sample.labels.get(label) === value),
    );
    return samples.reduce((sum, { value }) => sum + value, 0);
  }

  /** Sends a request on a new connection, so that the system chooses a front. */
  async function ask(path: string, key = server.key): Promise<number> {
    const response = await fetchWhole(`${server.baseUrl}${path}`, {
      headers: { authorization: `Bearer ${key}`, connection: 'close' },
    });
    await response.arrayBuffer();
    return response.status;
  }

  describe('/metrics', () => {
    it('is strict Prometheus text with help for everything and names by its conventions', async () => {
      await ask('/integers');
      const { families } = await scrape();
      assert.ok(families.size > 40);
      for (const [name, { type, help }] of families) {
        assert.match(name, /^(qrn|process)_[a-z0-9_]*[a-z0-9]$/);
        assert.match(help, /^[A-Z0-9].*\.$/s, `${name}: ${help}`);
        assert.equal(name.endsWith('_total'), type === 'counter', name);
        assert.doesNotMatch(name, /_(ms|milliseconds|kb|mb|percent|minutes|hours)(_|$)/, 'base units');
      }
    });

    it('passes promtool', { skip: missing('promtool', 'prometheus') }, async () => {
      const { text } = await scrape();
      const checked = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
      assert.deepEqual([checked.status, checked.stdout, checked.stderr], [0, '', '']);
    });

    it('counts what all fronts answered, exactly', async () => {
      const before = (await scrape()).families;
      const statuses = [
        ...(await Promise.all(Array.from({ length: 20 }, () => ask('/integers?count=10')))),
        ...(await Promise.all(Array.from({ length: 5 }, () => ask('/bytes?count=32&entropy_mode=pure')))),
        ...(await Promise.all(Array.from({ length: 4 }, () => ask('/floats?count=0')))),
        await ask('/uuid', 'nonsense'),
        await ask('/nothing'),
      ];
      assert.equal(statuses.filter((status) => status === 200).length, 25);
      const now = (await scrape()).families;
      const grown = (name: string, labels: Record<string, string> = {}) =>
        total(now, name, labels) - total(before, name, labels);
      assert.equal(grown('qrn_http_requests_total', { endpoint: 'integers', code: '200' }), 20);
      assert.equal(grown('qrn_http_requests_total', { endpoint: 'bytes', code: '200' }), 5);
      assert.equal(grown('qrn_http_requests_total', { endpoint: 'floats', code: '400' }), 4);
      assert.equal(grown('qrn_http_requests_total', { endpoint: 'uuid', code: '401' }), 1);
      assert.equal(grown('qrn_http_requests_total', { endpoint: 'unknown', code: '404' }), 1);
      assert.equal(grown('qrn_http_errors_total', { error: 'invalid_count' }), 4);
      assert.equal(grown('qrn_http_errors_total'), 6);
      assert.equal(grown('qrn_answers_total', { endpoint: 'integers', mode: 'quantum-seeded' }), 20);
      assert.equal(grown('qrn_answer_values_total', { mode: 'quantum-seeded' }), 200);
      assert.equal(grown('qrn_answer_values_total', { mode: 'pure' }), 160);
      assert.equal(grown('qrn_entropy_consumed_bytes_total', { mode: 'pure' }), 160);
      assert.equal(grown('qrn_credits_spent_total'), 160);
      assert.equal(grown('qrn_http_request_duration_seconds_count', { mode: 'pure' }), 5);
      assert.ok(grown('qrn_ledger_commit_duration_seconds_count') >= 1);
      assert.ok(grown('qrn_ledger_commit_duration_seconds_count') <= 25);
    });

    it('reports the pool, the source and the seeds', async () => {
      let { families } = await scrape();
      await server.until('the pool is filled again, and fronts have written their gauges down', async () => {
        families = (await scrape()).families;
        const onDisk = total(families, 'qrn_pool_bytes', { kind: 'pure' });
        return onDisk > 0 && total(families, 'qrn_pool_pure_ring_bytes') > 0;
      });
      assert.equal(total(families, 'qrn_source_state', { state: 'ok', origin: 'simulated' }), 1);
      assert.equal(total(families, 'qrn_source_state'), 1);
      assert.ok(total(families, 'qrn_pool_seeds') > 0);
      assert.equal(total(families, 'qrn_seed_in_force'), 4);
      assert.equal(total(families, 'qrn_seed_interval_seconds', { group: 'pro/3600000' }), 3600);
      assert.ok(total(families, 'qrn_lot_min_entropy_per_bit') > 0.3);
      assert.ok(total(families, 'qrn_health_test_samples_total') >= ASSESSED_LOT_BITS);
      assert.equal(total(families, 'qrn_ledger_writable'), 1);
    });

    it('names no account, key or request', async () => {
      const { text } = await scrape();
      const { account_id } = JSON.parse(await server.qrn('accounts', 'list', '--json'))[0];
      for (const secret of [account_id, server.key, 'demo']) assert.ok(!text.includes(secret), secret);
      assert.doesNotMatch(text, /(req|cert|lot|acct)_[0-9a-z]{26}/);
    });
  });

  describe('metrics on the main port', () => {
    it('are served to clients on this machine and not to requests that a proxy forwards', async () => {
      const { port } = new URL((await TestServer.shared()).origin);
      const statusWith = async (field: string) => {
        const request = `GET /metrics HTTP/1.1\r\nHost: a\r\n${field}\r\n\r\n`; // fetch forbids Via
        return (await talk(Number(port), request, { replies: 1 })).replies[0].status;
      };
      assert.equal(await statusWith('X-Other: a'), 200);
      for (const field of [
        'Via: 1.1 proxy',
        'Forwarded: for=198.51.100.7',
        'X-Forwarded-For: 198.51.100.7',
        'X-Forwarded-Host: api.example',
        'X-Forwarded-Port: 443',
        'X-Forwarded-Proto: https',
        'X-Real-IP: 198.51.100.7',
        'VIA:',
      ]) {
        assert.equal(await statusWith(field), 404, field);
      }
    });

    it('are made at most once a second for clients on this machine, unless they ask for fresh ones', async () => {
      const local = await TestServer.shared();
      const answered = async (headers: Record<string, string>) => {
        await (await local.get('/integers')).arrayBuffer();
        const text = await (await fetchWhole(`${local.origin}/metrics`, { headers })).text();
        return total(parseExposition(text), 'qrn_http_requests_total', { endpoint: 'integers', code: '200' });
      };
      const startedAtMs = performance.now();
      const shared: number[] = [];
      for (let i = 0; i < 20; i++) shared.push(await answered({}));
      const made = new Set(shared).size;
      assert.ok(made <= 2 + (performance.now() - startedAtMs) / 1_000, `${made} texts`);
      const first = await answered({ 'cache-control': 'no-cache' });
      assert.equal(await answered({ 'cache-control': 'max-age=0, no-cache' }), first + 1);
    });

    it('are sent to anyone when they are public, and made at most once a second for all', async () => {
      const headers = { 'x-forwarded-for': '198.51.100.7', 'cache-control': 'no-cache' };
      const texts = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const response = await fetchWhole(`${server.origin}/metrics`, { headers });
          assert.equal(response.status, 200);
          return response.text();
        }),
      );
      assert.ok(new Set(texts).size <= 2, 'one text, or two when a second ended meanwhile');
    });
  });
});
