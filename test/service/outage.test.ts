import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createAccount, createKey } from '../../src/account/administration.ts';
import { type Backend, BackendError } from '../../src/backend/backend.ts';
import { loadConfig } from '../../src/config/sources.ts';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { type Service, startService } from '../../src/service/service.ts';
import {
  deadBackend,
  failingBackend,
  shortBackend,
  stallingBackend,
  stuckBackend,
} from '../support/backends.ts';

/** The whole service on sources that do not give what they should: the modes that need them say so, the others go on. */
const SOURCES: [name: string, make: () => Backend][] = [
  [
    'fails for now',
    () => failingBackend(...Array.from({ length: 100 }, () => new BackendError('retryable', 'no light'))),
  ],
  ['is dead', () => deadBackend()],
  ['gives too little', () => shortBackend()],
  ['stalls', () => stallingBackend()],
  ['is stuck', () => stuckBackend()],
];

for (const [name, make] of SOURCES) {
  describe(`a source that ${name}`, () => {
    let service: Service;
    let key: string;
    const dataDir = mkdtempSync(join(tmpdir(), 'qrn-outage-'));
    before(async () => {
      const config = loadConfig({ QRN_DATA_DIR: dataDir, QRN_PORT: '0', QRN_LOG_LEVEL: 'silent' });
      service = await startService(config, silentLog, { backend: make() });
      const account = await createAccount(service.ledger, systemClock, { name: 'a', tier: 'pro' });
      key = (await createKey(service.ledger, systemClock, { accountId: account.id })).text;
      for (let tries = 0; (await ask('/integers?entropy_mode=csprng')).status !== 200; tries++) {
        assert.ok(tries < 200, 'csprng mode is served in the end');
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    });
    after(async () => {
      await service.stop();
      rmSync(dataDir, { recursive: true, force: true });
    });
    const ask = async (path: string) => {
      const response = await fetch(`${service.baseUrl}${path}`, { headers: { 'x-api-key': key } });
      return { status: response.status, headers: response.headers, body: await response.json() };
    };

    it('leaves csprng mode alone', async () => {
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

    it('is told by readiness and health', async () => {
      const origin = new URL(service.baseUrl).origin;
      assert.equal((await fetch(`${origin}/readyz`)).status, 503);
      assert.equal((await fetch(`${origin}/livez`)).status, 200);
      const { body } = await ask('/health');
      assert.notEqual((body as { status: string }).status, 'pass');
    });
  });
}
