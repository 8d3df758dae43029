import { utf8Bytes } from '../core/bytes.ts';
import type { Clock } from '../core/clock.ts';
import type { Provenance } from '../core/provenance.ts';
import type { Origin } from '../core/vocabulary.ts';
import { sha256Hex } from '../crypto/digest.ts';
import {
  BackendError,
  type JobBackend,
  type JobReference,
  type JobState,
  type RawRead,
  type SourceFacts,
  type Spend,
} from './backend.ts';
import { CIRCUIT_COMPILER_VERSION, CIRCUIT_DEPTH, circuitName } from './circuit.ts';
import type { SourceMemory, SourceParts } from './definition.ts';
import { keptEntries, type RecentEntries } from './seen.ts';
import type { Shots } from './shots.ts';

/** What a job's results mean, as JSON. Kept before the submission, so that a repeated one has the same bytes. */
export interface JobPlan {
  /** The provider's name of the device. */
  readonly device: string;
  /** The source's claimed min-entropy per bit when the qubits were chosen. They support no higher claim. */
  readonly claim: number;
  /** For each channel, the qubit that is measured. */
  readonly qubits: readonly number[];
  /** How many shots are ordered. */
  readonly shots: number;
  /** What the device published of these qubits when they were chosen. */
  readonly calibration: Provenance['calibration'];
}

/** A source as it is configured. `isDeclared`: calls go to an address that the operator set in place of the provider's own. */
interface JobSource
  extends Required<
    Pick<JobBackend, 'name' | 'quantumBackend' | 'claimedMinEntropyPerBit' | 'lotRawBits' | 'isDeclared'>
  > {
  /** The names of the provider and the device in certificates. */
  readonly provider: string;
  readonly deviceName: string;
  /** The provider's name of the device. */
  readonly device: string;
  /** How long a request without an answer may still make a job that no search finds yet. */
  readonly settleMs?: number;
}

/** A job as its provider describes it. */
export interface FoundJob {
  /** The provider's word for the state. */
  readonly word: string;
  readonly state: JobState;
  /** The provider's name of the device that the job runs on. */
  readonly device: string | null;
}

/** One submission as JSON. It is kept before anything is sent. */
interface Submission<Plan> {
  readonly bits: number;
  readonly plan: Plan;
  /** When it was last sent, Unix ms; null if it was not, or the provider refused it. */
  readonly sentAtMs: number | null;
  readonly jobId: string | null;
}

/** A request that may or may not have made a job. */
export class UnknownOutcome extends BackendError {
  override name = 'UnknownOutcome';
}

export interface JobResults {
  readonly shots: Shots;
  /** SHA-256 (hex) of what the provider delivered, verbatim. */
  readonly rawSha256: string;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  readonly calibration: Provenance['calibration'];
  /** Why there may be fewer shots than were ordered, for the message if they are too few. */
  readonly shortfall: string;
}

/**
 * The base class of backends whose reads are jobs of a provider. It submits each job once, asks for its state, and
 * makes a read of its results. A subclass says how its provider plans, creates, finds, decodes, cancels and prices a
 * job. pool/intake/jobs.ts decides how often each step is tried again.
 *
 * An idempotency key has one job, whatever gets lost. The plan is kept before it is sent, so that a repeated request
 * has the same bytes even if the device was calibrated in between. If a request may have been sent, the backend
 * searches for its job at the provider before it sends the request again.
 */
export abstract class ProviderJobs<Plan extends JobPlan, Found extends FoundJob> implements JobBackend {
  readonly kind = 'job';
  readonly deterministic = false;
  readonly name: string;
  readonly quantumBackend: string;
  readonly claimedMinEntropyPerBit: number;
  readonly lotRawBits: number;
  readonly isDeclared: boolean;
  abstract readonly origin: Origin;
  protected readonly source: JobSource;
  protected readonly clock: Clock;
  protected readonly memory: SourceMemory;
  /** The last submissions by idempotency key, with those of unfinished jobs. */
  readonly #submissions: RecentEntries;

  constructor(source: JobSource, { clock, memory }: SourceParts) {
    this.name = source.name;
    this.quantumBackend = source.quantumBackend;
    this.claimedMinEntropyPerBit = source.claimedMinEntropyPerBit;
    this.lotRawBits = source.lotRawBits;
    this.source = source;
    this.isDeclared = source.isDeclared;
    this.clock = clock;
    this.memory = memory;
    this.#submissions = keptEntries(memory, 'submissions');
  }

  abstract estimate(bits: number): Spend;
  abstract describe(signal: AbortSignal): Promise<SourceFacts>;
  abstract cancel(job: JobReference, signal: AbortSignal): Promise<void>;
  abstract forget(job: JobReference, signal: AbortSignal): Promise<void>;

  /** Plans a job for `bits` bits on the device as it is now. */
  protected abstract plan(bits: number, signal: AbortSignal): Promise<Plan>;
  /** Sends the plan and resolves to the job's id. Rejects with UnknownOutcome if there may be a job all the same. */
  protected abstract create(plan: Plan, idempotencyKey: string, signal: AbortSignal): Promise<string>;
  /**
   * Resolves to the id of the job with this key; undefined if there is none, or if the provider itself recognizes
   * repeated keys. `wasSent` says that this service has sent a request with the key and knows no answer.
   */
  protected abstract search(
    idempotencyKey: string,
    wasSent: boolean,
    signal: AbortSignal,
  ): Promise<string | undefined>;
  /** Resolves to the job as the provider describes it; undefined if the provider does not know the job. */
  protected abstract find(jobId: string, plan: Plan, signal: AbortSignal): Promise<Found | undefined>;
  /** Resolves to the results of a job that is done. */
  protected abstract results(
    jobId: string,
    plan: Plan,
    found: Found,
    signal: AbortSignal,
  ): Promise<JobResults>;
  /** Returns the plan's program as it is sent. Certificates hold its hash. */
  protected abstract readonly programOf: (plan: Plan) => string;

