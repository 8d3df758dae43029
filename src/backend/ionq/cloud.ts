import type { Clock } from '../../core/clock.ts';
import type { HttpReply } from '../../core/http-request.ts';
import { type JsonObject, listIn, objectIn, textIn } from '../../core/json.ts';
import { BackendError } from '../backend.ts';
import type { Secret } from '../definition.ts';
import { UnknownOutcome } from '../job.ts';
import { type ApiCall, JsonApi, jsonOf, type Refusal } from '../provider.ts';

/** The most jobs that GET /jobs lists at a time. */
const PAGE_SIZE = 25;
/** Pages that a search reads: 1,000 jobs. If a system has more, the search fails. */
const PAGES_MAX = 40;

/** Returns whether a status leaves open if the request was carried out, as when a gateway gave up on its server. */
function isAmbiguous(status: number): boolean {
  return status === 408 || status === 409 || status >= 500;
}

/** IonQ's API, v0.4. Calls for public facts of systems carry no key. */
export class IonqCloud extends JsonApi {
  readonly #key: Secret;

  constructor(address: string, key: Secret, clock: Clock) {
    super(address, clock, () => [key.reveal()]);
    this.#key = key;
  }

  protected async credentials({ path }: ApiCall): Promise<Readonly<Record<string, string>>> {
    return path.startsWith('/backends/') ? {} : { authorization: `apiKey ${this.#key.reveal()}` };
  }

  /** A spent quota comes with any status; the body holds its name. A 409 to a GET comes from the gateway. */
  protected override meaningOf({ status, body }: HttpReply): Refusal {
    if (/QuotaExhausted|ContractExpired/i.test(new TextDecoder().decode(body))) return { kind: 'quota' };
    return status === 409 ? { kind: 'retryable' } : {};
  }

  /** Resolves to the newest characterization of a system; undefined if none is published. */
  async characterization(name: string, signal: AbortSignal): Promise<JsonObject | undefined> {
    const path = `/backends/${name}/characterizations?limit=1`;
    const [newest] = listIn((await this.get(path, signal)).characterizations);
    return newest === undefined ? undefined : objectIn(newest);
  }

  /** Resolves to the id of the new job. Rejects with UnknownOutcome if there may be a job all the same. */
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

  /** Resolves to the job; undefined if there is no such job. */
  async job(id: string, signal: AbortSignal): Promise<JsonObject | undefined> {
    const path = pathOf(id);
    const reply = await this.send({ path, accepts: [404], signal });
    return reply.status === 404 ? undefined : this.object(reply, path);
  }

  /**
   * Resolves to the id of the job on this system with this metadata; undefined if there is none. The API does not say
   * in which order it lists jobs, so the search reads all pages.
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

  /** Returns the path of a URL that the API gave, without the API's version, which the address has already. */
  pathIn(url: string): string {
    const path = url.startsWith(this.address)
      ? url.slice(this.address.length)
      : /^\/v\d+\.\d+(\/.*)$/.exec(url)?.[1];
    // Send the key to the configured host alone.
    if (path === undefined) throw this.provider.error('permanent', 'results: a URL of another place');
    return path;
  }
}

export function pathOf(jobId: string): string {
  return `/jobs/${encodeURIComponent(jobId)}`;
}
