import type { Clock } from '../../core/clock.ts';
import { BackendError } from '../backend.ts';
import type { SourceMemory } from '../definition.ts';
import { type IonqCloud, UnknownOutcome } from './cloud.ts';
import { KEY_METADATA } from './program.ts';

/**
 * A request that got no answer may still be at work behind the gateway for so long; a job that is not listed
 * after that was never made. Cloudflare gives up on an origin after 100 s (its status 524).
 */
const SETTLE_MS = 120_000;
const NOTE = 'submission';

interface Submission<Plan> {
  readonly key: string;
  readonly bits: number;
  readonly plan: Plan;
  /** When it was last sent; null when nothing was, or when it was refused. */
  readonly sentAtMs: number | null;
  readonly jobId: string | null;
}

/**
 * One idempotency key, one job, at a provider that knows no such keys: what is about to be sent is noted
 * first, and what may have been sent is looked for among the jobs, by the key in their metadata, before it is
 * sent again.
 */
export class Submissions<Plan extends { readonly backend: string }> {
  readonly #cloud: IonqCloud;
  readonly #memory: SourceMemory;
  readonly #clock: Clock;

  constructor(cloud: IonqCloud, memory: SourceMemory, clock: Clock) {
    this.#cloud = cloud;
    this.#memory = memory;
    this.#clock = clock;
  }

  /** The job with this key; made of a new plan when there is none. */
  async submit(
    key: string,
    bits: number,
    makePlan: () => Promise<Plan>,
    bodyOf: (plan: Plan) => string,
    signal: AbortSignal,
  ): Promise<{ readonly jobId: string; readonly plan: Plan }> {
    const noted = await this.#noted(key, bits);
    const submission = noted ?? { key, bits, plan: await makePlan(), sentAtMs: null, jobId: null };
    const jobId = submission.jobId ?? (await this.#sentBefore(submission, signal));
    if (jobId !== undefined) return this.#done(submission, jobId);
    await this.#keep({ ...submission, sentAtMs: this.#clock.wallMs() });
    return this.#done(submission, await this.#send(submission, bodyOf(submission.plan), signal));
  }

  async #send(submission: Submission<Plan>, body: string, signal: AbortSignal): Promise<string> {
    try {
      return await this.#cloud.createJob(body, signal);
    } catch (error) {
      // A refusal in so many words made no job: the next try need not look for one.
      if (error instanceof BackendError && !(error instanceof UnknownOutcome)) {
        await this.#keep({ ...submission, sentAtMs: null });
      }
      throw error;
    }
  }

  /** The job of a submission that was sent and whose answer is not known. */
  async #sentBefore(
    { key, plan, sentAtMs }: Submission<Plan>,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (sentAtMs === null) return undefined;
    const found = await this.#cloud.findJob(plan.backend, KEY_METADATA, key, signal);
    if (typeof found?.id === 'string') return found.id;
    const waitMs = sentAtMs + SETTLE_MS - this.#clock.wallMs();
    if (waitMs <= 0) return undefined;
    const message = 'a job was sent and is not listed: it is not sent again while it may still be made';
    throw new BackendError('retryable', message, waitMs);
  }

  async #done(submission: Submission<Plan>, jobId: string): Promise<{ jobId: string; plan: Plan }> {
    if (submission.jobId === null) await this.#keep({ ...submission, jobId });
    return { jobId, plan: submission.plan };
  }

  async #noted(key: string, bits: number): Promise<Submission<Plan> | undefined> {
    const note = await this.#memory.recall(NOTE);
    if (note === undefined) return undefined;
    const noted = JSON.parse(note) as Submission<Plan>;
    return noted.key === key && noted.bits === bits ? noted : undefined;
  }

  async #keep(submission: Submission<Plan>): Promise<void> {
    await this.#memory.keep(NOTE, JSON.stringify(submission));
  }
}
