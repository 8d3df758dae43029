import type { Clock } from '../../core/clock.ts';
import type { HttpReply } from '../../core/http-request.ts';
import { type JsonObject, listIn, objectIn, textIn } from '../../core/json.ts';
import { BackendError } from '../backend.ts';
import type { Secret } from '../definition.ts';
import { UnknownOutcome } from '../job.ts';
import { type ApiCall, JsonApi, jsonOf, type Refusal } from '../provider.ts';

/** GET /jobs gives at most so many at a time. */
const PAGE_SIZE = 25;
/** 1,000 jobs: who has more of them on one system is told that the search did not end. */
const PAGES_MAX = 40;

/**
 * A status that says nothing of whether the request was carried out: gateways give up on what goes on behind
 * them.
 */
function isAmbiguous(status: number): boolean {
  return status === 408 || status === 409 || status >= 500;
}

/** IonQ's API, v0.4. What is published of systems is asked for without the key. */
export class IonqCloud extends JsonApi {
  readonly #key: Secret;

  constructor(address: string, key: Secret, clock: Clock) {
    super(address, clock, () => [key.reveal()]);
    this.#key = key;
  }

  protected async credentials({ path }: ApiCall): Promise<Readonly<Record<string, string>>> {
    return path.startsWith('/backends/') ? {} : { authorization: `apiKey ${this.#key.reveal()}` };
  }

  /** A spent quota comes with any status, and its name as code, as type or in the words; a 409 to a GET is the gateway's. */
  protected override meaningOf({ status, body }: HttpReply): Refusal {
    if (/QuotaExhausted|ContractExpired/i.test(new TextDecoder().decode(body))) return { kind: 'quota' };
    return status === 409 ? { kind: 'retryable' } : {};
  }

  /** The newest characterization of a system; undefined when none is published. */
  async characterization(name: string, signal: AbortSignal): Promise<JsonObject | undefined> {
    const path = `/backends/${name}/characterizations?limit=1`;
    const [newest] = listIn((await this.get(path, signal)).characterizations);
    return newest === undefined ? undefined : objectIn(newest);
  }

  /** The id of the new job. Rejects with an UnknownOutcome when there may be a job all the same. */
  async createJob(body: string, signal: AbortSignal): Promise<string> {
    const call = { method: 'POST', path: '/jobs', body, signal } as const;
    const unknown = ({ kind, message, retryAfterMs }: BackendError) =>
      new UnknownOutcome(kind, message, retryAfterMs);
    const reply = await this.attempt(call).catch((error: unknown) => {
      throw error instanceof BackendError ? unknown(error) : error;
    });
    if (reply.status === 200 || reply.status === 201) {
      const id = textIn(objectIn(jsonOf(reply)).id);
      if (id !== null) return id;
      throw unknown(this.provider.error('retryable', "POST /jobs: a reply without a job's id"));
    }
    const refusal = this.refusal(reply, call);
    throw isAmbiguous(reply.status) ? unknown(refusal) : refusal;
  }

  /** Undefined when there is no such job. */
  async job(id: string, signal: AbortSignal): Promise<JsonObject | undefined> {
    const path = pathOf(id);
    const reply = await this.send({ path, accepts: [404], signal });
    return reply.status === 404 ? undefined : this.object(reply, path);
  }

  /**
   * The id of the job on that system that has this metadata; undefined when none has. Nothing says in which
   * order jobs are listed, so all are looked at.
   */
  async findJob(
    backend: string,
    name: string,
    value: string,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    let next = '';
    for (let page = 0; page < PAGES_MAX; page++) {
      const query = new URLSearchParams({ target: backend, limit: String(PAGE_SIZE), ...(next && { next }) });
      const listed = await this.get(`/jobs?${query}`, signal);
      if (!Array.isArray(listed.jobs))
        throw this.provider.error('retryable', 'GET /jobs: a reply without jobs');
      const found = listed.jobs.map(objectIn).find((job) => objectIn(job.metadata)[name] === value);
      if (found !== undefined) return textIn(found.id) ?? undefined;
      next = textIn(listed.next) ?? '';
      if (next === '') return undefined;
    }
    throw this.provider.error('retryable', 'GET /jobs: too many jobs to know whether one of them is ours');
  }

  /** The path of a URL that the API gave: it begins with the API's version, which the address has as well. */
  pathIn(url: string): string {
    const path = url.startsWith(this.address)
      ? url.slice(this.address.length)
      : /^\/v\d+\.\d+(\/.*)$/.exec(url)?.[1];
    // The key goes to the configured host alone.
    if (path === undefined) throw this.provider.error('permanent', 'results: a URL of another place');
    return path;
  }
}

export function pathOf(jobId: string): string {
  return `/jobs/${encodeURIComponent(jobId)}`;
}
