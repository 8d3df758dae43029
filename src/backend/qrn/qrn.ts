import { readFile } from 'node:fs/promises';
import { messageOf } from '../../core/assert.ts';
import { concatBytes, wipe } from '../../core/bytes.ts';
import { CERTIFICATE_ID } from '../../core/ids.ts';
import { ORIGINS, type Origin } from '../../core/vocabulary.ts';
import { sha256Hex } from '../../crypto/digest.ts';
import {
  type JobBackend,
  type JobReference,
  type JobState,
  plainRead,
  type RawRead,
  type SourceFacts,
  type Spend,
} from '../backend.ts';
import {
  type BackendParts,
  type CertifiedFacts,
  DECLARED_TEXT,
  defineBackend,
  type OctetAnswer,
} from '../definition.ts';
import { keptEntries, type RecentEntries } from '../seen.ts';
import { type QrnOptions, qrnOptions } from './options.ts';
import { Upstream, type UpstreamCall, userDataSha256 } from './upstream.ts';

/** Another service of this kind, read through its `/v1/bytes` in pure mode. */
export const qrnBackend = defineBackend({
  type: 'qrn',
  summary:
    'another service of this kind; the lots cite its certificates and have the origin that these state',
  options: qrnOptions,
  create: (name, options, parts) => new Qrn(name, options, parts),
});

/** The most bytes that `/v1/bytes` gives at once, and the fewest: two answers of 32 bytes are never equal by chance. */
const CALL_BYTES_MAX = 1_024;
const CALL_BYTES_MIN = 32;
/** How many answers are drawn, and paid for, before their certificates are checked. */
const UNCHECKED_MAX = 16;
/**
 * The worst that SP 800-90B's estimators give an ideal source on 10^6 bits (pool/intake/lots.ts). That the service
 * conditioned its bytes to full entropy is only its word.
 */
const CLAIM = 0.8;
/** Longest part of the verifier's reasons in a message. One reason names at most two hashes. */
const WHY_MAX = 400;

/** An answer that its certificate proves. */
interface Certified {
  readonly octets: Uint8Array<ArrayBuffer>;
  readonly certificateId: string;
  readonly facts: CertifiedFacts;
}

/** The present job. A fetch that failed goes on from it. */
interface UnderWay {
  readonly jobId: string;
  readonly startedAtMs: number;
  readonly answers: Certified[];
}

/**
 * Another service of this kind as a source. A job is a number of its answers in pure mode. The Idempotency-Key of each
 * call follows from the job's key, so a fetch after a lost reply or a restart gets the same bytes and pays for them
 * once. No byte is used before its certificate is checked.
 *
 * The source's origin is the weakest in the certificates since the start, and `system` before the first.
 */
export class Qrn implements JobBackend {
  readonly kind = 'job';
  readonly name: string;
  readonly claimedMinEntropyPerBit = CLAIM;
  readonly lotRawBits: number;
  readonly #options: QrnOptions;
  readonly #parts: BackendParts;
  readonly #upstream: Upstream;
  readonly #seen: RecentEntries;
  #weakest: CertifiedFacts | undefined;
  #underWay: UnderWay | undefined;

  constructor(name: string, options: QrnOptions, parts: BackendParts) {
    this.name = name;
    this.lotRawBits = options.calls * CALL_BYTES_MAX * 8;
    this.#options = options;
    this.#parts = parts;
    this.#upstream = new Upstream(options, parts);
    this.#seen = keptEntries(parts.memory, 'answers');
  }

  get origin(): Origin {
    return this.#weakest?.origin ?? 'system';
  }

  get isDeclared(): boolean {
    return this.#weakest?.isDeclared ?? false;
  }

  get deterministic(): boolean {
    return this.#weakest?.deterministic ?? false;
  }

  get quantumBackend(): string {
    return this.#weakest?.quantumBackend ?? 'none';
  }

  estimate(bits: number): Spend {
    const { calls, bytes } = callsFor(bits);
    return { amount: calls * bytes, currency: 'credits', calls };
  }

  /** Resolves to the configuration. Only certificates tell the origin. */
  async describe(): Promise<SourceFacts> {
    return {
      host: this.#upstream.provider.host,
      log_keys: this.#options.log_keys,
      bytes_per_call: CALL_BYTES_MAX,
      calls_per_lot: this.#options.calls,
      claimed_min_entropy: CLAIM,
    };
  }

  /** Calls nobody. `fetch` makes the calls. */
  async submit(bits: number, idempotencyKey: string, signal: AbortSignal): Promise<JobReference> {
    signal.throwIfAborted();
    return { jobId: idempotencyKey, idempotencyKey, bits, memo: '' };
  }

  async poll(_job: JobReference, signal: AbortSignal): Promise<JobState> {
    signal.throwIfAborted();
    return { state: 'done' };
  }

  /** Does nothing: answers are made only when they are asked for. */
  async cancel(): Promise<void> {}

