import type { Clock } from '../../core/clock.ts';
import type { HttpReply } from '../../core/http-request.ts';
import { type JsonObject, objectIn } from '../../core/json.ts';
import { BackendError } from '../backend.ts';
import type { Secret } from '../definition.ts';
import { httpCall, jsonOf, retryAfterMs, statusError } from '../http-call.ts';
import { UnknownOutcome } from '../job.ts';

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

/** The calls on IonQ's API, v0.4. Rejects with a BackendError, or with the signal's reason. */
export class IonqCloud {
  readonly #base: string;
  readonly #key: Secret;
  readonly #clock: Clock;

  constructor(base: string, key: Secret, clock: Clock) {
    this.#base = base;
    this.#key = key;
    this.#clock = clock;
  }

  /** What is published of a system: no key is sent. */
  async backend(name: string, signal: AbortSignal): Promise<JsonObject> {
    return this.#json(await this.#published(`/backends/${name}`, signal), 'GET backend');
  }

  /** The newest characterization; undefined when none is published. */
  async characterization(name: string, signal: AbortSignal): Promise<JsonObject | undefined> {
    const reply = await this.#published(`/backends/${name}/characterizations?limit=1`, signal);
    const { characterizations } = this.#json(reply, 'GET characterizations');
    return Array.isArray(characterizations) && characterizations.length > 0
      ? objectIn(characterizations[0])
      : undefined;
  }

  /** What the organisation of the key would pay. */
  async estimate(query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<JsonObject> {
    const path = `/jobs/estimate?${new URLSearchParams(query)}`;
    return this.#json(await this.#get(path, 'GET estimate', signal), 'GET estimate');
  }

  /** The id of the new job. Rejects with an UnknownOutcome when there may be a job all the same. */
  async createJob(body: string, signal: AbortSignal): Promise<string> {
    const what = this.#what('POST jobs');
    const reply = await this.#call('POST', '/jobs', signal, { body }).catch((error: unknown) => {
      throw error instanceof BackendError ? new UnknownOutcome(error.kind, error.message) : error;
    });
    if (reply.status === 200 || reply.status === 201) {
      const { id } = objectIn(jsonOf(reply));
      if (typeof id === 'string' && id !== '') return id;
      throw new UnknownOutcome('retryable', `${what}: a reply without a job's id`);
    }
    if (!isAmbiguous(reply.status)) throw this.#error(reply, 'POST jobs');
    const asked = retryAfterMs(reply, this.#clock.wallMs());
    throw new UnknownOutcome('retryable', this.#error(reply, 'POST jobs').message, asked);
  }

  /** Undefined when there is no such job. */
  async job(id: string, signal: AbortSignal): Promise<JsonObject | undefined> {
    const reply = await this.#call('GET', `/jobs/${encodeURIComponent(id)}`, signal);
    if (reply.status === 404) return undefined;
    return this.#json(this.#checked(reply, 'GET job'), 'GET job');
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
      const listed = this.#json(await this.#get(`/jobs?${query}`, 'GET jobs', signal), 'GET jobs');
      if (!Array.isArray(listed.jobs)) throw this.#unreadable('GET jobs');
      const found = listed.jobs.map(objectIn).find((job) => objectIn(job.metadata)[name] === value);
      if (found !== undefined) return found;
      if (typeof listed.next !== 'string' || listed.next === '') return undefined;
      next = listed.next;
    }
    throw new BackendError(
      'retryable',
      `${this.#what('GET jobs')}: too many jobs to know whether one of them is ours`,
    );
  }

  artifact(jobId: string, artifactId: string, bytesMax: number, signal: AbortSignal) {
    const path = `/jobs/${encodeURIComponent(jobId)}/artifacts/${encodeURIComponent(artifactId)}`;
    return this.#bytes(path, bytesMax, signal);
  }

  /**
   * The document at a URL that the API gave: it begins with the API's version, which the base has as well.
   */
  document(url: string, bytesMax: number, signal: AbortSignal) {
    if (url.startsWith(this.#base)) return this.#bytes(url.slice(this.#base.length), bytesMax, signal);
    const path = /^\/v\d+\.\d+(\/.*)$/.exec(url)?.[1];
    if (path === undefined) {
      // The key goes to the configured host alone.
      throw new BackendError('permanent', `${this.#what('GET results')}: a URL of another place`);
    }
    return this.#bytes(path, bytesMax, signal);
  }

  /** A job that has ended, or is not known, is left as it is. */
  async cancelJob(id: string): Promise<void> {
    const { signal } = new AbortController();
    const reply = await this.#call('PUT', `/jobs/${encodeURIComponent(id)}/status/cancel`, signal);
    if (![400, 404, 409].includes(reply.status)) this.#checked(reply, 'PUT cancel');
  }

  async deleteJob(id: string, signal: AbortSignal): Promise<void> {
    const reply = await this.#call('DELETE', `/jobs/${encodeURIComponent(id)}`, signal);
    if (reply.status !== 404) this.#checked(reply, 'DELETE job');
  }

  async #bytes(path: string, replyBytesMax: number, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    return (await this.#get(path, 'GET results', signal, replyBytesMax)).body;
  }

  async #get(path: string, what: string, signal: AbortSignal, replyBytesMax?: number): Promise<HttpReply> {
    return this.#checked(await this.#call('GET', path, signal, { replyBytesMax }), what);
  }

  async #published(path: string, signal: AbortSignal): Promise<HttpReply> {
    return this.#checked(await this.#call('GET', path, signal, { isPublic: true }), `GET ${path}`);
  }

  #call(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    signal: AbortSignal,
    {
      body,
      isPublic = false,
      replyBytesMax = REPLY_BYTES_MAX,
    }: { body?: string; isPublic?: boolean; replyBytesMax?: number | undefined } = {},
  ): Promise<HttpReply> {
    const authorization: Record<string, string> = isPublic
      ? {}
      : { authorization: `apiKey ${this.#key.reveal()}` };
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
    const headers = { accept: 'application/json', ...authorization, ...type };
    const url = `${this.#base}${path}`;
    signal.throwIfAborted();
    return httpCall({ method, url, headers, replyBytesMax, signal, ...(body === undefined ? {} : { body }) });
  }

  #checked(reply: HttpReply, what: string): HttpReply {
    if (reply.status >= 200 && reply.status < 300) return reply;
    throw this.#error(reply, what);
  }

  /** Error bodies come in three shapes, of which each has some words; a 409 to a GET is the gateway's. */
  #error(reply: HttpReply, what: string): BackendError {
    const { message, error, code } = objectIn(jsonOf(reply));
    const nested = objectIn(error);
    const words = [message, nested.message, error].find((each) => typeof each === 'string') ?? '';
    const kind = [code, nested.type, nested.code, words].join(' ');
    const detail = String(words).replaceAll(this.#key.reveal(), '[secret]');
    const asked = retryAfterMs(reply, this.#clock.wallMs());
    const meant = statusError(reply, this.#clock.wallMs(), this.#what(what), detail);
    if (/QuotaExhausted|ContractExpired/i.test(kind)) return new BackendError('quota', meant.message, asked);
    if (reply.status === 409) return new BackendError('retryable', meant.message, asked);
    return meant;
  }

  #json(reply: HttpReply, what: string): JsonObject {
    const json = jsonOf(reply);
    if (typeof json !== 'object' || json === null) throw this.#unreadable(what);
    return json as JsonObject;
  }

  #unreadable(what: string): BackendError {
    return new BackendError('retryable', `${this.#what(what)}: a reply that cannot be read`);
  }

  #what(what: string): string {
    return `${new URL(this.#base).host}: ${what}`;
  }
}
