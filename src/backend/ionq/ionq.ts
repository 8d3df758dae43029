import { instantIn, type JsonObject, numberIn, objectIn, textIn } from '../../core/json.ts';
import type { Provenance } from '../../core/provenance.ts';
import { sha256Hex } from '../../crypto/digest.ts';
import { BackendError, type JobReference, type JobState, type SourceFacts, type Spend } from '../backend.ts';
import { defineBackend, type SourceParts } from '../definition.ts';
import { type FoundJob, type JobPlan, type JobResults, ProviderJobs } from '../job.ts';
import { IonqCloud, pathOf } from './cloud.ts';
import {
  type IonqOptions,
  ionqOptions,
  jobBody,
  KEY_METADATA,
  priceOf,
  programText,
  shotsAskedOf,
} from './program.ts';
import { decodeShots, type ShotFormat } from './shots.ts';

export const ionqBackend = defineBackend({
  type: 'ionq',
  summary: 'a trapped-ion quantum computer of the IonQ Quantum Cloud',
  options: ionqOptions,
  create: (name, options, parts) => new Ionq(name, options, parts),
});

/**
 * Bounds of the pause between polls: for a waiting job a tenth of the predicted wait, for a running one the minimum.
 */
const POLL_MIN_MS = 5_000;
const POLL_MAX_MS = 300_000;
const POLL_DEFAULT_MS = 15_000;
/** Room in a reply for each qubit of a shot, and for each shot. v2 takes 3 bytes a qubit and about 60 a shot. */
const SHOT_BYTES_PER_QUBIT = 12;
const SHOT_BYTES = 200;
const RESULT_BYTES_FREE = 1024 * 1024;

/**
 * How long a request without an answer may still be at work behind the gateway. A job that is not listed after that was
 * not made. Cloudflare gives up on an origin after 100 s (its status 524).
 */
const SETTLE_MS = 120_000;

type IonqJob = FoundJob & { readonly job: JsonObject };

class Ionq extends ProviderJobs<JobPlan, IonqJob> {
  readonly origin = 'quantum-processor';
  protected readonly programOf = programText;
  readonly #options: IonqOptions;
  readonly #cloud: IonqCloud;

  constructor(name: string, options: IonqOptions, parts: SourceParts) {
    const { backend, qubits, shots } = options;
    super(
      {
        name,
        provider: 'ionq',
        deviceName: backend,
        settleMs: SETTLE_MS,
        quantumBackend: `ionq-${backend.replace('.', '-')}`,
        claimedMinEntropyPerBit: options.min_entropy,
        lotRawBits: qubits * shots,
        device: backend,
        isDeclared: options.base_url !== ionqOptions.base_url.fallback,
      },
      parts,
    );
    this.#options = options;
    this.#cloud = new IonqCloud(options.base_url, options.api_key, parts.clock);
  }

