import type { Clock } from '../../core/clock.ts';
import type { HttpReply, HttpRequest } from '../../core/http-request.ts';
import { isObject, type JsonObject, listIn, objectIn, textIn } from '../../core/json.ts';
import { BackendError } from '../backend.ts';
import type { Secret } from '../definition.ts';
import { UnknownOutcome } from '../job.ts';
import { jsonOf, Provider, type Refusal } from '../provider.ts';

const REPLY_BYTES_MAX = 4 * 1024 * 1024;
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

interface Call {
  readonly method?: HttpRequest['method'];
  readonly body?: string;
  /** What is published of a system is asked for without the key. */
  readonly isPublic?: boolean;
  readonly replyBytesMax?: number;
  /** Statuses outside 2xx that the caller reads for itself; all others reject. */
  readonly accepts?: readonly number[];
}

/** The calls on IonQ's API, v0.4. Rejects with a BackendError, or with the signal's reason. */
export class IonqCloud {
  readonly #base: string;
  readonly #key: Secret;
  readonly #api: Provider;

  constructor(base: string, key: Secret, clock: Clock) {
    this.#base = base;
    this.#key = key;
    this.#api = new Provider(base, clock, () => [key.reveal()]);
  }

  /** What is published of a system. */
  backend(name: string, signal: AbortSignal): Promise<JsonObject> {
    return this.#object(`/backends/${name}`, signal, { isPublic: true });
  }

  /** The newest characterization; undefined when none is published. */
  async characterization(name: string, signal: AbortSignal): Promise<JsonObject | undefined> {
    const path = `/backends/${name}/characterizations?limit=1`;
    const { characterizations } = await this.#object(path, signal, { isPublic: true });
    const [newest] = listIn(characterizations);
    return newest === undefined ? undefined : objectIn(newest);
  }

  /** What the organisation of the key would pay. */
  estimate(query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<JsonObject> {
    return this.#object(`/jobs/estimate?${new URLSearchParams(query)}`, signal);
  }

  /** The id of the new job. Rejects with an UnknownOutcome when there may be a job all the same. */
  async createJob(body: string, signal: AbortSignal): Promise<string> {
    const unknown = ({ kind, message, retryAfterMs }: BackendError) =>
      new UnknownOutcome(kind, message, retryAfterMs);
    const reply = await this.#call('/jobs', signal, { method: 'POST', body }).catch((error: unknown) => {
      throw error instanceof BackendError ? unknown(error) : error;
    });
    if (reply.status === 200 || reply.status === 201) {
      const id = textIn(objectIn(jsonOf(reply)).id);
      if (id !== null) return id;
      throw unknown(this.#api.error('retryable', "POST /jobs: a reply without a job's id"));
    }
    const refusal = this.#refusal(reply, 'POST /jobs');
    throw isAmbiguous(reply.status) ? unknown(refusal) : refusal;
  }

  /** Undefined when there is no such job. */
  async job(id: string, signal: AbortSignal): Promise<JsonObject | undefined> {
    const path = `/jobs/${encodeURIComponent(id)}`;
    const reply = await this.#send(path, signal, { accepts: [404] });
    return reply.status === 404 ? undefined : this.#objectIn(reply, path);
  }

  /**
   * The job on that system that has this metadata; undefined when none has. Nothing says in which order jobs
   * are listed, so all are looked at.
   */
  async findJob(
    backend: string,
    name: string,
    value: string,
    signal: AbortSignal,
  ): Promise<JsonObject | undefined> {
    let next = '';
    for (let page = 0; page < PAGES_MAX; page++) {
      const query = new URLSearchParams({ target: backend, limit: String(PAGE_SIZE), ...(next && { next }) });
      const listed = await this.#object(`/jobs?${query}`, signal);
      if (!Array.isArray(listed.jobs)) throw this.#api.error('retryable', 'GET /jobs: a reply without jobs');
      const found = listed.jobs.map(objectIn).find((job) => objectIn(job.metadata)[name] === value);
      if (found !== undefined) return found;
      next = textIn(listed.next) ?? '';
      if (next === '') return undefined;
    }
    const why = 'GET /jobs: too many jobs to know whether one of them is ours';
    throw this.#api.error('retryable', why);
  }

  artifact(jobId: string, artifactId: string, replyBytesMax: number, signal: AbortSignal) {
    const path = `/jobs/${encodeURIComponent(jobId)}/artifacts/${encodeURIComponent(artifactId)}`;
    return this.#send(path, signal, { replyBytesMax });
  }

  /**
   * The document at a URL that the API gave: it begins with the API's version, which the base has as well.
   */
  document(url: string, replyBytesMax: number, signal: AbortSignal): Promise<HttpReply> {
    const path = url.startsWith(this.#base)
      ? url.slice(this.#base.length)
      : /^\/v\d+\.\d+(\/.*)$/.exec(url)?.[1];
    // The key goes to the configured host alone.
    if (path === undefined) throw this.#api.error('permanent', 'results: a URL of another place');
    return this.#send(path, signal, { replyBytesMax });
  }

  /** A job that has ended, or is not known, is left as it is. */
  async cancelJob(id: string): Promise<void> {
    const path = `/jobs/${encodeURIComponent(id)}/status/cancel`;
    await this.#send(path, new AbortController().signal, { method: 'PUT', accepts: [400, 404, 409] });
  }

  async deleteJob(id: string, signal: AbortSignal): Promise<void> {
    await this.#send(`/jobs/${encodeURIComponent(id)}`, signal, { method: 'DELETE', accepts: [404] });
  }

  async #object(path: string, signal: AbortSignal, call: Call = {}): Promise<JsonObject> {
    return this.#objectIn(await this.#send(path, signal, call), path);
  }

  #objectIn(reply: HttpReply, path: string): JsonObject {
    const json = jsonOf(reply);
    if (isObject(json)) return json;
    throw this.#api.error('retryable', `${path.replace(/\?.*/, '')}: a reply that cannot be read`);
  }

  async #send(path: string, signal: AbortSignal, call: Call = {}): Promise<HttpReply> {
    const reply = await this.#call(path, signal, call);
    if ((reply.status >= 200 && reply.status < 300) || call.accepts?.includes(reply.status)) return reply;
    throw this.#refusal(reply, `${call.method ?? 'GET'} ${path.replace(/\?.*/, '')}`);
  }

  #call(path: string, signal: AbortSignal, call: Call): Promise<HttpReply> {
    const { method = 'GET', body, isPublic = false, replyBytesMax = REPLY_BYTES_MAX } = call;
    return this.#api.call({
      method,
      url: `${this.#base}${path}`,
      headers: {
        accept: 'application/json',
        ...(isPublic ? {} : { authorization: `apiKey ${this.#key.reveal()}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
      replyBytesMax,
      signal,
    });
  }

  /** A spent quota comes with any status, and its name as code, as type or in the words; a 409 to a GET is the gateway's. */
  #refusal(reply: HttpReply, what: string): BackendError {
    const isSpent = /QuotaExhausted|ContractExpired/i.test(new TextDecoder().decode(reply.body));
    const own: Refusal = isSpent ? { kind: 'quota' } : reply.status === 409 ? { kind: 'retryable' } : {};
    return this.#api.refusal(reply, what, own);
  }
}
