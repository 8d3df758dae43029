import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calibrationOf, chosenQubits } from '../../src/backend/ibm/device.ts';
import { objectIn } from '../../src/core/json.ts';
import { propertiesOf, TEST_DEVICE } from '../support/providers/ibm-device.ts';

const calibration = calibrationOf(objectIn(propertiesOf(TEST_DEVICE, '2026-11-20')));
const quality = { max_readout_error: 0.05, max_gate_error: 0.02, qubits: 100 };

test('qubits that are dead, indistinct, unpublished or not operational are not used', () => {
  assert.deepEqual(chosenQubits(calibration, quality), [0, 1, 2, 4, 6, 8, 9, 11]);
});

test('the best of the good qubits are chosen, in ascending order', () => {
  assert.deepEqual(chosenQubits(calibration, { ...quality, qubits: 3 }), [1, 9, 11]);
  assert.deepEqual(chosenQubits(calibration, { ...quality, max_readout_error: 0.013 }), [0, 1, 8, 9, 11]);
  assert.deepEqual(chosenQubits(calibration, { ...quality, max_readout_error: 0.6 }).includes(5), true);
  assert.deepEqual(chosenQubits(calibration, { ...quality, max_gate_error: 0 }), []);
});

test('malformed documents give no figures, and none is made up', () => {
  assert.deepEqual(calibrationOf({}).readout, []);
  const readout = (e01: unknown) => [
    { name: 'prob_meas1_prep0', value: e01 },
    { name: 'prob_meas0_prep1', value: 0.01 },
  ];
  const qubits = [readout('0.1'), readout(-0.1), readout(1.1), readout(null), readout(0.1)];
  assert.deepEqual(calibrationOf({ qubits }).readout, [null, null, null, null, { e01: 0.1, e10: 0.01 }]);
});
