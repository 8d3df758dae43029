import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { statusOf } from '../../src/http/head.ts';
import { type HealthReport, healthReply } from '../../src/http/plain-routes.ts';

describe('the answer of /v1/health', () => {
  const report = (status: HealthReport['status']): HealthReport => {
    return { status, version: '1', releaseId: '1.2.3', time: '2026-01-01T00:00:00.000Z', checks: {} };
  };
  const asked = (accept: string) => ({
    accept,
    atMs: 0,
    rate: undefined,
    requestIdText: 'req_00000000000000000000000000',
    requestUuid: '00000000-0000-7000-8000-000000000000',
  });
  const drawn = {
    lang_circuit: 'none',
    lang_version: 'none',
    quantum_backend: 'none',
    nist_verified: false,
    powered_by: 'Lang',
  };
  const reply = (status: HealthReport['status'], accept: string) =>
    healthReply(report(status), asked(accept), drawn);

  it('is 503 for fail alone', () => {
    for (const accept of ['', 'application/health+json']) {
      const statuses = (['pass', 'warn', 'fail'] as const).map((status) =>
        statusOf(reply(status, accept).head),
      );
      assert.deepEqual(statuses, [200, 200, 503]);
    }
  });
});
