import { assert } from '../../core/assert.ts';
import type { Origin } from '../../core/vocabulary.ts';
import {
  BackendError,
  type JobReference,
  type JobState,
  type SourceFacts,
  type Spend,
  wholeShots,
} from '../backend.ts';
import { defineBackend, OptionError, type SourceParts } from '../definition.ts';
import { type FoundJob, type JobResults, ProviderJobs } from '../job.ts';
import { type Device, deviceOf, fidelityOf } from './device.ts';
import { type BraketOptions, braketOptions, pricePerShot } from './options.ts';
import { actionOf, planTask, sourceOf, type TaskPlan } from './plan.ts';
import { readResult } from './result.ts';
import { BraketService, type Task } from './service.ts';

export const braketBackend = defineBackend({
  type: 'braket',
  summary:
    'quantum computers of IQM, Rigetti, IonQ and AQT on Amazon Braket, with the default AWS credentials',
  options: braketOptions,
  create: (name, options, parts) => new Braket(name, options, parts),
});

/** The longest client token that CreateQuantumTask accepts. */
const CLIENT_TOKEN_LENGTH_MAX = 64;
/** The pause between polls of a waiting task, for each place before it in the queue, and of a running task. */
const QUEUE_POLL_MS = 15_000;
const QUEUE_POLL_MAX_MS = 300_000;
const RUN_POLL_MS = 2_000;
/** Room in a result for each bit and its share of the brackets; the rest of the document fits in the second. */
const RESULT_BYTES_PER_BIT = 8;
const RESULT_BYTES_FREE = 4 * 1024 * 1024;

type FoundTask = FoundJob & { readonly task: Task };

class Braket extends ProviderJobs<TaskPlan, FoundTask> {
  readonly origin: Origin;
  protected readonly programOf = sourceOf;
  readonly #options: BraketOptions;
  readonly #pricePerShot: number;
  readonly #service: BraketService;

  constructor(name: string, options: BraketOptions, parts: SourceParts) {
    const { device, qubits, shots } = options;
    const region = options.region || device.region;
    if (region === '')
      throw new OptionError(`region must be set to the region in which ${device.name} is to run`);
    super(
      {
        name,
        provider: 'amazon-braket',
        deviceName: device.name,
        quantumBackend: `braket-${device.name.replace('/', '-').toLowerCase()}`,
        claimedMinEntropyPerBit: options.min_entropy,
        isDeclared: options.endpoint !== null || options.s3_endpoint !== null,
        lotRawBits: qubits * shots,
        device: device.arn,
      },
      parts,
    );
    this.origin = device.isSimulator ? 'simulated' : 'quantum-processor';
    this.#options = options;
    this.#pricePerShot = pricePerShot(options);
    const { endpoint, s3_endpoint: s3Endpoint } = options;
    this.#service = new BraketService({ region, endpoint, s3Endpoint, clock: parts.clock });
  }

