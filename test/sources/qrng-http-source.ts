import type { TestContext } from 'node:test';
import type { QrngServer } from '../support/providers/qrng-server.ts';
import { type Environment, TestServer } from '../support/server.ts';
import { assertNamed, type GivenRead, PLAIN_STREAM, sha256Hex } from './certified-read.ts';

/** A service of the network, as it is told in the configuration and as certificates name it. */
export interface QrngCase {
  readonly preset: string;
  readonly server: QrngServer;
  readonly environment: Environment;
  readonly secrets: readonly string[];
  readonly quantumBackend: string;
  readonly provider: string;
  readonly device: string;
  /** Calls that make a lot, and bytes of each. */
  readonly calls: number;
  readonly callBytes: number;
  /** What the service certifies of the draws in its replies. */
  readonly calibrationOf?: (replies: readonly Buffer[]) => GivenRead['calibration'];
}

/** Reads one lot, the day's calls having room for no other, and certifies what came. */
export async function assertCertifiesCalls(t: TestContext, each: QrngCase): Promise<TestServer> {
  const { preset, server, calls, calibrationOf = () => null } = each;
  await server.start(t);
  const prefix = `QRN_SOURCE_${preset.toUpperCase()}`;
  const service = TestServer.spawnFor(t, {
    QRN_BACKEND: preset,
    [`${prefix}_BASE_URL`]: server.url,
    [`${prefix}_CALLS_PER_DAY`]: String(calls),
    ...each.environment,
  });
  await service.ready();
  const spent = new RegExp(`^budget of ${preset}: ${calls} of ${calls} calls are spent today`);
  await service.until('the calls of the day are spent', async () => {
    const [state] = (await service.checks())['source:state'];
    return spent.test(state.output ?? '');
  });
  await assertNamed(service, (rawSha256) => {
    if (server.sent.length !== calls || sha256Hex(...server.sent) !== rawSha256) return undefined;
    return {
      ...PLAIN_STREAM,
      source: preset,
      origin: 'qrng-device',
      quantumBackend: each.quantumBackend,
      provider: each.provider,
      device: each.device,
      shots: 8 * calls * each.callBytes,
      calibration: calibrationOf(server.sent),
      evidence: 'statistical',
    };
  });
  service.assertDiscreet(each.secrets);
  return service;
}
