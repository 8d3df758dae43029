import { describe, it } from 'node:test';
import { systemClock } from '../../src/core/clock.ts';
import { ANU_KEY, anuServer } from '../support/providers/qrng-services.ts';
import { TestServer } from '../support/server.ts';
import { assertNamed, PLAIN_STREAM, sha256Hex } from './certified-read.ts';

describe('the service with ANU Quantum Numbers', () => {
  it('makes a lot within its calls and certifies it', async (t) => {
    const server = await anuServer(systemClock).start(t);
    const service = TestServer.spawnFor(t, {
      QRN_BACKEND: 'anu',
      QRN_SOURCE_ANU_BASE_URL: server.url,
      QRN_SOURCE_ANU_API_KEY: ANU_KEY,
      QRN_SOURCE_ANU_CALLS: '1',
      QRN_SOURCE_ANU_CALLS_PER_DAY: '1',
    });
    await service.ready();
    await service.until('the calls of the day are spent', async () => {
      const [state] = (await service.checks())['source:state'];
      return /^budget of anu: 1 of 1 calls are spent today/.test(state.output ?? '');
    });
    await assertNamed(service, (rawSha256) => {
      if (server.sent.length !== 1 || sha256Hex(...server.sent) !== rawSha256) return undefined;
      return {
        ...PLAIN_STREAM,
        source: 'anu',
        origin: 'qrng-device',
        quantumBackend: 'anu-quantum-numbers',
        provider: 'ANU Quantum Numbers',
        device: 'vacuum-fluctuation QRNG',
        shots: 8 * 20_480,
        calibration: null,
        evidence: 'statistical',
      };
    });
    service.assertDiscreet([ANU_KEY]);
  });
});
