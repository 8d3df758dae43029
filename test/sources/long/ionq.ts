import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { systemClock } from '../../../src/core/clock.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { IONQ_KEY, LocalIonq } from '../../support/providers/ionq.ts';
import { type Environment, TestServer } from '../../support/server.ts';
import { assertNamed, type GivenRead, sha256Hex } from '../certified-read.ts';

async function assertCertifiesJob(
  t: TestContext,
  options: Environment,
  facts: Pick<GivenRead, 'circuit' | 'qubits' | 'depth' | 'shots' | 'evidence'>,
): Promise<void> {
  const local = await new LocalIonq(new ManualClock(systemClock.wallMs())).start(t);
  local.hasNoQueue = true;
  const service = TestServer.spawnFor(t, {
    QRN_BACKEND: 'ionq',
    QRN_SOURCE_IONQ_API_KEY: IONQ_KEY,
    QRN_SOURCE_IONQ_BACKEND: 'qpu.forte-1',
    QRN_SOURCE_IONQ_BASE_URL: local.baseUrl,
    QRN_SOURCE_IONQ_SPARE_PERCENT: '0',
    QRN_SOURCE_IONQ_CALLS_PER_DAY: '1',
    QRN_SOURCE_IONQ_BUDGET_PER_DAY: 'none',
    ...options,
  });
  await service.ready();
  await service.until('the job is deleted', () => local.jobs === 0);
  const submissions = local.server.requests.filter(({ method }) => method === 'POST');
  assert.equal(submissions.length, 1, 'one paid job');
  const { input } = JSON.parse(submissions[0].body) as { input: object };
  const deleted = local.server.requests.filter(({ method }) => method === 'DELETE');
  await assertNamed(service, (rawSha256) => {
    if (sha256Hex(...local.read) !== rawSha256) return undefined;
    return {
      ...facts,
      source: 'ionq',
      origin: 'quantum-processor',
      quantumBackend: 'ionq-qpu-forte-1',
      provider: 'ionq',
      device: 'qpu.forte-1',
      jobId: deleted.at(-1)!.path.split('/').at(-1)!, // the job is deleted after its circuits
      circuitVersion: '1.0.0',
      circuitSha256: sha256Hex(JSON.stringify(input)),
      calibration: { id: 'char-1', date: '2026-11-19T00:00:00Z', spam_fidelity_median: 0.9962 },
    };
  });
  service.assertDiscreet([IONQ_KEY]);
}

describe('the service with IonQ', () => {
  it('superposition at its default size, with one figure for all qubits: evidence statistical', async (t) => {
    const facts = { circuit: 'superposition-25', qubits: 25, depth: 2, shots: 2_000 } as const;
    await assertCertifiesJob(t, {}, { ...facts, evidence: 'statistical' });
  });
});
