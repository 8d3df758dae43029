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
import { jobNotes, type RecentEntries } from '../seen.ts';
import { IbmCloud } from './cloud.ts';
import { Device } from './device.ts';
import { IBM_OPTIONS, type IbmOptions } from './options.ts';
import { type Plan, programOf } from './plan.ts';
import { decodeResult } from './results.ts';

export const ibmBackend = defineBackend({
  type: 'ibm',
  summary: 'Qubits of an IBM Quantum processor, measured one by one: jobs of the sampler on chosen qubits.',
  options: IBM_OPTIONS,
  create: (name, options, parts) => new IbmBackend(name, options, parts),
});

/**
 * The claimed min-entropy per raw bit: not above what the worst qubit that the options let in can have. Against somebody
 * who knows which readouts are replaced by a fixed answer, each with probability f = e01 + e10, an ideal coin is guessed
 * with (1 + f) / 2.
 */
function claimOf({ min_entropy: claim, max_readout_error }: IbmOptions): number {
  const bound = 1 - Math.log2(1 + max_readout_error);
  if (claim <= bound) return claim;
  const most = Math.floor(bound * 1000) / 1000;
  throw new OptionError(`min_entropy: at most ${most} with max_readout_error ${max_readout_error}`);
}

/** POST /jobs is limited to so many a minute and user (IBM's description of the call). */
const JOBS_PER_MINUTE = 5;
/** A Sampler job may have so many executions. */
const EXECUTIONS_MAX = 10_000_000;
/** A tag has at most so many characters. */
const TAG_LENGTH_MAX = 86;
/**
 * A budget of seconds is counted over weeks, a processor is calibrated daily: asking again each hour is often
 * enough.
 */
const ASK_AGAIN_MS = 3_600_000;
const OFFLINE_PAUSE_MS = 600_000;
/** A queue takes minutes to hours and names no position; what runs is done within `max_seconds`. */
const QUEUED_POLL_MS = 30_000;
const RUNNING_POLL_MS = 5_000;
const REASON_LENGTH_MAX = 200;
const CANCEL_TIMEOUT_MS = 10_000;
/** A result that is not there so long after its job finished, and that a reading was begun of, was read. */
const RESULTS_LATE_MS = 300_000;
const METADATA_BYTES_MAX = 4 * 1024 * 1024;

interface IbmJob extends FoundJob {
  readonly createdAtMs: number | null;
  readonly calibrationId: string | null;
}

/**
 * A processor of IBM Quantum Platform as a source of jobs: the sampler primitive on circuits of basis gates,
 * on the qubits that the calibration of the day shows to be good.
 *
 * `origin` is that of a processor until IBM says that the device is a simulator, which it says before the first lot.
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
  /** Channels of the last plan; what a job costs depends on them. */
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
    this.#begun = jobNotes(parts.memory, 'begun');
    this.#width = options.qubits;
  }

  get origin(): Origin {
    return this.#isSimulator ? 'simulated' : 'quantum-processor';
  }

  /**
   * IBM's formula for usage, seconds per job + seconds per execution, with the qubits of the last job (before
   * the first: as many as are asked for); never above `max_seconds`, at which IBM ends a job.
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
   * The oldest job with the key as a tag, whatever is known of it here: a service that lost its notes must not pay twice.
   * The tag is compared again: an API that ignores the filter lists every job.
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

  /** A job that IBM would refuse is not sent: each refusal counts as well. */
  #checkRate(): void {
    const nowMs = this.clock.monotonicMs();
    this.#submittedAtMs = this.#submittedAtMs.filter((atMs) => nowMs - atMs < 60_000);
    if (this.#submittedAtMs.length < JOBS_PER_MINUTE) return;
    const waitMs = this.#submittedAtMs[0] + 60_000 - nowMs;
    throw new BackendError('retryable', `IBM Quantum takes ${JOBS_PER_MINUTE} jobs a minute`, waitMs);
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
    if (jobId === null) throw new BackendError('retryable', 'IBM Quantum took a job and did not name it');
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
          // Nothing may be done to the shots: mitigation and twirling rewrite outcomes.
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
   * All else is asked for before the results: those of a private job can be read only once. What no other try
   * will give better rejects as permanent: the job is lost.
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
    // The calibration that the job ran on, where IBM names and gives it; else the one by which its qubits were chosen.
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

  /** The reply with the results. That IBM has none is not news of a job that has just finished. */
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
    if (!isBegun && this.#begun.delete(jobId)) await this.#begun.keep(); // this reply was no reading
    const isLate = this.clock.wallMs() - finishedAtMs > RESULTS_LATE_MS;
    const why =
      isBegun && (isLate || reply.status === 404)
        ? 'the results of a private job can be read only once, and an earlier reading did not keep them'
        : reply.status === 404 && 'IBM Quantum has no results of it';
    if (why !== false) throw new BackendError('permanent', `job ${jobId}: ${why}`);
    throw new BackendError('retryable', `job ${jobId}: its results are not there yet`);
  }

  /** 404 and 409: there is nothing left to cancel. */
  async cancel({ jobId }: Pick<JobReference, 'jobId'>): Promise<void> {
    const signal = AbortSignal.timeout(CANCEL_TIMEOUT_MS);
    const path = `/jobs/${encodeURIComponent(jobId)}/cancel`;
    await this.#cloud.send({ method: 'POST', path, accepts: [404, 409], signal });
  }

  /** A private job's circuits were deleted when it ended and its results when they were read. */
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

/** A word that is not known is a job still under way. */
function stateOf(word: string, state: JsonObject): JobState {
  if (word === 'completed') return { state: 'done' };
  if (word === 'queued') return { state: 'queued', retryAfterMs: QUEUED_POLL_MS };
  if (word === 'failed') return { state: 'failed', reason: reasonOf(state) };
  // The flat status says `Cancelled - Ran too long` where `cost` was exceeded.
  if (word.startsWith('cancelled')) return { state: 'cancelled', reason: reasonOf(state) };
  return { state: 'running', retryAfterMs: RUNNING_POLL_MS };
}

function reasonOf(state: JsonObject): string {
  const { reason_code: code, reason, reason_solution: solution } = state;
  const words = [code, reason, solution].filter((part) => typeof part === 'number' || textIn(part) !== null);
  return words.length === 0 ? 'no reason given' : words.join(' ').slice(0, REASON_LENGTH_MAX);
}

/** `"0x…", ` with a digit for every four bits: 8 bytes more than the digits. */
function resultBytesMax({ qubits, shots }: Plan): number {
  return shots * (Math.ceil(qubits.length / 4) + 8) + METADATA_BYTES_MAX;
}

/** The results, which the API's description calls a text: JSON itself, or JSON in a JSON text. */
function resultJson(reply: HttpReply): unknown {
  const json = jsonOf(reply);
  return typeof json === 'string' ? jsonOf({ body: utf8Bytes(json) }) : json;
}
