import { assert } from '../core/assert.ts';
import type { Provenance, UpstreamAnswers } from '../core/provenance.ts';
import { isQuantum, type Origin } from '../core/vocabulary.ts';

/**
 * The interface of entropy sources. A backend gives raw noise and says exactly where it came from. It never tests,
 * conditions or invents bits. A job backend takes minutes (submit, poll, fetch), a stream backend milliseconds (read).
 * Only ordered per-shot data is entropy: a backend that gets only a histogram or probabilities fails with
 * `no_raw_shots`.
 */
export type Backend = JobBackend | StreamBackend;

/** Returns whether the operator declares a quantum origin that nothing attests. */
export function isDeclaredQuantum({ origin, isDeclared }: BackendIdentity): boolean {
  return isDeclared === true && isQuantum(origin);
}

interface BackendIdentity {
  /** The source's name in the configuration, e.g. `simulator`. */
  readonly name: string;
  readonly origin: Origin;
  /**
   * Whether the origin is the operator's word alone, because the operator configured it or the provider's address. See
   * `isDeclaredQuantum`.
   */
  readonly isDeclared?: boolean;
  /** `quantum_backend` of answers, e.g. `simulator-statevector`. */
  readonly quantumBackend: string;
  /** Whether the source is deterministic. Then its certificates have the status `test`. */
  readonly deterministic: boolean;
  /**
   * Min-entropy per raw bit that the maker claims (SP 800-90B H_submitter). The health tests derive their cutoffs from
   * it.
   */
  readonly claimedMinEntropyPerBit: number;
  /** Raw bits of one lot, which is one read or one job; by default the pool's own figure. */
  readonly lotRawBits?: number;
  /**
   * Raw bits of a lot while a mode waits for one. Fewer make the service ready sooner; by default they are the same.
   */
  readonly firstLotRawBits?: number;
  /** Returns what reading `bits` bits costs, without calling the provider. Left out if the source costs nothing. */
  estimate?(bits: number): Spend;
  /**
   * Resolves to what the source says of itself: device, state, queue, calibration, limits. Reads no entropy, costs
   * nothing.
   */
  describe?(signal: AbortSignal): Promise<SourceFacts>;
}

/** What a read costs. */
export interface Spend {
  readonly amount: number;
  /** ISO 4217 for money; else the provider's unit, e.g. `qpu-seconds`. */
  readonly currency: string;
  /** How many calls or jobs of the provider's quota the read takes. */
  readonly calls: number;
}

/** Named facts for people, in the order in which they are shown. */
export type SourceFacts = Readonly<Record<string, string | number | boolean | null>>;

export interface StreamBackend extends BackendIdentity {
  readonly kind: 'stream';
  /** Time limit of a read; by default the pool's own figure. */
  readonly readTimeoutMs?: number;
  /** Reads at least `bits` bits (whole shots). Rejects with a BackendError. */
  read(bits: number, signal: AbortSignal): Promise<RawRead>;
}

export interface JobBackend extends BackendIdentity {
  readonly kind: 'job';
  /** Starts a job for at least `bits` bits. A second call with the same `idempotencyKey` starts no second job. */
  submit(bits: number, idempotencyKey: string, signal: AbortSignal): Promise<JobReference>;
  poll(job: JobReference, signal: AbortSignal): Promise<JobState>;
  fetch(job: JobReference, signal: AbortSignal): Promise<RawRead>;
  /** Asks the provider to cancel a job that nobody will fetch. */
  cancel(job: JobReference, signal: AbortSignal): Promise<void>;
  /** Deletes the raw results at the provider. Called when their lot is durable. It is no error if they are gone. */
  forget?(job: JobReference, signal: AbortSignal): Promise<void>;
}

/** Identifies a submitted job. It is kept on disk, so that a restarted service can resume the job. */
export interface JobReference {
  readonly jobId: string;
  readonly idempotencyKey: string;
  /** Raw bits that were asked for. */
  readonly bits: number;
  /** What the backend must remember of the job (qubits, calibration, place of the results), as JSON without secrets. */
  readonly memo: string;
}

export type JobState =
  | { readonly state: 'queued' | 'running'; readonly retryAfterMs?: number }
  | { readonly state: 'done' }
  | { readonly state: 'failed' | 'cancelled'; readonly reason: string };

/** The result of one read of a backend. */
export interface RawRead {
  /**
   * The bits, shot after shot and most significant bit first: bit (shot * width + i) is that of channel i. The last
   * byte is padded with zero bits.
   */
  readonly bits: Uint8Array<ArrayBuffer>;
  /** Channels per shot: the qubits measured, or 1 for a plain bit stream. */
  readonly width: number;
  readonly shots: number;
  /** SHA-256 (hex) of what the backend delivered, verbatim, before it was decoded: `raw_output`. */
  readonly rawSha256: string;
  readonly provenance: Provenance;
}

/** A read of a source without a circuit. */
interface PlainRead
  extends Pick<Provenance, 'provider' | 'device' | 'startedAtMs' | 'finishedAtMs' | 'calibration'> {
  readonly bits: Uint8Array<ArrayBuffer>;
  readonly rawSha256: string;
  readonly jobId?: string | null;
  readonly upstream?: UpstreamAnswers;
}

/** Returns the read of a source without a circuit. The shots of `width` channels fill whole bytes. */
export function plainRead({ bits, rawSha256, jobId = null, ...told }: PlainRead, width = 1): RawRead {
  const shots = (8 * bits.length) / width;
  const none = {
    circuit: 'none',
    circuitVersion: 'none',
    circuitSha256: null,
    qubitsUsed: 0,
    circuitDepth: 0,
  };
  return { bits, width, shots, rawSha256, provenance: { jobId, ...none, shots, ...told } };
}

/**
 * retryable: try again later. quota: the provider's budget is spent. auth: the credentials are wrong. permanent: a
 * person must act. no_raw_shots: the provider gives no ordered shots.
 */
export type BackendErrorKind = 'retryable' | 'quota' | 'auth' | 'permanent' | 'no_raw_shots';

export class BackendError extends Error {
  override name = 'BackendError';
  readonly kind: BackendErrorKind;
  readonly retryAfterMs: number | undefined;

  constructor(kind: BackendErrorKind, message: string, retryAfterMs?: number) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = Number.isNaN(retryAfterMs) ? undefined : retryAfterMs; // a pause of NaN ms would be none
  }
}

/** The largest read: 32 MiB of raw noise. More bits take several reads, so that each is tested soon. */
export const MAX_READ_BITS = 2 ** 28;

/**
 * Returns how many shots of `width` channels hold at least `bits` bits. If the width divides 8, the shots fill whole
 * bytes, so that reads can be joined without shifting.
 */
export function wholeShots(bits: number, width: number): number {
  assert(
    Number.isSafeInteger(bits) && bits >= 1 && bits <= MAX_READ_BITS,
    `a read is of 1 to ${MAX_READ_BITS} bits`,
  );
  assert(Number.isInteger(width) && width >= 1, 'a shot has at least one channel');
  const unit = 8 % width === 0 ? 8 : width;
  return (Math.ceil(bits / unit) * unit) / width;
}
