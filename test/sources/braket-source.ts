import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { systemClock } from '../../src/core/clock.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { BUCKET, LocalBraket } from '../support/providers/braket.ts';
import { gridDevice, type LocalDevice } from '../support/providers/braket-device.ts';
import { type Environment, TestServer } from '../support/server.ts';
import { assertNamed, type GivenRead, sha256Hex } from './certified-read.ts';

const SECRETS: Environment = {
  AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  AWS_SESSION_TOKEN: 'IQoJb3JpZ2luX2VjEXAMPLETOKEN',
};

type Facts = Pick<GivenRead, 'quantumBackend' | 'circuit' | 'qubits' | 'depth' | 'shots' | 'evidence'>;

/** A device of the local Braket, and what certificates say of it. */
export interface BraketCase {
  readonly device: LocalDevice;
  readonly options: Environment;
  readonly facts: Facts;
  /** Of the qubits that the task measured. */
  readonly calibrationOf: (physical: readonly number[]) => GivenRead['calibration'];
}

/** Reads one task, the day's budget having room for no other, and certifies what came. */
export async function assertCertifiesTask(t: TestContext, each: BraketCase): Promise<void> {
  const local = await new LocalBraket(each.device, new ManualClock(systemClock.wallMs())).start(t);
  local.hasNoQueue = true;
  const service = TestServer.spawnFor(t, {
    QRN_BACKEND: 'braket',
    QRN_SOURCE_BRAKET_DEVICE: each.device.arn,
    QRN_SOURCE_BRAKET_BUCKET: BUCKET,
    QRN_SOURCE_BRAKET_ENDPOINT: local.api.url,
    QRN_SOURCE_BRAKET_S3_ENDPOINT: local.s3.server.url,
    // the machine's own profile is out of reach
    AWS_CONFIG_FILE: '/nonexistent/config',
    AWS_SHARED_CREDENTIALS_FILE: '/nonexistent/credentials',
    AWS_EC2_METADATA_DISABLED: 'true',
    ...SECRETS,
    ...each.options,
  });
  await service.ready();
  const jobId = arnOfTask(local);
  const physical = [...local.measured.source.matchAll(/measure \$(\d+)/g)].map(([, qubit]) => Number(qubit));
  await assertNamed(service, (rawSha256) => {
    if (sha256Hex(...local.s3.read) !== rawSha256) return undefined;
    return {
      ...each.facts,
      source: 'braket',
      origin: 'quantum-processor',
      provider: 'amazon-braket',
      device: each.device.arn.split('/').slice(-2).join('/'),
      jobId,
      circuitVersion: '1.0.0',
      circuitSha256: sha256Hex(local.measured.source),
      calibration: each.calibrationOf(physical),
    };
  });
  assert.equal(local.tasks, 1, 'one paid task');
  service.assertDiscreet(Object.values(SECRETS).map(String));
}

function arnOfTask(local: LocalBraket): string {
  const answers = local.api.sent.map(
    (body) => JSON.parse(body.toString('utf8')) as { quantumTaskArn?: string },
  );
  return String(answers.find(({ quantumTaskArn }) => quantumTaskArn !== undefined)?.quantumTaskArn);
}

/** Channel by channel, what the grid publishes of its qubits. */
export function gridCalibration(physical: readonly number[]) {
  const { readout } = gridDevice();
  const errors = physical.map((qubit) => readout.get(qubit)!);
  return {
    date: '2026-11-20T16:45:26.355472+00:00',
    physical_qubits: physical,
    readout_fidelity: errors.map(({ e01, e10 }) => 1 - (e01 + e10) / 2),
    readout_e01: errors.map(({ e01 }) => e01),
    readout_e10: errors.map(({ e10 }) => e10),
  };
}
