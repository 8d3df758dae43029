import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { stallingBackend } from '../support/backends.ts';
import { fetchWhole } from '../support/http.ts';
import { until } from '../support/server.ts';
import { LocalService } from '../support/service.ts';

/**
 * The whole service on a source that never answers: the modes that need it say so, the others go on. That sources of every other
 * fault give no lot either is tested in test/pool/intake/collector.test.ts.
 */
describe('a source that stalls', () => {
  let local: LocalService;
  before(async () => {
    local = await LocalService.start({}, { backend: stallingBackend() });
    await until(
      'csprng mode is served',
      async () => (await ask('/integers?entropy_mode=csprng')).status === 200,
    );
  });
  after(async () => {
    await local.stop();
    rmSync(local.dataDir, { recursive: true, force: true });
  });
  const ask = (path: string) => local.ask(path);

  it('does not affect csprng mode', async () => {
    const { status, body } = await ask('/uuid?count=3&entropy_mode=csprng');
    assert.equal(status, 200);
    assert.equal((body as { data: { uuids: string[] } }).data.uuids.length, 3);
  });

  it('makes pure and seeded mode answer 503 with Retry-After, and nothing is spent', async () => {
    for (const path of ['/bytes?entropy_mode=pure', '/integers', '/bytes?count=1024&entropy_mode=pure']) {
      const { status, headers, body } = await ask(path);
      assert.equal(status, 503, path);
      assert.equal((body as { error: { code: string } }).error.code, 'entropy_unavailable');
      assert.ok(Number(headers.get('retry-after')) >= 1);
    }
    const { body } = await ask('/usage');
    const { credits, by_mode: byMode } = (
      body as { data: { credits: { used: number }; by_mode: Record<string, { requests: number }> } }
    ).data;
    assert.equal(credits.used, 0);
    assert.deepEqual([byMode['pure'].requests, byMode['quantum-seeded'].requests], [0, 0]);
  });

  it('is reported by readiness and health', async () => {
    const { origin } = local;
    assert.equal((await fetchWhole(`${origin}/readyz`)).status, 503);
    assert.equal((await fetchWhole(`${origin}/livez`)).status, 200);
    const { body } = await ask('/health');
    assert.notEqual((body as { data: { status: string } }).data.status, 'pass');
  });
});
