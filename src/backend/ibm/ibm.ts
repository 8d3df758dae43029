import { assert } from '../../core/assert.ts';
import { utf8Bytes, wipe } from '../../core/bytes.ts';
import type { HttpReply } from '../../core/http-request.ts';
import { instantIn, type JsonObject, listIn, numberIn, objectIn, textIn } from '../../core/json.ts';
import type { Origin } from '../../core/vocabulary.ts';
import { sha256Hex } from '../../crypto/digest.ts';
import {
  BackendError,
  type JobReference,
  type JobState,
  type SourceFacts,
  type Spend,
  wholeShots,
} from '../backend.ts';
import { defineBackend, OptionError, type SourceParts } from '../definition.ts';
import { type FoundJob, type JobResults, ProviderJobs, planIn } from '../job.ts';
import { jsonOf } from '../provider.ts';
import { keptEntries, type RecentEntries } from '../seen.ts';
import { IbmCloud } from './cloud.ts';
import { Device } from './device.ts';
import { IBM_OPTIONS, type IbmOptions } from './options.ts';
import { type Plan, programOf } from './plan.ts';
import { decodeResult } from './results.ts';

export const ibmBackend = defineBackend({
  type: 'ibm',
  summary: 'an IBM Quantum processor; sampler jobs measure the qubits with the best calibration',
  options: IBM_OPTIONS,
  create: (name, options, parts) => new IbmBackend(name, options, parts),
});

/**
 * Returns the claimed min-entropy per raw bit. Throws an OptionError if it is above what the worst qubit that the
 * options allow can have. With probability f = e01 + e10 a readout is a fixed answer. An adversary who knows when
 * guesses an ideal bit with probability (1 + f) / 2.
 */
function claimOf({ min_entropy: claim, max_readout_error }: IbmOptions): number {
  const bound = 1 - Math.log2(1 + max_readout_error);
  if (claim <= bound) return claim;
  const most = Math.floor(bound * 1000) / 1000;
  throw new OptionError(`min_entropy must be at most ${most} if max_readout_error is ${max_readout_error}`);
}

/** IBM's limit of POST /jobs for each user. */
const JOBS_PER_MINUTE = 5;
/** IBM's limit of executions in a Sampler job. */
const EXECUTIONS_MAX = 10_000_000;
/** IBM's limit of characters in a tag. */
const TAG_LENGTH_MAX = 86;
/**
 * The pause if the usage limit is reached or no job fits: usage is counted over weeks, and processors are calibrated
 * daily.
 */
const ASK_AGAIN_MS = 3_600_000;
const OFFLINE_PAUSE_MS = 600_000;
/** Pauses between polls. A queue takes minutes to hours and names no position; a job ends by `max_seconds`. */
const QUEUED_POLL_MS = 30_000;
const RUNNING_POLL_MS = 5_000;
const REASON_LENGTH_MAX = 200;
/** If a private job's results are missing this long after its end, and a reading had begun, that reading took them. */
const RESULTS_LATE_MS = 300_000;
const METADATA_BYTES_MAX = 4 * 1024 * 1024;

interface IbmJob extends FoundJob {
  readonly createdAtMs: number | null;
  readonly calibrationId: string | null;
}

/**
 * A processor of IBM Quantum Platform as a source of jobs. It runs the sampler primitive on circuits of basis gates, on
 * the qubits that are good by the calibration of the day.
 *
 * `origin` is `quantum-processor` until IBM says that the device is a simulator. It says so before the first lot.
 */
export class IbmBackend extends ProviderJobs<Plan, IbmJob> {
  protected readonly programOf = programOf;
  readonly #options: IbmOptions;
  readonly #cloud: IbmCloud;
  readonly #device: Device;
  /** Private jobs whose results may have been read, and so be gone. */
  readonly #begun: RecentEntries;
  /** When jobs were submitted in the last minute, on the monotonic clock. */
  #submittedAtMs: number[] = [];
  #isSimulator = false;
  /** Channels of the last plan, on which the cost of a job depends. */
  #width: number;