  async submit(bits: number, idempotencyKey: string, signal: AbortSignal): Promise<JobReference> {
    signal.throwIfAborted();
    const referenceOf = (jobId: string, plan: Plan | undefined): JobReference => {
      return { jobId, idempotencyKey, bits, memo: plan === undefined ? '' : JSON.stringify(plan) };
    };
    const note = async (submission: Submission<Plan>) => {
      this.#submissions.set(idempotencyKey, JSON.stringify(submission));
      await this.#submissions.keep();
    };
    await this.#submissions.load();
    const text = this.#submissions.get(idempotencyKey);
    const kept = text === undefined ? undefined : (JSON.parse(text) as Submission<Plan>);
    const noted = kept?.bits === bits ? kept : undefined;
    if (noted !== undefined && noted.jobId !== null) return referenceOf(noted.jobId, noted.plan);
    const own = noted !== undefined && this.#isOwn(noted.plan) ? noted.plan : undefined;
    const sentAtMs = noted?.sentAtMs ?? null;
    const found = await this.search(idempotencyKey, sentAtMs !== null, signal);
    if (found !== undefined) {
      const job = referenceOf(found, noted?.plan);
      if (own === undefined) await this.cancel(job, signal); // nobody will read its results
      if (noted !== undefined) await note({ ...noted, jobId: found });
      return job;
    }
    const { settleMs = 0 } = this.source;
    const waitMs = sentAtMs === null ? 0 : sentAtMs + settleMs - this.clock.wallMs();
    if (settleMs > 0 && waitMs > 0) {
      const why = 'a job was sent and is not listed: it is not sent again while it may still be made';
      throw new BackendError('retryable', why, waitMs);
    }
    const plan = own ?? (await this.plan(bits, signal));
    const submission = { bits, plan, sentAtMs: this.clock.wallMs(), jobId: null };
    await note(submission);
    const jobId = await this.create(plan, idempotencyKey, signal).catch(async (error: unknown) => {
      // An explicit refusal made no job, so the next try need not search for one.
      const isRefusal = error instanceof BackendError && !(error instanceof UnknownOutcome);
      if (isRefusal) await note({ ...submission, sentAtMs: null });
      throw error;
    });
    await note({ ...submission, jobId });
    return referenceOf(jobId, plan);
  }

  async poll({ jobId, memo }: JobReference, signal: AbortSignal): Promise<JobState> {
    signal.throwIfAborted();
    const plan = planIn<Plan>(memo);
    if (plan === null || !this.#isOwn(plan)) return { state: 'failed', reason: this.#notOwn(jobId, plan) };
    const found = await this.find(jobId, plan, signal);
    return found?.state ?? { state: 'failed', reason: 'the provider does not know the job' };
  }

  /** Resolves to the results as a read. Rejects if the job is not done, ran on another device, or gave too few bits. */
  async fetch({ jobId, bits, memo }: JobReference, signal: AbortSignal): Promise<RawRead> {
    signal.throwIfAborted();
    const plan = planIn<Plan>(memo);
    if (plan === null || !this.#isOwn(plan)) throw new BackendError('permanent', this.#notOwn(jobId, plan));
    const found = await this.find(jobId, plan, signal);
    if (found?.state.state !== 'done') {
      const word = found === undefined ? 'not known' : found.word;
      throw new BackendError('retryable', `job ${jobId} is ${word}: it has no results yet`);
    }
    if (found.device !== plan.device) {
      const ran = `job ${jobId} ran on ${found.device ?? 'no known device'}`;
      throw new BackendError('permanent', `${ran}, not ${plan.device}`);
    }
    const results = await this.results(jobId, plan, found, signal);
    const { rawSha256, shortfall, shots: given } = results;
    const width = plan.qubits.length;
    if (width * given.shots < bits) {
      const few = `${jobId} gave ${width * given.shots} of ${bits} bits`;
      throw new BackendError('retryable', `${few}: ${shortfall}`);
    }
    return {
      ...given,
      width,
      rawSha256,
      provenance: {
        provider: this.source.provider,
        device: this.source.deviceName,
        jobId,
        circuit: circuitName(width),
        circuitVersion: CIRCUIT_COMPILER_VERSION,
        circuitSha256: sha256Hex(utf8Bytes(this.programOf(plan))),
        qubitsUsed: width,
        circuitDepth: CIRCUIT_DEPTH,
        shots: given.shots,
        startedAtMs: Math.min(results.startedAtMs, results.finishedAtMs),
        finishedAtMs: results.finishedAtMs,
        calibration: results.calibration,
      },
    };
  }

  /**
   * Returns whether this source may read the plan's job, since its options may have changed. A lot names this source's
   * device, and the health tests and the conditioner rely on this source's claim.
   */
  #isOwn(plan: Plan): boolean {
    return plan.device === this.source.device && plan.claim >= this.claimedMinEntropyPerBit;
  }

  #notOwn(jobId: string, plan: Plan | null): string {
    if (plan === null) return `job ${jobId}: its plan is lost`;
    const made = `job ${jobId} was planned for ${plan.device} under a claim of ${plan.claim} bits`;
    return `${made}: the options are others now`;
  }
}

/** Returns the plan in a memo; null for an empty memo. */
export function planIn<Plan extends JobPlan>(memo: string): Plan | null {
  return memo === '' ? null : (JSON.parse(memo) as Plan);
}
