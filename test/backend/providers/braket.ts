import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { fixedBytes } from '../../support/backends.ts';
import { measuredRows } from '../../support/circuits.ts';
import type { ManualClock } from '../../support/manual-clock.ts';
import {
  type ProviderReply,
  type ProviderRequest,
  ProviderServer,
} from '../../support/providers/http-server.ts';
import { readProgram } from '../../support/providers/program.ts';
import type { LocalDevice } from './braket-device.ts';
import { LocalBucket } from './s3.ts';

/** Defects of the results of the tasks that finish next. */
export type ResultFault =
  /** Probabilities by outcome in place of shots. */
  | 'histogram'
  /** Ten shots are missing and nobody says so. */
  | 'truncated'
  /** Ten shots are missing, and `numSuccessfulShots` says so. */
  | 'fewer-successful'
  /** A shot has one bit too few. */
  | 'short-row'
  /** The measurements of the task before in an envelope of this task. */
  | 'of-another-task'
  /** Columns for other qubits than those that were asked for. */
  | 'other-qubits'
  /** More columns than were asked for, in another order. */
  | 'all-qubits';

interface LocalTask {
  readonly arn: string;
  readonly token: string;
  readonly request: string;
  readonly shots: number;
  readonly source: string;
  readonly directory: string;
  readonly createdAt: string;
  status: 'CREATED' | 'QUEUED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLING' | 'CANCELLED';
  successfulShots: number | undefined;
  endedAt: string | undefined;
}

/** The measured bits of a task, in rows by channel. */
export interface Measured {
  readonly source: string;
  readonly rows: readonly (readonly number[])[];
}

export const BUCKET = 'amazon-braket-loopback';

/** Amazon Braket and S3 on the loopback: programs run with the device's own readout errors. */
export class LocalBraket {
  readonly api = new ProviderServer((request) => this.#handle(request));
  readonly s3: LocalBucket;
  readonly device: LocalDevice;
  readonly #clock: ManualClock;
  readonly #outcomes = fixedBytes('braket');
  readonly #tasks = new Map<string, LocalTask>();
  #measured: Measured = { source: '', rows: [] };
  fault: ResultFault | undefined;
  /** The final state of finished tasks. */
  outcome: 'COMPLETED' | 'FAILED' = 'COMPLETED';
  queuePosition = '3';
  /** True: a task is run before anyone asks for it. */
  hasNoQueue = false;

  constructor(device: LocalDevice, clock: ManualClock) {
    this.device = device;
    this.#clock = clock;
    this.s3 = new LocalBucket(BUCKET, this.#region());
  }

  async start(t: TestContext): Promise<this> {
    await this.api.start(t);
    await this.s3.server.start(t);
    return this;
  }

  get tasks(): number {
    return this.#tasks.size;
  }

  /** The measured bits of the task that finished last. */
  get measured(): Measured {
    return this.#measured;
  }

  /** Runs every task that waits. */
  finish(): void {
    for (const task of this.#tasks.values()) {
      if (task.status !== 'CREATED' && task.status !== 'QUEUED') continue;
      task.status = this.outcome;
      this.#clock.advance(60_000);
      task.endedAt = new Date(this.#clock.wallMs()).toISOString();
      if (this.outcome === 'COMPLETED') this.#run(task);
    }
  }

  #region(): string {
    return this.device.arn.split(':')[3] || 'us-east-1';
  }

  #handle(request: ProviderRequest): ProviderReply {
    const scope = new RegExp(
      `^AWS4-HMAC-SHA256 Credential=\\S+/\\d{8}/${this.#region()}/braket/aws4_request, SignedHeaders=\\S+, Signature=[0-9a-f]{64}$`,
    );
    if (!scope.test(request.headers.authorization ?? '')) {
      return braketError(403, 'AccessDeniedException', 'Missing Authentication Token');
    }
    const [, resource, name = '', action] = request.path.split('/').map(decodeURIComponent);
    const call = `${request.method} ${resource}${action === undefined ? '' : ` ${action}`}`;
    if (call === 'GET device') return this.#getDevice(name);
    if (call === 'POST quantum-task') return this.#create(request.body);
    const task = this.#tasks.get(name);
    if (task === undefined) return braketError(404, 'ResourceNotFoundException', `${name} not found`);
    if (call === 'GET quantum-task') return this.#get(task, request.query);
    if (call === 'PUT quantum-task cancel') return this.#cancel(task);
    return braketError(404, 'UnknownOperationException', call);
  }

  #getDevice(arn: string): ProviderReply {
    const { provider, name, type, capabilities } = this.device;
    if (arn !== this.device.arn) return braketError(404, 'ResourceNotFoundException', `${arn} not found`);
    return {
      body: {
        deviceArn: arn,
        deviceName: name,
        providerName: provider,
        deviceType: type,
        deviceStatus: 'ONLINE',
        deviceCapabilities: JSON.stringify(capabilities),
        deviceQueueInfo: [{ queue: 'QUANTUM_TASKS_QUEUE', queueSize: '7', queuePriority: 'Normal' }],
      },
    };
  }