  constructor(name: string, options: IbmOptions, parts: SourceParts) {
    super(
      {
        name,
        provider: 'IBM Quantum',
        deviceName: options.device,
        device: options.device,
        quantumBackend: options.device,
        claimedMinEntropyPerBit: claimOf(options),
        lotRawBits: options.bits_per_job,
        isDeclared: options.api_url !== 'auto',
      },
      parts,
    );
    this.#options = options;
    this.#cloud = new IbmCloud(options, parts.clock);
    this.#device = new Device(options.device, this.#cloud);
    this.#begun = keptEntries(parts.memory, 'begun');
    this.#width = options.qubits;
  }

  get origin(): Origin {
    return this.#isSimulator ? 'simulated' : 'quantum-processor';
  }

  /**
   * Returns the cost by IBM's formula for usage: seconds per job + seconds per execution, with the qubits of the last
   * job or, before the first, as many as are configured. It is at most `max_seconds`, at which IBM ends a job.
   */
  estimate(bits: number): Spend {
    const { max_seconds, price_per_second, currency } = this.#options;
    const seconds = this.#secondsOf(wholeShots(bits, this.#width));
    return { amount: Math.min(seconds, max_seconds) * price_per_second, currency, calls: 1 };
  }

  #secondsOf(executions: number): number {
    const { seconds_per_job, seconds_per_shot } = this.#options;
    return seconds_per_job + seconds_per_shot * executions;
  }

  /**
   * Resolves to the oldest job with the key as a tag. It searches even if no request was sent as far as is known, so
   * that a service that lost its notes does not pay twice. It compares the tags again, since an API that ignores the
   * filter lists every job.
   */
  protected async search(
    idempotencyKey: string,
    _wasSent: boolean,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const tag = tagOf(idempotencyKey);
    const query = `tags=${encodeURIComponent(tag)}&exclude_params=true&limit=200`;
    const { jobs } = await this.#cloud.get(`/jobs?${query}`, signal);
    const tagged = listIn(jobs)
      .map(objectIn)
      .filter(({ tags }) => listIn(tags).includes(tag));
    tagged.sort((a, b) => (instantIn(a.created) ?? 0) - (instantIn(b.created) ?? 0));
    return textIn(tagged[0]?.id) ?? undefined;
  }

  /** Throws if IBM would refuse a job for its rate limit, because refused requests count too. */
  #checkRate(): void {
    const nowMs = this.clock.monotonicMs();
    this.#submittedAtMs = this.#submittedAtMs.filter((atMs) => nowMs - atMs < 60_000);
    if (this.#submittedAtMs.length < JOBS_PER_MINUTE) return;
    const waitMs = this.#submittedAtMs[0] + 60_000 - nowMs;
    throw new BackendError(
      'retryable',
      `IBM Quantum accepts at most ${JOBS_PER_MINUTE} jobs per minute`,
      waitMs,
    );
  }

  protected async plan(bits: number, signal: AbortSignal): Promise<Plan> {
    const { max_seconds, max_readout_error, max_gate_error, device } = this.#options;
    const state = await this.#device.state(signal);
    if (state.word !== null && state.word.toLowerCase() !== 'online') {
      throw new BackendError('retryable', `${device} is ${state.word}`, OFFLINE_PAUSE_MS);
    }
    const choice = await this.#device.choose(this.#options, signal);
    const width = choice.qubits.length;
    if (width === 0) {
      const why = `no qubit meets max_readout_error ${max_readout_error} and max_gate_error ${max_gate_error}`;
      throw new BackendError('retryable', `${device}: ${why}`, ASK_AGAIN_MS);
    }
    const shots = wholeShots(bits, width);
    const seconds = this.#secondsOf(shots);
    if (seconds > max_seconds || shots > EXECUTIONS_MAX) {
      const job = `${bits} bits of ${width} good qubits are ${shots} executions, ${Math.ceil(seconds)} s`;
      const limits = `more than max_seconds ${max_seconds}, or than IBM's ${EXECUTIONS_MAX}`;
      throw new BackendError('retryable', `${device}: ${job}: ${limits}`, ASK_AGAIN_MS);
    }
    this.#width = width;
    return {
      device,
      claim: this.claimedMinEntropyPerBit,
      ...choice,
      isSimulator: choice.isSimulator || state.isSimulator,
      shots,
      isPrivate: this.#options.private,
      plannedAtMs: this.clock.wallMs(),
    };
  }

  protected async create(plan: Plan, idempotencyKey: string, signal: AbortSignal): Promise<string> {
    this.#checkRate();
    this.#submittedAtMs.push(this.clock.monotonicMs());
    const reply = await this.#cloud.send({
      method: 'POST',
      path: '/jobs',
      body: JSON.stringify(this.#jobOf(plan, tagOf(idempotencyKey))),
      accepts: [409],
      signal,
    });
    if (reply.status === 409) {
      throw new BackendError('quota', "IBM Quantum: the instance's usage limit is reached", ASK_AGAIN_MS);
    }
    this.#isSimulator = plan.isSimulator;
    const jobId = textIn(this.#cloud.object(reply, '/jobs').id);
    if (jobId === null)
      throw new BackendError('retryable', 'IBM Quantum accepted a job without returning its identifier');
    return jobId;
  }

  #jobOf(plan: Plan, tag: string): JsonObject {
    return {
      program_id: 'sampler',
      backend: this.#options.device,
      tags: ['qrn', tag],
      cost: this.#options.max_seconds,
      ...(plan.isPrivate && { private: true }),
      params: {
        version: 2,
        support_qiskit: false,
        pubs: [[programOf(plan), null, plan.shots]],
        options: {
          // Mitigation and twirling are off, because they rewrite outcomes.
          dynamical_decoupling: { enable: false },
          twirling: { enable_gates: false, enable_measure: false },
          execution: { init_qubits: true, meas_type: 'classified' },
        },
      },
    };
  }

  protected async find(jobId: string, plan: Plan, signal: AbortSignal): Promise<IbmJob | undefined> {
    this.#isSimulator = plan.isSimulator;
    const path = `/jobs/${encodeURIComponent(jobId)}?exclude_params=true`;
    const reply = await this.#cloud.send({ path, accepts: [404], signal });
    if (reply.status === 404) return undefined;
    const job = this.#cloud.object(reply, path);
    const word = textIn(objectIn(job.state).status) ?? textIn(job.status) ?? '';
    return {
      word,
      state: stateOf(word.toLowerCase(), objectIn(job.state)),
      device: textIn(job.backend),
      createdAtMs: instantIn(job.created),
      calibrationId: textIn(job.calibration_id),
    };
  }

  /**
   * Resolves to the results. Asks for everything else first, because the results of a private job can be read only
   * once. If no further try can succeed, rejects with a permanent error: the job is lost.
   */
  protected async results(
    jobId: string,
    plan: Plan,
    { createdAtMs, calibrationId: id }: IbmJob,
    signal: AbortSignal,
  ): Promise<JobResults> {
    const { shots, qubits } = plan;
    const metrics = await this.#cloud.get(`/jobs/${encodeURIComponent(jobId)}/metrics`, signal, [404]);
    const { running, finished } = objectIn(metrics.timestamps);
    const startedAtMs = instantIn(running) ?? createdAtMs ?? plan.plannedAtMs;
    const finishedAtMs = Math.max(startedAtMs, instantIn(finished) ?? this.clock.wallMs());
    // The calibration that the job ran on, if IBM has it; else the one by which its qubits were chosen.
    const own = id === null ? null : await this.#device.figuresBy(id, qubits, signal);
    const reply = await this.#document(jobId, plan, finishedAtMs, signal);
    const rawSha256 = sha256Hex(reply.body);
    const json = resultJson(reply);
    wipe(reply.body);
    if (json === undefined) {
      throw new BackendError('retryable', `job ${jobId}: IBM Quantum gave results that are not JSON`);
    }
    return {
      shots: await decodeResult(json, { shots, width: qubits.length }),
      rawSha256,
      startedAtMs,
      finishedAtMs,
      calibration: own ?? plan.calibration,
      shortfall: 'every shot that was ordered',
    };
  }

  /** Resolves to the reply with the results. They may be missing for a while after the job has finished. */
  async #document(jobId: string, plan: Plan, finishedAtMs: number, signal: AbortSignal): Promise<HttpReply> {
    await this.#begun.load();
    const isBegun = this.#begun.get(jobId) !== undefined;
    if (plan.isPrivate && !isBegun) {
      this.#begun.set(jobId, '');
      await this.#begun.keep();
    }
    const reply = await this.#cloud.send({
      path: `/jobs/${encodeURIComponent(jobId)}/results`,
      accepts: [404],
      replyBytesMax: resultBytesMax(plan),
      signal,
    });
    if (reply.status === 200) return reply;
    if (!isBegun && this.#begun.delete(jobId)) await this.#begun.keep(); // this reply did not read the results
    const isLate = this.clock.wallMs() - finishedAtMs > RESULTS_LATE_MS;
    const why =
      isBegun && (isLate || reply.status === 404)
        ? 'the results of a private job can be read only once, and an earlier reading did not keep them'
        : reply.status === 404 && 'IBM Quantum has no results of it';
    if (why !== false) throw new BackendError('permanent', `job ${jobId}: ${why}`);
    throw new BackendError('retryable', `job ${jobId}: its results are not available yet`);
  }

  /** Cancels the job. 404 and 409 mean that there is nothing left to cancel. */
  async cancel({ jobId }: JobReference, signal: AbortSignal): Promise<void> {
    const path = `/jobs/${encodeURIComponent(jobId)}/cancel`;
    await this.#cloud.send({ method: 'POST', path, accepts: [404, 409], signal });
  }

  /** Deletes the job. IBM has deleted a private job's circuits at its end, and its results when they were read. */
  async forget({ jobId, memo }: JobReference, signal: AbortSignal): Promise<void> {
    if (planIn<Plan>(memo)?.isPrivate === true) return;
    const path = `/jobs/${encodeURIComponent(jobId)}`;
    await this.#cloud.send({ method: 'DELETE', path, accepts: [404], signal });
  }

  async describe(signal: AbortSignal): Promise<SourceFacts> {
    const state = await this.#device.state(signal);
    this.#isSimulator ||= state.isSimulator;
    const choice = await this.#device.choose(this.#options, signal);
    const usage = await this.#cloud.get('/instances/usage', signal, [403, 404]);
    return {
      device: this.#options.device,
      state: state.word,
      queue: state.queue,
      wait_seconds: state.waitSeconds,
      processor: state.processor,
      simulator: state.isSimulator || choice.isSimulator,
      qubits: choice.deviceQubits,
      qubits_used: choice.qubits.length,
      calibration: textIn(choice.calibration?.date),
      usage_consumed_seconds: numberIn(usage.usage_consumed_seconds),
      usage_remaining_seconds: numberIn(usage.usage_remaining_seconds),
    };
  }
}