  estimate(bits: number): Spend {
    const amount = priceOf(this.#options, shotsAskedOf(this.#options, bits));
    return { amount, currency: 'USD', calls: 1 };
  }

  async describe(signal: AbortSignal): Promise<SourceFacts> {
    const { backend: name } = this.#options;
    const backend = await this.#cloud.get(`/backends/${name}`, signal);
    const characterization = objectIn(await this.#cloud.characterization(name, signal));
    const { estimated_cost: cost, cost_unit: unit } = await this.#providerEstimate(this.lotRawBits, signal);
    return {
      backend: name,
      status: textIn(backend.status),
      degraded: typeof backend.degraded === 'boolean' ? backend.degraded : null,
      location: textIn(backend.location),
      qubits: numberIn(backend.qubits),
      average_queue_time: numberIn(backend.average_queue_time),
      characterization: textIn(characterization.id),
      characterized_at: textIn(characterization.date),
      spam_fidelity: spamFidelity(characterization),
      estimated_cost_per_circuit: numberIn(cost),
      estimated_cost_unit: textIn(unit),
    };
  }

  /** Resolves to IonQ's own estimate for a job of `bits` bits, at the rates of the organisation. */
  #providerEstimate(bits: number, signal: AbortSignal): Promise<JsonObject> {
    const { backend, qubits } = this.#options;
    const shots = shotsAskedOf(this.#options, bits);
    const query = `backend=${backend}&qubits=${qubits}&shots=${shots}&1q_gates=${qubits}&2q_gates=0`;
    return this.#cloud.get(`/jobs/estimate?${query}`, signal);
  }

  protected create(plan: JobPlan, idempotencyKey: string, signal: AbortSignal): Promise<string> {
    return this.#cloud.createJob(jobBody(plan, idempotencyKey), signal);
  }

  /** Searches for the job by the key in its metadata, since IonQ has no idempotency keys. */
  protected async search(
    idempotencyKey: string,
    wasSent: boolean,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (!wasSent) return undefined;
    return this.#cloud.findJob(this.source.device, KEY_METADATA, idempotencyKey, signal);
  }

  protected async plan(bits: number, signal: AbortSignal): Promise<JobPlan> {
    const { backend: name, qubits } = this.#options;
    const backend = await this.#cloud.get(`/backends/${name}`, signal);
    if (backend.status === 'retired') throw new BackendError('permanent', `${name} is retired`);
    const available = numberIn(backend.qubits);
    if (available === null || available < qubits) {
      throw new BackendError('permanent', `${name} has ${available} qubits, and ${qubits} are required`);
    }
    await this.#checkPrice(bits, signal);
    return {
      device: name,
      claim: this.claimedMinEntropyPerBit,
      qubits: [...new Array(qubits).keys()],
      shots: shotsAskedOf(this.#options, bits),
      calibration: await this.#calibration(signal),
    };
  }

  /** Rejects if IonQ would charge more than the configured prices, by which the budget is counted. */
  async #checkPrice(bits: number, signal: AbortSignal): Promise<void> {
    const { estimated_cost: cost, cost_unit: unit } = await this.#providerEstimate(bits, signal);
    const asked = numberIn(cost);
    if (asked === null || textIn(unit)?.toLowerCase() !== 'usd') return;
    const { amount } = this.estimate(bits);
    // Allow a cent for rounding.
    if (asked <= amount + 0.01) return;
    const message = `IonQ asks ${asked} USD, the configured prices come to ${amount.toFixed(2)}`;
    throw new BackendError('permanent', message);
  }

  async #calibration(signal: AbortSignal): Promise<Provenance['calibration']> {
    const { backend, min_spam_fidelity: fidelityMin } = this.#options;
    const characterization = await this.#cloud.characterization(backend, signal);
    const fidelity = spamFidelity(objectIn(characterization));
    if ((fidelity ?? 0) < fidelityMin) {
      const found = fidelity === null ? 'is not published' : `is ${fidelity}`;
      throw new BackendError(
        'retryable',
        `${backend}: its SPAM fidelity ${found}, and ${fidelityMin} is required`,
      );
    }
    if (characterization === undefined) return null;
    const { id, date } = characterization;
    return {
      ...(textIn(id) === null ? {} : { id: String(id) }),
      ...(textIn(date) === null ? {} : { date: String(date) }),
      ...(fidelity === null ? {} : { spam_fidelity_median: fidelity }),
    };
  }

  protected async find(jobId: string, _plan: JobPlan, signal: AbortSignal): Promise<IonqJob | undefined> {
    const job = await this.#cloud.job(jobId, signal);
    if (job === undefined) return undefined;
    const word = textIn(job.status) ?? 'in no known state';
    return { job, word, state: stateOf(word, job), device: textIn(job.backend) };
  }

  protected async results(
    jobId: string,
    plan: JobPlan,
    { job }: IonqJob,
    signal: AbortSignal,
  ): Promise<JobResults> {
    const { format, document } = await this.#document(jobId, job, plan, signal);
    const rawSha256 = sha256Hex(document);
    const expected = { jobId, qubits: plan.qubits.length, shots: plan.shots };
    const { dropped: leaked, ...shots } = await decodeShots(format, document, expected);
    const finishedAtMs = instantIn(job.completed_at) ?? this.clock.wallMs();
    return {
      shots,
      rawSha256,
      startedAtMs: instantIn(job.started_at) ?? instantIn(job.submitted_at) ?? finishedAtMs,
      finishedAtMs,
      calibration: leaked === 0 ? plan.calibration : { ...plan.calibration, shots_leaked: leaked },
      shortfall: `an ion leaked in ${leaked} shots`,
    };
  }

  async #document(
    jobId: string,
    job: JsonObject,
    { shots, qubits }: JobPlan,
    signal: AbortSignal,
  ): Promise<{ format: ShotFormat; document: Uint8Array }> {
    const replyBytesMax = RESULT_BYTES_FREE + shots * (SHOT_BYTES + SHOT_BYTES_PER_QUBIT * qubits.length);
    const bodyOf = async (path: string) => (await this.#cloud.send({ path, replyBytesMax, signal })).body;
    const results = objectIn(job.results);
    for (const format of ['v2', 'v1'] as const) {
      const artifact = textIn(objectIn(results[`ionq.result.shots.json.${format}`]).id);
      if (artifact === null) continue;
      const path = `${pathOf(jobId)}/artifacts/${encodeURIComponent(artifact)}`;
      return { format, document: await bodyOf(path) };
    }
    const url = textIn(objectIn(results.shots).url);
    if (url !== null) return { format: 'v1', document: await bodyOf(this.#cloud.pathIn(url)) };
    const given = Object.keys(results).join(', ').slice(0, 200) || 'nothing';
    throw new BackendError('no_raw_shots', `${jobId}: no shots among its results (${given})`);
  }

  /** Cancels the job. Does nothing if it has ended or is unknown. */
  async cancel({ jobId }: JobReference, signal: AbortSignal): Promise<void> {
    const path = `${pathOf(jobId)}/status/cancel`;
    await this.#cloud.send({ method: 'PUT', path, accepts: [400, 404, 409], signal });
  }

  /** Deletes the job with its results. It is no error if the job is gone. */
  async forget({ jobId }: JobReference, signal: AbortSignal): Promise<void> {
    await this.#cloud.send({ method: 'DELETE', path: pathOf(jobId), accepts: [404], signal });
  }
}

function stateOf(word: string, job: JsonObject): JobState {
  switch (word) {
    case 'completed':
      return { state: 'done' };
    case 'failed':
      return { state: 'failed', reason: failureOf(job) };
    case 'canceled':
    case 'cancelled':
      return { state: 'cancelled', reason: failureOf(job) };
    case 'submitted':
    case 'ready':
      return { state: 'queued', retryAfterMs: queuePollMs(numberIn(job.predicted_wait_time_ms)) };
    default: // `started`, and words that are not known yet
      return { state: 'running', retryAfterMs: POLL_MIN_MS };
  }
}

function spamFidelity({ fidelity }: JsonObject): number | null {
  return numberIn(objectIn(objectIn(fidelity).spam).median);
}

function failureOf({ failure }: JsonObject): string {
  const { code, message, error } = objectIn(failure);
  const words = [code, message ?? error].filter((each) => typeof each === 'string').join(': ');
  return words.slice(0, 200) || 'no reason is given';
}

function queuePollMs(predictedMs: number | null): number {
  if (predictedMs === null) return POLL_DEFAULT_MS;
  return Math.min(Math.max(Math.round(predictedMs / 10), POLL_MIN_MS), POLL_MAX_MS);
}
