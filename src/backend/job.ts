import { utf8Bytes } from '../core/bytes.ts';
import type { Clock } from '../core/clock.ts';
import type { Origin } from '../core/vocabulary.ts';
import { sha256Hex } from '../crypto/digest.ts';
import {
  BackendError,
  type JobBackend,
  type JobReference,
  type JobState,
  type Provenance,
  type RawRead,
  type SourceFacts,
  type Spend,
} from './backend.ts';
import { CIRCUIT_COMPILER_VERSION, CIRCUIT_DEPTH, circuitName } from './circuit.ts';
import type { SourceMemory, SourceParts } from './definition.ts';
import { jobNotes, type RecentEntries } from './seen.ts';
import type { Shots } from './shots.ts';

/** All that the results of a job mean. Kept before the job is submitted: a repeated submission is the same to the byte. JSON. */
export interface JobPlan {
  /** As the provider names it. */
  readonly device: string;
  /** Min-entropy per bit that was claimed of it: qubits were chosen to bear that, and no more. */
  readonly claim: number;
  /** By channel: the qubit that gives it. */
  readonly qubits: readonly number[];
  /** Shots that are ordered. */
  readonly shots: number;
  /** What the device published of these qubits when they were chosen. */
  readonly calibration: Provenance['calibration'];
}

/** A provider and the source that is configured of it. */
interface JobSource {
  /** Under which it is configured. */
  readonly name: string;
  /** As certificates name the provider and the device. */
  readonly provider: string;
  readonly deviceName: string;
  /** The device, as the provider names it. */
  readonly device: string;
  readonly quantumBackend: string;
  readonly claimedMinEntropyPerBit: number;
  readonly lotRawBits: number;
  /** True when calls go to an address that the operator gave in place of the provider's own. */
  readonly isDeclared: boolean;
  /** How long a request without an answer may still be at work, and make a job that no search finds yet. */
  readonly settleMs?: number;
}

/** A job as its provider describes it. */
export interface FoundJob {
  /** The provider's own word for the state. */
  readonly word: string;
  readonly state: JobState;
  /** That it runs on, as the provider names it. */
  readonly device: string | null;
}

/** One submission, kept before anything is sent. JSON. */
interface Submission<Plan> {
  readonly bits: number;
  readonly plan: Plan;
  /** Unix ms of the last request for it; null when there was none, or when it was refused. */
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
  /** Why there are fewer shots than were ordered, for the error when they are too few. */
  readonly shortfall: string;
}

/**
 * The base of the backends whose reads are jobs of a provider: it submits each job once, asks for its state, and turns
 * its results into a read. A provider adds how a job is planned, created, found, decoded, cancelled and priced. How
 * often each step is tried again is the business of pool/intake/jobs.ts.
 *
 * One idempotency key is one job, whatever gets lost: the plan is kept before it is sent, so that a repeated request is the
 * same to the byte although the device was calibrated in between, and what may have been sent is looked for at the provider
 * before it is sent again.
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
  /** By idempotency key, those of jobs under way among them. */
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
    this.#submissions = jobNotes(memory, 'submissions');
  }

  abstract estimate(bits: number): Spend;
  abstract describe(signal: AbortSignal): Promise<SourceFacts>;
  abstract cancel(job: JobReference): Promise<void>;
  abstract forget(job: JobReference, signal: AbortSignal): Promise<void>;

  /** What is to be sent for so many bits, on the device as it is now. */
  protected abstract plan(bits: number, signal: AbortSignal): Promise<Plan>;
  /** Sends it and gives the id of the job. Rejects with UnknownOutcome when there may be a job all the same. */
  protected abstract create(plan: Plan, idempotencyKey: string, signal: AbortSignal): Promise<string>;
  /**
   * The job that carries the key; undefined when there is none, and at a provider that itself knows a key again.
   * `wasSent`: this service has sent a request with the key and knows no answer.
   */
  protected abstract search(
    idempotencyKey: string,
    wasSent: boolean,
    signal: AbortSignal,
  ): Promise<string | undefined>;
  /** The job as the provider describes it; undefined when it does not know the job. */
  protected abstract find(jobId: string, plan: Plan, signal: AbortSignal): Promise<Found | undefined>;
  /** The results of a job that is done. */
  protected abstract results(
    jobId: string,
    plan: Plan,
    found: Found,
    signal: AbortSignal,
  ): Promise<JobResults>;
  /** The program of the plan as it is sent: what certificates hold the hash of. */
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
      if (own === undefined) await this.cancel(job); // nobody will read its results
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
      // a refusal in so many words made no job: the next try need not look for one
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

  /** Rejects a job that is not done or ran elsewhere, and too few results. */
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
   * Whether this source may read the plan's job. The options may have changed since: a lot names this source's
   * device, and the health tests and the conditioner go by its claim.
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

/** The plan that a memo holds; null for an empty one. */
export function planIn<Plan extends JobPlan>(memo: string): Plan | null {
  return memo === '' ? null : (JSON.parse(memo) as Plan);
}
