import { describe, it } from 'node:test';
import { systemClock } from '../../src/core/clock.ts';
import { ANU_KEY, anuServer } from '../support/providers/qrng-services.ts';
import { assertCertifiesCalls } from './qrng-http-source.ts';

describe('the service with ANU Quantum Numbers', () => {
  it('makes a lot within its calls and certifies it', async (t) => {
    await assertCertifiesCalls(t, {
      preset: 'anu',
      server: anuServer(systemClock),
      environment: { QRN_SOURCE_ANU_API_KEY: ANU_KEY, QRN_SOURCE_ANU_CALLS: '1' },
      secrets: [ANU_KEY],
      quantumBackend: 'anu-quantum-numbers',
      provider: 'ANU Quantum Numbers',
      device: 'vacuum-fluctuation QRNG',
      calls: 1,
      callBytes: 20_480,
    });
  });
});
