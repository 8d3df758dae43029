import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { unpack } from 'msgpackr';
import { statusOf } from '../../src/http/head.ts';
import { type HealthReport, healthReply } from '../../src/http/plain-routes.ts';

describe('the answer of /v1/health', () => {
  const report = (status: HealthReport['status']): HealthReport => {
    return { status, version: '1', releaseId: '1.2.3', time: '2026-01-01T00:00:00.000Z', checks: {} };
  };
  const typeOf = (accept: string) =>
    /Content-Type: (\S+)/.exec(Buffer.from(healthReply(report('pass'), accept, []).head).toString())?.[1];

  it('is 503 for fail alone', () => {
    assert.deepEqual(
      (['pass', 'warn', 'fail'] as const).map((status) => statusOf(healthReply(report(status), '', []).head)),
      [200, 200, 503],
    );
  });

  it('has the type that is asked for', () => {
    assert.equal(typeOf(''), 'application/json');
    assert.equal(typeOf('application/health+json'), 'application/health+json');
    assert.equal(typeOf('application/msgpack'), 'application/msgpack');
    const packed = healthReply(report('warn'), 'application/msgpack', []).body;
    assert.deepEqual(unpack(packed), report('warn'));
  });
});
