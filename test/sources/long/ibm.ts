import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Environment, TestServer } from '../../support/server.ts';
import { assertNamed } from '../certified-read.ts';
import { ibmEnvironment, ibmRead, localIbm } from '../ibm-source.ts';

describe('the service with IBM Quantum', () => {
  const lot = {
    QRN_SOURCE_IBM_QUBITS: '6',
    QRN_SOURCE_IBM_PRICE_PER_SECOND: '1',
    QRN_SOURCE_IBM_CURRENCY: 'qpu-seconds',
  };
  const cases: readonly [Environment, Parameters<typeof ibmRead>[1]][] = [
    [
      {
        QRN_SOURCE_IBM_BITS_PER_JOB: '196608',
        QRN_SOURCE_IBM_RESULT_FORM: 'qiskit',
        QRN_SOURCE_IBM_PRIVATE: 'false',
        QRN_SOURCE_IBM_BUDGET_PER_DAY: '14',
      },
      { circuit: 'superposition-6', evidence: 'calibrated' },
    ],
  ];
  for (const [options, facts] of cases) {
    it(`${facts.circuit}: evidence ${facts.evidence}`, async (t) => {
      const ibm = await localIbm().start(t);
      ibm.hasNoQueue = true;
      const service = TestServer.spawnFor(t, ibmEnvironment(ibm, { ...lot, ...options }));
      await service.ready();
      await assertNamed(service, ibmRead(ibm, facts));
      assert.deepEqual(
        ibm.jobs.filter(({ isPrivate, results }) => !isPrivate || results !== null),
        [],
        'nothing is left at the provider',
      );
      service.assertDiscreet([ibm.apiKey, ...ibm.tokens.keys()]);
    });
  }
});
