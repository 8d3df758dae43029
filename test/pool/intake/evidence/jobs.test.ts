import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { RawRead } from '../../../../src/backend/backend.ts';
import type { LotRecord } from '../../../../src/ledger/records.ts';
import { HealthMonitor } from '../../../../src/pool/intake/health.ts';
import { makeLot } from '../../../../src/pool/intake/lots.ts';
import { IbmSubject } from '../../../backend/ibm-fixtures.ts';
import { runJob } from '../../../support/backend-contract.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { TEST_DEVICE } from '../../../support/providers/ibm-device.ts';
import { ScriptedAssessor } from '../../fixtures.ts';

/** The lot of one job at a local IBM, whose shots come from the simulator with the errors of its calibration. */
async function lotOf(
  t: TestContext,
  texts: object,
  bits: number,
  isSimulator = false,
): Promise<{ lot: LotRecord; read: RawRead }> {
  const subject = await IbmSubject.start(t, texts);
  Object.assign(subject, { bits });
  if (isSimulator) subject.server.calibrate('2026-11-21', { ...TEST_DEVICE, isSimulator });
  const { read } = await runJob(subject);
  const { backend } = subject;
  const { claimedMinEntropyPerBit: minEntropyPerBit } = backend;
  const health = new HealthMonitor({ width: read.width, minEntropyPerBit }).check(read);
  const { record } = await makeLot(backend, read, health, new ScriptedAssessor(), new ManualClock());
  assert.equal(record.rejection, '');
  return { lot: record, read };
}

test('a job of superposition is a calibrated lot', async (t) => {
  const { lot } = await lotOf(t, {}, 400_000);
  assert.equal(lot.origin, 'quantum-processor');
  const { evidence } = lot;
  assert.equal(evidence?.claim, 'calibrated');
  // The worst qubit taken has e01 + e10 = 0.04: 0.943, less what 50,000 shots leave open.
  assert.equal(evidence.figures['readout_error_max'], 0.04);
  const figure = evidence.minEntropyPerBit;
  assert.ok(figure !== null && figure < 1 - Math.log2(1.04) && figure > 0.88, `${figure}`);
});

test('a job of x-check has too few clusters for source-independent, and its tests bound the calibrated figure', async (t) => {
  const { lot, read } = await lotOf(t, { circuit: 'x-check' }, 400_000);
  const { evidence } = lot;
  assert.equal(evidence?.claim, 'calibrated');
  const { x_shots: shots, x_error_max: error, x_error_max_bound: bound } = evidence.figures;
  assert.equal(read.witness?.kind === 'x-basis' && read.witness.shots, shots);
  // e01 of the worst qubit is 0.02; five standard deviations
  assert.ok(Math.abs(error - 0.02) < 5 * Math.sqrt(0.02 / shots), `${error} of ${shots}`);
  assert.ok(bound > error && bound < 0.06);
  const figure = evidence.minEntropyPerBit;
  assert.ok(figure !== null && figure > 0.4 && figure < 0.644, `${figure}: at most that of 0.02`);
  assert.match(
    evidence.notReached.find(({ claim }) => claim === 'source-independent')?.why ?? '',
    /2 of 16 clusters tested/,
  );
});

test('a job of bell-chsh shows its S and has too few clusters for a witness; of a simulator it is simulated', async (t) => {
  const { lot } = await lotOf(t, { circuit: 'bell-chsh' }, 600_000);
  const { evidence } = lot;
  assert.equal(evidence?.claim, 'statistical');
  const { chsh_s: s, chsh_shots: shots, chsh_clusters: clusters } = evidence.figures;
  assert.ok(s > 2.6 && s < 2 * Math.SQRT2 + 0.05, `S = ${s}`);
  assert.deepEqual([shots, clusters], [lot.shots, 16]);
  assert.match(
    evidence.notReached.find(({ claim }) => claim === 'bell-witness')?.why ?? '',
    /over 16 clusters: a local device scores as much/,
  );

  const simulated = await lotOf(t, { circuit: 'bell-chsh' }, 600_000, true);
  assert.equal(simulated.lot.origin, 'simulated');
  const { evidence: rehearsed } = simulated.lot;
  assert.equal(rehearsed?.claim, 'simulated');
  assert.ok(rehearsed.figures['chsh_s'] > 2.6);
  assert.equal(rehearsed.minEntropyPerBit, null);
});
