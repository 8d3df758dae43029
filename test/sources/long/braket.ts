import { describe, it } from 'node:test';
import { gridDevice, trapDevice } from '../../support/providers/braket-device.ts';
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

  it('IonQ, with one figure for all qubits: evidence statistical', async (t) => {
    await assertCertifiesTask(t, {
      device: trapDevice(['gpi', 'gpi2', 'zz']),
      options: {
        QRN_SOURCE_BRAKET_DEVICE: 'arn:aws:braket:us-east-1::device/qpu/ionq/Forte-1',
        QRN_SOURCE_BRAKET_QUBITS: '12',
        QRN_SOURCE_BRAKET_SHOTS: '5000',
        QRN_SOURCE_BRAKET_BUDGET_PER_DAY: '900',
        QRN_SOURCE_BRAKET_CALLS_PER_DAY: '1',
      },
      facts: {
        quantumBackend: 'braket-ionq-forte-1',
        circuit: 'superposition-12',
        qubits: 12,
        depth: 2,
        shots: 5_000,
        evidence: 'statistical',
      },
      calibrationOf: (physical) => ({
        date: '2026-11-19T00:00:00+00:00',
        physical_qubits: physical,
        readout_fidelity_mean: 0.9955,
      }),
    });
  });
});
