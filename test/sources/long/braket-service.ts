import { describe, it } from 'node:test';
import { gridDevice } from '../../support/providers/braket-device.ts';
import { assertCertifiesTask, gridCalibration } from '../braket-source.ts';

describe('the service with Amazon Braket', () => {
  it('is ready with the first small lot, whose evidence is the readout errors of each qubit', async (t) => {
    await assertCertifiesTask(t, {
      device: gridDevice(),
      // 0.30 + 2,000 · 0.00145 USD a lot of the default size: one a day
      options: { QRN_SOURCE_BRAKET_BUDGET_PER_DAY: '5' },
      facts: {
        quantumBackend: 'braket-iqm-garnet',
        circuit: 'superposition-16',
        qubits: 16,
        depth: 2,
        shots: 2_000,
        evidence: 'calibrated',
      },
      calibrationOf: gridCalibration,
    });
  });
});
