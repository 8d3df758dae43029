import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { propertiesOf, TEST_DEVICE } from '../../support/providers/ibm-device.ts';
import { TestServer, temporaryFolder } from '../../support/server.ts';
import { assertNamed, sha256Hex } from '../certified-read.ts';

/** The canonical text of a superposition of four qubits. */
const CIRCUIT = `OPENQASM 3.0;
include "stdgates.inc";
qubit[4] q;
bit[4] c;
h q[0];
h q[1];
h q[2];
h q[3];
c[0] = measure q[0];
c[1] = measure q[1];
c[2] = measure q[2];
c[3] = measure q[3];
`;

describe('the service with the simulator', () => {
  it('has the errors of a real device and says simulated', async (t) => {
    const profile = join(temporaryFolder(t), 'properties.json');
    const device = {
      ...TEST_DEVICE,
      table: TEST_DEVICE.table.filter((qubit) => qubit.isPublished !== false),
    };
    writeFileSync(profile, JSON.stringify(propertiesOf(device, '2026-11-20T06:00:00-05:00')));
    const service = TestServer.spawnFor(t, {
      QRN_BACKEND: 'simulator',
      QRN_SOURCE_SIMULATOR_QUBITS: '4',
      QRN_SOURCE_SIMULATOR_PROFILE: profile,
    });
    await service.ready();
    const qubits = [1, 3, 8, 10]; // those that are read best
    const readout = qubits.map((qubit) => device.table[qubit]);
    await assertNamed(service, () => ({
      source: 'simulator',
      origin: 'simulated',
      quantumBackend: 'simulator-statevector',
      provider: 'local',
      device: 'statevector',
      jobId: null,
      circuit: 'superposition-4',
      circuitVersion: '1.0.0',
      circuitSha256: sha256Hex(CIRCUIT),
      qubits: 4,
      depth: 2,
      shots: 1_048_576,
      calibration: {
        profile: 'ibm_test',
        date: '2026-11-20T06:00:00-05:00',
        qubits,
        readout_e01: readout.map(({ e01 }) => e01),
        readout_e10: readout.map(({ e10 }) => e10),
        bias: 0,
        depolarizing: 0,
      },
      evidence: 'simulated',
    }));
  });
});