  estimate(bits: number): Spend {
    const { qubits, price_per_task: perTask } = this.#options;
    return { amount: perTask + wholeShots(bits, qubits) * this.#pricePerShot, currency: 'USD', calls: 1 };
  }

  async describe(signal: AbortSignal): Promise<SourceFacts> {
    return factsOf(await this.#device(signal));
  }

  protected async plan(bits: number, signal: AbortSignal): Promise<TaskPlan> {
    return planTask(await this.#device(signal), this.#options, this.#pricePerShot, bits);
  }

  protected create(plan: TaskPlan, idempotencyKey: string, signal: AbortSignal): Promise<string> {
    assert(idempotencyKey.length <= CLIENT_TOKEN_LENGTH_MAX, 'an idempotency key fits in a client token');
    return this.#service.createTask(
      {
        clientToken: idempotencyKey,
        deviceArn: plan.device,
        shots: plan.shots,
        outputS3Bucket: this.#options.bucket,
        outputS3KeyPrefix: this.#options.prefix,
        action: actionOf(this.programOf(plan)),
      },
      signal,
    );
  }

  /** Searches nothing: Braket makes one task for a client token, if the repeated request has the same bytes. */
  protected async search(): Promise<undefined> {}

  async #device(signal: AbortSignal): Promise<Device> {
    return deviceOf(await this.#service.device(this.source.device, signal));
  }

  protected async find(jobId: string, plan: TaskPlan, signal: AbortSignal): Promise<FoundTask | undefined> {
    const task = await this.#service.task(jobId, signal);
    return task && { task, word: task.status, state: stateOf(task, plan), device: task.deviceArn };
  }

  protected async results(
    jobId: string,
    plan: TaskPlan,
    { task }: FoundTask,
    signal: AbortSignal,
  ): Promise<JobResults> {
    const { outputS3Bucket: bucket, numSuccessfulShots: successfulShots, shots: asked } = task;
    const endedAtMs = task.endedAt?.getTime() ?? this.clock.wallMs();
    const key = `${task.outputS3Directory}/results.json`;
    const bytesMax = RESULT_BYTES_FREE + RESULT_BYTES_PER_BIT * plan.shots * plan.qubits.length;
    const bytes = await this.#service.object(bucket, key, bytesMax, signal);
    if (bytes === undefined) throw new BackendError('retryable', `${bucket} has no object ${key}`);
    const { shots, rawSha256 } = await readResult(bytes, { ...plan, taskArn: jobId, successfulShots });
    const given = shots.shots;
    // If there are fewer shots than were asked for, note both numbers beside the device's figures.
    const counted = { ...plan.calibration, shots_asked: asked, shots_successful: given };
    return {
      shots,
      rawSha256,
      // Braket says when a task was created and when it ended, but not when it began to run.
      startedAtMs: task.createdAt?.getTime() ?? endedAtMs,
      finishedAtMs: endedAtMs,
      calibration: given === asked ? plan.calibration : counted,
      shortfall: `${successfulShots ?? given} successful shots of ${asked}`,
    };
  }

  async cancel(job: JobReference, signal: AbortSignal): Promise<void> {
    await this.#service.cancelTask(job.jobId, signal);
  }

  /**
   * Deletes the objects of the task. In a bucket with versions, old versions stay until the bucket's rules remove them.
   */
  async forget(job: JobReference, signal: AbortSignal): Promise<void> {
    const task = await this.#service.task(job.jobId, signal);
    if (task === undefined) return;
    await this.#service.deleteObjects(task.outputS3Bucket, `${task.outputS3Directory}/`, signal);
  }
}

function stateOf({ status, failureReason, queueInfo }: Task, plan: TaskPlan): JobState {
  const reason = failureReason ?? 'no reason is given';
  switch (status) {
    case 'COMPLETED':
      return { state: 'done' };
    case 'FAILED':
      return { state: 'failed', reason };
    case 'CANCELLED':
      return { state: 'cancelled', reason };
    case 'CREATED':
    case 'QUEUED':
      return { state: 'queued', retryAfterMs: queuePollMs(queueInfo?.position) };
    default: // RUNNING, CANCELLING, and words that are not known yet
      return { state: 'running', retryAfterMs: plan.pollMs ?? RUN_POLL_MS };
  }
}

/**
 * Returns the pause until the next poll, which grows with the position in the queue. The position may be `>2000`, or
 * unknown.
 */
function queuePollMs(position: string | undefined): number {
  const before = position === undefined ? 1 : Number(position.replace('>', ''));
  return Math.min(QUEUE_POLL_MS * Math.max(1, Number.isNaN(before) ? 1 : before), QUEUE_POLL_MAX_MS);
}

function factsOf(device: Device): SourceFacts {
  const fidelities = [...device.qubits.keys()].flatMap((qubit) => fidelityOf(device, qubit) ?? []);
  return {
    device: `${device.provider} ${device.name}`,
    arn: device.arn,
    type: device.isSimulator ? 'simulator' : 'QPU',
    status: device.status,
    location: device.location,
    qubits: device.qubitCount,
    native_gates: device.pulse,
    shots_per_program: `${device.shotsMin} to ${device.shotsMax}`,
    price_per_shot_usd: device.pricePerShot,
    queue: device.queue.join('; ') || null,
    execution_windows: device.windows.join('; ') || null,
    calibrated_at: device.updatedAt,
    readout_fidelity_best: fidelities.length > 0 ? Math.max(...fidelities) : device.readoutFidelity,
    readout_fidelity_worst: fidelities.length > 0 ? Math.min(...fidelities) : device.readoutFidelity,
  };
}