function tagOf(idempotencyKey: string): string {
  const tag = `qrn-${idempotencyKey}`;
  assert(tag.length <= TAG_LENGTH_MAX, 'an idempotency key fits into a tag');
  return tag;
}

/** Returns the state that IBM's word means. An unknown word counts as running. */
function stateOf(word: string, state: JsonObject): JobState {
  if (word === 'completed') return { state: 'done' };
  if (word === 'queued') return { state: 'queued', retryAfterMs: QUEUED_POLL_MS };
  if (word === 'failed') return { state: 'failed', reason: reasonOf(state) };
  // The status is `Cancelled - Ran too long` if `cost` was exceeded.
  if (word.startsWith('cancelled')) return { state: 'cancelled', reason: reasonOf(state) };
  return { state: 'running', retryAfterMs: RUNNING_POLL_MS };
}

function reasonOf(state: JsonObject): string {
  const { reason_code: code, reason, reason_solution: solution } = state;
  const words = [code, reason, solution].filter((part) => typeof part === 'number' || textIn(part) !== null);
  return words.length === 0 ? 'no reason given' : words.join(' ').slice(0, REASON_LENGTH_MAX);
}

/** Returns the limit of a reply with results. A shot is `"0x…", `: a digit for every four bits, and 8 bytes. */
function resultBytesMax({ qubits, shots }: Plan): number {
  return shots * (Math.ceil(qubits.length / 4) + 8) + METADATA_BYTES_MAX;
}

/** Returns the results. The API's description calls them a text: accept JSON, and JSON within a JSON text. */
function resultJson(reply: HttpReply): unknown {
  const json = jsonOf(reply);
  return typeof json === 'string' ? jsonOf({ body: utf8Bytes(json) }) : json;
}
