import { readFile } from 'node:fs/promises';
import { messageOf } from '../../core/assert.ts';
import { concatBytes, wipe } from '../../core/bytes.ts';
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
import { type BackendParts, type CertifiedFacts, defineBackend, type OctetAnswer } from '../definition.ts';
import { SeenBits } from '../seen.ts';
import { type QrnOptions, qrnOptions } from './options.ts';
import { Upstream, type UpstreamCall, userDataSha256 } from './upstream.ts';

/** Another service of this kind: its `/v1/bytes` in pure mode. */
export const qrnBackend = defineBackend({
  type: 'qrn',
  summary:
    'another service of this kind, whose certificates the lots cite; their origin is what it certifies',
  options: qrnOptions,
  create: (name, options, parts) => new Qrn(name, options, parts),
});

/** The most that `/v1/bytes` gives at once, and the fewest: by so many, two answers are never equal by chance. */
const CALL_BYTES_MAX = 1_024;
const CALL_BYTES_MIN = 32;
/** Answers that are paid for before the first of them is checked. */
const UNCHECKED_MAX = 16;
/**
 * What SP 800-90B's estimators grant an ideal source on 10^6 bits at worst (pool/intake/lots.ts). The service conditioned
 * its bytes to full entropy, and its certificates say from what; that it did is its word.
 */
const CLAIM = 0.8;
/** A reason of the verifier names two hashes at most; several are cut. */
const WHY_MAX = 400;
const CERTIFICATE_ID = /^cert_[0-9a-hjkmnp-tv-z]{26}$/;
/** What a header field of answers can hold. */
const PRINTABLE = /^(?=.{1,80}$)[!-~]+( [!-~]+)*$/;

/** An answer that its certificate proves. */
interface Certified {
  readonly octets: Uint8Array<ArrayBuffer>;
  readonly certificateId: string;
  readonly facts: CertifiedFacts;
}

/** The job under way, so that a fetch that breaks off is gone on with. */
interface UnderWay {
  readonly jobId: string;
  readonly startedAtMs: number;
  readonly answers: Certified[];
}

/**
 * Another service of this kind. A job is a number of its answers in pure mode, each asked for under an Idempotency-Key
 * that follows from the job's: whoever fetches the job, after a lost reply or a restart, gets the same bytes and pays for
 * them once. No byte is given on before its certificate was checked.
 *
 * Its origin is the weakest that the certificates named since the start, and `system` before the first.
 */
export class Qrn implements JobBackend {
  readonly kind = 'job';
  readonly name: string;
  readonly claimedMinEntropyPerBit = CLAIM;
  readonly lotRawBits: number;
  readonly #options: QrnOptions;
  readonly #parts: BackendParts;
  readonly #upstream: Upstream;
  readonly #seen: SeenBits;
  #weakest: CertifiedFacts | undefined;
  #underWay: UnderWay | undefined;

  constructor(name: string, options: QrnOptions, parts: BackendParts) {
    this.name = name;
    this.lotRawBits = options.calls * CALL_BYTES_MAX * 8;
    this.#options = options;
    this.#parts = parts;
    this.#upstream = new Upstream(options, parts);
    this.#seen = new SeenBits(parts.memory, 'answers');
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

  /** What is configured; the origin is told by certificates. */
  async describe(): Promise<SourceFacts> {
    return {
      host: this.#upstream.provider.host,
      log_keys: this.#options.log_keys,
      bytes_per_call: CALL_BYTES_MAX,
      calls_per_lot: this.#options.calls,
      claimed_min_entropy: CLAIM,
    };
  }

  /** Asks nobody: the first fetch does. */
  async submit(bits: number, idempotencyKey: string, signal: AbortSignal): Promise<JobReference> {
    signal.throwIfAborted();
    return { jobId: idempotencyKey, idempotencyKey, bits, memo: '' };
  }

  async poll(_job: JobReference, signal: AbortSignal): Promise<JobState> {
    signal.throwIfAborted();
    return { state: 'done' };
  }

  /** There is nothing to cancel: an answer is made when it is asked for. */
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

  /** The keys are read anew for each job, so that new ones are taken up without a restart. */
  async #logKeys(): Promise<unknown> {
    const { log_keys, url } = this.#options;
    try {
      return JSON.parse(await readFile(log_keys, 'utf8'));
    } catch (error) {
      const advice = `log_keys must name a copy of ${url}/.well-known/qrn-keys.json`;
      throw this.#upstream.provider.error('auth', `${advice}: ${messageOf(error)}`);
    }
  }

  /** The answer with what its certificate says; rejects what the certificate does not prove, or proves of another call. */
  async #certified(
    call: UpstreamCall,
    answer: OctetAnswer,
    logKeys: unknown,
    signal: AbortSignal,
  ): Promise<Certified> {
    const { octets, fields } = answer;
    const id = fields.get('x-certificate-id') ?? '';
    if (!CERTIFICATE_ID.test(id)) throw this.#unproven('an answer names no certificate in X-Certificate-ID');
    const certificate = await this.#upstream.certificate(id, signal);
    const facts = await this.#parts.verify(answer, certificate, logKeys);
    if (typeof facts === 'string')
      throw this.#unproven(`certificate ${id} does not prove its answer: ${facts.slice(0, WHY_MAX)}`);
    const { mode, endpoint, quantumBackend } = facts;
    if (facts.userDataSha256 !== `sha256:${userDataSha256(call)}`)
      throw this.#untrue(`certificate ${id} was issued for another call`);
    if (mode !== 'pure' || endpoint !== 'bytes')
      throw this.#untrue(`certificate ${id} is of ${endpoint} in mode ${mode}, not of bytes in mode pure`);
    if (!PRINTABLE.test(quantumBackend))
      throw this.#untrue(`certificate ${id} names a quantum_backend that is not printable`);
    if (!this.#seen.isNew(sha256Hex(octets), call.key))
      throw this.#untrue(`certificate ${id} is of bytes that came before`);
    return { octets, certificateId: id, facts };
  }

  /** The job stays open: with the right keys the same answers may be proven, and are not paid for again. */
  #unproven(why: string) {
    return this.#upstream.provider.error(
      'auth',
      `${why} None of its bytes was used; if the keys are new, renew log_keys`,
    );
  }

  #untrue(why: string) {
    return this.#upstream.provider.error(
      'permanent',
      `${why}: none of its bytes was used, tell the operator of that service`,
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

/** Calls of one size that give at least so many bits. */
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

/** Of the weakest origin, and no better in any other respect than the worst of them. */
function weakestOf(certified: readonly CertifiedFacts[]): CertifiedFacts {
  const rankOf = ({ origin }: CertifiedFacts) => ORIGINS.indexOf(origin);
  const weakest = certified.reduce((worst, each) => (rankOf(each) > rankOf(worst) ? each : worst));
  return {
    ...weakest,
    isDeclared: certified.some(({ isDeclared }) => isDeclared),
    deterministic: certified.some(({ deterministic }) => deterministic),
  };
}