  async fetch(job: JobReference, signal: AbortSignal): Promise<RawRead> {
    signal.throwIfAborted();
    const logKeys = await this.#logKeys();
    await this.#seen.load();
    const calls = callsOf(job);
    const underWay = this.#begun(job);
    const { answers } = underWay;
    while (answers.length < calls.length) {
      const next = calls.slice(answers.length, answers.length + UNCHECKED_MAX);
      const drawn: OctetAnswer[] = [];
      for (const call of next) drawn.push(await this.#upstream.draw(call, signal));
      for (const [i, answer] of drawn.entries()) {
        answers.push(await this.#certified(next[i], answer, logKeys, signal));
      }
    }
    await this.#seen.keep();
    this.#underWay = undefined;
    return this.#joined(job, underWay);
  }

  #begun({ jobId }: JobReference): UnderWay {
    if (this.#underWay?.jobId === jobId) return this.#underWay;
    for (const { octets } of this.#underWay?.answers ?? []) wipe(octets);
    this.#underWay = { jobId, startedAtMs: this.#parts.clock.wallMs(), answers: [] };
    return this.#underWay;
  }

  /** Reads the keys, for each job anew, so that new keys need no restart. */
  async #logKeys(): Promise<unknown> {
    const { log_keys, url } = this.#options;
    try {
      return JSON.parse(await readFile(log_keys, 'utf8'));
    } catch (error) {
      const advice = `log_keys must name a copy of ${url}/.well-known/qrn-keys.json`;
      throw this.#upstream.provider.error('auth', `${advice}: ${messageOf(error)}`);
    }
  }

  /** Resolves to the answer with its certificate's facts. Rejects if the certificate does not prove this call's. */
  async #certified(
    call: UpstreamCall,
    answer: OctetAnswer,
    logKeys: unknown,
    signal: AbortSignal,
  ): Promise<Certified> {
    const { octets, fields } = answer;
    const id = fields.get('x-certificate-id') ?? '';
    if (!CERTIFICATE_ID.test(id)) throw this.#unproven('the answer names no certificate in X-Certificate-ID');
    const certificate = await this.#upstream.certificate(id, signal);
    const facts = await this.#parts.verify(answer, certificate, logKeys);
    if (typeof facts === 'string')
      throw this.#unproven(`certificate ${id} does not prove its answer: ${facts.slice(0, WHY_MAX)}`);
    const { mode, endpoint, quantumBackend } = facts;
    if (facts.userDataSha256 !== `sha256:${userDataSha256(call)}`)
      throw this.#untrue(`certificate ${id} was issued for another call`);
    if (mode !== 'pure' || endpoint !== 'bytes')
      throw this.#untrue(
        `certificate ${id} is for ${endpoint} in mode ${mode} instead of bytes in mode pure`,
      );
    if (!DECLARED_TEXT.test(quantumBackend))
      throw this.#untrue(`certificate ${id} has a quantum_backend with characters that are not printable`);
    if (!this.#seen.isNew(sha256Hex(octets), call.key))
      throw this.#untrue(`certificate ${id} is for bytes that were received before`);
    return { octets, certificateId: id, facts };
  }

  /** Returns an error that leaves the job open: with the right keys the answers, already paid, may be proven. */
  #unproven(why: string) {
    return this.#upstream.provider.error(
      'auth',
      `${why} None of its bytes was used. If the other service has a new key, update log_keys`,
    );
  }

  #untrue(why: string) {
    return this.#upstream.provider.error(
      'permanent',
      `${why}; none of its bytes was used. Report this to the operator of the other service`,
    );
  }

  #joined({ jobId }: JobReference, { startedAtMs, answers }: UnderWay): RawRead {
    const certified = answers.map(({ facts }) => facts);
    this.#weakest = weakestOf(this.#weakest === undefined ? certified : [this.#weakest, ...certified]);
    const bits = concatBytes(...answers.map(({ octets }) => octets));
    for (const { octets } of answers) wipe(octets);
    const { log, origin, quantumBackend } = weakestOf(certified);
    const certificates = answers.map(({ certificateId: id, facts: { leaf } }) => ({ id, leaf }));
    return plainRead({
      bits,
      rawSha256: sha256Hex(bits),
      provider: log,
      device: quantumBackend,
      jobId,
      startedAtMs,
      finishedAtMs: this.#parts.clock.wallMs(),
      calibration: null,
      upstream: { log, origin, certificates },
    });
  }
}

/** Returns how many calls of one size give at least `bits` bits. */
function callsFor(bits: number): { readonly calls: number; readonly bytes: number } {
  const bytes = Math.ceil(bits / 8);
  return {
    calls: Math.ceil(bytes / CALL_BYTES_MAX),
    bytes: Math.max(CALL_BYTES_MIN, Math.min(CALL_BYTES_MAX, bytes)),
  };
}

function callsOf({ bits, idempotencyKey }: JobReference): UpstreamCall[] {
  const { calls, bytes } = callsFor(bits);
  return Array.from({ length: calls }, (_, i) => ({ key: `${idempotencyKey}.${i}`, bytes }));
}

/** Returns the facts with the weakest origin, declared or deterministic if any of them are. */
function weakestOf(certified: readonly CertifiedFacts[]): CertifiedFacts {
  const rankOf = ({ origin }: CertifiedFacts) => ORIGINS.indexOf(origin);
  const weakest = certified.reduce((worst, each) => (rankOf(each) > rankOf(worst) ? each : worst));
  return {
    ...weakest,
    isDeclared: certified.some(({ isDeclared }) => isDeclared),
    deterministic: certified.some(({ deterministic }) => deterministic),
  };
}