  #create(body: string): ProviderReply {
    const request = JSON.parse(body);
    const { clientToken, deviceArn, shots, outputS3Bucket, outputS3KeyPrefix, action } = request;
    assert.ok(typeof clientToken === 'string' && clientToken.length <= 64);
    for (const task of this.#tasks.values()) {
      if (task.token !== clientToken) continue;
      if (task.request === body) return { status: 201, body: { quantumTaskArn: task.arn } };
      return braketError(409, 'ConflictException', 'The client token was used with other parameters');
    }
    const refusal = this.#refusal(deviceArn, outputS3Bucket, action);
    if (refusal !== undefined) return braketError(400, 'ValidationException', refusal);
    const id = randomUUID();
    const task: LocalTask = {
      arn: `arn:aws:braket:${this.#region()}:123456789012:quantum-task/${id}`,
      token: clientToken,
      request: body,
      shots,
      source: sourceIn(action),
      directory: `${outputS3KeyPrefix}/${id}`,
      createdAt: new Date(this.#clock.wallMs()).toISOString(),
      status: 'CREATED',
      successfulShots: undefined,
      endedAt: undefined,
    };
    this.#tasks.set(task.arn, task);
    if (this.hasNoQueue) this.finish();
    return { status: 201, body: { quantumTaskArn: task.arn } };
  }

  #refusal(deviceArn: string, bucket: string, action: string): string | undefined {
    if (deviceArn !== this.device.arn) return `${deviceArn} is not a device of this region`;
    if (bucket !== BUCKET) return `Caller doesn't have access to ${bucket} or it doesn't exist`;
    try {
      readProgram(sourceIn(action), this.device.rules);
    } catch (error) {
      return (error as Error).message;
    }
    return undefined;
  }

  #get(task: LocalTask, query: URLSearchParams): ProviderReply {
    const isQueued = task.status === 'CREATED' || task.status === 'QUEUED';
    const queueInfo = { queue: 'QUANTUM_TASKS_QUEUE', position: isQueued ? this.queuePosition : 'None' };
    return {
      body: {
        quantumTaskArn: task.arn,
        status: task.status,
        ...(task.status === 'FAILED' ? { failureReason: 'The device lost its qubits' } : {}),
        deviceArn: this.device.arn,
        deviceParameters: '{}',
        shots: task.shots,
        outputS3Bucket: BUCKET,
        outputS3Directory: task.directory,
        createdAt: task.createdAt,
        ...(task.endedAt === undefined ? {} : { endedAt: task.endedAt }),
        ...(task.successfulShots === undefined ? {} : { numSuccessfulShots: task.successfulShots }),
        ...(query.get('additionalAttributeNames') === 'QueueInfo' ? { queueInfo } : {}),
      },
    };
  }

  #cancel(task: LocalTask): ProviderReply {
    if (task.status !== 'CREATED' && task.status !== 'QUEUED') {
      return braketError(409, 'ConflictException', `The task is ${task.status}`);
    }
    task.status = 'CANCELLED';
    return { body: { quantumTaskArn: task.arn, cancellationStatus: 'CANCELLED' } };
  }

  /** Sets the status of every task. */
  setStatus(status: LocalTask['status']): void {
    for (const task of this.#tasks.values()) task.status = status;
  }

  #run(task: LocalTask): void {
    const { source } = task;
    const program = readProgram(source, this.device.rules);
    const missing = this.fault === 'truncated' || this.fault === 'fewer-successful' ? 10 : 0;
    const readout = program.measured.map((qubit) => this.device.readout.get(qubit)!);
    const rows = measuredRows(program, readout, this.#outcomes, task.shots - missing);
    task.successfulShots = this.fault === 'truncated' ? task.shots : rows.length;
    let body = this.#bodyOf(task, this.#resultOf(program.measured, rows));
    if (this.fault === 'of-another-task') body = body.replaceAll(task.arn, `${task.arn}-other`);
    this.s3.put(`${task.directory}/results.json`, body);
    this.#measured = { source, rows };
    this.fault = undefined;
  }

  #resultOf(
    measuredQubits: readonly number[],
    rows: readonly (readonly number[])[],
  ): Record<string, unknown> {
    if (this.fault === 'histogram') {
      return { measurements: null, measurementProbabilities: { '00': 0.5, '11': 0.5 }, measuredQubits };
    }
    if (this.fault === 'other-qubits') {
      return { measurements: rows, measuredQubits: measuredQubits.map((qubit) => qubit + 100) };
    }
    if (this.fault === 'short-row') {
      return { measurements: [rows[0].slice(1), ...rows.slice(1)], measuredQubits };
    }
    if (this.fault === 'all-qubits') {
      return {
        measurements: rows.map((row) => [0, ...row.toReversed()]),
        measuredQubits: [99, ...measuredQubits.toReversed()],
      };
    }
    return { measurements: rows, measurementProbabilities: null, measuredQubits };
  }

  #bodyOf(task: LocalTask, result: Readonly<Record<string, unknown>>): string {
    const metadata = {
      id: task.arn,
      deviceId: this.device.arn,
      shots: task.shots,
      requestedShots: task.shots,
      successfulShots: task.successfulShots,
      createdAt: task.createdAt,
      endedAt: task.endedAt,
      status: 'COMPLETED',
    };
    return JSON.stringify({
      braketSchemaHeader: { name: 'braket.task_result.gate_model_task_result', version: '1' },
      ...result,
      resultTypes: [],
      taskMetadata: metadata,
      additionalMetadata: { action: {} },
    });
  }
}

function sourceIn(action: string): string {
  const { braketSchemaHeader, source } = JSON.parse(action);
  assert.equal(braketSchemaHeader.name, 'braket.ir.openqasm.program');
  return source;
}

/** An error as Braket answers with one (REST JSON). */
export function braketError(
  status: number,
  name: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): ProviderReply {
  return { status, headers: { 'x-amzn-errortype': name, ...headers }, body: { message } };
}
